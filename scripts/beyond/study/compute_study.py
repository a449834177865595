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
from tightshuffle.arguments import Floats
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale, geometric_error
from tightshuffle.guarantee import log10_upper_of_round
from tightshuffle.planning.tuning import TUNABLE, first_guess, most_private
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
    """One randomizer at every n, k, eps and rule of delta of the config's ``study``: one row each.

    ``name``: a key of `BY_KEY`. Returns a DataFrame: n, k, eps, delta_rule, delta; of central noise sigma
    (the Gaussian's, in counts), gaussian_tv, gaussian_largest and geometric_tv; randomizer, name (with m or
    g), eps0, log10_delta (of `upper` there), bits (of a report), expected (reports that support an empty
    cell), tv and largest (expected total variation error, and expected largest error of a cell), ratio (of
    the tv to the Gaussian's), empty_ratio (of an empty cell's deviation), local_tv (without shuffler, eps0 =
    eps and delta = 0).
    """
    rules = delta_rules(delta, delta_exponents)
    settings = itertools.product(n, k, eps, [rule.name for rule in rules])
    points = pd.DataFrame(settings, columns=["n", "k", "eps", "delta_rule"])
    points["delta"] = [rule.delta(users) for users in n for _ in k for _ in eps for rule in rules]
    points = points.astype({"eps": float})
    users, cells, budgets = (points[column].to_numpy(float) for column in ("n", "k", "eps"))
    sigma = exact_scale(budgets, points["delta"], sensitivity=HISTOGRAM_SENSITIVITY)
    points = points.assign(
        sigma=sigma,
        gaussian_tv=cells / 2 * mean_absolute(sigma / users),
        gaussian_largest=_largest(cells, sigma / users),
        geometric_tv=cells / 2 * geometric_error(budgets) / users,
    )
    return _family_table(name, points)


