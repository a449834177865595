"""What the statements about delta compare, and other statements without randomness.

On the published reading delta is Theorem 1 as printed. On the exact reading it is delta of the whole
histogram for the worst dataset, known to lie between the methods `lower` and `upper`: a trend counts
only where these intervals do not overlap. Settings are read from the printed values. The literature's bounds
of Tables II and 1 are on the published reading the printed numbers, on the exact reading the cited bounds as
their own papers state them, at the row's n, eps0 and eps and the k = 10 of the paper's own column.
"""

import functools
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from scripts.beyond.statements.evidence import GAUSSIAN, NoEvidenceError, Reading
from scripts.beyond.statements.verdict_rules import Comparisons, signs_where
from scripts.paper.delta.theorem_1 import log10_delta_of_count, theorem_1_as_printed
from scripts.shared.printed import OWN
from scripts.shared.published_gaussian import published_scale
from tightshuffle import doors
from tightshuffle.arguments import OutsideRange
from tightshuffle.literature import amplification, clones
from tightshuffle.mechanisms.gaussian import (
    HISTOGRAM_SENSITIVITY,
    exact_scale,
    log10_delta_of_scale,
)
from tightshuffle.mechanisms.krr import (
    invert,
    lie_probability,
    project_to_simplex,
    truth_probability,
)
from tightshuffle.planning.plan import expected_tv_gaussian, expected_tv_krr
from tightshuffle.points import make_points

Point = tuple[float, float, int, int]  # eps, eps0, n, k

AXES = ["eps", "eps0", "n", "k"]  # the names of a point's numbers, in their order
SIGNIFICANT_DECADES = 1.0  # a factor of 10: "significantly less", "far from tight", "much higher"
# 5 %: within this distance of the printed number, the printed formula gives it.
REPRODUCED_WITHIN_DECADES = 0.02
DECADES_TOO_SMALL = "too small, in orders of magnitude, by"
DECADES_BELOW = "below, in orders of magnitude, by"
SHARE_OF_X0 = 0.8  # n_x0 / n behind the printed digits of Table IV, for all n
_EQUAL_WITHIN = 0.05  # relative difference up to which two deltas are the same
_LARGEST_ROUNDING_ERROR = 1e-12  # of sums of some hundred doubles near 1
_KM_PER_DEGREE = 6371.0 * np.pi / 180  # of a great circle; the radius of the Earth is 6371 km
# Mechanism -> the cited bounds on ln delta for any eps0-LDP randomizer.
BOUNDS_FOR_ANY_RANDOMIZER: dict[str, list[Callable[..., Any]]] = {
    "erlingsson": [amplification.ln_erlingsson],
    "balle": [
        partial(amplification.ln_balle_hoeffding, randomizer="generic"),
        partial(amplification.ln_balle_bennett, randomizer="generic"),
    ],
    "feldman": [clones.ln_clones],
}


@functools.lru_cache(maxsize=4096)
def log10_bounds_of_histogram(eps: float, eps0: float, n: int, k: int) -> tuple[float, float]:
    """(low, high): log10 delta of the whole shuffled histogram, for the worst dataset, is between them.

    n users report a value out of k by k-RR with the local budget eps0. Where eps >= eps0 both are -inf.
    """
    low = doors.delta(eps, n=n, k=k, eps0=eps0, method="lower", log10=True)
    high = doors.delta(eps, n=n, k=k, eps0=eps0, log10=True)
    return low, high


@functools.lru_cache(maxsize=4096)
def log10_delta_by_theorem_1(
    eps: float, eps0: float, n: int, k: int, share_of_x0: float = SHARE_OF_X0
) -> float:
    """log10 delta by the paper's Theorem 1 as printed, if ``share_of_x0`` of the n users hold x0.

    It is delta of the number of reports x0, of n users whose value is one out of k.
    """
    users_with_x0 = min(round(share_of_x0 * n), n - 1)
    return float(theorem_1_as_printed(eps, n=n, k=k, eps0=eps0, count=users_with_x0))


