"""Find the largest eps0 for a guarantee, and the expected error; or the fewest users for a given error.

An error is an expected total variation error: half the sum over the k values of the mean absolute error of
the estimated share. By default it is the error for uniform data, where each value has the share f = 1 / k of
the n users. Uniform data are the worst case for k-RR with many users, since the standard deviation of a value
is concave in f. With few reports other data can have up to twice the error. The estimates are those before
projection onto the simplex: shares can be negative, and the error can exceed 1. `expected_errors` computes
the errors of values.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from tightshuffle.arguments import (
    Floats,
    check_choice,
    check_colluding,
    check_eps,
    check_flag,
    check_k,
    check_log10_delta,
    check_n,
    check_one,
    check_participation,
    check_positive,
    check_shares,
    check_whole,
)
from tightshuffle.bounds import sums
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.methods import METHODS
from tightshuffle.numerics.roots import least_whole
from tightshuffle.planning.tuning import TUNABLE, Tunable, first_guess, most_private
from tightshuffle.points import (
    LARGEST_EPS0,
    LARGEST_N_OF_UPPER,
    RELEASES,
    SMALLEST_EPS,
    check_guarantee,
    make_point,
    make_points,
)
from tightshuffle.randomizers import Randomizer, has_own_budget, parse
from tightshuffle.randomizers.expected_errors import errors, krr_deviation, mean_absolute

# Of eps0, relative: as precisely as the bound is known.
_PRECISION = {"reports": 1e-6, "sums": 1e-5}
_PRECISION_OF_USERS = 1e-4  # of the fewest users, relative
# The search tries a number of users that is so far beside an estimate of the root, relative to it.
_BESIDE = 0.4 * _PRECISION_OF_USERS
# A surplus is log10 of delta over its target. The search takes any smaller one, also -inf, for this.
_LEAST_SURPLUS = -1e3


@dataclass(frozen=True)
class Plan:
    """A guarantee for ``n`` users who could report: the budget ``eps0``, and the errors of the estimates.

    ``log10_delta`` is that of the bound `upper` at this eps0. It is -inf if eps0 is eps over the rounds,
    where the local guarantee is enough. If the shuffler fails, each round is still eps0-locally private.
    ``capped`` is whether eps0 is the largest that the search tries: `LARGEST_EPS0`, and twice that for sums.
    ``sigma`` is the standard deviation of the analytic Gaussian mechanism's noise on each count, for the same
    guarantee. ``randomizer`` is its name, with the m or g that was found.

    ``tv`` maps names to expected total variation errors: "shuffle+INV" is that of the randomizer with eps0,
    shuffled and inverted, "gaussian" that of the Gaussian mechanism, and "local" that of the randomizer
    without a shuffler, whose eps0 is eps over the rounds. For your own histogram, "uniform" is the distance
    of the uniform histogram from yours.
    """

    n: int
    eps0: float
    log10_delta: float
    capped: bool
    sigma: float
    tv: dict[str, float]
    randomizer: str


def plan(
    *,
    n: float | None = None,
    error: float | None = None,
    k: float,
    eps: float,
    delta: float | None = None,
    log10_delta: float | None = None,
    randomizer: str = "grr",
    colluding: float = 0,
    participation: float = 1.0,
    rounds: int = 1,
    release: str = "reports",
    deletion: bool = False,
    shares: npt.ArrayLike | None = None,
) -> Plan:
    """The largest eps0 with which the shuffled reports are (eps, delta)-private, and the expected errors.

    The guarantee is for every dataset of n users with k values. Every parameter but ``shares`` is one number.

    Parameters
    ----------
    n : int, from 1 to 10^12
        Users who could report.
    error : float, above 0
        Instead of n: the plan is for the fewest users for whom "shuffle+INV" has an expected total variation
        distance of at most this, at an eps0 that gives the guarantee.
    k : int, at least 2
        Values.
    eps : float, from 1e-100 to below 20
    delta : float, between 0 and 1
    log10_delta : float, below 0
        Instead of ``delta``.
    randomizer : str
        A name that `randomizers.parse` takes; not a matrix, which has one fixed eps0. "subset" and "hash"
        without a number get the m or g with the smallest error for uniform data.
    colluding : int or float, at least 0
        How many users reveal their reports to the adversary. A number below 1 is a share of the users,
        rounded up. The estimates use their reports, too.
    participation : float, above 0 and at most 1
        The probability that a user reports in a round, independently of all else. The guarantee is for a user
        who reports in every round, and does not hide who reports. Errors are those of as many reports as are
        expected; what is missing of the other users comes on top.
    rounds : int, at least 1
        Rounds in which users report with fresh randomness. The guarantee covers all rounds together, also if
        values change. Errors are those of one round.
    release, deletion : str and bool
        As for `tightshuffle.delta`. The estimates use no more than the sums, so errors are the same. The
        Gaussian has the same neighbours.
    shares : float array (k,)
        The share of the users for each value, for which errors are computed; uniform by default. They sum to
        1.

    Raises
    ------
    ValueError that names the argument that is out of range.
    """
    check_choice("release", release, RELEASES)
    rounds = check_whole("rounds", rounds, 1)
    participation = check_participation(participation)
    eps = check_guarantee(eps)
    k = check_whole("k", k, 2)
    check_one("colluding", check_colluding(colluding, LARGEST_N_OF_UPPER))
    if shares is not None:
        shares = check_shares(shares, k)
    # A name without the parameter m or g: the tuned plan finds it, by plans for names with a parameter.
    if isinstance(randomizer, str) and randomizer in TUNABLE:
        if rounds != 1:
            raise ValueError(f"rounds must be 1 for {randomizer!r} without number; got {rounds}")
        if release != "reports":
            raise ValueError(f"release must be 'reports' for {randomizer!r}; got {release!r}")
        if participation != 1:
            raise ValueError(
                f"participation must be 1 for {randomizer!r} without number; got {participation:g}"
            )
        return _tuned_plan(
            TUNABLE[randomizer],
            n,
            k,
            eps,
            shares=shares,
            delta=delta,
            log10_delta=log10_delta,
            error=error,
            colluding=colluding,
            deletion=deletion,
        )
    if not isinstance(randomizer, str) or has_own_budget(randomizer):
        raise ValueError(
            "randomizer must be a name; a plan cannot change the eps0 of a matrix or density; got"
            f" {randomizer!r}"
        )
    deletion = check_flag("deletion", deletion)
    target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
    eps_per_round = eps / rounds
    if eps_per_round < SMALLEST_EPS:
        raise ValueError(
            f"eps must be at least {SMALLEST_EPS:g} per round; got {eps:g} for {rounds} rounds"
        )
    parse(randomizer, k=k, eps0=eps_per_round)  # a bad name fails at once
    # Gaussian noise in every round is one Gaussian release of a query that is sqrt(rounds) as sensitive.
    sensitivity = (1.0 if deletion else HISTOGRAM_SENSITIVITY) * math.sqrt(rounds)
    sigma = float(exact_scale(eps, log10_delta=target_log10_delta, sensitivity=sensitivity))
    largest_eps0 = _largest_eps0_tried(release)

    def log10_delta_at(eps0: float, n: int) -> float:
        """log10 of the upper bound on delta of all rounds, if n users report with this eps0."""
        return _log10_upper(
            eps,
            n=n,
            k=k,
            eps0=eps0,
            randomizer=randomizer,
            colluding=colluding,
            participation=participation,
            rounds=rounds,
            release=release,
            deletion=deletion,
        )

    def error_at(eps0: float, n: int) -> float:
        """The expected total variation error, if n users report with this eps0."""
        reports = expected_reports(n, participation)
        return _expected_error(parse(randomizer, k=k, eps0=eps0), reports, shares)

    # The number of users if it is not given, and a first guess of their eps0.
    if n is not None and error is None:
        n = check_whole("n", n, 1, LARGEST_N_OF_UPPER)
        reports = expected_reports(n, participation)
        if release == "sums":
            mu_of_one = math.sqrt(reports / rounds) * sensitivity / sigma
            guess = _eps0_of_sums(randomizer, k, deletion, mu_of_one, eps_per_round)
        else:
            guess = _eps0_of_noise(reports, k, sigma)
    elif error is not None and n is None:
        error = check_one("error", check_positive("error", error))

        @functools.cache
        def eps0_of_error(n: int) -> float:
            """The smallest eps0 at which the error of n users is at most ``error``; inf if none is."""
            return _least_eps0(lambda eps0: error_at(eps0, n) <= error, eps_per_round, largest_eps0)

        @functools.cache
        def surplus(n: int) -> float:
            """log10 of delta over its target, for n users at the eps0 of the error."""
            eps0 = eps0_of_error(n)
            if eps0 == eps_per_round:
                return _LEAST_SURPLUS  # the local guarantee is enough: delta is 0
            # If no eps0 has so small an error, delta counts as 1.
            reached = 0.0 if eps0 == math.inf else log10_delta_at(eps0, n)
            return max(reached - target_log10_delta, _LEAST_SURPLUS)

        n = least_whole(
            surplus,
            guess=float(expected_tv_gaussian(1, k, sigma)) / error / participation,
            least=1 + int(colluding),
            most=int(LARGEST_N_OF_UPPER),
        )
        if n is None:
            raise ValueError(
                f"error must be larger: even {LARGEST_N_OF_UPPER:.0e} users are too few for this error and"
                " this guarantee"
            )
        guess = eps0_of_error(n)
    else:
        raise ValueError("n or error must be given, but not both")

    eps0, reached_log10_delta = _largest_eps0_with_guarantee(
        functools.partial(log10_delta_at, n=n),
        least=eps_per_round,
        most=largest_eps0,
        target_log10_delta=target_log10_delta,
        guess=guess,
        precision=_PRECISION[release],
    )
    errors_by_name = {
        "shuffle+INV": error_at(eps0, n),
        "gaussian": float(expected_tv_gaussian(expected_reports(n, participation), k, sigma)),
        "local": error_at(eps_per_round, n),
    }
    if shares is not None:
        errors_by_name["uniform"] = float(np.abs(shares - 1 / k).sum() / 2)
    return Plan(
        n=n,
        eps0=eps0,
        log10_delta=reached_log10_delta,
        capped=eps0 == largest_eps0,
        sigma=sigma,
        tv=errors_by_name,
        randomizer=randomizer,
    )


def fewest_users(
    eps: float,
    delta: float | None = None,
    *,
    k: float | None = None,
    eps0: float | None = None,
    log10_delta: float | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: float = 0,
    participation: float = 1.0,
    rounds: int = 1,
    release: str = "reports",
    deletion: bool = False,
) -> int:
    """About the fewest users who have the guarantee (eps, delta) with reports of this eps0: the least batch.

    Parameters
    ----------
    eps, delta, log10_delta, k, eps0, randomizer, colluding, rounds, release, deletion
        As for `tightshuffle.delta`, one number each.
    participation : float, above 0 and at most 1
        As for `plan`: the result is how many users could report.

    Returns
    -------
    n : int
        For these users the upper bound on delta, `upper`, was computed to be at most delta. The guarantee
        then holds for more users, too, who add reports that say nothing about the target user. Unless n is
        the least number that is possible, `upper` is above delta for some number of users that is smaller by
        at most 0.01 %, or one user if that is more. Whether still fewer users might have the guarantee is not
        searched.

    Raises
    ------
    ValueError naming a bad argument, or if 10^12 users are too few.
    """
    eps = check_one("eps", check_eps(eps))
    target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
    # The least number of users: the target user, and those who collude if they are given as a number.
    colluding_users = check_one("colluding", check_colluding(colluding, LARGEST_N_OF_UPPER))
    least = 1 if 0 < colluding < 1 else 1 + int(colluding_users)
    setting: dict[str, Any] = {
        "k": k,
        "eps0": eps0,
        "randomizer": randomizer,
        "colluding": colluding,
        "participation": check_participation(participation),
        "rounds": rounds,
        "release": release,
        "deletion": deletion,
    }

    @functools.cache
    def surplus(n: int) -> float:
        """log10 of the upper bound on delta for n users, over its target."""
        log10_delta_of_n = _log10_upper(eps, n=n, **setting)
        return max(log10_delta_of_n - target_log10_delta, _LEAST_SURPLUS)

    # A guess: for many users, delta tends to that of Gaussian noise on a query, whose sensitivity is mu times
    # the deviation of the noise. The guarantee needs mu = 1 / scale. For the reports of n users in several
    # rounds mu is the mu of one report, times sqrt(rounds / n).
    point = make_point(n=LARGEST_N_OF_UPPER, **setting)
    if release == "sums":
        mu_of_one = sums.gaussian_mu(point.randomizers[0], deletion=deletion)
    else:
        mu_of_one = float(gaussian_mu(n=1, randomizer=point.randomizers[0]))
    scale = float(exact_scale(eps, log10_delta=target_log10_delta))
    guess = point.rounds.item() * float(mu_of_one * scale) ** 2 / point.participation
    return _fewest_without_surplus(
        surplus, least=least, guess=int(min(max(least, guess), LARGEST_N_OF_UPPER))
    )


def expected_reports(n: int, participation: float) -> int:
    """About how many of n users report in a round, at least 1."""
    return max(1, round(n * participation))


def _log10_upper(eps: float, **setting: Any) -> float:
    """log10 of the upper bound on delta of all rounds; ``setting`` are arguments of `tightshuffle.delta`."""
    return float(METHODS["upper"].log10_delta(make_points(eps, **setting))[0])


def _fewest_without_surplus(surplus: Callable[[int], float], *, least: int, guess: int) -> int:
    """A number of users with a surplus of at most 0, close to a smaller number whose surplus is above 0.

    ``surplus`` is a function of the number of users: log10 of delta over its target. Close means within 0.01
    % or one user. The result is ``least`` if the search arrives there and it has no surplus. The search
    starts from ``guess``. ValueError if 10^12 users have a surplus.
    """
    # Steps of 2 % and ever longer ones, until ``low`` has a surplus, or is the least, and ``high`` has none.
    low = high = guess
    factor = 1.02
    while surplus(high) > 0:
        if high == LARGEST_N_OF_UPPER:
            raise ValueError(
                f"eps or delta must be larger: {LARGEST_N_OF_UPPER:.0e} users are too few"
            )
        low, high = high, min(math.ceil(high * factor), int(LARGEST_N_OF_UPPER))
        factor = factor**2
    while low > least and surplus(low) <= 0:
        low, high = max(int(low / factor), least), low
        factor = factor**2

    tries = 0
    while high - low > max(1, _PRECISION_OF_USERS * high) and surplus(low) > 0:
        tries += 1
        if tries % 4:
            # Where a line through both surpluses is 0. By turns a little more and a little less than that, so
            # that both ends come close to the root.
            share = surplus(low) / (surplus(low) - surplus(high))
            offset = _BESIDE if tries % 2 else -_BESIDE
            number = (low + (high - low) * share) * (1 + offset)
        else:
            number = (low + high) / 2  # so that the search ends for every function
        n = min(max(round(number), low + 1), high - 1)
        if surplus(n) > 0:
            low = n
        else:
            high = n
    return low if surplus(low) <= 0 else high


def _tuned_plan(
    kind: Tunable,
    n: float | None,
    k: int,
    eps: float,
    *,
    shares: npt.ArrayLike | None,
    **arguments: Any,
) -> Plan:
    """The plan for subset selection or local hashing, with the parameter m or g of the best plan.

    ``kind`` is the class of one of these two randomizers. m is the number of values in a subset, and g is the
    number of hash values. The best plan has the least expected error, or the fewest users for the error that
    is asked for. It is the best for uniform data, since a parameter that depends on ``shares`` would reveal
    something about the users. The errors in the result are those for ``shares``, if they are given. Other
    arguments are those of `plan`.

    The search starts from a first guess of the parameter. In each step it makes a plan with the parameter
    that has the least delta at the error of the last plan. It ends if this plan is not better.
    """

    def plan_of(name: str, shares: npt.ArrayLike | None = None) -> Plan:
        """The plan of the randomizer with this name, for uniform data if ``shares`` is left out."""
        return plan(n=n, k=k, eps=eps, randomizer=name, shares=shares, **arguments)

    def cost(candidate: Plan) -> tuple[int, float]:
        """What the best plan has the least of: users (the same for all plans if n is given), then error."""
        return candidate.n, candidate.tv["shuffle+INV"]

    # The functions of `tuning` take one-element arrays here, and give the parameter as one, too. k-RR's plan
    # checks the arguments. It is about as accurate, so the noise of its guarantee gives a first m or g.
    krr_plan = plan_of("grr")
    cells, sigma = np.array([float(k)]), np.array([krr_plan.sigma])
    parameters, _ = first_guess(kind, n=np.array([float(krr_plan.n)]), k=cells, sigma=sigma)
    parameter = int(parameters[0])
    # Only the name of the randomizer, with its parameter, is needed, so that its eps0 may be anything.
    best = plan_of(kind.of(k, eps, parameter).name)
    while True:
        # The m or g with the least delta at the error of the best plan so far. Its eps0 is for the plan to
        # find.
        randomizer = parse(best.randomizer, k=k, eps0=best.eps0)
        colluding_users = check_colluding(arguments["colluding"], best.n)
        parameters, _ = most_private(
            kind,
            np.array([parameter]),
            np.array([float(eps)]),
            n=np.array([float(best.n)]),
            k=cells,
            variance=np.array([float(randomizer.variance(1 / k, best.n))]),
            hidden=np.array([float(best.n - colluding_users)]),
        )
        candidate = plan_of(kind.of(k, eps, int(parameters[0])).name)
        if cost(candidate) >= cost(best):
            break
        best, parameter = candidate, int(parameters[0])
    return best if shares is None else plan_of(best.randomizer, shares)


def expected_tv_krr(n: npt.ArrayLike, k: npt.ArrayLike, eps0: npt.ArrayLike) -> Floats:
    """Expected total variation error of the inverted k-RR estimate before projection, for uniform data.

    Errors are taken as normal. All arguments broadcast. They are the numbers of users and values, and the
    local budget.
    """
    return check_k(k) / 2 * mean_absolute(krr_deviation(1 / check_k(k), n=n, k=k, eps0=eps0))


def expected_tv_gaussian(n: npt.ArrayLike, k: npt.ArrayLike, sigma: npt.ArrayLike) -> Floats:
    """Expected total variation error of the shares of k values of n users, from counts with Gaussian noise.

    ``sigma`` is the standard deviation of the noise on each count, in users. All arguments broadcast.
    """
    return check_k(k) / 2 * mean_absolute(check_positive("sigma", sigma) / check_n(n))


def _expected_error(randomizer: Randomizer, n: int, shares: npt.ArrayLike | None) -> float:
    """Expected total variation error of the unbiased estimate from n reports, before projection.

    ``shares`` (k,) are those of the users who hold each value, 1 / k each if they are None.
    """
    if shares is None:
        return randomizer.k / 2 * float(errors(randomizer, 1 / randomizer.k, n=n))
    return float(errors(randomizer, shares, n=n).sum()) / 2


def _eps0_of_noise(n: int, k: int, sigma: float) -> float:
    """The eps0 at which k-RR's estimated count of a value that nobody holds has the deviation ``sigma``.

    Reports of n users have the own value with probability p, and each other one with q. The variance n q (1 -
    q) / (p - q)^2 = sigma^2 of the count is quadratic in y = e^eps0 - 1: y^2 = ratio (y + k - 1), with ratio
    = n / sigma^2. This is a good first guess of the eps0 whose delta is that of such Gaussian noise.
    """
    ratio = n / sigma**2
    return math.log1p((ratio + math.sqrt(ratio**2 + 4 * ratio * (k - 1))) / 2)


def _eps0_of_sums(
    randomizer: str, k: int, deletion: bool, mu_of_one: float, eps_per_round: float
) -> float:
    """The eps0 of a unary encoding at which the Gaussian limit of its sums has the guarantee of a plan.

    ``mu_of_one`` is the mu of Gaussian differential privacy that one user's bits may have in this limit. The
    eps0 is at least ``eps_per_round``, and inf if no eps0 that a plan tries has so large a mu.
    """

    def is_enough(eps0: float) -> bool:
        encoding = parse(randomizer, k=k, eps0=eps0)
        return sums.gaussian_mu(encoding, deletion=deletion) >= mu_of_one

    return _least_eps0(is_enough, eps_per_round, _largest_eps0_tried("sums"))


def _largest_eps0_tried(release: str) -> float:
    """The largest eps0 that a plan tries: twice as large if only sums are shown.

    There a change of a user's value changes two bits, each of which has half of eps0.
    """
    return 2 * LARGEST_EPS0 if release == "sums" else LARGEST_EPS0


def _largest_eps0_with_guarantee(
    log10_delta_at: Callable[[float], float],
    *,
    least: float,
    most: float,
    target_log10_delta: float,
    guess: float,
    precision: float,
) -> tuple[float, float]:
    """The largest eps0 with the guarantee, and log10 of the bound on delta at this eps0.

    ``log10_delta_at`` is the bound, which grows with eps0. The guarantee is that it is at most the target. At
    eps0 = ``least`` delta counts as 0, as the local guarantee is enough there. The search goes from ``guess``
    through the eps0 from ``least`` to ``most``, and is as fine as the relative ``precision``.

    A bound has an error of about 0.01 % of delta, so that a root between two eps0 proves nothing. So the
    result is the largest one of the eps0 that were tried and have the guarantee.
    """
    log10_deltas = {least: -np.inf}  # at every eps0 that was tried

    def surplus(eps0: float) -> float:
        """log10 of delta over its target, at an eps0 that thereby has been tried."""
        if eps0 not in log10_deltas:
            log10_deltas[eps0] = log10_delta_at(eps0)
        return max(log10_deltas[eps0] - target_log10_delta, _LEAST_SURPLUS)

    # Ever longer steps, at first of 1 %: down until ``low`` has the guarantee, up until ``high`` has it not.
    low = high = min(max(guess, least), most)
    step = 0.01 * low
    while low > least and surplus(low) > 0:
        low, high = max(low - step, least), low
        step *= 2
    while high < most and surplus(high) <= 0:
        low, high = high, min(high + step, most)
        step *= 2

    if surplus(high) > 0:
        # Only what this tries on its way to the root is used.
        scipy.optimize.brentq(surplus, low, high, xtol=precision * low, rtol=precision)
    largest = max(eps0 for eps0, reached in log10_deltas.items() if reached <= target_log10_delta)
    return largest, log10_deltas[largest]


def _least_eps0(
    is_enough: Callable[[float], bool], least: float, most: float = LARGEST_EPS0
) -> float:
    """The smallest eps0 in [least, most] that ``is_enough``, by bisection, rounded up by 1e-9 of it at most.

    It is inf where none is enough. Every eps0 that is larger than one that is enough must be enough, too.
    """
    if is_enough(least):
        return least
    if not is_enough(most):
        return math.inf
    low, high = least, most
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if is_enough(middle):
            high = middle
        else:
            low = middle
    return high
