"""One run's estimates at equal (eps, delta) beside the original, in the form of Figures 4 and 5."""

from matplotlib.figure import Figure

from scripts.parity.draw_parity_tv import AT_EQUAL_PRIVACY, EQUAL_PRIVACY
from scripts.shared import style
from scripts.shared.job import job
from scripts.trials.draw_estimates import MECHANISMS, Runs, caption_of_runs, draw_runs
from scripts.trials.draw_estimates import read as read  # the files have the same form


def draw(data: Runs, title: str) -> Figure:
    """The figure: the original, and a row per eps0 with each estimate and its error; or step lines."""
    return draw_runs(data, title, AT_EQUAL_PRIVACY, dict.fromkeys(MECHANISMS, "projected"))


def caption(data: Runs, title: str) -> str:
    """The caption: every parameter, TV errors, the colours outside the scale, what equal privacy means."""
    return caption_of_runs(data, title, AT_EQUAL_PRIVACY, f"\n\n{EQUAL_PRIVACY}")


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        runs = read(snakemake.input.histogram, snakemake.input.estimates)
        style.write_figure(draw(runs, params.title), caption(runs, params.title), snakemake.output)
