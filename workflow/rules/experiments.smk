# Simulations on the histograms: the published protocol, the comparison at equal privacy (docs/parity.md), the audit.


rule run_trials:
    "TV distance and individual error of every mechanism: the points of one budget, or of one part of a grid."
    input:
        histogram="<results>/histograms/{dataset}.csv",
    output:
        "<results>/trials/{dataset}_{part}.parquet",
    log:
        "<results>/logs/run_trials/{dataset}_{part}.log",
    params:
        code=code_of("scripts/run_trials.py"),
        points=lambda wildcards: workload.points_of(TRIALS, wildcards.dataset, wildcards.part),
        cells=lambda wildcards: DATASETS[wildcards.dataset].asked_cells,
        protocol=SETTINGS.protocol.plain(),
        seed=SETTINGS.seed,
    script:
        "../../scripts/run_trials.py"


rule estimate_cells:
    "One run of every mechanism per budget, cell by cell (data of Figures 4 and 5)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
    output:
        "<results>/estimates/{dataset}.csv",
    log:
        "<results>/logs/estimate_cells/{dataset}.log",
    params:
        code=code_of("scripts/estimate_cells.py"),
        settings=lambda wildcards: workload.section(DATASETS, wildcards.dataset, "estimates").plain(),
        protocol=SETTINGS.protocol.plain(),
        seed=SETTINGS.seed,
    script:
        "../../scripts/estimate_cells.py"


rule run_parity:
    "Errors of both mechanisms at equal privacy: one dataset, every n, eps0 and delta."
    input:
        histogram="<results>/histograms/{dataset}.csv",
    output:
        "<results>/parity/{dataset}.parquet",
    log:
        "<results>/logs/run_parity/{dataset}.log",
    params:
        code=code_of("scripts/run_parity.py"),
        settings=PARITY.plain("eps0", "delta", "delta_exponents", "repetitions"),
        cells=lambda wildcards: DATASETS[wildcards.dataset].asked_cells,
        sizes=lambda wildcards: workload.parity_sizes(DATASETS, wildcards.dataset),
        seed=SETTINGS.seed,
    script:
        "../../scripts/run_parity.py"


rule estimate_parity:
    "One run of both mechanisms at equal privacy, cell by cell (data of fig4_parity and fig5_parity)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
    output:
        "<results>/parity/{dataset}_estimates.csv",
    log:
        "<results>/logs/estimate_parity/{dataset}.log",
    params:
        code=code_of("scripts/estimate_parity.py"),
        settings=lambda wildcards: workload.parity_estimates(DATASETS, wildcards.dataset, PARITY.delta[0]),
        seed=SETTINGS.seed,
    script:
        "../../scripts/estimate_parity.py"


rule summarise_parity:
    "Mean errors and ratios at equal privacy, with bootstrap intervals and closed forms."
    input:
        trials=expand("<results>/parity/{dataset}.parquet", dataset=PARITY_DATASETS),
        published=trial_files("tv"),
        histograms=expand("<results>/histograms/{dataset}.csv", dataset=PARITY_DATASETS),
    output:
        means=shown("<results>/parity.csv", "parity", "mean errors at equal privacy", "parity_means"),
        ratios=shown(
            "<results>/parity_ratio.csv",
            "parity ratios",
            "shuffle+INV over Gaussian at equal privacy",
            "parity_ratios",
        ),
    log:
        "<results>/logs/summarise_parity.log",
    localrule: True
    params:
        code=code_of("scripts/summarise_parity.py"),
        datasets=PARITY_DATASETS,
        resamples=PARITY.bootstrap,
        confidence=PARITY.confidence,
        seed=SETTINGS.seed,
    script:
        "../../scripts/summarise_parity.py"


rule run_audit:
    "Simulate the attack at one setting: draw every report of both datasets, and count x0 and x1."
    output:
        "<results>/audit/{setting}.parquet",
    log:
        "<results>/logs/run_audit/{setting}.log",
    wildcard_constraints:
        setting="|".join(map(re.escape, AUDITS)),
    params:
        code=code_of("scripts/run_audit.py"),
        setting=lambda wildcards: {**AUDITS[wildcards.setting], "remaining": SETTINGS.audit.remaining},
        seed=SETTINGS.seed,
    script:
        "../../scripts/run_audit.py"


rule collect_audit:
    "Lower confidence bounds on delta from all counts, with the published, the exact and the upper delta."
    input:
        tallies=expand("<results>/audit/{setting}.parquet", setting=AUDITS),
    output:
        shown("<results>/audit.csv", "audit", "lower confidence bounds on delta", "audit_table"),
    log:
        "<results>/logs/collect_audit.log",
    localrule: True
    params:
        code=code_of("scripts/collect_audit.py"),
        eps=SETTINGS.audit.eps,
        confidence=SETTINGS.audit.confidence,
    script:
        "../../scripts/collect_audit.py"


PARITY_FILES = [*rules.summarise_parity.output, *figure_files(drawn_from("parity"))]
EVERYTHING += [
    *PARITY_FILES,
    *trial_files("tv", "individual"),
    *expand(rules.estimate_cells.output + rules.estimate_parity.output, dataset=ESTIMATE_DATASETS),
    *expand(rules.run_parity.output, dataset=PARITY_DATASETS),
    *expand(rules.run_audit.output, setting=AUDITS),
    *rules.collect_audit.output,
]
