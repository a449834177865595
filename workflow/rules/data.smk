# Datasets: one histogram each. Gowalla's check-ins come from the bundled counts, from SNAP or from your own file;
# other histograms are drawn from a normal distribution, or come from a file of yours.
import re

SOURCE = SETTINGS.gowalla.source
CITY = "|".join(map(re.escape, GOWALLA)) or "(?!)"  # (?!) matches nothing
SUB_CELLS = {table: f"data/gowalla/{{dataset}}_{table}.csv" for table in ("lines", "counts")}
DOWNLOADED = "data/raw/loc-gowalla_totalCheckins.txt.gz"  # SNAP's name for it, wherever it comes from
CHECKINS = DOWNLOADED if SOURCE == "snap" else SETTINGS.gowalla.file


if SOURCE == "bundled":

    rule use_bundled_counts:
        "One city's grids, cut from the sub-cells in data/gowalla, and points spread inside the sub-cells."
        input:
            **{table: source(path) for table, path in SUB_CELLS.items()},
        output:
            histogram="<results>/histograms/{dataset}.csv",
            cells="<results>/checkins/{dataset}_cells.csv",
            points="<results>/checkins/{dataset}.parquet",
        log:
            "<results>/logs/use_bundled_counts/{dataset}.log",
        wildcard_constraints:
            dataset=CITY,
        localrule: True
        params:
            code=lambda wildcards: code_of(
                "scripts/use_bundled_counts.py", *expand(SUB_CELLS.values(), dataset=wildcards.dataset)
            ),
            dataset=lambda wildcards: DATASETS[wildcards.dataset].grids(),
            grid=SETTINGS.gowalla.grid,
            seed=SETTINGS.seed,
        script:
            "../../scripts/use_bundled_counts.py"

    EVERYTHING += expand(rules.use_bundled_counts.output, dataset=GOWALLA)


if SOURCE == "snap":

    # The rule does not rerun when its code or the address changes: the md5 fixes the file.
    rule download_checkins:
        "Download SNAP's file of Gowalla check-ins and check its md5; an interrupted download starts again."
        output:
            DOWNLOADED,
        log:
            "<results>/logs/download_checkins.log",
        priority: 1
        localrule: True
        params:
            md5=SETTINGS.gowalla.download.md5,
        script:
            "../../scripts/download_checkins.py"


if SOURCE in ("snap", "file"):

    rule crop_checkins:
        "The check-ins inside each city's box, in one pass over the file."
        input:
            checkins=CHECKINS,
        output:
            points=expand("<results>/checkins/{dataset}.parquet", dataset=GOWALLA),
            summary="<results>/checkins/crop_summary.csv",
        log:
            "<results>/logs/crop_checkins.log",
        priority: 1
        localrule: True
        params:
            code=code_of("scripts/crop_checkins.py"),
            contents=(lambda wildcards: digest(CHECKINS)) if SOURCE == "file" else None,
            boxes={dataset: DATASETS[dataset].box.plain() for dataset in GOWALLA},
            bad_rows_at_most=SETTINGS.gowalla.bad_rows_at_most,
        script:
            "../../scripts/crop_checkins.py"

    rule grid_checkins:
        "One city's check-ins counted in the cells of its grids and in sub-cells, as data/gowalla has them."
        input:
            points="<results>/checkins/{dataset}.parquet",
        output:
            histogram="<results>/histograms/{dataset}.csv",
            cells="<results>/checkins/{dataset}_cells.csv",
            lines="<results>/checkins/{dataset}_lines.csv",
            counts="<results>/checkins/{dataset}_counts.csv",
        log:
            "<results>/logs/grid_checkins/{dataset}.log",
        wildcard_constraints:
            dataset=CITY,
        localrule: True
        params:
            code=code_of("scripts/grid_checkins.py"),
            dataset=lambda wildcards: DATASETS[wildcards.dataset].grids(),
            grid=SETTINGS.gowalla.grid,
        script:
            "../../scripts/grid_checkins.py"

    EVERYTHING += expand(rules.crop_checkins.output + rules.grid_checkins.output, dataset=GOWALLA)


rule count_checkins:
    "Check-ins, non-empty cells and largest cell of every city, in each of its grids."
    input:
        cells=expand("<results>/checkins/{dataset}_cells.csv", dataset=GOWALLA),
    output:
        shown("<results>/checkins/totals.csv", "check-ins", "check-ins per city and grid", "totals"),
    log:
        "<results>/logs/count_checkins.log",
    localrule: True
    params:
        code=code_of("scripts/count_checkins.py"),
        datasets=GOWALLA,
    script:
        "../../scripts/count_checkins.py"


rule sample_synthetic:
    "Sample N(mean, spread) users and count them in cells."
    output:
        "<results>/histograms/{dataset}.csv",
    log:
        "<results>/logs/sample_synthetic/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(NORMAL) or "(?!)",
    localrule: True
    params:
        code=code_of("scripts/sample_synthetic.py"),
        settings=lambda wildcards: DATASETS[wildcards.dataset].law(),
        seed=SETTINGS.seed,
    script:
        "../../scripts/sample_synthetic.py"


rule use_counts:
    "Check a histogram of your own and use it as a dataset."
    input:
        counts=lambda wildcards: DATASETS[wildcards.dataset].file,
    output:
        "<results>/histograms/{dataset}.csv",
    log:
        "<results>/logs/use_counts/{dataset}.log",
    wildcard_constraints:
        dataset="|".join(COUNTS) or "(?!)",
    localrule: True
    params:
        code=code_of("scripts/use_counts.py"),
        contents=lambda wildcards: digest(DATASETS[wildcards.dataset].file),
    script:
        "../../scripts/use_counts.py"


EVERYTHING += [
    *expand(rules.count_checkins.output, dataset=GOWALLA),
    *expand("<results>/histograms/{dataset}.csv", dataset=NORMAL + COUNTS),
]
