# The study: every randomizer at equal privacy, and which one to use (docs/which.md).
STUDY = SETTINGS.study
STUDY_CITY = STUDY.grids.city
STUDY_CELLS = {
    table: (
        source(path.format(dataset=STUDY_CITY))
        if SOURCE == "bundled"
        else f"<results>/checkins/{STUDY_CITY}_{table}.csv"
    )
    for table, path in SUB_CELLS.items()
}
STUDY_DATASETS = [name for name in PAPERS if name in PARITY_DATASETS]


rule compute_study:
    "For every n, k and guarantee: each randomizer's largest eps0, its error, and the bits of a report."
    output:
        report(
            "<results>/study/study.csv",
            caption="../report/study.rst",
            category="Tables",
            labels={"table": "study", "shows": "all randomizers at equal privacy"},
        ),
    log:
        "<results>/logs/compute_study.log",
    benchmark:
        "<results>/benchmarks/compute_study.tsv"
    conda:
        "../envs/rules.yml"
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
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_which.py"),
        which=STUDY.which.plain(),
    script:
        "../../scripts/write_which.py"


rule simulate_study:
    "Simulated errors of all randomizers, uniform data and datasets, with intervals and closed forms."
    input:
        expand("<results>/histograms/{dataset}.csv", dataset=STUDY_DATASETS),
    output:
        "<results>/study/simulation.csv",
    log:
        "<results>/logs/simulate_study.log",
    benchmark:
        "<results>/benchmarks/simulate_study.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/simulate_study.py"),
        settings=STUDY.simulation.plain(),
        datasets=STUDY_DATASETS,
        seed=SETTINGS.seed,
    script:
        "../../scripts/simulate_study.py"


rule cut_study:
    "Errors on one city, cut into finer and coarser cells."
    input:
        **STUDY_CELLS,
    output:
        "<results>/study/grids.csv",
    log:
        "<results>/logs/cut_study.log",
    benchmark:
        "<results>/benchmarks/cut_study.tsv"
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/cut_study.py"),
        city=lambda wildcards: DATASETS[STUDY_CITY].grids(),
        settings={**STUDY.simulation.plain(), **STUDY.grids.plain()},
        seed=SETTINGS.seed,
    script:
        "../../scripts/cut_study.py"


STUDY_FILES = [
    *rules.compute_study.output,
    *rules.write_which.output,
    *rules.simulate_study.output,
    *rules.cut_study.output,
    *figure_files([*drawn_from("study/"), *drawn_from("privacy/frontier")]),
]
EVERYTHING += STUDY_FILES
