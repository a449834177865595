rule run_trials:
    "TV distance and individual error of every mechanism: the points of one budget, or of one part of a grid."
    input:
        histogram="<results>/histograms/{dataset}.csv",
    output:
        "<results>/trials/{dataset}_{part}.parquet",
    log:
        "<results>/logs/run_trials/{dataset}_{part}.log",
    benchmark:
        "<results>/benchmarks/run_trials/{dataset}_{part}.tsv"
    group:
        "trials"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(290),
        runtime=minutes(68),
    params:
        code=code_of("scripts/run_trials.py"),
        points=trial_points,
        cells=lambda wildcards: individual_cells(wildcards.dataset),
        protocol=config["protocol"],
        seed=config["seed"],
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
    benchmark:
        "<results>/benchmarks/estimate_cells/{dataset}.tsv"
    group:
        "trials"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(210),
        runtime=minutes(5),
    params:
        code=code_of("scripts/estimate_cells.py"),
        plan=lambda wildcards: plan_of(wildcards.dataset, "estimates"),
        protocol=config["protocol"],
        seed=config["seed"],
    script:
        "../../scripts/estimate_cells.py"