def best_randomizers(
    name: str, eps: Floats, log10_delta: Floats, n: Floats, k: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """The randomizers of a family that have the least error at each guarantee, and their log10 delta.

    ``name`` is a key of `BY_KEY`, all else arrays (points,). Each has the largest eps0 at which `upper`
    is at most ``log10_delta``; delta is the value of this bound. The m or g is at
    first that of the approximation by a Gaussian. Then the one with the least delta at the same error takes
    over, as long as this makes the error smaller.
    """
    sigma = exact_scale(eps, log10_delta=log10_delta, sensitivity=HISTOGRAM_SENSITIVITY)
    cells = k.astype(int).tolist()
    if name not in TUNABLE:
        # eps0 at first: that of k-RR with the Gaussian's noise in an empty cell
        share = n / sigma**2
        eps0 = np.log1p((share + np.sqrt(share**2 + 4 * share * (k - 1))) / 2)
        start = [BY_KEY[name].tuned(*one) for one in zip(cells, eps0.tolist(), strict=True)]
        return largest_eps0(start, eps, log10_delta, n)
    kind = TUNABLE[name]
    parameters, eps0 = first_guess(kind, n=n, k=k, sigma=sigma)
    start = [kind.of(*one) for one in zip(cells, eps0.tolist(), parameters.tolist(), strict=True)]
    owns, reached = largest_eps0(start, eps, log10_delta, n)
    left = np.arange(len(eps))
    while left.size:
        here = {"eps": eps[left], "n": n[left], "k": k[left]}
        before = _variances([owns[i] for i in left], n[left])
        better, eps0 = most_private(kind, parameters[left], **here, variance=before)
        moved = better != parameters[left]
        left, before, better, eps0 = left[moved], before[moved], better[moved], eps0[moved]
        ofs = zip(k[left].astype(int).tolist(), eps0.tolist(), better.tolist(), strict=True)
        tried = [kind.of(*one) for one in ofs]
        found, bounds = largest_eps0(tried, eps[left], log10_delta[left], n[left])
        gain = before / _variances(found, n[left])
        for j in np.flatnonzero(gain > 1):
            owns[left[j]], reached[left[j]], parameters[left[j]] = found[j], bounds[j], better[j]
        left = left[gain > _WORTH]
    return owns, reached


def largest_eps0(
    randomizers: Sequence[SupportRandomizer], eps: Floats, log10_delta: Floats, n: Floats
) -> tuple[list[SupportRandomizer], Floats]:
    """``randomizers`` with the largest eps0 at which their bound is at most ``log10_delta``, and the bound.

    All arguments and results are arrays (points,). eps0 = eps, with log10 delta -inf, where the search finds
    no larger eps0. log log(1 / delta) is nearly linear in eps0. So secants need 3 or 4 evaluations, starting
    from the eps0 of ``randomizers``.
    """
    aim = np.log(-(log10_delta - _CLOSE / 2))
    low, high = eps.copy(), np.full(len(eps), LARGEST_EPS0_OF_UPPER)
    reached = np.full(len(eps), -np.inf)
    here = np.clip([own.eps0 for own in randomizers], 1.01 * eps, LARGEST_EPS0_OF_UPPER)
    last, surplus_last = np.full((2, len(eps)), np.nan)
    left, step = np.arange(len(eps)), 0
    while left.size:
        x = here[left]
        owns = [replace(randomizers[i], eps0=eps0) for i, eps0 in zip(left.tolist(), x.tolist(), strict=True)]
        points = points_of_randomizers(eps[left], n[left], owns)
        value = log10_upper_of_round(points, width=_WIDTH)
        met = value <= log10_delta[left]
        low[left[met]], reached[left[met]] = x[met], value[met]
        high[left[~met]] = x[~met]
        surplus = np.log(np.clip(-value, 1e-3, 1e4)) - aim[left]
        slope = (surplus - surplus_last[left]) / (x - last[left])
        new = x - np.clip(surplus / np.where(slope < -0.01, slope, -1.0), -1.5, 1.5)
        below, above = low[left], high[left]
        outside = ~((below < new) & (new < above)) | (step >= _SECANTS)
        last[left], surplus_last[left] = x, surplus
        here[left] = np.where(outside, (below + np.minimum(above, below + 2)) / 2, new)
        open_ = ~(met & (value >= log10_delta[left] - _CLOSE)) & (above - below > _SHORTEST * above)
        left, step = left[open_], step + 1
    return [replace(own, eps0=eps0) for own, eps0 in zip(randomizers, low.tolist(), strict=True)], reached


def _family_table(name: str, points: pd.DataFrame) -> pd.DataFrame:
    wanted = np.log10(points["delta"].to_numpy())
    n, k, eps = (points[column].to_numpy(float) for column in ("n", "k", "eps"))
    owns, reached = best_randomizers(name, eps, wanted, n, k)
    tv = _tv(owns, n)
    variances = [float(own.variance(0.0, int(users))) for own, users in zip(owns, n, strict=True)]
    local = [BY_KEY[name].tuned(int(cells), budget) for cells, budget in zip(k, eps.tolist(), strict=True)]
    return points.assign(
        randomizer=name,
        name=[own.name for own in owns],
        eps0=[own.eps0 for own in owns],
        log10_delta=reached,
        bits=[own.bits for own in owns],
        expected=n * [own.q_star for own in owns],
        tv=tv,
        largest=_largest(k, 2 / k * tv / mean_absolute(1.0)),
        ratio=tv / points["gaussian_tv"],
        empty_ratio=np.sqrt(variances) * n / points["sigma"],
        local_tv=_tv(local, n),
    )


def _largest(k: Floats, deviation: Floats) -> Floats:
    """Expected largest error of k cells of the same deviation."""
    unit = {cells: largest_error(np.ones(int(cells))) for cells in np.unique(k)}
    return np.array([unit[cells] for cells in k]) * deviation


def _tv(randomizers: Sequence[SupportRandomizer], n: Floats) -> Floats:
    """Expected total variation error of each randomizer's estimate: uniform data, before projection."""
    pairs = zip(randomizers, n, strict=True)
    return np.array([own.k / 2 * errors(own, 1 / own.k, n=int(users)) for own, users in pairs])


def _variances(randomizers: Sequence[SupportRandomizer], n: Floats) -> Floats:
    """Variance of an estimated share, uniform data."""
    pairs = zip(randomizers, n, strict=True)
    return np.array([float(own.variance(1 / own.k, users)) for own, users in pairs])


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
