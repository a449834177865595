"""Which randomizer to use with a shuffler: one randomizer at each (eps, delta) of the study.

For every n, k and (eps, delta) it finds the largest eps0 of the randomizer, by the rigorous `upper`. It then
computes the expected errors (`expected_errors`, uniform data, before projection), and those of the analytic
Gaussian mechanism with the same (eps, delta). Subset selection and local hashing have the m and g with the
least error there (`tightshuffle.planning.tuning`).
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scripts.shared.delta_rules import delta_rules
from scripts.shared.job import job, write_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, geometric_error
from tightshuffle.guarantee import log10_upper_of_round
from tightshuffle.planning.tuning import TUNABLE, Tunable, first_guess, most_private
from tightshuffle.points import LARGEST_EPS0_OF_UPPER, points_of_randomizers
from tightshuffle.randomizers import BY_KEY
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.randomizers.expected_errors import errors, largest_error, mean_absolute

_WIDTH = 1e-3  # of the bounds, relative to delta
_CLOSE = 1e-3  # how far below the target log10 delta a search may end
_SHORTEST = 1e-6  # relative width of an interval of eps0 at which a search ends in any case
_SECANTS = 8  # secant steps before a search halves the interval
_WORTH = 1.002  # gain in variance for which m and g are tuned once more


def study(
    name: str,
    *,
    n: Sequence[int],
    k: Sequence[int],
    eps: Sequence[float],
    delta: Sequence[float],
    delta_exponents: Sequence[float],
) -> pd.DataFrame:
    """One randomizer at each guarantee of the config's ``study``: a row for each n, k, eps and rule of delta.

    ``name`` is a key of `BY_KEY`. delta is each of the numbers ``delta``, and n^-a for each a of
    ``delta_exponents``. All errors are expected ones of shares, for uniform data, before projection. The
    columns are:

    - of the setting: n, k, eps, delta_rule and delta
    - of central noise: sigma (the Gaussian's, in counts), gaussian_tv and gaussian_largest (its errors, as
      below) and geometric_tv
    - of the randomizer: randomizer (``name``), name (with m or g), eps0, log10_delta (of `upper` there), bits
      (of a report) and expected (how many reports support a cell that nobody holds)
    - of its errors: tv (total variation error), largest (largest error of a cell), ratio (of the tv to the
      Gaussian's), empty_ratio (of the standard deviation of a cell that nobody holds to the Gaussian's) and
      local_tv (tv without a shuffler, at eps0 = eps and delta = 0)
    """
    rules = delta_rules(delta, delta_exponents)
    settings = [
        (users, cells, float(budget), rule.name, rule.delta(users))
        for users, cells, budget, rule in itertools.product(n, k, eps, rules)
    ]
    points = pd.DataFrame(settings, columns=["n", "k", "eps", "delta_rule", "delta"])
    users = points["n"].to_numpy(float)
    cells = points["k"].to_numpy(float)
    budgets = points["eps"].to_numpy()
    log10_delta = np.log10(points["delta"].to_numpy())

    sigma = exact_scale(budgets, points["delta"], sensitivity=HISTOGRAM_SENSITIVITY)
    gaussian_tv = cells / 2 * mean_absolute(sigma / users)
    best, reached = best_randomizers(name, budgets, log10_delta, users, cells)
    tv = _expected_tv(best, users)
    # TV is half the sum of the cells' mean absolute errors, which gives the deviation of one cell.
    deviation = 2 / cells * tv / mean_absolute(1.0)
    variances_of_empty_cell = [
        float(randomizer.variance(0.0, number))
        for randomizer, number in zip(best, users, strict=True)
    ]
    return points.assign(
        sigma=sigma,
        gaussian_tv=gaussian_tv,
        gaussian_largest=_expected_largest(cells, sigma / users),
        geometric_tv=cells / 2 * geometric_error(budgets) / users,
        randomizer=name,
        name=[randomizer.name for randomizer in best],
        eps0=[randomizer.eps0 for randomizer in best],
        log10_delta=reached,
        bits=[randomizer.bits for randomizer in best],
        expected=users * [randomizer.q_star for randomizer in best],
        tv=tv,
        largest=_expected_largest(cells, deviation),
        ratio=tv / gaussian_tv,
        empty_ratio=np.sqrt(variances_of_empty_cell) * users / sigma,
        local_tv=_expected_tv(_tuned_randomizers(name, cells, budgets), users),
    )


def best_randomizers(
    name: str, eps: Floats, log10_delta: Floats, n: Floats, k: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """The randomizers of a family that have the least error at each guarantee, and their log10 delta.

    ``name`` is a key of `BY_KEY`, all else arrays (points,). A randomizer has the largest eps0 at which
    `upper` is at most ``log10_delta``. The log10 delta that is returned is the value of this bound.
    """
    sigma = exact_scale(eps, log10_delta=log10_delta, sensitivity=HISTOGRAM_SENSITIVITY)
    if name in TUNABLE:
        return _best_with_parameters(TUNABLE[name], eps, log10_delta, n, k, sigma)

    # The search starts at the eps0 of k-RR with the Gaussian's noise in an empty cell.
    share = n / sigma**2
    eps0 = np.log1p((share + np.sqrt(share**2 + 4 * share * (k - 1))) / 2)
    return largest_eps0(_tuned_randomizers(name, k, eps0), eps, log10_delta, n)


def _best_with_parameters(
    kind: Tunable, eps: Floats, log10_delta: Floats, n: Floats, k: Floats, sigma: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """`best_randomizers` of a kind with a parameter (m or g), and log10 of the delta that each of them has.

    The arrays have the shape (points,). ``sigma`` is the scale of the Gaussian with the same guarantee. The
    parameter is at first that of an approximation by a Gaussian. Then the search takes the parameter with the
    least delta at the same variance of a share, and the largest eps0 for it. It goes on at those points where
    this makes the variance smaller by more than `_WORTH`.
    """
    parameters, eps0 = first_guess(kind, n=n, k=k, sigma=sigma)
    start = _randomizers_with_parameters(kind, k, eps0, parameters)
    best, reached = largest_eps0(start, eps, log10_delta, n)

    open_points = np.arange(len(eps))  # whose parameter may still become better
    while open_points.size:
        users = n[open_points]
        variance = _variances_of_share([best[point] for point in open_points.tolist()], users)
        tried_parameters, eps0 = most_private(
            kind,
            parameters[open_points],
            eps=eps[open_points],
            n=users,
            k=k[open_points],
            variance=variance,
        )
        moved = tried_parameters != parameters[open_points]
        open_points = open_points[moved]
        variance = variance[moved]
        tried_parameters = tried_parameters[moved]

        start = _randomizers_with_parameters(kind, k[open_points], eps0[moved], tried_parameters)
        tried, bounds = largest_eps0(
            start, eps[open_points], log10_delta[open_points], n[open_points]
        )
        gain = variance / _variances_of_share(tried, n[open_points])
        for index in np.flatnonzero(gain > 1):
            point = open_points[index]
            best[point] = tried[index]
            reached[point] = bounds[index]
            parameters[point] = tried_parameters[index]
        open_points = open_points[gain > _WORTH]
    return best, reached


def largest_eps0(
    randomizers: Sequence[SupportRandomizer], eps: Floats, log10_delta: Floats, n: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """``randomizers`` with the largest eps0 at which delta is at most the target, and log10 of this delta.

    All arguments and results are arrays (points,). delta is that of `upper` at ``eps`` for ``n`` users, and
    ``log10_delta`` the target. Where the search finds no eps0 above eps, it is eps, and log10 delta is -inf.

    The search halves an interval (low, high) of eps0, or takes secants, starting from the eps0 of
    ``randomizers``. The secants are those of ln(-log10 delta), which is nearly linear in eps0. So 3 or 4
    evaluations are enough.
    """
    target = np.log(-(log10_delta - _CLOSE / 2))
    low = eps.copy()
    high = np.full(len(eps), LARGEST_EPS0_OF_UPPER)
    reached = np.full(len(eps), -np.inf)
    start = [randomizer.eps0 for randomizer in randomizers]
    guess = np.clip(start, 1.01 * eps, LARGEST_EPS0_OF_UPPER)  # delta is 0 up to eps0 = eps
    last_eps0 = np.full(len(eps), np.nan)
    last_surplus = np.full(len(eps), np.nan)

    open_points = np.arange(len(eps))
    step = 0
    while open_points.size:
        eps0 = guess[open_points]
        tried = _with_eps0([randomizers[point] for point in open_points.tolist()], eps0)
        points = points_of_randomizers(eps[open_points], n[open_points], tried)
        # `upper` takes one randomizer, and here m or g differ from point to point.
        bound = log10_upper_of_round(points, width=_WIDTH)
        met = bound <= log10_delta[open_points]
        low[open_points[met]] = eps0[met]
        reached[open_points[met]] = bound[met]
        high[open_points[~met]] = eps0[~met]

        # The next guess is a secant's. Where its slope is not negative as it should be (or not known, at the
        # first step), -1 is taken. A step is at most 1.5.
        surplus = np.log(np.clip(-bound, 1e-3, 1e4)) - target[open_points]
        slope = (surplus - last_surplus[open_points]) / (eps0 - last_eps0[open_points])
        secant = eps0 - np.clip(surplus / np.where(slope < -0.01, slope, -1.0), -1.5, 1.5)

        # Where a secant is no use, the guess is the middle, at most 1 above the lower end.
        below = low[open_points]
        above = high[open_points]
        middle = (below + np.minimum(above, below + 2)) / 2
        useful = (below < secant) & (secant < above) & (step < _SECANTS)
        guess[open_points] = np.where(useful, secant, middle)
        last_eps0[open_points] = eps0
        last_surplus[open_points] = surplus

        close = met & (bound >= log10_delta[open_points] - _CLOSE)
        narrow = above - below <= _SHORTEST * above
        open_points = open_points[~close & ~narrow]
        step += 1
    return _with_eps0(randomizers, low), reached


def _with_eps0(randomizers: Sequence[SupportRandomizer], eps0: Floats) -> list[SupportRandomizer]:
    """The same randomizers with these eps0 (points,)."""
    pairs = zip(randomizers, eps0.tolist(), strict=True)
    return [replace(randomizer, eps0=budget) for randomizer, budget in pairs]


def _tuned_randomizers(name: str, k: Floats, eps0: Floats) -> list[SupportRandomizer]:
    """The randomizers of a family for each k and eps0, with the parameter that has the smallest error."""
    pairs = zip(k.astype(int).tolist(), eps0.tolist(), strict=True)
    return [BY_KEY[name].tuned(cells, budget) for cells, budget in pairs]


def _randomizers_with_parameters(
    kind: Tunable, k: Floats, eps0: Floats, parameters: Integers
) -> list[SupportRandomizer]:
    """The randomizers of a kind for each k, eps0 and m or g."""
    triples = zip(k.astype(int).tolist(), eps0.tolist(), parameters.tolist(), strict=True)
    return [kind.of(cells, budget, parameter) for cells, budget, parameter in triples]


def _expected_largest(k: Floats, deviation: Floats) -> Floats:
    """Expected largest error of k cells whose errors all have this standard deviation, arrays (points,)."""
    for_deviation_1 = {cells: largest_error(np.ones(int(cells))) for cells in np.unique(k)}
    return np.array([for_deviation_1[cells] for cells in k]) * deviation


def _expected_tv(randomizers: Sequence[SupportRandomizer], n: Floats) -> Floats:
    """Expected total variation error of each randomizer's estimate, for uniform data, before projection."""
    distances = []
    for randomizer, users in zip(randomizers, n, strict=True):
        error_of_cell = errors(randomizer, 1 / randomizer.k, n=int(users))
        distances.append(randomizer.k / 2 * error_of_cell)
    return np.array(distances)


def _variances_of_share(randomizers: Sequence[SupportRandomizer], n: Floats) -> Floats:
    """Variance of each randomizer's estimate of a share, for uniform data."""
    pairs = zip(randomizers, n, strict=True)
    return np.array(
        [float(randomizer.variance(1 / randomizer.k, users)) for randomizer, users in pairs]
    )


if __name__ == "__main__":
    with job() as snakemake:
        params = snakemake.params
        table = study(
            snakemake.wildcards.randomizer,
            n=params.n,
            k=params.k,
            eps=params.eps,
            delta=params.delta,
            delta_exponents=params.delta_exponents,
        )
        write_parquet([table], snakemake.output[0])
