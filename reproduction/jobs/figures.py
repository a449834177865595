"""What the rules of all figures share: their outputs, and the module that each one is drawn by."""

from importlib import import_module
from pathlib import Path
from typing import Any

from snakemake.io import report

from reproduction.jobs.code import code_of

KINDS = ("png", "pdf", "svg", "txt")
SHARED = ["scripts/draw_figure.py", "reproduction/figures/tightshuffle.mplstyle"]


def drawn_by(name: str) -> dict[str, Any]:
    """The params that name a figure's module in reproduction/figures, and all code behind the figure."""
    return {"figure": name, "code": code_of(*SHARED, f"reproduction/figures/{name}.py")}


def drawn_files(name: str) -> dict[str, Any]:
    """The outputs of a figure: a PNG, a PDF, an SVG and its caption as text; ``name`` may hold wildcards."""
    png, *others = (f"<results>/figures/{name}.{kind}" for kind in KINDS)
    shown = {"caption": "../report/figure.rst", "category": "Figures", "labels": labels}
    return dict(zip(KINDS, [report(png, **shown), *others], strict=True))


def labels(wildcards: Any, output: Any, params: Any) -> dict[str, str]:
    """What Snakemake's report calls a figure.

    By the name of the figure's module, which imports matplotlib: only a report should wait for that.
    """
    title = import_module(f"reproduction.figures.{params.figure}").TITLE
    return {"figure": Path(output.png).stem, "shows": title}
