"""Every statement's test, or why there is none; and the verdicts on all of them."""

import os
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from scripts.beyond.statements import claims_about_delta as delta
from scripts.beyond.statements import claims_about_errors as errors
from scripts.beyond.statements import evidence
from scripts.beyond.statements.evidence import GAUSSIAN, INV, NoEvidenceError, Reading, read_evidence
from scripts.beyond.statements.verdict_rules import UNTESTABLE, Comparisons, combine, weakest
from scripts.shared.job import job, write_csv
from scripts.shared.printed import PAPER, Row, numbered_rows

Test = Callable[[Reading], Comparisons | list[Comparisons]]
Tests = tuple[Test | str, Test | str]
Settings = dict[str, Any]

COLUMNS = ("id", "claim", "version", "where", "quote", "family", "about", "test_published", "test_exact")
RESULT_COLUMNS = (
    *COLUMNS, "statistic_published", "verdict_published", "statistic_exact", "verdict_exact", "verdict",
)  # fmt: skip

SYNTHETIC, SAN_FRANCISCO, PARIS = (Settings(budgets={name: PAPER[name]}) for name in PAPER)
CITIES, AT_FOUR, HEATMAPS = (
    Settings(budgets=dict.fromkeys(("san_francisco", "paris"), eps0)) for eps0 in ((4, 6), (4,), (2, 4, 6))
)  # HEATMAPS: Figures 4, 5
INDIVIDUAL = Settings(metric="individual_error", **SYNTHETIC)
LARGE_N, SMALL_N, CORNER = (Settings(ends=ends) for ends in ("large n", "small n", "corner"))


def _grid(
    eps: Iterable[float], eps0: Iterable[float], n: Iterable[int] = (100,), k: Iterable[int] = (10,)
) -> list[delta.Point]:
    """All (eps, eps0, n, k) with eps < eps0: at and beyond eps0 delta is 0."""
    return [(e, e0, users, cells) for e in eps for e0 in eps0 for users in n for cells in k if e < e0]


def _steps(start: float, stop: float, size: float) -> list[float]:
    return [float(step) for step in np.round(np.arange(start, stop + size / 2, size), 10)]


_FINE, _COARSE = _steps(0.1, 3.0, 0.1), _steps(0.5, 3.0, 0.5)  # Figure 1
_FIGURE_1 = Settings(points=_grid(_FINE, _FINE)), Settings(points=_grid(_COARSE, _COARSE))
_EPS = Settings(points=_grid(_FINE, (2,))), Settings(points=_grid(_steps(0.2, 1.8, 0.2), (2,)))
_OTHERS = _grid((0.1, 0.5, 1.0), (1, 2, 3), (50, 150), (5, 15))
_USERS = _grid((0.1, 0.5), (1, 2), (10, 30, 100, 300), (5, 15))
_DOMAINS = (2, 3, 5, 10, 15, 100, 408, 1000)
_WORST: Settings = {"eps": (0.1, 0.5, 1.0, 1.5), "eps0": 2, "n": 100, "k": 10}  # Table IV
_FEW_USERS: Settings = {"histogram": (4, 1, 0), "eps0": (1.0, 4.0)}
_VALUES: Settings = {"eps": 4, "eps0": 4, "n": 1000, "k": 15}  # Table V
_E_B_F = ("erlingsson", "balle", "feldman")
_TABLE_II = Settings(items=("Table II",), mechanisms=_E_B_F)


def _both(test: Callable[..., Any], **settings: Any) -> Tests:
    """The same test on both readings."""
    return partial(test, **settings), partial(test, **settings)


def _each(test: Callable[..., Any], own: tuple[Settings, Settings], **shared: Any) -> Tests:
    """One test with settings of its ``own`` on each reading."""
    published, exact = own
    return partial(test, **shared, **published), partial(test, **shared, **exact)


def _as_printed(test: Callable[..., Comparisons], over_cells: bool = False, **settings: Any) -> Tests:
    """Published: the test on the printed errors (`errors.printed`); exact: the test."""
    return partial(errors.printed, test=test, over_cells=over_cells, **settings), partial(test, **settings)


_gaussian_better = partial(errors.better, first=GAUSSIAN, second=INV)
_inversion_better = partial(errors.better, first=INV, second=evidence.SHUFFLE)
_many, _few = (partial(errors.gap_shrinks, axis="n", towards=end) for end in ("large", "small"))
_low_privacy = partial(errors.gap_shrinks, axis="eps0", towards="large", **CITIES)
_falls = partial(errors.falls_along, mechanisms=(INV, GAUSSIAN), **CITIES)
_ABOUT_PAPERS = "it is about the literature, not about an experiment"
_ABOUT_TRUST = "it is a judgement about trust in a curator, not about a measured quantity"
_ONLY_HISTOGRAMS = "the experiments have no queries other than histograms"
_NO_CODE = (
    "we do not have the code of the experiments. The paper names diffprivlib's GaussianAnalytic, which does "
    "not denoise. The printed distances fit noise that was not processed"
)

