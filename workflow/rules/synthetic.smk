rule draw_synthetic:
    "Draw N(mean, spread) users and cut them into cells."
    output:
        "<results>/histograms/{dataset}.csv",
    log:
        "<results>/logs/draw_synthetic/{dataset}.log",
    benchmark:
        "<results>/benchmarks/draw_synthetic/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(NORMAL) or "(?!)",
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(170),
        runtime=minutes(2),
    params:
        code=code_of("scripts/draw_synthetic.py"),
        plan=lambda wildcards: {
            key: DATASETS[wildcards.dataset][key]
            for key in ("mean", "spread", "spread_is", "range", "cells", "population")
        },
        seed=config["seed"],
    script:
        "../../scripts/draw_synthetic.py"


rule use_counts:
    "Check a histogram of the user's own and take it as a dataset."
    input:
        counts=lambda wildcards: DATASETS[wildcards.dataset]["file"],
    output:
        "<results>/histograms/{dataset}.csv",
    log:
        "<results>/logs/use_counts/{dataset}.log",
    benchmark:
        "<results>/benchmarks/use_counts/{dataset}.tsv"
    wildcard_constraints:
        dataset="|".join(COUNTS) or "(?!)",
    localrule: True
    conda:
        "../envs/rules.yml"
    resources:
        mem_mb=memory(160),
        runtime=minutes(2),
    params:
        code=code_of("scripts/use_counts.py"),
        contents=lambda wildcards: digest(DATASETS[wildcards.dataset]["file"]),
    script:
        "../../scripts/use_counts.py"
