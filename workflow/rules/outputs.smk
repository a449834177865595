# Tables and figures as rules name them: with captions for `snakemake --report`.
from functools import partial

from scripts.report.sections import of_datasets

KINDS = ("png", "pdf", "svg", "txt")  # of the files of a figure; the last is its caption
figures_of_datasets = partial(of_datasets, DATASETS)


def files_of(figures):
    """The files of these figures, of all kinds."""
    return expand("<results>/figures/{figure}.{kind}", figure=figures, kind=KINDS)


def shown(file, table, shows, caption="table"):
    """A table that `snakemake --report` shows, with a caption of workflow/report."""
    labels = {"table": table, "shows": shows}
    return report(file, caption=f"../report/{caption}.rst", category="Tables", labels=labels)


def drawn(name):
    """The files of a figure; `FIGURES` of report.smk has its title."""
    png = report(
        f"<results>/figures/{name}.png",
        caption="../report/figure.rst",
        category="Figures",
        labels=lambda wildcards: {
            "figure": name.format(**wildcards),
            "shows": FIGURES[name.format(**wildcards)].title,
        },
    )
    return {"png": png, **{kind: f"<results>/figures/{name}.{kind}" for kind in KINDS[1:]}}
