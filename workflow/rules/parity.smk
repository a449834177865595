# The comparison at equal (eps, delta): docs/parity.md.


rule run_parity:
    "Errors of both mechanisms at equal privacy: one dataset and n, every eps0 and delta."
    input:
        histogram="results/histograms/{dataset}.csv",
        code=code_of("scripts/run_parity.py"),
    output:
        "results/parity/{dataset}/n~{n}.parquet",
    log:
        "results/logs/run_parity/{dataset}/n~{n}.log",
    benchmark:
        "results/benchmarks/run_parity/{dataset}/n~{n}.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        plan={key: PARITY[key] for key in ("eps0", "delta", "delta_exponents", "repetitions")},
        cells=lambda wildcards: individual_cells(wildcards.dataset),
        seed=config["seed"],
    script:
        "../../scripts/run_parity.py"


rule summarise_parity:
    "Mean errors and ratios at equal privacy, with bootstrap intervals and closed forms."
    input:
        trials=[file for dataset in PARITY_DATASETS for file in parity_trials(dataset)],
        published=[file for dataset in PARITY_DATASETS for file in tv_trials(dataset)],
        histograms=expand("results/histograms/{dataset}.csv", dataset=PARITY_DATASETS),
        code=code_of("scripts/summarise_parity.py"),
    output:
        means="results/parity.csv",
        ratios="results/parity_ratio.csv",
    log:
        "results/logs/summarise_parity.log",
    benchmark:
        "results/benchmarks/summarise_parity.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=1000,
        runtime=10,
    params:
        histograms={name: f"results/histograms/{name}.csv" for name in PARITY_DATASETS},
        resamples=PARITY["bootstrap"],
        confidence=PARITY["confidence"],
        seed=config["seed"],
    script:
        "../../scripts/summarise_parity.py"


rule plan_parity:
    "For wanted (eps, delta), n and k: the eps0 allowed behind a shuffler, and the error that follows."
    input:
        code=code_of("scripts/plan_parity.py"),
    output:
        csv="results/parity_plan.csv",
        md="results/parity_plan.md",
    log:
        "results/logs/plan_parity.log",
    benchmark:
        "results/benchmarks/plan_parity.tsv"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=500,
        runtime=10,
    params:
        plan=PARITY["plan"],
    script:
        "../../scripts/plan_parity.py"