def _ends_of_log10_delta(
    reading: Reading, point: Point, share_of_x0: float = SHARE_OF_X0
) -> tuple[float, float]:
    """(low, high), between which log10 delta at ``point`` (eps, eps0, n, k) lies on this reading.

    Exact reading: the bounds on delta of the whole histogram, for the worst dataset. Published reading: low
    and high are both the log10 delta of Theorem 1 as printed, if ``share_of_x0`` of the users hold x0.
    """
    if reading.is_exact:
        return log10_bounds_of_histogram(*point)
    log10_delta = log10_delta_by_theorem_1(*point, share_of_x0)
    return log10_delta, log10_delta


def compare_trend(
    reading: Reading,
    axis: str,
    points: Iterable[Point],
    rising: bool = False,
    share_of_x0: float = SHARE_OF_X0,
) -> Comparisons:
    """Whether delta falls along ``axis``, or with ``rising`` rises: a sign for each two neighbouring points.

    A point is (eps, eps0, n, k), and ``axis`` is the name of one of these four. Two ``points`` are neighbours
    if they differ in this one only, and no other point is between them.

    Each log10 delta is known to be between two ends. On the exact reading they are the lower and the upper
    bound on delta of the whole histogram. On the published reading both ends are delta of the number of
    reports of one value, x0, by the paper's Theorem 1 as printed, if ``share_of_x0`` of the users hold x0.

    The sign is +1 if the ends show the trend, -1 if they show the contrary, 0 if they show neither.
    Neighbours whose deltas are both 0 get no sign.
    """
    fixed = [name for name in AXES if name != axis]
    rows = pd.DataFrame(sorted(set(points)), columns=AXES).sort_values([*fixed, axis])
    rows[["low", "high"]] = [
        _ends_of_log10_delta(reading, point, share_of_x0) for point in points_of_rows(rows)
    ]

    # Of each row, the ends at the neighbour with the next smaller value on the axis; nan if there is none.
    before = rows.groupby(fixed)[["low", "high"]].shift()
    has_neighbour = before["low"].notna()
    # A delta is 0 where its upper end is: log10 is -inf.
    is_compared = has_neighbour & ((before["high"] > -np.inf) | (rows["high"] > -np.inf))
    first = before[is_compared]
    second = rows[is_compared]

    smaller, larger = (first, second) if rising else (second, first)
    is_shown = smaller["high"] < larger["low"]
    is_contrary = smaller["low"] > larger["high"]
    return Comparisons(is_shown.to_numpy(dtype=int) - is_contrary.to_numpy(dtype=int))


def compare_table_iv(reading: Reading, axis: str, rising: bool = False) -> Comparisons:
    """Whether delta falls along ``axis``, or with ``rising`` rises, over the settings of Table IV.

    ``axis`` is "eps", "eps0", "n" or "k". The settings are those of the part of the table that varies this
    one, and for eps all. There is a sign for each two neighbouring settings, as of `compare_trend`.
    """
    rows = printed_rows(reading, "Table IV")
    if axis != "eps":
        rows = rows[rows["source"].str.contains(f"varying {axis}", regex=False)]
    return compare_trend(reading, axis, points_of_rows(rows), rising=rising)


def compare_zeros(reading: Reading) -> Comparisons:
    """Whether delta is 0 where the paper's Table IV prints 0, and only there: a sign for each of its rows.

    delta is that of Theorem 1 as printed on the published reading. On the exact reading both bounds on delta
    of the whole histogram have to be 0, or neither.
    """
    rows = printed_rows(reading, "Table IV")
    ends = np.array([_ends_of_log10_delta(reading, point) for point in points_of_rows(rows)])
    is_printed_as_zero = np.isneginf(rows["log10_printed"].to_numpy())
    agrees = np.isneginf(ends) == is_printed_as_zero[:, None]  # (rows, 2)
    return Comparisons(signs_where(agrees.all(axis=1)))


