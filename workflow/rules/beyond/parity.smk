# The comparison at equal privacy (docs/parity.md).
PARITY = configuration.having("tv", DATASETS)


localrules:
    summarise_parity,
    compute_unequal_privacy,
    draw_parity_ratio,


rule run_parity:
    "Errors of both mechanisms at equal privacy: one dataset, every n, eps0 and delta."
    input:
        histogram="<results>/data/histograms/{dataset}.csv",
    output:
        "<results>/parity/{dataset}.parquet",
    log:
        "<results>/logs/run_parity/{dataset}.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/parity/run_parity.py"),
        *settings(
            n=lookup("datasets/{dataset}/tv/n", within=config),
            individual=lookup("datasets/{dataset}/individual", within=config, default=None),
            eps0=config["parity"]["eps0"],
            delta=config["parity"]["delta"],
            delta_exponents=config["parity"]["delta_exponents"],
            repetitions=config["parity"]["repetitions"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/beyond/parity/run_parity.py"


rule summarise_parity:
    "Mean errors and ratios at equal privacy, with bootstrap intervals and closed forms."
    input:
        trials=expand("<results>/parity/{dataset}.parquet", dataset=PARITY),
        histograms=expand("<results>/data/histograms/{dataset}.csv", dataset=PARITY),
    output:
        means=shown(
            "<results>/parity/parity.csv", "parity", "mean errors at equal privacy", "parity_means"
        ),
        ratios=shown(
            "<results>/parity/parity_ratio.csv",
            "parity ratios",
            "shuffle+INV over Gaussian at equal privacy",
            "parity_ratios",
        ),
    log:
        "<results>/logs/summarise_parity.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/parity/summarise_parity.py"),
        *settings(
            datasets=PARITY,
            resamples=config["parity"]["bootstrap"],
            confidence=config["parity"]["confidence"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/beyond/parity/summarise_parity.py"


rule compute_unequal_privacy:
    "The true eps of the two mechanisms that the paper's Figure 2 compares."
    input:
        "<results>/parity/parity_ratio.csv",
    output:
        "<results>/parity/unequal_privacy.csv",
    log:
        "<results>/logs/compute_unequal_privacy.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/parity/compute_unequal_privacy.py"),
    script:
        "../../../scripts/beyond/parity/compute_unequal_privacy.py"


rule draw_parity_ratio:
    "shuffle+INV over Gaussian, at equal privacy."
    input:
        "<results>/parity/parity_ratio.csv",
    output:
        **drawn("parity_ratio"),
    log:
        "<results>/logs/draw_parity_ratio.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/parity/draw_parity_ratio.py"),
        *settings(
            titles={name: DATASETS[name]["title"] for name in PARITY},
            papers=configuration.papers_eps0(config),
        ),
    script:
        "../../../scripts/beyond/parity/draw_parity_ratio.py"


rule parity:
    "The comparison at equal privacy: errors, ratios and their figure."
    input:
        expand(rules.run_parity.output, dataset=PARITY),
        rules.summarise_parity.output,
        rules.compute_unequal_privacy.output,
        figures_of_stage("parity"),
