"""Which randomizer to use: the sentences and the table of docs/designs.md, which a test compares."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from scripts.beyond.study.labels import LABELS

TITLE = "Which randomizer, if whole reports are shuffled?"
HEADER = [
    "n", "k", "eps", "use", "eps0", "TV error", "ratio to the Gaussian", "TV error without a shuffler",
]  # fmt: skip
LINES = {"n": [10_000, 100_000, 1_000_000], "k": [16, 256], "eps": [0.1, 1]}  # of the table
USELESS = 0.5  # TV error: that of the uniform histogram on the cities is 0.48 and 0.67


def statement(study: pd.DataFrame) -> list[str]:
    """The result of the study in four sentences: on k-RR, the Gaussian, the local model, and the settings.

    ``study`` are the rows of results/study/study.csv, of `compute_study.study`: a row for every randomizer
    and setting (n, k, eps, rule of delta). Its errors are expected TV errors.
    """
    setting = ["n", "k", "eps", "delta_rule"]
    tv = study.pivot(index=setting, columns="randomizer", values="tv")
    local_tv = study.pivot(index=setting, columns="randomizer", values="local_tv")
    least = tv.min(axis=1)
    least_locally = local_tv.min(axis=1)

    useful = least <= USELESS
    smallest_error = "In no setting is an estimate useful."
    if useful.any():
        larger_percent = 100 * (tv["grr"] / least)[useful].max() - 100
        smallest_error = (
            "k-RR has the smallest expected error of these randomizers, or one at most"
            f" {_rounded_up(larger_percent)} % larger, in all {useful.sum()} settings"
            f" (of {len(tv)}) in which an estimate is useful (a TV error of at most {USELESS})."
        )

    krr = study[(study["randomizer"] == "grr") & (study["k"] > 2)]
    ratios = krr.loc[krr["eps"] <= 1, "ratio"]
    gaussian = (
        "For eps up to 1 and k > 2, the error of k-RR is"
        f" {ratios.min():.2f} to {ratios.max():.2f} times that of the central analytic"
        " Gaussian with the same guarantee"
    )
    largest_eps = krr["eps"].max()
    if largest_eps > 1:
        ratio = krr.loc[krr["eps"] == largest_eps, "ratio"].max()
        gaussian += f"; at eps = {largest_eps:g} it is up to {ratio:.2f} times"

    # In how many settings each randomizer has the smallest error without a shuffler.
    wins = local_tv.le(least_locally, axis=0).sum()
    best_locally = str(wins.idxmax())
    without_shuffler = (
        f"Without a shuffler, at eps0 = eps, {LABELS[best_locally]} has the smallest error in"
        f" {wins[best_locally]} of {len(local_tv)} settings; the smallest error is at least"
        f" {_rounded_down((least_locally / least).min())} times the smallest with a shuffler."
    )
    rules = " and ".join(map(str, study["delta_rule"].unique()))
    settings = (
        f"The settings have n from {_ends(study['n'])}, k from {_ends(study['k'])} and eps from"
        f" {_ends(study['eps'])}, each with delta = {rules}."
    )
    return [smallest_error, f"{gaussian}.", without_shuffler, settings]


def _ends(values: "pd.Series[float]") -> str:
    """'1,000 to 1,000,000': the smallest and the largest value."""
    return " to ".join(f"{end:,}".removesuffix(".0") for end in (values.min(), values.max()))


def _rounded_down(value: float) -> str:
    """'3.2' for 3.29."""
    return f"{math.floor(10 * value) / 10:.1f}"


def _rounded_up(value: float) -> str:
    """'3.3' for 3.21, and '3' for 3.0 with an error in the last bit, as quotients have."""
    return f"{math.ceil(10 * value - 1e-9) / 10:g}"


def table_lines(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """The best randomizer for every n, k and eps in ``which``: the texts of a table's lines, as in `HEADER`.

    ``study`` are the rows of results/study/study.csv. The best randomizer has the least expected TV error at
    the first rule of delta. "more users" takes its place where this error is too large to be useful.
    """
    setting = ["eps", "k", "n"]
    rows = study[study["delta_rule"] == study["delta_rule"].iloc[0]]
    for name in setting:
        rows = rows[rows[name].isin(which[name])]
    best = rows.loc[rows.groupby(setting)["tv"].idxmin()]
    least_local_tv = rows.groupby(setting)["local_tv"].min()

    lines = []
    for row in best.to_dict("records"):
        name = str(row["name"])
        if row["tv"] > USELESS:
            use = "more users"
        elif ":" in name:  # with its parameter
            use = name
        else:
            use = LABELS[name]
        local_tv = least_local_tv[row["eps"], row["k"], row["n"]]
        lines.append(
            [
                f"{row['n']:,}",
                f"{row['k']:,}",
                f"{row['eps']:g}",
                use,
                f"{row['eps0']:.2f}",
                _error(row["tv"]),
                f"{row['ratio']:.2f}",
                _error(local_tv),
            ]
        )
    return lines


def _error(tv: float) -> str:
    """A total variation error in two digits; above 1 it says nothing."""
    return f"{tv:.2g}" if tv <= 1 else "above 1"


def designs_page(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> str:
    """That part of docs/designs.md which says what the study found: a title, `statement` and `table_lines`.

    ``study`` are the rows of results/study/study.csv, and ``which`` the n, k and eps of the table.
    """
    lines = [HEADER, ["---"] * len(HEADER), *table_lines(study, which)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([f"# {TITLE}", "\n".join(statement(study)), table]) + "\n"
