# Verdicts on what the paper's text says, and joint tests of its random values.
CLAIMS = "data/published/claims.csv"
CITIES = [name for name in INDIVIDUAL if name in GOWALLA]


localrules:
    fit_noise_scale,


rule judge_jointly:
    "Joint tests of the printed random values, and of those of the cities on both of their grids."
    input:
        values=source(VALUES),
        trials=trial_files("individual", datasets=PAPERS),
        histograms=expand("<results>/data/histograms/{dataset}.csv", dataset=INDIVIDUAL),
        cells=expand("<results>/data/checkins/{dataset}_cells.csv", dataset=CITIES),
    output:
        tests=shown(
            "<results>/statements/joint_tests.csv", "joint tests", "all random values together"
        ),
        grids="<results>/statements/grids.csv",
    log:
        "<results>/logs/judge_jointly.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/statements/judge_jointly.py"),
        *settings(
            contents=digests([source(VALUES)]),
            datasets=INDIVIDUAL,
            cities=CITIES,
            repetitions={name: DATASETS[name]["individual"]["repetitions"] for name in CITIES},
            protocol=config["protocol"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/beyond/statements/judge_jointly.py"


rule fit_noise_scale:
    "The scales of the Gaussian's noise that fit the printed errors."
    input:
        values=source(VALUES),
        totals="<results>/data/checkins/totals.csv",
    output:
        "<results>/statements/noise_scale.csv",
    log:
        "<results>/logs/fit_noise_scale.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/statements/fit_noise_scale.py"),
        *settings(contents=digests([source(VALUES)])),
    script:
        "../../../scripts/beyond/statements/fit_noise_scale.py"


rule judge_claims:
    "A verdict on every statement of the paper's text, on the published and on the exact reading."
    input:
        claims=source(CLAIMS),
        values=source(VALUES),
        cited_bounds="<results>/bounds/cited_bounds.csv",
        trials=trial_files("tv", "individual", datasets=PAPERS),
        estimates=expand(
            "<results>/trials/estimates/{dataset}.csv",
            dataset=configuration.having("estimates", PAPERS),
        ),
        parity=expand(
            "<results>/parity/{dataset}.parquet", dataset=configuration.having("tv", PAPERS)
        ),
    output:
        shown(
            "<results>/statements/claim_verdicts.csv",
            "claims",
            "what the text says, and whether it holds",
            "claim_verdicts",
        ),
    log:
        "<results>/logs/judge_claims.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/statements/judge_claims.py"),
        *settings(
            contents=digests(map(source, (CLAIMS, VALUES))),
            sensitivity=config["protocol"]["sensitivity"],
            boxes={
                name: PAPERS[name]["box"]
                for name in configuration.names_of_kind(PAPERS, "gowalla")
            },
        ),
    script:
        "../../../scripts/beyond/statements/judge_claims.py"


rule statements:
    "The verdicts on the paper's statements, the joint tests, and the noise that fits the printed errors."
    input:
        rules.judge_jointly.output,
        rules.fit_noise_scale.output,
        rules.judge_claims.output,
