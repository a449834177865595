# The comparison at equal (eps, delta): docs/parity.md.


rule run_parity:
    "Errors of both mechanisms at equal privacy: one dataset, every n, eps0 and delta."
    input:
        histogram="<results>/histograms/{dataset}.csv",
    output:
        "<results>/parity/{dataset}.parquet",
    log:
        "<results>/logs/run_parity/{dataset}.log",
    benchmark:
        "<results>/benchmarks/run_parity/{dataset}.tsv"
    group:
        "trials"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(240),
        runtime=minutes(15),
    params:
        code=code_of("scripts/run_parity.py"),
        plan={key: PARITY[key] for key in ("eps0", "delta", "delta_exponents", "repetitions")},
        cells=lambda wildcards: individual_cells(wildcards.dataset),
        sizes=lambda wildcards: parity_sizes(wildcards.dataset),
        seed=config["seed"],
    script:
        "../../scripts/run_parity.py"


rule summarise_parity:
    "Mean errors and ratios at equal privacy, with bootstrap intervals and closed forms."
    input:
        trials=expand("<results>/parity/{dataset}.parquet", dataset=PARITY_DATASETS),
        published=trial_files("tv"),
        histograms=expand("<results>/histograms/{dataset}.csv", dataset=PARITY_DATASETS),
    output:
        means=report(
            "<results>/parity.csv",
            caption="../report/parity_means.rst",
            category="Tables",
            labels={"table": "parity", "shows": "mean errors at equal privacy"},
        ),
        ratios=report(
            "<results>/parity_ratio.csv",
            caption="../report/parity_ratios.rst",
            category="Tables",
            labels={"table": "parity ratios", "shows": "shuffle+INV over Gaussian at equal privacy"},
        ),
    log:
        "<results>/logs/summarise_parity.log",
    benchmark:
        "<results>/benchmarks/summarise_parity.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(390),
        runtime=minutes(11),
    params:
        code=code_of("scripts/summarise_parity.py"),
        datasets=PARITY_DATASETS,
        resamples=PARITY["bootstrap"],
        confidence=PARITY["confidence"],
        seed=config["seed"],
    script:
        "../../scripts/summarise_parity.py"


rule plan_parity:
    "For wanted (eps, delta), n and k: the eps0 allowed behind a shuffler, and the error that follows."
    output:
        csv=report(
            "<results>/parity_plan.csv",
            caption="../report/parity_plan.rst",
            category="Tables",
            labels={"table": "parity plan", "shows": "the budget that a wanted privacy allows"},
        ),
        md="<results>/parity_plan.md",
    log:
        "<results>/logs/plan_parity.log",
    benchmark:
        "<results>/benchmarks/plan_parity.tsv"
    group:
        "accountants"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(160),
        runtime=minutes(20),
    params:
        code=code_of("scripts/plan_parity.py"),
        plan=PARITY["plan"],
    script:
        "../../scripts/plan_parity.py"


rule estimate_parity:
    "One run of both mechanisms at equal privacy, cell by cell (data of fig4 and fig5 at parity)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
    output:
        "<results>/parity/{dataset}_estimates.csv",
    log:
        "<results>/logs/estimate_parity/{dataset}.log",
    benchmark:
        "<results>/benchmarks/estimate_parity/{dataset}.tsv"
    group:
        "trials"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(170),
        runtime=minutes(3),
    params:
        code=code_of("scripts/estimate_parity.py"),
        plan=lambda wildcards: parity_estimates(wildcards.dataset),
        seed=config["seed"],
    script:
        "../../scripts/estimate_parity.py"


rule draw_parity_tv:
    "Boxplots of the TV distance per n at equal privacy (Figures 2, 6, 7; any dataset)."
    input:
        trials="<results>/parity/{dataset}.parquet",
    output:
        png=report(
            "<results>/figures/{prefix}parity_{dataset}.png",
            caption="../report/parity_tv.rst",
            category="Figures",
            labels={"figure": "{prefix}parity", "shows": "TV distance per n at equal privacy, {dataset}"},
        ),
        pdf="<results>/figures/{prefix}parity_{dataset}.pdf",
        txt="<results>/figures/{prefix}parity_{dataset}.txt",
    log:
        "<results>/logs/draw_parity_tv/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_parity_tv/{prefix}{dataset}.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(440),
        runtime=minutes(11),
    params:
        code=code_of("scripts/draw_parity_tv.py", FIGURE_STYLE),
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
        delta=PARITY["delta"][0],
    script:
        "../../scripts/draw_parity_tv.py"


rule draw_parity_estimates:
    "Original and estimates at equal privacy, cell by cell (Figures 4, 5; any dataset)."
    input:
        histogram="<results>/histograms/{dataset}.csv",
        estimates="<results>/parity/{dataset}_estimates.csv",
    output:
        png=report(
            "<results>/figures/{prefix}parity_estimates_{dataset}.png",
            caption="../report/parity_estimates.rst",
            category="Figures",
            labels={
                "figure": "{prefix}parity_estimates",
                "shows": "original and estimates at equal privacy, {dataset}",
            },
        ),
        pdf="<results>/figures/{prefix}parity_estimates_{dataset}.pdf",
        txt="<results>/figures/{prefix}parity_estimates_{dataset}.txt",
    log:
        "<results>/logs/draw_parity_estimates/{prefix}{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_parity_estimates/{prefix}{dataset}.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(240),
        runtime=minutes(5),
    params:
        code=code_of("scripts/draw_parity_estimates.py", FIGURE_STYLE),
        title=lambda wildcards: config["datasets"][wildcards.dataset]["title"],
    script:
        "../../scripts/draw_parity_estimates.py"


rule draw_parity_ratio:
    "TV error of shuffle+INV over the Gaussian's at equal privacy, over n."
    input:
        ratios="<results>/parity_ratio.csv",
    output:
        png=report(
            "<results>/figures/parity_ratio.png",
            caption="../report/parity_ratio.rst",
            category="Figures",
            labels={"figure": "parity_ratio", "shows": "shuffle+INV over Gaussian at equal privacy"},
        ),
        pdf="<results>/figures/parity_ratio.pdf",
        txt="<results>/figures/parity_ratio.txt",
    log:
        "<results>/logs/draw_parity_ratio.log",
    benchmark:
        "<results>/benchmarks/draw_parity_ratio.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(240),
        runtime=minutes(5),
    params:
        code=code_of("scripts/draw_parity_ratio.py", FIGURE_STYLE),
        titles={name: DATASETS[name]["title"] for name in PARITY_DATASETS},
    script:
        "../../scripts/draw_parity_ratio.py"