TESTS: dict[str, Tests] = {  # of the published and of the exact reading; a text says why there is no test
    "eps-trend": _both(delta.table_iv, axis="eps"),
    "eps0-trend": _both(delta.table_iv, axis="eps0", rising=True),
    "zero-beyond-the-loss": _both(delta.zero_exactly_at_zeros),
    "n-trend": _both(delta.table_iv, axis="n"),
    "more-users-more-privacy": _both(delta.trend, axis="n", points=_USERS),
    "k-trend": _both(delta.table_iv, axis="k"),
    "larger-domain-less-inference": _both(delta.inference_falls, k=_DOMAINS, eps0=(0.1, 1, 2, 4, 6)),
    "figure-1-text": _each(delta.both_trends, _FIGURE_1, rising="eps"),
    "figure-1-caption": _each(delta.both_trends, _FIGURE_1, rising="eps0"),
    "trends-everywhere": _both(delta.both_trends, points=_OTHERS, rising="eps0", shares=(0.8, 0.2, 0.0)),
    "eps-delta-exchange": _each(delta.trend, _EPS, axis="eps"),
    "least-delta": _both(delta.least_delta),
    "worst-cell-guarantee": _both(delta.worst_cell_protects, **_WORST),
    "table-II-sound": _both(delta.sound, item="Table II"),
    "table-II-tighter": _both(delta.below_the_literature, **_TABLE_II),
    "table-II-strictly-tighter": _both(delta.below_the_literature, **_TABLE_II, decades=0.0),
    "table-1-tighter": _both(delta.below_the_literature, items=("Table 1",), mechanisms=(*_E_B_F, "koskela")),
    "more-private-than-known": _both(
        delta.below_the_literature, items=("Table II", "Table 1"), mechanisms=_E_B_F, decades=0.0
    ),
    "feldman-best": _both(delta.best_of_the_cited, item="Table II", best="feldman", others=_E_B_F[:2]),
    "literature-far-from-tight": _both(delta.mostly_below_the_literature, **_TABLE_II),
    "equal-privacy": _both(delta.equal_privacy),
    "gaussian-because-approximate": _both(delta.approximate),
    "local-much-worse": (
        partial(_gaussian_better, times=errors.COMPARABLE),
        partial(delta.local_is_worse, factor=errors.COMPARABLE),
    ),
    "table-V-small-n": _as_printed(errors.close, over_cells=True, **SMALL_N, **INDIVIDUAL),
    "table-V-depends-on-x0": _both(errors.depends_on_cell, **SMALL_N, **SYNTHETIC),
    "table-V-large-n": _as_printed(_gaussian_better, **LARGE_N, **INDIVIDUAL),
    "delta-explains-table-V": _both(delta.varies_with_the_count, **_VALUES),
    "fixed-noise": _both(errors.same_noise_for_all_n, **SYNTHETIC),
    "table-V-slightly-worse": _as_printed(errors.close, over_cells=True, **LARGE_N, **INDIVIDUAL),
    "table-V-low-error": _as_printed(errors.small, limit=0.01, mechanisms=(INV,), **LARGE_N, **INDIVIDUAL),
    "tv-small-n": _as_printed(errors.close, **SMALL_N, **SYNTHETIC),
    "tv-gaussian-gains": _as_printed(_few, gap="signed log ratio", **SYNTHETIC),
    "tv-large-n-close": _as_printed(errors.close, **LARGE_N, **SYNTHETIC),
    "figure-2-inversion": _both(_inversion_better, **SYNTHETIC),
    "figure-2-central-better": _both(_gaussian_better, **SYNTHETIC),
    "figure-2-slightly": _both(errors.close, **SYNTHETIC),
    "figure-2-especially-small": _both(errors.closest_at_corner, **SYNTHETIC),
    "figures-4-5-central-better": _each(
        _gaussian_better, (Settings(metric="cell_error"), LARGE_N), **HEATMAPS
    ),
    "figure-2-short-central-better": _both(_gaussian_better, **LARGE_N, **AT_FOUR),
    "figures-4-5-comparable": _each(errors.close, (AT_FOUR, HEATMAPS), **LARGE_N),
    "heatmaps-very-close": _both(errors.small, limit=0.05, mechanisms=(INV, GAUSSIAN), **LARGE_N, **AT_FOUR),
    "central-better-everywhere": _both(_gaussian_better),
    "n-and-eps-matter": _both(_falls, axis="n"),
    "eps-matters": _both(_falls, axis="eps0"),
    "comparable-few-users-low-privacy": _both(errors.close, **CORNER),
    "figure-6-shuffle-worse": _both(errors.better, first=GAUSSIAN, second=evidence.SHUFFLE, **SAN_FRANCISCO),
    "figure-6-inversion": _both(_inversion_better, **SAN_FRANCISCO),
    "figure-6-same-for-all-eps": _both(
        errors.same_order, model={"san_francisco": (4,)}, tested={"san_francisco": (6,)}
    ),
    "figure-6-corner-close": _both(errors.close, **CORNER, **SAN_FRANCISCO),
    "figure-6-corner-closest": _both(errors.closest_at_corner, **SAN_FRANCISCO),
    "figure-7-same-trend": _both(errors.same_order, model=SAN_FRANCISCO["budgets"], tested=PARIS["budgets"]),
    "figure-7-inversion": _both(_inversion_better, **PARIS),
    "figure-7-indistinguishable": _both(errors.close, factor=errors.INDISTINGUISHABLE, **CORNER, **PARIS),
    "almost-comparable": _both(errors.close),
    "gap-vanishes-many-users-absolute": _both(_many, gap="difference"),
    "gap-vanishes-many-users-relative": _both(_many, gap="log ratio"),
    "gap-vanishes-few-users-absolute": _both(_few, gap="difference"),
    "gap-vanishes-few-users-relative": _both(_few, gap="log ratio"),
    "gap-high-privacy-absolute": _both(_low_privacy, gap="difference"),
    "gap-high-privacy-relative": _both(_low_privacy, gap="log ratio"),
    "denoising-helps": _both(_inversion_better),
    "inversion-optimal": (
        "the paper's experiments have no other estimate",
        partial(errors.better, first=INV, second=evidence.LIKELIEST),
    ),
    "no-central-denoising": (
        "the paper's experiments do not process the Gaussian's output",
        partial(errors.better, first=evidence.RAW_GAUSSIAN, second=GAUSSIAN),
    ),
    "gaussian-denoised": (_NO_CODE, _NO_CODE),
    "estimate-unbiased-long": _both(delta.unbiased, projected=True, **_FEW_USERS),
    "estimate-unbiased-short": _both(delta.unbiased, projected=False, **_FEW_USERS),
    "area-san-francisco": _both(delta.area, dataset="san_francisco", width=12, height=8),
    "area-paris": _both(delta.area, dataset="paris", width=8, height=6),
    "novel-bound": (_ABOUT_PAPERS, _ABOUT_PAPERS),
    "first-comparison": (_ABOUT_PAPERS, _ABOUT_PAPERS),
    "more-convenient": (_ABOUT_TRUST, _ABOUT_TRUST),
    "inversion-for-histograms-only": (_ONLY_HISTOGRAMS, _ONLY_HISTOGRAMS),
}


