# Verdicts on the paper's printed values and statements.
INDIVIDUAL = workload.having(PAPERS, "individual")
CITIES = [name for name in INDIVIDUAL if name in GOWALLA]


rule compute_printed_deltas:
    "log10 delta behind every printed delta, by the published formula and exactly; and Corollary 1."
    input:
        values=source(VALUES),
    output:
        deltas="<results>/privacy/printed_deltas.csv",
        corollary="<results>/privacy/corollary_1.csv",
    log:
        "<results>/logs/compute_printed_deltas.log",
    localrule: True
    params:
        code=code_of("scripts/compute_printed_deltas.py", VALUES),
    script:
        "../../scripts/compute_printed_deltas.py"


rule judge_values:
    "A verdict on every printed value."
    input:
        values=source(VALUES),
        deltas="<results>/privacy/printed_deltas.csv",
        totals="<results>/checkins/totals.csv",
        trials=trial_files("individual", datasets=PAPERS),
        histograms=expand("<results>/histograms/{dataset}.csv", dataset=INDIVIDUAL),
    output:
        shown("<results>/report/verdicts.csv", "verdicts", "every printed value beside ours"),
    log:
        "<results>/logs/judge_values.log",
    localrule: True
    params:
        code=code_of("scripts/judge_values.py", VALUES),
        datasets=INDIVIDUAL,
    script:
        "../../scripts/judge_values.py"


rule judge_jointly:
    "Joint tests of the printed random values, and of those of the cities on both of their grids."
    input:
        values=source(VALUES),
        trials=trial_files("individual", datasets=PAPERS),
        histograms=expand("<results>/histograms/{dataset}.csv", dataset=INDIVIDUAL),
        cells=expand("<results>/checkins/{dataset}_cells.csv", dataset=CITIES),
    output:
        tests=shown("<results>/report/joint_tests.csv", "joint tests", "all random values together"),
        grids="<results>/report/grids.csv",
    log:
        "<results>/logs/judge_jointly.log",
    params:
        code=code_of("scripts/judge_jointly.py", VALUES),
        datasets=INDIVIDUAL,
        cities={name: DATASETS[name].individual.plain() for name in CITIES},
        protocol=SETTINGS.protocol.plain(),
        seed=SETTINGS.seed,
    script:
        "../../scripts/judge_jointly.py"


rule judge_claims:
    "A verdict on every statement of the paper's text, on the published and on the exact reading."
    input:
        claims=source(CLAIMS),
        values=source(VALUES),
        deltas="<results>/privacy/printed_deltas.csv",
        trials=trial_files("tv", "individual", datasets=PAPERS),
        estimates=expand("<results>/estimates/{dataset}.csv", dataset=workload.having(PAPERS, "estimates")),
        parity=expand("<results>/parity/{dataset}.parquet", dataset=workload.having(PAPERS, "tv")),
    output:
        shown(
            "<results>/report/claim_verdicts.csv",
            "claims",
            "what the text says, and whether it holds",
            "claim_verdicts",
        ),
    log:
        "<results>/logs/judge_claims.log",
    params:
        code=code_of("scripts/judge_claims.py", CLAIMS, VALUES),
        sensitivity=SETTINGS.protocol.sensitivity,
        boxes={name: PAPERS[name].box.plain() for name in workload.of_kind(PAPERS, "gowalla")},
    script:
        "../../scripts/judge_claims.py"


EVERYTHING += [
    *rules.compute_printed_deltas.output,
    *rules.judge_values.output,
    *rules.judge_jointly.output,
    *rules.judge_claims.output,
]
