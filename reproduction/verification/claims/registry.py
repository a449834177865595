"""Every statement's test, or why there is none; and the verdicts on all of them.

`TESTS` maps a statement's id to its test of the published and of the exact reading; a text instead of a
test says why that reading has none. `UNTESTABLE` maps the other ids to the reason.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from reproduction.protocol.gaussian import published_scale
from reproduction.verification.claims import literature, privacy, utility
from reproduction.verification.claims.claims_file import COLUMNS
from reproduction.verification.claims.evidence import (
    GAUSSIAN,
    INV,
    LIKELIEST,
    PAPER,
    RAW_GAUSSIAN,
    SHUFFLE,
    NoEvidenceError,
    Reading,
)
from reproduction.verification.claims.verdict_rules import UNTESTABLE as NO_VERDICT
from reproduction.verification.claims.verdict_rules import Comparisons, Outcome, combine, judge
from reproduction.verification.printed import Row

Test = Callable[[Reading], Comparisons | list[Comparisons]]

RESULT_COLUMNS = (
    *COLUMNS,
    "statistic_published",
    "verdict_published",
    "statistic_exact",
    "verdict_exact",
    "verdict",
    "why",
)  # fmt: skip

SYNTHETIC: dict[str, Any] = {"budgets": {"synthetic": PAPER["synthetic"]}}  # Figure 2 and Table V
SAN_FRANCISCO: dict[str, Any] = {"budgets": {"san_francisco": PAPER["san_francisco"]}}  # Figure 6
PARIS: dict[str, Any] = {"budgets": {"paris": PAPER["paris"]}}  # Figure 7
CITIES: dict[str, Any] = {"budgets": {city: PAPER[city] for city in ("san_francisco", "paris")}}
HEATMAPS: dict[str, Any] = {"budgets": dict.fromkeys(("san_francisco", "paris"), (2, 4, 6))}  # Figures 4, 5
AT_FOUR: dict[str, Any] = {"budgets": dict.fromkeys(("san_francisco", "paris"), (4,))}
INDIVIDUAL: dict[str, Any] = {"metric": "individual_error", **SYNTHETIC}


def _grid(
    eps: Iterable[float], eps0: Iterable[float], n: Iterable[int] = (100,), k: Iterable[int] = (10,)
) -> list[privacy.Point]:
    """All (eps, eps0, n, k) with eps < eps0: at and beyond eps0 delta is 0."""
    return [(e, e0, users, cells) for e in eps for e0 in eps0 for users in n for cells in k if e < e0]


def _steps(start: float, stop: float, size: float) -> list[float]:
    return [float(step) for step in np.round(np.arange(start, stop + size / 2, size), 10)]


_FINE = _steps(0.1, 3.0, 0.1)  # Figure 1
_COARSE = _steps(0.5, 3.0, 0.5)
_FIGURE_1 = {"published": _grid(_FINE, _FINE), "exact": _grid(_COARSE, _COARSE)}
_OTHERS = [
    point
    for n, k in ((50, 5), (50, 15), (150, 5), (150, 15))
    for point in _grid((0.1, 0.5, 1.0), (1, 2, 3), (n,), (k,))
]
_USERS = _grid((0.1, 0.5), (1, 2), (10, 30, 100, 300), (5, 15))
_DOMAINS = (2, 3, 5, 10, 15, 100, 408, 1000)
_WORST: dict[str, Any] = {"eps": (0.1, 0.5, 1.0, 1.5), "eps0": 2, "n": 100, "k": 10}  # Table IV
_FEW_USERS: dict[str, Any] = {"histogram": (4, 1, 0), "eps0": (1.0, 4.0)}
_VALUES: dict[str, Any] = {"eps": 4, "eps0": 4, "n": 1000, "k": 15}  # Table V


def _figure_1(reading: Reading, eps_rising: bool, eps0_rising: bool) -> list[Comparisons]:
    return privacy.both_trends(reading, eps_rising, eps0_rising, _FIGURE_1[reading.name])


def _both(test: Callable[..., Any], **settings: Any) -> tuple[Test, Test]:
    """The same test on both readings."""
    chosen = partial(test, **settings)
    return chosen, chosen


def _as_printed(
    test: Callable[..., Comparisons], over_cells: bool = False, **settings: Any
) -> tuple[Test, Test]:
    """Published: the test on the printed errors (`utility.printed`); exact: the test."""
    return partial(utility.printed, test=test, over_cells=over_cells, **settings), partial(test, **settings)


def _everywhere(test: Callable[..., Comparisons], **settings: Any) -> tuple[Test, Test]:
    """The test at all of the paper's settings; the exact reading also reports other eps0."""

    def exact(reading: Reading) -> Comparisons:
        found, beyond = test(reading, **settings, budgets=PAPER), reading.beyond()
        if not beyond:
            return found
        eps0 = ", ".join(
            f"{value:g}" for value in sorted({v for values in beyond.values() for v in values or ()})
        )
        elsewhere = judge(test(reading, **settings, budgets=beyond)).statistic
        note = f"not in the paper, eps0 = {eps0}: {elsewhere}"
        return replace(found, notes=(*found.notes, note))

    return partial(test, **settings, budgets=PAPER), exact