def compare_with_least_delta(reading: Reading) -> Comparisons:
    """Whether a formula's delta is the least one that holds: a sign per setting of Table IV with eps < eps0.

    The sign is +1 if the two deltas differ by at most 5 %, else -1.

    - Published reading: the formula is Theorem 1 as printed, of the number of reports x0 when 80 % of the
      users hold x0 (`SHARE_OF_X0`). The least delta is the exact one of this number, for a target user with
      x0 against one without.
    - Exact reading: the formula is this exact delta, of the worse of both directions. The least delta is that
      of the whole histogram. Only two bounds on it are known. So the formula counts as the least delta if it
      is between them, up to the 5 %.

    The numbers say by how many orders of magnitude the formula is below the least delta, or below its lower
    bound.
    """
    points = []
    log10_exact_of_count = []
    for eps, eps0, n, k in set(points_of_rows(printed_rows(reading, "Table IV"))):
        if eps < eps0:
            point = (eps, eps0, n, k)
            points.append(point)
            users_with_x0 = round(SHARE_OF_X0 * n)
            log10_exact_of_count.append(_log10_exact_delta_of_count(reading, point, users_with_x0))

    if reading.is_exact:
        formula = np.array(log10_exact_of_count)
        low, high = np.array([log10_bounds_of_histogram(*point) for point in points]).T
    else:
        formula = np.array([log10_delta_by_theorem_1(*point) for point in points])
        low = np.array(log10_exact_of_count)
        high = low
    slack = np.log10(1 + _EQUAL_WITHIN)
    is_least = (low - slack <= formula) & (formula <= high + slack)
    return Comparisons(signs_where(is_least), DECADES_TOO_SMALL, low - formula)


def _log10_exact_delta_of_count(reading: Reading, point: Point, users_with_x0: int) -> float:
    """log10 of the exact delta of the number of reports x0, if ``users_with_x0`` others hold x0.

    ``point`` is (eps, eps0, n, k). Published reading: the delta is for a target user with x0 against one
    without, as in the paper. Exact reading: it is the larger one of this direction and its reverse.
    """
    eps, eps0, n, k = point
    direction = "both" if reading.is_exact else "forward"
    setting = {"n": n, "k": k, "eps0": eps0, "count": users_with_x0}
    return float(log10_delta_of_count(eps, form="exact", direction=direction, **setting))


def compare_worst_cell(
    reading: Reading, epsilons: Iterable[float], *, eps0: float, n: int, k: int
) -> Comparisons:
    """Whether delta of the worst cell is a guarantee for the whole histogram: a sign for each eps.

    A cell is one of the k values, and its delta is that of the number of its reports. This depends on how
    many of the n - 1 other users hold the value. The worst cell's delta is the largest one over all these
    numbers. Published reading: by Theorem 1 as printed. Exact reading: the exact delta, of both directions.

    The sign is -1 if the worst cell's delta is below the lower bound on delta of the histogram, else +1. The
    numbers say by how many orders of magnitude it is below.
    """
    direction = "both" if reading.is_exact else "forward"
    every_count = np.arange(n)
    log10_of_worst_cell = []
    log10_of_histogram = []
    for eps in epsilons:
        log10_deltas = log10_delta_of_count(
            eps,
            n=n,
            k=k,
            eps0=eps0,
            count=every_count,
            form=reading.name,  # "published" or "exact"
            direction=direction,
        )
        log10_of_worst_cell.append(np.max(log10_deltas))
        low, _ = log10_bounds_of_histogram(eps, eps0, n, k)
        log10_of_histogram.append(low)
    is_guarantee = np.array(log10_of_histogram) <= np.array(log10_of_worst_cell)
    too_small_by = np.subtract(log10_of_histogram, log10_of_worst_cell)
    return Comparisons(signs_where(is_guarantee), DECADES_TOO_SMALL, too_small_by)


def compare_counts(reading: Reading, *, eps: float, eps0: float, n: int, k: int) -> Comparisons:
    """Whether delta of the number of reports x0 depends on how many other users hold x0: one sign.

    delta is computed for eight numbers of holders between 0 and n - 1. The sign is +1 if two of these deltas
    differ. The numbers are the deltas: on the published reading by Theorem 1 as printed, on the exact reading
    the exact ones.
    """
    counts = np.unique(np.linspace(0, n - 1, 8).astype(int))
    log10_deltas = log10_delta_of_count(eps, n=n, k=k, eps0=eps0, count=counts, form=reading.name)
    deltas = 10**log10_deltas
    return Comparisons(signs_where([deltas.min() < deltas.max()]), "delta", deltas)


def compare_inference(domain_sizes: Sequence[int], local_budgets: Sequence[float]) -> Comparisons:
    """Whether a k-RR report is the less often true the larger k is: a sign for each step of k and each eps0.

    ``domain_sizes`` are the values of k in their order, ``local_budgets`` those of eps0. The signs do not
    depend on the reading.
    """
    p = np.array([[truth_probability(eps0, k) for k in domain_sizes] for eps0 in local_budgets])
    return Comparisons(signs_where(np.diff(p, axis=1).ravel() < 0))


