"""Which randomizer to use with a shuffler: the errors of one randomizer at each (eps, delta) of the study.

For every n, k and (eps, delta) this finds the largest eps0 at which the proven upper bound on delta of the
shuffled reports is at most delta. Then it computes the expected errors (`expected_errors`, uniform data,
before projection), and those of the analytic Gaussian mechanism with the same (eps, delta). Subset selection
has the size m of a subset, and local hashing the number g of hash values, with the least error.
"""

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from scripts.shared.delta_rules import delta_rules
from scripts.shared.job import job, write_parquet
from tightshuffle.arguments import Floats, Integers
from tightshuffle.bounds.guarantee import ln_upper_of_round
from tightshuffle.mechanisms.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, geometric_error
from tightshuffle.planning.tuning import TUNABLE, Tunable, first_guess, most_private
from tightshuffle.points import LARGEST_EPS0_OF_UPPER, points_of_randomizers
from tightshuffle.randomizers import BY_KEY
from tightshuffle.randomizers.base import SupportRandomizer
from tightshuffle.randomizers.expected_errors import errors, largest_error, mean_absolute

_WIDTH_OF_BOUND = 1e-3  # by how much of delta the computed bound may exceed the bound
_CLOSE_TO_TARGET = 1e-3  # how far below the target log10 delta a search for eps0 may end
_NARROWEST = 1e-6  # width of an interval, relative to eps0, at which a search for eps0 ends anyway
_MOST_SECANTS = 8  # after so many secant steps a search halves the interval
# Old variance / new variance above which the parameter of a randomizer (m or g) is tuned once more.
_WORTHWHILE_GAIN = 1.002


def study(
    name: str,
    *,
    n: Sequence[int],
    k: Sequence[int],
    eps: Sequence[float],
    delta: Sequence[float],
    delta_exponents: Sequence[float],
) -> pd.DataFrame:
    """The errors of one randomizer behind a shuffler: a row for each n, k, eps and rule of delta.

    ``name`` is "grr" (k-RR), "subset", "oue", "hash", "rappor" or "hadamard". delta is each of the numbers
    ``delta``, and n^-a for each a of ``delta_exponents``.

    All errors are expected ones of the estimated shares of k cells, for uniform data, before projection. The
    largest ones take the error of a cell as normal. The columns are:

    - of the setting: n, k, eps, delta_rule (such as 1e-06 or n^-1.1) and delta
    - of the central Gaussian mechanism with this (eps, delta): sigma (its standard deviation, in users), and
      gaussian_tv and gaussian_largest, which are its tv and largest (see below)
    - of the central geometric mechanism with (eps, 0): geometric_tv
    - of the randomizer: randomizer (``name``), name (with its parameter m or g, if it has one), eps0,
      log10_delta (of the upper bound), bits (of a report), expected (how many reports support a cell that
      nobody holds)
    - of the randomizer's errors: tv (total variation), largest (the largest absolute error of a cell), ratio
      (tv / gaussian_tv), empty_ratio (the standard deviation of a cell that nobody holds, divided by that of
      the Gaussian), local_tv (tv without a shuffler, at eps0 = eps)
    """
    rules = delta_rules(delta, delta_exponents)
    rows = [
        (users, cells, float(budget), rule.name, rule.delta(users))
        for users, cells, budget, rule in itertools.product(n, k, eps, rules)
    ]
    settings = pd.DataFrame(rows, columns=["n", "k", "eps", "delta_rule", "delta"])
    users = settings["n"].to_numpy(float)
    cells = settings["k"].to_numpy(float)
    budgets = settings["eps"].to_numpy()
    log10_delta = np.log10(settings["delta"].to_numpy())

    # The total variation error is half the sum of the mean absolute errors of all cells' shares.
    sigma = exact_scale(budgets, settings["delta"], sensitivity=HISTOGRAM_SENSITIVITY)
    gaussian_tv = cells / 2 * mean_absolute(sigma / users)
    best, log10_upper = best_randomizers(name, budgets, log10_delta, users, cells)
    tv = _expected_tv(best, users)

    deviation = np.sqrt(_variances_of_share(best, users))
    names = [randomizer.name for randomizer in best]
    eps0 = [randomizer.eps0 for randomizer in best]
    bits = [randomizer.bits for randomizer in best]
    expected_shares = [randomizer.q_star for randomizer in best]
    variances_of_empty_cell = [
        float(randomizer.variance(0.0, number))
        for randomizer, number in zip(best, users, strict=True)
    ]
    return settings.assign(
        sigma=sigma,
        gaussian_tv=gaussian_tv,
        gaussian_largest=_expected_largest(cells, sigma / users),
        geometric_tv=cells / 2 * geometric_error(budgets) / users,
        randomizer=name,
        name=names,
        eps0=eps0,
        log10_delta=log10_upper,
        bits=bits,
        expected=users * expected_shares,
        tv=tv,
        largest=_expected_largest(cells, deviation),
        ratio=tv / gaussian_tv,
        empty_ratio=np.sqrt(variances_of_empty_cell) * users / sigma,
        local_tv=_expected_tv(_tuned_randomizers(name, cells, budgets), users),
    )


