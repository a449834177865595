"""Boxplots of the TV error per n at equal (eps, delta), in the form of Figures 6 and 7."""

import pandas as pd
from matplotlib.figure import Figure

from scripts.shared import style, wording
from scripts.shared.job import StrPath, job
from scripts.shared.table_files import groups, read_table
from scripts.shared.wording import typeset
from scripts.trials import draw_tv as tv

COLUMNS = [*tv.COLUMNS, "delta_rule", "bound", "estimator"]
AT_EQUAL_PRIVACY = "equal (ε, δ)"
EQUAL_PRIVACY = (
    "Equal privacy: δ is fixed. ε is what the rigorous upper bound guarantees for the whole shuffled"
    " histogram, for every dataset. The Gaussian noise has the exact analytic scale for this (ε, δ) and"
    " sensitivity √2. Both estimates are projected onto the simplex."
)
NAMES = {  # (mechanism, estimator) -> the paper's name; there the Gaussian is not projected
    ("shuffle", "none"): "shuffle",
    ("shuffle", "projection"): "shuffle+INV",
    ("gaussian", "projection"): "gaussian",
}


def read(trials: StrPath, delta: float) -> pd.DataFrame:
    """The TV rows at one fixed delta, with eps from the upper bound; ``mechanism`` holds the paper's names.

    Raises ValueError where there are no such rows.
    """
    drawn = [("metric", "==", "tv"), ("bound", "==", "upper"), ("delta_rule", "==", repr(float(delta)))]
    table = read_table(trials, COLUMNS, drawn)
    pairs = pd.Series(zip(table["mechanism"], table["estimator"], strict=True), index=table.index)
    return table.assign(mechanism=pairs.map(NAMES)).dropna(subset="mechanism")


def draw(trials: pd.DataFrame, title: str) -> Figure:
    """The figure: a panel per eps0; ``title`` names the dataset."""
    return tv.draw_panels(_panels(trials), title, AT_EQUAL_PRIVACY)


def caption(trials: pd.DataFrame, title: str) -> str:
    """The caption: every parameter, what a box shows, what equal privacy means."""
    return tv.caption_of_panels(_panels(trials), title, AT_EQUAL_PRIVACY, EQUAL_PRIVACY)


def _panels(trials: pd.DataFrame) -> list[tv.Panel]:
    """One panel per eps0: eps falls with n."""
    panels = []
    for eps0, rows in groups(trials, "eps0"):
        eps, delta = wording.two_digits(rows["eps"]), typeset(rows["delta"].iloc[0])
        panels.append(tv.Panel(f"ε₀ = {eps0:g}, ε = {eps}, δ = {delta}", rows))
    return panels


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = read(snakemake.input[0], params.delta)
        style.write_figure(draw(table, params.title), caption(table, params.title), snakemake.output)