def _shrinks(axis: str, towards: str, relative: bool) -> tuple[Test, Test]:
    chosen = {"axis": axis, "towards": towards, "relative": relative}
    if axis == "eps0":
        return _both(utility.gap_shrinks, **chosen, **CITIES)
    return _everywhere(utility.gap_shrinks, **chosen)


_ERLINGSSON_TO_FELDMAN = ("erlingsson", "balle", "feldman")
_ALL_CITED = (*_ERLINGSSON_TO_FELDMAN, "koskela")

TESTS: dict[str, tuple[Test | str, Test | str]] = {
    "eps-trend": _both(privacy.table_iv, axis="eps"),
    "eps0-trend": _both(privacy.table_iv, axis="eps0", rising=True),
    "zero-beyond-the-loss": _both(privacy.zero_exactly_at_zeros),
    "n-trend": _both(privacy.table_iv, axis="n"),
    "more-users-more-privacy": _both(privacy.trend, axis="n", points=_USERS),
    "k-trend": _both(privacy.table_iv, axis="k"),
    "larger-domain-less-inference": _both(privacy.inference_falls, k=_DOMAINS, eps0=(0.1, 1, 2, 4, 6)),
    "figure-1-text": _both(_figure_1, eps_rising=True, eps0_rising=False),
    "figure-1-caption": _both(_figure_1, eps_rising=False, eps0_rising=True),
    "trends-everywhere": _both(
        privacy.both_trends, eps_rising=False, eps0_rising=True, points=_OTHERS, shares=(0.8, 0.2, 0.0)
    ),
    "eps-delta-exchange": (
        partial(privacy.trend, axis="eps", points=_grid(_FINE, (2,))),
        partial(privacy.trend, axis="eps", points=_grid(_steps(0.2, 1.8, 0.2), (2,))),
    ),
    "least-delta": _both(privacy.least_delta),
    "worst-cell-guarantee": _both(privacy.worst_cell_protects, **_WORST),
    "table-II-sound": _both(literature.sound, item="Table II"),
    "table-II-tighter": _both(
        literature.below_the_literature, items=("Table II",), mechanisms=_ERLINGSSON_TO_FELDMAN
    ),
    "table-II-strictly-tighter": _both(
        literature.below_the_literature, items=("Table II",), mechanisms=_ERLINGSSON_TO_FELDMAN, decades=0.0
    ),
    "table-1-tighter": _both(literature.below_the_literature, items=("Table 1",), mechanisms=_ALL_CITED),
    "more-private-than-known": _both(
        literature.below_the_literature,
        items=("Table II", "Table 1"),
        mechanisms=_ERLINGSSON_TO_FELDMAN,
        decades=0.0,
    ),
    "feldman-best": _both(
        literature.best_of_the_cited, item="Table II", best="feldman", others=("erlingsson", "balle")
    ),
    "literature-far-from-tight": _both(
        literature.below_the_literature, items=("Table II",), mechanisms=_ERLINGSSON_TO_FELDMAN, majority=True
    ),
    "equal-privacy": _both(privacy.equal_privacy, scale_of=published_scale),
    "local-much-worse": (
        partial(utility.far, budgets=PAPER),
        partial(privacy.local_is_worse, factor=utility.COMPARABLE, budgets=PAPER),
    ),
    "table-V-small-n": _as_printed(utility.close, over_cells=True, ends="small n", **INDIVIDUAL),
    "table-V-depends-on-x0": _both(utility.depends_on_cell, ends="small n", **SYNTHETIC),
    "table-V-large-n": _as_printed(utility.gaussian_better, ends="large n", **INDIVIDUAL),
    "delta-explains-table-V": _both(privacy.varies_with_the_count, **_VALUES),
    "fixed-noise": _both(utility.same_noise_for_all_n, **SYNTHETIC),
    "table-V-slightly-worse": _as_printed(utility.close, over_cells=True, ends="large n", **INDIVIDUAL),
    "table-V-low-error": _as_printed(
        utility.small, limit=0.01, mechanisms=(INV,), ends="large n", **INDIVIDUAL
    ),
    "tv-small-n": _as_printed(utility.close, ends="small n", **SYNTHETIC),
    "tv-gaussian-gains": _as_printed(utility.gap_grows_with_n, **SYNTHETIC),
    "tv-large-n-close": _as_printed(utility.close, ends="large n", **SYNTHETIC),
    "figure-2-inversion": _both(utility.better, first=INV, second=SHUFFLE, **SYNTHETIC),
    "figure-2-central-better": _both(utility.gaussian_better, **SYNTHETIC),
    "figure-2-slightly": _both(utility.close, **SYNTHETIC),
    "figure-2-especially-small": _both(utility.closest_at_corner, budgets={"synthetic": None}),
    "figures-4-5-central-better": (
        partial(utility.gaussian_better, metric="cell_error", **HEATMAPS),
        partial(utility.gaussian_better, ends="large n", **HEATMAPS),
    ),
    "figure-2-short-central-better": _both(utility.gaussian_better, ends="large n", **AT_FOUR),
    "figures-4-5-comparable": (
        partial(utility.close, ends="large n", **AT_FOUR),
        partial(utility.close, ends="large n", **HEATMAPS),
    ),
    "heatmaps-very-close": _both(
        utility.small, limit=0.05, mechanisms=(INV, GAUSSIAN), ends="large n", **AT_FOUR
    ),
    "central-better-everywhere": _everywhere(utility.gaussian_better),
    "n-and-eps-matter": _both(utility.falls_along, axis="n", **CITIES),
    "eps-matters": _both(utility.falls_along, axis="eps0", **CITIES),
    "comparable-few-users-low-privacy": _both(utility.close, ends="corner", budgets=PAPER),
    "figure-6-shuffle-worse": _both(utility.better, first=GAUSSIAN, second=SHUFFLE, **SAN_FRANCISCO),
    "figure-6-inversion": _both(utility.better, first=INV, second=SHUFFLE, **SAN_FRANCISCO),
    "figure-6-same-for-all-eps": _both(
        utility.same_order, model={"san_francisco": (4,)}, tested={"san_francisco": (6,)}
    ),
    "figure-6-corner-close": _both(utility.close, ends="corner", **SAN_FRANCISCO),
    "figure-6-corner-closest": _both(utility.closest_at_corner, **SAN_FRANCISCO),
    "figure-7-same-trend": _both(utility.same_order, model=SAN_FRANCISCO["budgets"], tested=PARIS["budgets"]),
    "figure-7-inversion": _both(utility.better, first=INV, second=SHUFFLE, **PARIS),
    "figure-7-indistinguishable": _both(
        utility.close, factor=utility.INDISTINGUISHABLE, ends="corner", **PARIS
    ),
    "almost-comparable": _everywhere(utility.close),
    "gap-vanishes-many-users-absolute": _shrinks("n", "large", False),
    "gap-vanishes-many-users-relative": _shrinks("n", "large", True),
    "gap-vanishes-few-users-absolute": _shrinks("n", "small", False),
    "gap-vanishes-few-users-relative": _shrinks("n", "small", True),
    "gap-high-privacy-absolute": _shrinks("eps0", "large", False),
    "gap-high-privacy-relative": _shrinks("eps0", "large", True),
    "denoising-helps": _everywhere(utility.better, first=INV, second=SHUFFLE),
    "inversion-optimal": (
        "the paper's experiments have no other estimate",
        _everywhere(utility.better, first=INV, second=LIKELIEST)[1],
    ),
    "no-central-denoising": (
        "the paper's experiments do not process the Gaussian's output",
        _everywhere(utility.better, first=RAW_GAUSSIAN, second=GAUSSIAN)[1],
    ),
    "gaussian-because-approximate": _both(privacy.approximate, budgets=PAPER),
    "estimate-unbiased-long": _both(privacy.unbiased, projected=True, **_FEW_USERS),
    "estimate-unbiased-short": _both(privacy.unbiased, projected=False, **_FEW_USERS),
    "area-san-francisco": _both(privacy.area, dataset="san_francisco", width=12, height=8),
    "area-paris": _both(privacy.area, dataset="paris", width=8, height=6),
}

