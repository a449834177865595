# Files as rules name them; tables and figures with captions for `snakemake --report`.
from functools import partial

from scripts.report.sections import of_datasets
from scripts.paper.trials.parts import parts_of

CAPTIONS = HERE / "workflow/report"  # of the rules' figures and tables in `snakemake --report`
KINDS = ("png", "pdf", "svg", "txt")  # of the files of a figure; the last is its caption
PARTS = {name: parts_of(dataset) for name, dataset in DATASETS.items()}  # of each dataset: file -> its points
figures_of_datasets = partial(of_datasets, DATASETS)


def one_of(names):
    """A regular expression for these names; for none of them, one that matches nothing."""
    return "|".join(names) or "(?!)"


def trial_files(*experiments, datasets=DATASETS):
    """The files with the trials of these experiments (tv, individual, grid)."""
    return [
        f"<results>/trials/{name}_{part}.parquet"
        for name in datasets
        for part, points in PARTS[name].items()
        if {point["experiment"] for point in points} & set(experiments)
    ]


def files_of(figures):
    """The files of these figures, of all kinds."""
    return expand("<results>/figures/{figure}.{kind}", figure=figures, kind=KINDS)


def shown(file, table, shows, caption="table"):
    """A table that `snakemake --report` shows, with a caption of workflow/report."""
    labels = {"table": table, "shows": shows}
    return report(file, caption=f"{CAPTIONS}/{caption}.rst", category="Tables", labels=labels)


def drawn(name):
    """The files of a figure; `FIGURES` of report.smk has its title."""
    png = report(
        f"<results>/figures/{name}.png",
        caption=f"{CAPTIONS}/figure.rst",
        category="Figures",
        labels=lambda wildcards: {
            "figure": name.format(**wildcards),
            "shows": FIGURES[name.format(**wildcards)].title,
        },
    )
    return {"png": png, **{kind: f"<results>/figures/{name}.{kind}" for kind in KINDS[1:]}}
