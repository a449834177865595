"""Which randomizer to use: the sentences and the table of library/docs/designs.md, which a test compares."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from scripts.beyond.study.labels import LABELS

TITLE = "Which randomizer, if whole reports are shuffled?"
HEADER = [
    "n", "k", "eps", "use", "eps0", "TV error", "ratio to the Gaussian", "TV error without a shuffler",
]  # fmt: skip
LINES = {"n": [10_000, 100_000, 1_000_000], "k": [16, 256], "eps": [0.1, 1]}  # of the table
# An estimate with a larger expected TV error is called useless. On the cities, the uniform histogram, which
# no user has reported, has the TV error 0.48 and 0.67.
LARGEST_USEFUL_TV = 0.5


def statement(study: pd.DataFrame) -> list[str]:
    """The result of the study in four sentences, which say:

    - by how much the error of k-RR ("grr") exceeds the smallest one, where an estimate is useful
    - the range of the quotient of k-RR's error and that of the central Gaussian mechanism
    - which randomizer is the best one without a shuffler, and how much larger the error is then
    - the settings: n, k, eps and delta

    ``study`` has a row for every randomizer and setting (n, k, eps, delta_rule). Errors are expected total
    variation (TV) errors: tv behind a shuffler, local_tv without one, and ratio, which is tv divided by the
    TV error of the central Gaussian mechanism with the same (eps, delta).
    """
    setting = ["n", "k", "eps", "delta_rule"]
    tv = study.pivot(index=setting, columns="randomizer", values="tv")
    local_tv = study.pivot(index=setting, columns="randomizer", values="local_tv")
    least = tv.min(axis=1)  # of all randomizers, for each setting
    least_locally = local_tv.min(axis=1)

    useful = least <= LARGEST_USEFUL_TV
    smallest_error = "In no setting is an estimate useful."
    if useful.any():
        larger_percent = 100 * (tv["grr"] / least)[useful].max() - 100
        smallest_error = (
            "k-RR has the smallest expected error of these randomizers, or one at most"
            f" {_tenths_above(larger_percent)} % larger, in all {useful.sum()} settings"
            f" (of {len(tv)}) in which an estimate is useful"
            f" (a TV error of at most {LARGEST_USEFUL_TV})."
        )

    # Without k = 2: the Gaussian ignores that two counts have a fixed sum, so k-RR can be better there.
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

    # wins: randomizer -> in how many settings it has the smallest error without a shuffler.
    wins = local_tv.le(least_locally, axis=0).sum()
    best_locally = str(wins.idxmax())
    without_shuffler = (
        f"Without a shuffler, at eps0 = eps, {LABELS[best_locally]} has the smallest error in"
        f" {wins[best_locally]} of {len(local_tv)} settings; the smallest error is at least"
        f" {_tenths_below((least_locally / least).min())} times the smallest with a shuffler."
    )
    rules = " and ".join(map(str, study["delta_rule"].unique()))
    settings = (
        f"The settings have n from {_ends_in_words(study['n'])}, k from"
        f" {_ends_in_words(study['k'])} and eps from"
        f" {_ends_in_words(study['eps'])}, each with delta = {rules}."
    )
    return [smallest_error, f"{gaussian}.", without_shuffler, settings]


def _ends_in_words(values: "pd.Series[float]") -> str:
    """The smallest and the largest of the values, such as '1,000 to 1,000,000'."""
    return " to ".join(f"{end:,}".removesuffix(".0") for end in (values.min(), values.max()))


def _tenths_below(value: float) -> str:
    """``value`` rounded down to tenths, as text: '3.2' for 3.29."""
    return f"{math.floor(10 * value) / 10:.1f}"


def _tenths_above(value: float) -> str:
    """``value`` rounded up to tenths, as text: '3.3' for 3.21.

    It is '3' also for a quotient that is 3 but for a rounding error of its last bit, hence the 1e-9.
    """
    return f"{math.ceil(10 * value - 1e-9) / 10:g}"


def table_lines(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> list[list[str]]:
    """The lines of a table, as texts: the best randomizer for every n, k and eps in ``which``.

    A line has n, k, eps, the name of the randomizer, its eps0, its TV error, the ratio of this error to that
    of the central Gaussian, and the smallest TV error without a shuffler. The name is "more users" where the
    TV error is above `LARGEST_USEFUL_TV`.

    ``study`` has a row for every randomizer, n, k, eps and rule of delta, as `compute_study.study` gives
    them. Only the first rule of delta is used. The best randomizer has the least expected total variation
    (TV) error. ``which`` has lists of n, of k and of eps.
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
        if row["tv"] > LARGEST_USEFUL_TV:
            use = "more users"
        elif ":" in name:  # such as subset:3, a key with the value of its parameter
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
                _tv_in_words(row["tv"]),
                f"{row['ratio']:.2f}",
                _tv_in_words(local_tv),
            ]
        )
    return lines


def _tv_in_words(tv: float) -> str:
    """A total variation error in two digits, or 'above 1', from where it says nothing."""
    return f"{tv:.2g}" if tv <= 1 else "above 1"


def designs_page(study: pd.DataFrame, which: Mapping[str, Sequence[float]]) -> str:
    """The part of library/docs/designs.md on what the study found: a title, `statement` and `table_lines`.

    ``study`` are the rows of results/study/study.csv, and ``which`` the n, k and eps of the table.
    """
    lines = [HEADER, ["---"] * len(HEADER), *table_lines(study, which)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n\n".join([f"# {TITLE}", "\n".join(statement(study)), table]) + "\n"
