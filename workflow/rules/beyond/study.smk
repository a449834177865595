# The study: every randomizer at equal privacy, and which one to use (library/docs/designs.md).
from scripts.beyond.study.labels import LABELS


localrules:
    gather_study,
    draw_designs,


rule compute_study:
    "For every n, k and guarantee: one randomizer's largest eps0, its error, and the bits of a report."
    output:
        "<results>/study/{randomizer}.parquet",
    log:
        "<results>/logs/compute_study/{randomizer}.log",
    wildcard_constraints:
        randomizer=one_of(LABELS),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/study/compute_study.py"),
        *settings(
            n=config["study"]["n"],
            k=config["study"]["k"],
            eps=config["study"]["eps"],
            delta=config["study"]["delta"],
            delta_exponents=config["study"]["delta_exponents"],
        ),
    script:
        "../../../scripts/beyond/study/compute_study.py"


rule gather_study:
    "All randomizers of the study in one table."
    input:
        expand("<results>/study/{randomizer}.parquet", randomizer=LABELS),
    output:
        shown("<results>/study/study.csv", "study", "all randomizers at equal privacy", "study"),
    log:
        "<results>/logs/gather_study.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/study/gather_study.py"),
        *settings(order=list(LABELS)),
    script:
        "../../../scripts/beyond/study/gather_study.py"


rule compute_designs:
    "Every design at its best parameters for a few guarantees: errors, bits, who is trusted."
    output:
        shown("<results>/study/designs.csv", "designs", "which design to run", "designs"),
    log:
        "<results>/logs/compute_designs.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/study/compute_designs.py"),
        *settings(designs=config["study"]["designs"]),
    script:
        "../../../scripts/beyond/study/compute_designs.py"


rule draw_designs:
    input:
        "<results>/study/designs.csv",
    output:
        **drawn("designs"),
    log:
        "<results>/logs/draw_designs.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/beyond/study/draw_designs.py"),
    script:
        "../../../scripts/beyond/study/draw_designs.py"


rule study:
    "Which randomizer to use: all of them at equal privacy; and which design, in a figure."
    input:
        rules.gather_study.input,
        rules.gather_study.output,
        rules.compute_designs.output,
        figures_of_stage("study"),