UNTESTABLE = {
    "gaussian-denoised": "we do not have the code of the experiments. The paper names diffprivlib's "
    "GaussianAnalytic, which does not denoise. The printed distances fit noise that was not processed",
    "novel-bound": "it is about the literature, not about an experiment",
    "first-comparison": "it is about the literature, not about an experiment",
    "more-convenient": "it is a judgement about trust in a curator, not about a measured quantity",
    "inversion-for-histograms-only": "the experiments have no queries other than histograms",
}


def judge_claims(claims: Iterable[Row], published: Reading, exact: Reading) -> pd.DataFrame:
    """One row per statement: the columns of claims.csv and the verdicts (`RESULT_COLUMNS`), in order.

    ``claims`` as `read_claims` gives them, ``published`` and ``exact`` of type `Reading`. Raises ValueError
    if a statement has no entry in `TESTS` or `UNTESTABLE`, or an entry has no statement.
    """
    claims = list(claims)
    known, listed = {*TESTS, *UNTESTABLE}, {row["id"] for row in claims}
    if known != listed:
        lost = ", ".join(sorted(known ^ listed))
        raise ValueError(
            f"each id of claims.csv needs a test or a reason in registry.py, and no other: {lost}"
        )
    rows = []
    for row in claims:
        if reason := UNTESTABLE.get(row["id"]):
            first = second = Outcome(NO_VERDICT, "", reason)
            why = f"Untestable: {reason}."
        else:
            tests = zip(TESTS[row["id"]], (published, exact), strict=True)
            first, second = (_outcome(test, reading) for test, reading in tests)
            why = f"Published: {first.why} Exact: {second.why}"
        verdict = combine(first.verdict, second.verdict)
        found = first.statistic, first.verdict, second.statistic, second.verdict, verdict, why
        rows.append((*row.values(), *found))
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def _outcome(test: Test | str, reading: Reading) -> Outcome:
    """The test's outcome; untestable with the reason where there is no test or no evidence."""
    if isinstance(test, str):
        return Outcome(NO_VERDICT, "", f"Untestable: {test}.")
    try:
        found = test(reading)
    except NoEvidenceError as error:
        return Outcome(NO_VERDICT, "", f"Untestable: {error}.")
    return judge(*found) if isinstance(found, list) else judge(found)