def compare_deltas_of_gaussian(reading: Reading) -> Comparisons:
    """Whether our trials' Gaussian has delta 0, as the shuffle model has at eps = eps0: a sign per budget.

    A budget is an (eps, delta) of `Reading.calibrations`, with eps >= eps0. Its noise is the one that the
    paper's library takes for this budget and the L2 sensitivity of the published protocol. The true delta of
    this noise at eps depends on the histogram's sensitivity. Published reading: that of the protocol. Exact
    reading: sqrt(2), as one user's change of value changes two counts by 1.

    The numbers are the true log10 deltas.
    """
    if not reading.calibrations:
        raise NoEvidenceError("the config has no trials at eps = eps0")
    sensitivity = HISTOGRAM_SENSITIVITY if reading.is_exact else reading.sensitivity
    log10_deltas = []
    for eps, delta in sorted(reading.calibrations):
        scale = published_scale(eps, delta, reading.sensitivity)
        log10_deltas.append(float(log10_delta_of_scale(eps, scale=scale, sensitivity=sensitivity)))
    unit = f"for sensitivity {sensitivity:.3g}, its true log10 delta is"
    return Comparisons(signs_where(np.isneginf(log10_deltas)), unit, log10_deltas)


def compare_local_model(reading: Reading, factor: float) -> Comparisons:
    """Whether the local model's expected TV error is over ``factor`` times the Gaussian's: a sign a setting.

    The settings are the (n, k, eps, delta) of the exact reading. The local model is k-RR with eps0 = eps and
    no shuffler. The Gaussian has the least noise for (eps, delta). Both errors are closed forms for a uniform
    histogram. The numbers are the ratios of the first error to the second.
    """
    ratios = []
    settings = reading.pick(GAUSSIAN)[["n", "k", "eps", "delta"]]
    for n, k, eps, delta in set(settings.itertuples(index=False)):
        scale = float(exact_scale(eps, delta, sensitivity=HISTOGRAM_SENSITIVITY))
        ratios.append(float(expected_tv_krr(n, k, eps) / expected_tv_gaussian(n, k, scale)))
    is_worse = np.array(ratios) > factor
    return Comparisons(signs_where(is_worse), "ratio of the local model to the Gaussian", ratios)


def compare_eps_with_eps0(reading: Reading) -> Comparisons:
    """Whether the shuffle model has a delta above 0, so whether eps < eps0: a sign per setting."""
    rows = reading.pick(GAUSSIAN)
    return Comparisons(signs_where(rows["eps"] < rows["eps0"]))


def compare_mean_estimate(
    histogram: Sequence[int], local_budgets: Sequence[float], projected: bool
) -> Comparisons:
    """Whether the mean of the estimate by matrix inversion is the histogram itself: a sign for each eps0.

    ``histogram`` has k counts, of n users. The mean is over all k^n reports that the users can make together,
    with their probabilities under k-RR. So it is exact, up to rounding. With ``projected`` each estimate is
    projected onto the simplex first. The signs are the same on both readings.

    With ``projected`` the numbers are the largest differences of a cell's mean estimate from its true share,
    one for each eps0. Without it the differences are mere rounding, and there are no numbers.
    """
    k = len(histogram)
    n = sum(histogram)
    truth = np.asarray(histogram) / n
    value_of_user = np.repeat(np.arange(k), histogram)  # (n,)
    reports = np.array(list(product(range(k), repeat=n)))  # (k^n, n)
    counts = np.stack([(reports == value).sum(axis=1) for value in range(k)], axis=1)  # (k^n, k)

    differences = []
    for eps0 in local_budgets:
        p = truth_probability(eps0, k)
        q = lie_probability(eps0, k)  # of one given other value
        probabilities = np.where(reports == value_of_user, p, q).prod(axis=1)  # (k^n,)
        estimates = invert(counts / n, eps0)  # (k^n, k)
        if projected:
            estimates = project_to_simplex(estimates)
        differences.append(float(np.abs(probabilities @ estimates - truth).max()))
    is_histogram = np.array(differences) < _LARGEST_ROUNDING_ERROR
    return Comparisons(signs_where(is_histogram), "off by", differences if projected else ())


