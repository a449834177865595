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
    """The result in a few sentences, from the rows of results/study/study.csv."""
    keys = ["n", "k", "eps", "delta_rule"]
    tv, local = (
        study.pivot(index=keys, columns="randomizer", values=name) for name in ("tv", "local_tv")
    )
    least, least_locally = tv.min(axis=1), local.min(axis=1)
    useful = least <= USELESS
    krr = study[(study["randomizer"] == "grr") & (study["k"] > 2)]
    small, largest_eps = krr[krr["eps"] <= 1], krr["eps"].max()
    beyond = krr.loc[krr["eps"] == largest_eps, "ratio"].max()
    first_locally = local.le(least_locally, axis=0).sum()
    best_locally = str(first_locally.idxmax())
    return [
        "k-RR has the smallest expected error of these randomizers, or one at most"
        f" {_up(100 * (tv['grr'] / least)[useful].max() - 100)} % larger, in all {useful.sum()} settings"
        f" (of {len(tv)}) in which an estimate is useful (a TV error of at most {USELESS})."
        if useful.any()
        else "In no setting is an estimate useful.",
        "For eps up to 1 and k > 2, the error of k-RR is"
        f" {small['ratio'].min():.2f} to {small['ratio'].max():.2f} times that of the central analytic"
        " Gaussian with the same guarantee"
        + (
            f"; at eps = {largest_eps:g} it is up to {beyond:.2f} times."
            if largest_eps > 1
            else "."
        ),
        f"Without a shuffler, at eps0 = eps, {LABELS[best_locally]} has the smallest error in"
        f" {first_locally[best_locally]} of {len(local)} settings; the smallest error is at least"
        f" {_down((least_locally / least).min())} times the smallest with a shuffler.",
        f"The settings have n from {_ends(study['n'])}, k from {_ends(study['k'])} and eps from"
        f" {_ends(study['eps'])}, each with delta = {' and '.join(map(str, study['delta_rule'].unique()))}.",
    ]


def _ends(values: "pd.Series[float]") -> str:
    return " to ".join(f"{end:,}".removesuffix(".0") for end in (values.min(), values.max()))


def _down(value: float) -> str:
    return f"{math.floor(10 * value) / 10:.1f}"


def _up(value: float) -> str:
    return f"{math.ceil(10 * value - 1e-9) / 10:g}"  # 1e-9: not for the last bit of a quotient


def table_lines(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """One line of texts, in the order of `HEADER`, per n, k and eps of ``which``, the first rule of delta."""
    rows = study[study["delta_rule"] == study["delta_rule"].iloc[0]]
    for name in ("n", "k", "eps"):
        rows = rows[rows[name].isin(which[name])]
    best = rows.loc[rows.groupby(["eps", "k", "n"])["tv"].idxmin()]
    local = rows.groupby(["eps", "k", "n"])["local_tv"].min()
    lines = []
    for row in best.to_dict("records"):
        name = str(row["name"])
        use = name if ":" in name else LABELS[name]
        use = use if row["tv"] <= USELESS else "more users"
        setting = [f"{row['n']:,}", f"{row['k']:,}", f"{row['eps']:g}", use, f"{row['eps0']:.2f}"]
        error = [
            _error(row["tv"]),
            f"{row['ratio']:.2f}",
            _error(local[row["eps"], row["k"], row["n"]]),
        ]
        lines.append(setting + error)
    return lines


def _error(tv: float) -> str:
    return f"{tv:.2g}" if tv <= 1 else "above 1"


def designs_page(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> str:
    """That part of docs/designs.md, from the rows of results/study/study.csv."""
    lines = [HEADER, ["---"] * len(HEADER), *table_lines(study, which)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([f"# {TITLE}", "\n".join(statement(study)), table]) + "\n"