def best_randomizers(
    name: str, eps: Floats, log10_delta: Floats, n: Floats, k: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """The randomizer of one kind with the least error at each point, and log10 of its bound on delta.

    A point is a guarantee (eps, delta) for n users and k values. ``name`` is that of `study`. All other
    arguments, and both results, have the shape (points,). ``log10_delta`` is the target of the bound.
    """
    sigma = exact_scale(eps, log10_delta=log10_delta, sensitivity=HISTOGRAM_SENSITIVITY)
    if name in TUNABLE:
        return _best_with_parameters(TUNABLE[name], eps, log10_delta, n, k, sigma)

    # The search starts at the eps0 at which k-RR's count of an empty cell has the Gaussian's variance
    # sigma^2. With y = e^eps0 - 1 this is n (y + k - 1) / y^2 = sigma^2, and ratio is n / sigma^2.
    ratio = n / sigma**2
    eps0 = np.log1p((ratio + np.sqrt(ratio**2 + 4 * ratio * (k - 1))) / 2)
    return largest_eps0(_tuned_randomizers(name, k, eps0), eps, log10_delta, n)


def _best_with_parameters(
    kind: Tunable, eps: Floats, log10_delta: Floats, n: Floats, k: Floats, sigma: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """`best_randomizers` of a ``kind`` that has a parameter: subset selection, or local hashing.

    ``sigma`` (points,) is the standard deviation of the Gaussian mechanism with the same guarantee, in users.

    The search starts from the parameter that is the best for many users. In each step it replaces the
    parameter by the one with the least delta at the same error (the variance of an estimated share). As delta
    is then below the target, eps0 can rise, which makes the error smaller. Points go on as long as a step
    divides this variance by more than `_WORTHWHILE_GAIN`.
    """
    parameters, eps0 = first_guess(kind, n=n, k=k, sigma=sigma)
    start = _randomizers_with_parameters(kind, k, eps0, parameters)
    best, log10_upper = largest_eps0(start, eps, log10_delta, n)

    # Indices of the points whose parameter may still become better.
    open_points = np.arange(len(eps))
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

        # A point whose parameter stays the same is done.
        moved = tried_parameters != parameters[open_points]
        open_points = open_points[moved]
        variance = variance[moved]
        tried_parameters = tried_parameters[moved]

        start = _randomizers_with_parameters(kind, k[open_points], eps0[moved], tried_parameters)
        tried, tried_log10_upper = largest_eps0(
            start, eps[open_points], log10_delta[open_points], n[open_points]
        )
        # Where the variance has become smaller, what was tried replaces what was the best so far.
        gain = variance / _variances_of_share(tried, n[open_points])
        for index in np.flatnonzero(gain > 1):
            point = open_points[index]
            best[point] = tried[index]
            log10_upper[point] = tried_log10_upper[index]
            parameters[point] = tried_parameters[index]
        open_points = open_points[gain > _WORTHWHILE_GAIN]
    return best, log10_upper


def largest_eps0(
    randomizers: Sequence[SupportRandomizer], eps: Floats, log10_delta: Floats, n: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """``randomizers`` with the largest eps0 at which the bound on delta meets the target, and log10 of it.

    The bound is the proven upper bound on delta at ``eps`` for ``n`` users, and ``log10_delta`` is log10 of
    the target. All arguments and results have one entry per point. Where the search finds no eps0 above eps,
    the result has eps0 = eps, where delta is 0, and log10 of the bound is -inf.

    Every point has an interval from ``low``, the largest eps0 that is known to meet the target, to ``high``,
    the smallest one that is known not to (or the largest eps0 that the bound allows). The first guess is the
    eps0 of ``randomizers``. The next guess is a step of the secant method, or the middle of the interval.
    Secants are those of ln(-log10 delta), which is nearly linear in eps0. So 3 or 4 evaluations are enough.
    """
    # Secants aim at the middle of the allowed range, as ln(-log10 delta).
    target = np.log(-(log10_delta - _CLOSE_TO_TARGET / 2))
    low = eps.copy()  # delta is 0 up to eps0 = eps
    high = np.full(len(eps), LARGEST_EPS0_OF_UPPER)
    log10_upper = np.full(len(eps), -np.inf)  # at eps0 = low

    start = [randomizer.eps0 for randomizer in randomizers]
    guess = np.clip(start, 1.01 * eps, LARGEST_EPS0_OF_UPPER)  # 1.01: just above low
    last_eps0 = np.full(len(eps), np.nan)
    last_surplus = np.full(len(eps), np.nan)

    open_points = np.arange(len(eps))  # indices of the points whose search goes on
    step = 0
    while open_points.size:
        eps0 = guess[open_points]
        tried = _with_eps0([randomizers[point] for point in open_points.tolist()], eps0)
        points = points_of_randomizers(eps[open_points], n[open_points], tried)
        # The function `upper` takes one randomizer, and here m or g differ from point to point.
        bound = ln_upper_of_round(points, width=_WIDTH_OF_BOUND) / np.log(10)
        met = bound <= log10_delta[open_points]
        low[open_points[met]] = eps0[met]
        log10_upper[open_points[met]] = bound[met]
        high[open_points[~met]] = eps0[~met]

        # The step of the secant method. ln(-log10 delta) must be finite, hence -log10 delta from 1e-3 to 1e4.
        # The slope is negative, as delta rises with eps0. Instead of a slope above -0.01, or an unknown one
        # (nan, at the first step), -1 is taken. A step is at most 1.5.
        surplus = np.log(np.clip(-bound, 1e-3, 1e4)) - target[open_points]
        slope = (surplus - last_surplus[open_points]) / (eps0 - last_eps0[open_points])
        secant = eps0 - np.clip(surplus / np.where(slope < -0.01, slope, -1.0), -1.5, 1.5)

        # Where a secant leaves the interval, or there were too many, the guess is the middle. Of the interval
        # at most a length of 2 counts, so this guess is at most 1 above the lower end.
        below = low[open_points]
        above = high[open_points]
        middle = (below + np.minimum(above, below + 2)) / 2
        useful = (below < secant) & (secant < above) & (step < _MOST_SECANTS)
        guess[open_points] = np.where(useful, secant, middle)
        last_eps0[open_points] = eps0
        last_surplus[open_points] = surplus

        # A point is done if its bound is just below the target, or if its interval is narrow.
        close = met & (bound >= log10_delta[open_points] - _CLOSE_TO_TARGET)
        narrow = above - below <= _NARROWEST * above
        open_points = open_points[~close & ~narrow]
        step += 1
    return _with_eps0(randomizers, low), log10_upper


def _with_eps0(randomizers: Sequence[SupportRandomizer], eps0: Floats) -> list[SupportRandomizer]:
    """Copies of ``randomizers``, the first with the first of the numbers ``eps0`` (points,), and so on."""
    pairs = zip(randomizers, eps0.tolist(), strict=True)
    return [replace(randomizer, eps0=budget) for randomizer, budget in pairs]


def _tuned_randomizers(name: str, k: Floats, eps0: Floats) -> list[SupportRandomizer]:
    """The randomizers of the kind ``name`` for each k and eps0 (points,).

    Subset selection and local hashing have the parameter (m or g) with the smallest error at this eps0.
    """
    pairs = zip(k.astype(int).tolist(), eps0.tolist(), strict=True)
    return [BY_KEY[name].tuned(cells, budget) for cells, budget in pairs]


def _randomizers_with_parameters(
    kind: Tunable, k: Floats, eps0: Floats, parameters: Integers
) -> list[SupportRandomizer]:
    """The randomizers of a kind for each k, eps0 and parameter (points,): the size m, or the number g."""
    triples = zip(k.astype(int).tolist(), eps0.tolist(), parameters.tolist(), strict=True)
    return [kind.of(cells, budget, parameter) for cells, budget, parameter in triples]


def _expected_largest(k: Floats, deviation: Floats) -> Floats:
    """Expected largest absolute error among k cells whose errors all have the standard ``deviation``.

    Errors are normal. It is proportional to the deviation, so for each k it is computed for the deviation 1.
    Arguments and result have the shape (points,), the result the unit of ``deviation``.
    """
    for_deviation_1 = {cells: largest_error(np.ones(int(cells))) for cells in np.unique(k)}
    return np.array([for_deviation_1[cells] for cells in k]) * deviation


def _expected_tv(randomizers: Sequence[SupportRandomizer], n: Floats) -> Floats:
    """Expected total variation error of each randomizer's estimate, for uniform data, before projection.

    ``n`` has each randomizer's number of users, and the result its error; both have the shape (points,). The
    error is half the sum of the absolute errors of the k estimated shares.
    """
    distances = []
    for randomizer, users in zip(randomizers, n, strict=True):
        error_of_cell = errors(randomizer, 1 / randomizer.k, n=int(users))
        distances.append(randomizer.k / 2 * error_of_cell)
    return np.array(distances)


def _variances_of_share(randomizers: Sequence[SupportRandomizer], n: Floats) -> Floats:
    """Variance of each randomizer's estimate of a cell's share of the users, for uniform data, (points,).

    ``n`` has each randomizer's number of users.
    """
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
