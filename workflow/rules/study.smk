# The study: every randomizer at equal privacy, and which one to use (docs/which.md).
STUDY_FIGURES = {
    "study_best": ("parity", "The best randomizer behind a shuffler"),
    "study_ratio": ("parity", "Error of every randomizer relative to the Gaussian"),
}


rule compute_study:
    "For every n, k and guarantee: each randomizer's largest eps0, its error, and the bits of a report."
    output:
        shown("<results>/study/study.csv", "study", "all randomizers at equal privacy", "study"),
    log:
        "<results>/logs/compute_study.log",
    params:
        n=config["study"]["n"],
        k=config["study"]["k"],
        eps=config["study"]["eps"],
        delta=config["study"]["delta"],
        delta_exponents=config["study"]["delta_exponents"],
    script:
        "../../scripts/study/compute_study.py"


rule write_which:
    "Which randomizer to use: the study in sentences and a table."
    input:
        "<results>/study/study.csv",
    output:
        "<results>/study/which.md",
    log:
        "<results>/logs/write_which.log",
    localrule: True
    params:
        which=config["study"]["which"],
    script:
        "../../scripts/study/write_which.py"


rule draw_study_best:
    input:
        "<results>/study/study.csv",
    output:
        **drawn("study_best"),
    log:
        "<results>/logs/draw_study_best.log",
    localrule: True
    script:
        "../../scripts/study/draw_study_best.py"


rule draw_study_ratio:
    input:
        "<results>/study/study.csv",
    output:
        **drawn("study_ratio"),
    log:
        "<results>/logs/draw_study_ratio.log",
    localrule: True
    script:
        "../../scripts/study/draw_study_ratio.py"


rule study:
    "Which randomizer to use: all of them at equal privacy, in sentences, a table and figures."
    input:
        rules.compute_study.output,
        rules.write_which.output,
        files_of(STUDY_FIGURES),
    localrule: True