def read_claims(path: str | os.PathLike[str]) -> list[Row]:
    """The statements of ``path``, claims.csv, in the file's order: dicts of strings with the keys `COLUMNS`.

    Raises ValueError that names the file and the line, or the ids without a test; OSError if there is none.
    """
    rows = dict(numbered_rows(path, COLUMNS))
    for line, row in rows.items():
        if empty := [name for name in COLUMNS if not row[name].strip() and name != "family"]:
            raise ValueError(f"{path}, line {line}: {empty[0]} is empty; every row needs it")
    listed = [row["id"] for row in rows.values()]
    if wrong := {name for name in listed if listed.count(name) > 1} or {*TESTS} ^ {*listed}:
        raise ValueError(f"{path}: each id needs one row, and its tests in judge_claims.py: {sorted(wrong)}")
    return list(rows.values())


def judge_claims(claims: Iterable[Row], published: Reading, exact: Reading) -> pd.DataFrame:
    """One row per statement of `read_claims`: its columns and the verdicts (`RESULT_COLUMNS`), in order."""
    rows = []
    for row in claims:
        outcomes = [_outcome(*pair) for pair in zip(TESTS[row["id"]], (published, exact), strict=True)]
        (shown, first), (seen, second) = outcomes
        rows.append((*row.values(), shown, first, seen, second, combine(first, second)))
    return pd.DataFrame(rows, columns=list(RESULT_COLUMNS))


def _outcome(test: Test | str, reading: Reading) -> tuple[str, str]:
    """(statistic, verdict) of one reading; why it is untestable takes the place of the statistic."""
    if isinstance(test, str):
        return test, UNTESTABLE
    try:
        found = test(reading)
    except NoEvidenceError as error:
        return str(error), UNTESTABLE
    groups = found if isinstance(found, list) else [found]
    return "; ".join(each.statistic for each in groups), weakest([each.verdict for each in groups])


if __name__ == "__main__":
    with job() as snakemake:
        files, params = snakemake.input, snakemake.params
        published, exact = read_evidence(
            values=files.values, cited_bounds=files.cited_bounds, trials=files.trials,
            estimates=files.estimates, parity=files.parity, sensitivity=float(params.sensitivity),
            boxes=params.boxes,
        )  # fmt: skip
        write_csv(judge_claims(read_claims(files.claims), published, exact), snakemake.output[0])
