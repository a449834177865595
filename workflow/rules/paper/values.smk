# A verdict on every value that the paper prints.
INDIVIDUAL = configuration.having("individual", PAPERS)


localrules:
    judge_values,


rule judge_values:
    "A verdict on every printed value."
    input:
        values=source(VALUES),
        deltas="<results>/delta/printed_deltas.csv",
        totals="<results>/data/checkins/totals.csv",
        trials=trial_files("individual", datasets=PAPERS),
        histograms=expand("<results>/data/histograms/{dataset}.csv", dataset=INDIVIDUAL),
    output:
        shown("<results>/values/verdicts.csv", "verdicts", "every printed value beside ours"),
    log:
        "<results>/logs/judge_values.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/values/judge_values.py"),
        *settings(
            contents=digests([source(VALUES)]),
            datasets=INDIVIDUAL,
        ),
    script:
        "../../../scripts/paper/values/judge_values.py"


rule values:
    "A verdict on every printed value."
    input:
        rules.judge_values.output,
