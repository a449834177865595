# The study: every randomizer at equal privacy, and which one to use (docs/which.md).
STUDY = SETTINGS.study


rule compute_study:
    "For every n, k and guarantee: each randomizer's largest eps0, its error, and the bits of a report."
    output:
        shown("<results>/study/study.csv", "study", "all randomizers at equal privacy", "study"),
    log:
        "<results>/logs/compute_study.log",
    params:
        code=code_of("scripts/compute_table.py", "reproduction/experiments/study.py"),
        module="study",
        function="study",
        settings=STUDY.plain("n", "k", "eps", "delta", "delta_exponents"),
    script:
        "../../scripts/compute_table.py"


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
        code=code_of("scripts/write_which.py"),
        which=STUDY.which.plain(),
    script:
        "../../scripts/write_which.py"


STUDY_FILES = [
    *rules.compute_study.output,
    *rules.write_which.output,
    *figure_files(drawn_from("study/")),
]
EVERYTHING += STUDY_FILES
