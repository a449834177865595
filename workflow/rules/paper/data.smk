# Datasets: one histogram each. Gowalla's check-ins come from the bundled counts, from SNAP or from your own file;
# other histograms are drawn from a normal distribution, or come from a file of yours.
SOURCE = config["gowalla"]["source"]
GOWALLA, NORMAL, COUNTS = (
    configuration.names_of_kind(DATASETS, kind) for kind in ("gowalla", "normal", "counts")
)
SUB_CELLS = {table: f"data/gowalla/{{dataset}}_{table}.csv" for table in ("lines", "counts")}
DOWNLOADED = (
    "data/raw/loc-gowalla_totalCheckins.txt.gz"  # SNAP's name for it, wherever it comes from
)
CHECKINS = config["gowalla"]["file"] if SOURCE == "file" else DOWNLOADED
# All rules are there, whatever the source is. By default no result needs the rules that read SNAP's file.
COUNTED = GOWALLA if SOURCE == "bundled" else []  # cities whose counts are bundled
CROPPED = [] if SOURCE == "bundled" else GOWALLA  # cities whose check-ins are read
BUNDLED = [
    name for name in GOWALLA if (PROJECT / SUB_CELLS["counts"].format(dataset=name)).exists()
]
SUB_CELLS_OF_BUNDLED = {
    table: [source(path.format(dataset=name)) for name in BUNDLED]
    for table, path in SUB_CELLS.items()
}
OF_NORMAL = ("mean", "spread", "spread_is", "range", "cells", "population")


localrules:
    use_bundled_counts,
    download_checkins,
    crop_checkins,
    grid_checkins,
    compare_checkins,
    count_checkins,
    sample_synthetic,
    use_counts,
    draw_checkins,


rule use_bundled_counts:
    "One city's grids, cut from the sub-cells in data/gowalla, and points spread inside the sub-cells."
    input:
        **{table: source(path) for table, path in SUB_CELLS.items()},
    output:
        histogram="<results>/data/histograms/{dataset}.csv",
        cells="<results>/data/checkins/{dataset}_cells.csv",
        points="<results>/data/checkins/{dataset}.parquet",
    log:
        "<results>/logs/use_bundled_counts/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(COUNTED),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/use_bundled_counts.py"),
        *settings(
            contents=lambda wildcards: digests(
                source(file.format(**wildcards)) for file in SUB_CELLS.values()
            ),
            box=lookup("datasets/{dataset}/box", within=config),
            uniform=lookup("datasets/{dataset}/uniform", within=config),
            stepped=lookup("datasets/{dataset}/stepped", within=config, default=None),
            grid=config["gowalla"]["grid"],
            seed=config["seed"],
        ),
    script:
        "../../../scripts/paper/data/use_bundled_counts.py"


# The rule does not rerun when the address changes: the md5 fixes the file.
rule download_checkins:
    "Download SNAP's file of Gowalla check-ins and check its md5; an interrupted download starts again."
    output:
        DOWNLOADED,
    log:
        "<results>/logs/download_checkins.log",
    priority: 1
    conda:
        "../../envs/rules.yml"
    params:
        *settings(md5=config["gowalla"]["download"]["md5"]),
    script:
        "../../../scripts/paper/data/download_checkins.py"


rule crop_checkins:
    "The check-ins inside each city's box, in one pass over the file."
    input:
        checkins=CHECKINS,
    output:
        expand("<results>/data/checkins/{dataset}_cropped.parquet", dataset=GOWALLA),
    log:
        "<results>/logs/crop_checkins.log",
    priority: 1
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/crop_checkins.py"),
        *settings(
            contents=(lambda wildcards: digests([CHECKINS])) if SOURCE == "file" else {},
            md5=None if SOURCE == "file" else config["gowalla"]["download"]["md5"],
            boxes={name: DATASETS[name]["box"] for name in GOWALLA},
            bad_rows_at_most=config["gowalla"]["bad_rows_at_most"],
        ),
    script:
        "../../../scripts/paper/data/crop_checkins.py"


