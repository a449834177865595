"""Draw one figure: a PNG, a PDF, an SVG and its caption as text."""

from importlib import import_module
from inspect import signature

from reproduction.figures import style
from reproduction.jobs.job import job, write_bytes


def call(function, *data):
    """Call a function of the figure's module with those inputs and settings of the rule that it asks for."""
    available = {**dict(snakemake.input.items()), **snakemake.params.settings}
    asked = list(signature(function).parameters)[len(data) :]
    return function(*data, **{name: available[name] for name in asked})


with job(snakemake):
    figure = import_module(f"reproduction.figures.{snakemake.params.module}")
    data = call(figure.read)
    drawing, caption = call(figure.draw, data), call(figure.caption, data)
    for kind in ("png", "pdf", "svg"):
        write_bytes(style.encoded(drawing, kind), snakemake.output[kind])
    write_bytes(f"{caption}\n".encode(), snakemake.output.txt)
