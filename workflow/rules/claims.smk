rule judge_claims:
    "A verdict on every statement of the paper's text, on the published and on the exact reading."
    input:
        claims=source(CLAIMS),
        values=source(VALUES),
        deltas="<results>/privacy/printed_deltas.csv",
        trials=trial_files("tv", "individual"),
        estimates=expand("<results>/estimates/{dataset}.csv", dataset=ESTIMATE_DATASETS),
        parity=expand("<results>/parity/{dataset}.parquet", dataset=PARITY_DATASETS),
    output:
        csv=report(
            "<results>/report/claims.csv",
            caption="../report/claims.rst",
            category="Tables",
            labels={"table": "claims", "shows": "what the text says, and whether it holds"},
        ),
        md="<results>/tables/claims.md",
    log:
        "<results>/logs/judge_claims.log",
    benchmark:
        "<results>/benchmarks/judge_claims.tsv"
    group:
        "accountants"
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(430),
        runtime=minutes(14),
    params:
        code=code_of("scripts/judge_claims.py", CLAIMS, VALUES),
        sensitivity=config["protocol"]["sensitivity"],
        boxes={name: DATASETS[name]["box"] for name in GOWALLA},
    script:
        "../../scripts/judge_claims.py"
