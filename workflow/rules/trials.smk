rule run_trials:
    "TV distance and individual error of every mechanism at one point (dataset, eps0, eps, n)."
    input:
        histogram="results/histograms/{dataset}.csv",
        code=code_of("scripts/run_trials.py"),
    output:
        "results/trials/{dataset}/eps0~{eps0}_eps~{eps}_n~{n}_repetitions~{repetitions}.parquet",
    log:
        "results/logs/run_trials/{dataset}/eps0~{eps0}_eps~{eps}_n~{n}_repetitions~{repetitions}.log",
    benchmark:
        "results/benchmarks/run_trials/{dataset}/eps0~{eps0}_eps~{eps}_n~{n}_repetitions~{repetitions}.tsv"
    group:
        "trials"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(250),
        runtime=minutes(34),
    params:
        cells=lambda wildcards: individual_cells(wildcards.dataset),
        protocol=config["protocol"],
        seed=config["seed"],
    script:
        "../../scripts/run_trials.py"


rule estimate_cells:
    "One run of every mechanism at one point, cell by cell (data of Figures 4 and 5)."
    input:
        histogram="results/histograms/{dataset}.csv",
        code=code_of("scripts/estimate_cells.py"),
    output:
        "results/estimates/{dataset}/eps0~{eps0}_eps~{eps}_n~{n}.csv",
    log:
        "results/logs/estimate_cells/{dataset}/eps0~{eps0}_eps~{eps}_n~{n}.log",
    benchmark:
        "results/benchmarks/estimate_cells/{dataset}/eps0~{eps0}_eps~{eps}_n~{n}.tsv"
    group:
        "trials"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(210),
        runtime=minutes(5),
    params:
        protocol=config["protocol"],
        seed=config["seed"],
    script:
        "../../scripts/estimate_cells.py"