rule grid_checkins:
    "One city's check-ins counted in the cells of its grids and in sub-cells, as data/gowalla has them."
    input:
        points="<results>/data/checkins/{dataset}_cropped.parquet",
    output:
        histogram="<results>/data/histograms/{dataset}.csv",
        cells="<results>/data/checkins/{dataset}_cells.csv",
        lines="<results>/data/checkins/{dataset}_lines.csv",
        counts="<results>/data/checkins/{dataset}_counts.csv",
    log:
        "<results>/logs/grid_checkins/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(CROPPED),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/grid_checkins.py"),
        *settings(
            box=lookup("datasets/{dataset}/box", within=config),
            uniform=lookup("datasets/{dataset}/uniform", within=config),
            stepped=lookup("datasets/{dataset}/stepped", within=config, default=None),
            grid=config["gowalla"]["grid"],
        ),
    script:
        "../../../scripts/paper/data/grid_checkins.py"


rule compare_checkins:
    "Where the counts of this run differ from the bundled ones, and from the numbers that the paper prints."
    input:
        **SUB_CELLS_OF_BUNDLED,
        cells=expand("<results>/data/checkins/{dataset}_cells.csv", dataset=BUNDLED),
        values=source(VALUES),
    output:
        shown(
            "<results>/data/checkins/compared.csv",
            "check-ins compared",
            "check-ins of this run, bundled and printed",
            "compared",
        ),
    log:
        "<results>/logs/compare_checkins.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/compare_checkins.py"),
        *settings(
            contents=digests([source(VALUES), *sum(SUB_CELLS_OF_BUNDLED.values(), [])]),
            datasets=BUNDLED,
        ),
    script:
        "../../../scripts/paper/data/compare_checkins.py"


rule count_checkins:
    "Check-ins, non-empty cells and largest cell of every city, in each of its grids."
    input:
        cells=expand("<results>/data/checkins/{dataset}_cells.csv", dataset=GOWALLA),
    output:
        shown(
            "<results>/data/checkins/totals.csv",
            "check-ins",
            "check-ins per city and grid",
            "totals",
        ),
    log:
        "<results>/logs/count_checkins.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/count_checkins.py"),
        *settings(datasets=GOWALLA),
    script:
        "../../../scripts/paper/data/count_checkins.py"


rule sample_synthetic:
    "Sample N(mean, spread) users and count them in cells."
    output:
        "<results>/data/histograms/{dataset}.csv",
    log:
        "<results>/logs/sample_synthetic/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(NORMAL),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/sample_synthetic.py"),
        *settings(
            normal=lambda wildcards: {
                name: DATASETS[wildcards.dataset][name] for name in OF_NORMAL
            },
            seed=config["seed"],
        ),
    script:
        "../../../scripts/paper/data/sample_synthetic.py"


rule use_counts:
    "Check a histogram of your own and use it as a dataset."
    input:
        counts=lookup("datasets/{dataset}/file", within=config),
    output:
        "<results>/data/histograms/{dataset}.csv",
    log:
        "<results>/logs/use_counts/{dataset}.log",
    wildcard_constraints:
        dataset=one_of(COUNTS),
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/use_counts.py"),
        *settings(contents=lambda wildcards: digests([DATASETS[wildcards.dataset]["file"]])),
    script:
        "../../../scripts/paper/data/use_counts.py"


rule draw_checkins:
    "Figure 3: the check-ins of each city."
    input:
        histograms=expand("<results>/data/histograms/{dataset}.csv", dataset=GOWALLA),
        checkins=expand("<results>/data/checkins/{dataset}.parquet", dataset=COUNTED)
        + expand("<results>/data/checkins/{dataset}_cropped.parquet", dataset=CROPPED),
    output:
        **drawn("fig3_checkins"),
    log:
        "<results>/logs/draw_checkins.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/data/draw_checkins.py"),
        *settings(
            titles=[DATASETS[name]["title"] for name in GOWALLA],
            boxes=[DATASETS[name]["box"] for name in GOWALLA],
            grid=config["gowalla"]["grid"],
        ),
    script:
        "../../../scripts/paper/data/draw_checkins.py"


rule data:
    "The histogram of every dataset, and the check-ins of every city."
    input:
        expand("<results>/data/histograms/{dataset}.csv", dataset=DATASETS),
        expand(rules.use_bundled_counts.output, dataset=COUNTED),
        expand(rules.grid_checkins.output, dataset=CROPPED),
        rules.crop_checkins.output if CROPPED else [],
        rules.compare_checkins.output if CROPPED and BUNDLED else [],
        rules.count_checkins.output,
        figures_of_stage("data"),
