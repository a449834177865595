rule judge_claims:
    "A verdict on every statement of the paper's text, on the published and on the exact reading."
    input:
        claims="data/published/claims.csv",
        values="data/published/values.csv",
        deltas="results/privacy/printed_deltas.csv",
        trials=claim_trials(),
        estimates=[file for dataset in DATASETS for file in estimate_files(dataset)],
        parity=[file for dataset in PARITY_DATASETS for file in parity_trials(dataset)],
        code=code_of("scripts/judge_claims.py"),
    output:
        csv=report(
            "results/report/claims.csv",
            caption="../report/claims.rst",
            category="Tables",
            labels={"table": "claims", "shows": "what the text says, and whether it holds"},
        ),
        md="results/tables/claims.md",
    log:
        "results/logs/judge_claims.log",
    benchmark:
        "results/benchmarks/judge_claims.tsv"
    group:
        "accountants"
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(400),
        runtime=minutes(2),
    params:
        estimates={file: point for dataset in DATASETS for file, point in estimate_points(dataset).items()},
        sensitivity=config["protocol"]["sensitivity"],
        boxes={name: DATASETS[name]["box"] for name in GOWALLA},
    script:
        "../../scripts/judge_claims.py"