def compare_area(reading: Reading, dataset: str, width: int, height: int) -> Comparisons:
    """Whether the dataset's box measures ``width`` by ``height`` km, rounded to whole km: two signs.

    The numbers are its width, in the middle between north and south, and its height, in km.
    """
    if dataset not in reading.boxes:
        raise NoEvidenceError(f"the config has no dataset {dataset} with a box")
    box = reading.boxes[dataset]
    measured_height = (box["north"] - box["south"]) * _KM_PER_DEGREE
    middle_latitude = np.radians((box["north"] + box["south"]) / 2)
    measured_width = (box["east"] - box["west"]) * _KM_PER_DEGREE * np.cos(middle_latitude)
    measured = [measured_width, measured_height]
    return Comparisons(signs_where(np.round(measured) == [width, height]), "km:", measured)


def compare_with_literature(
    reading: Reading,
    items: Sequence[str],
    mechanisms: Collection[str],
    decades: float = SIGNIFICANT_DECADES,
) -> Comparisons:
    """Whether this paper's delta is more than ``decades`` below the literature's: a sign per printed row.

    A decade is a factor of 10. The rows are those of the ``mechanisms``, such as "feldman", in the paper's
    tables ``items``.

    - Published reading: both deltas are the printed ones.
    - Exact reading: the literature's delta is the cited bound as its own paper states it. A row to which the
      bound does not apply is left out. This paper's delta is that of the whole histogram, which is known to
      be between two bounds. The sign is 0 if these do not decide.

    The numbers say by how many orders of magnitude this paper's delta, or its upper bound, is below.
    """
    rows = pd.concat([_cited_rows_beside_own(reading, item, mechanisms) for item in items])
    rows["log10_of_literature"] = rows["log10_cited" if reading.is_exact else "log10_printed"]
    rows = rows.dropna(subset="log10_of_literature")  # nan outside of a theorem's conditions
    if rows.empty:
        raise NoEvidenceError("no cited bound applies at any row")

    if reading.is_exact:
        points = points_of_rows(rows, k="papers_k")  # the literature's rows have no k
        low, high = np.array([log10_bounds_of_histogram(*point) for point in points]).T
    else:
        low = rows["papers_log10_delta"].to_numpy()
        high = low
    literature = rows["log10_of_literature"].to_numpy()
    is_shown = high < literature - decades
    is_contrary = low >= literature - decades
    signs = np.subtract(is_shown, is_contrary, dtype=int)
    return Comparisons(signs, DECADES_BELOW, literature - high)


def compare_most_of_the_literature(
    reading: Reading,
    items: Sequence[str],
    mechanisms: Collection[str],
    decades: float = SIGNIFICANT_DECADES,
) -> Comparisons:
    """Whether this paper's delta is shown to be below the literature's in most of the rows: one sign.

    The rows, what "below" means, and the numbers are those of `compare_with_literature`.
    """
    rows = compare_with_literature(reading, items, mechanisms, decades)
    is_most = np.mean(rows.signs > 0) > 0.5
    return Comparisons(signs_where([is_most]), rows.unit, rows.numbers)


def compare_cited_bounds(
    reading: Reading, item: str, best: str, rivals: Collection[str]
) -> Comparisons:
    """Whether the cited bound of ``best`` is below that of each of the ``rivals``: a sign per rival and row.

    ``best`` and ``rivals`` are mechanisms, such as "feldman" or "balle", in the paper's table ``item``. A row
    of ``best`` is compared with the rivals' rows of the same n and eps.

    - Published reading: the bounds are the printed deltas.
    - Exact reading: the bound of a mechanism is the smallest one in `BOUNDS_FOR_ANY_RANDOMIZER`. All of these
      hold for every eps0-LDP randomizer, so that like is compared with like. A rival's row to which no bound
      applies is left out.

    The numbers say by how many orders of magnitude the bound of ``best`` is below.
    """
    rows = _cited_rows_beside_own(reading, item, {best, *rivals})
    if reading.is_exact:
        rows["log10_delta"] = _log10_smallest_general_bounds(rows)
    else:
        rows["log10_delta"] = rows["log10_printed"]
    rows_of_best = rows[rows["mechanism"] == best]
    rows_of_rivals = rows[rows["mechanism"].isin(list(rivals))]
    pairs = rows_of_best.merge(rows_of_rivals, on=["n", "eps"], suffixes=("", "_rival"))
    pairs = pairs.dropna(subset="log10_delta_rival")
    is_best = pairs["log10_delta"] < pairs["log10_delta_rival"]
    below_by = pairs["log10_delta_rival"] - pairs["log10_delta"]
    return Comparisons(signs_where(is_best), DECADES_BELOW, below_by)


def _log10_smallest_general_bounds(rows: pd.DataFrame) -> list[float]:
    """log10 of the smallest delta that a mechanism's `BOUNDS_FOR_ANY_RANDOMIZER` give, for each row.

    ``rows`` has the columns eps, n, eps0 and mechanism. A number is nan where no bound applies.
    """
    smallest = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)
        for eps, n, eps0, mechanism in rows[["eps", "n", "eps0", "mechanism"]].to_numpy():
            point = make_points(eps, n=int(n), k=2, eps0=eps0)  # these bounds do not depend on k
            bounds = BOUNDS_FOR_ANY_RANDOMIZER[mechanism]
            smallest.append(min(bound(point).item() for bound in bounds) / np.log(10))
    return smallest


def compare_printed_with_true(reading: Reading, item: str) -> Comparisons:
    """Whether this paper's printed delta is at least the true one: a sign per row of its table ``item``.

    - Published reading: the true delta is the exact one of the number of reports x0, for as many holders of
      x0 as the row has (column count).
    - Exact reading: it is the lower bound on delta of the whole histogram.

    Only rows whose digits Theorem 1 gives as printed are compared: the settings behind the remaining rows are
    not known. The numbers say by how many orders of magnitude a printed delta is too small.
    """
    rows = printed_rows(reading, item)
    rows = rows[rows["mechanism"] == OWN]
    log10_formula = np.array([log10_delta_by_theorem_1(*point) for point in points_of_rows(rows)])
    distance = np.abs(log10_formula - rows["log10_printed"])
    rows = rows[distance <= REPRODUCED_WITHIN_DECADES]
    if rows.empty:
        raise NoEvidenceError(f"{item} has no row that the printed formula gives")

    log10_true = []
    for point, users_with_x0 in zip(points_of_rows(rows), rows["count"], strict=True):
        if reading.is_exact:
            low, _ = log10_bounds_of_histogram(*point)
            log10_true.append(low)
        else:
            log10_true.append(_log10_exact_delta_of_count(reading, point, int(users_with_x0)))
    log10_printed = rows["log10_printed"].to_numpy()
    is_sound = log10_true <= log10_printed
    return Comparisons(signs_where(is_sound), DECADES_TOO_SMALL, log10_true - log10_printed)


def _cited_rows_beside_own(
    reading: Reading, item: str, mechanisms: Collection[str]
) -> pd.DataFrame:
    """The printed rows of ``mechanisms`` in the table ``item``, each with two columns of this paper's row.

    ``papers_k`` and ``papers_log10_delta`` are k and the printed log10 delta of this paper's row with the
    same n and eps.
    """
    rows = printed_rows(reading, item)
    papers = rows[rows["mechanism"] == OWN][["n", "eps", "k", "log10_printed"]]
    papers = papers.rename(columns={"k": "papers_k", "log10_printed": "papers_log10_delta"})
    return rows[rows["mechanism"].isin(list(mechanisms))].merge(papers, on=["n", "eps"])


def printed_rows(reading: Reading, item: str) -> pd.DataFrame:
    """The printed values of one item, such as "Table IV". Raises `NoEvidenceError` if there are none."""
    rows = reading.values[reading.values["item"] == item]
    if rows.empty:
        raise NoEvidenceError(f"there are no printed values of {item}")
    return rows


def points_of_rows(rows: pd.DataFrame, k: str = "k") -> list[Point]:
    """The settings (eps, eps0, n, k) in the columns eps, eps0 and n of ``rows``, and the one named ``k``."""
    points = rows[["eps", "eps0", "n", k]].to_numpy(dtype=float).tolist()
    return [(eps, eps0, int(n), int(cells)) for eps, eps0, n, cells in points]
