"""Find the largest eps0 for a guarantee, and the expected error; or the fewest users for a given error.

An error is an expected total variation error: half the sum over the k values of the mean absolute error of
the estimated share. By default it is the error for uniform data, where each value has the share f = 1 / k of
the n users. Uniform data are the worst case for k-RR, since the error of a value is concave in f. The
estimates are those before projection onto the simplex: shares can be negative, and the error can exceed 1.
`expected_errors` has the closed forms.
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
    check_whole,
    renamed,
)
from tightshuffle.bounds import sums
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.collection import Collection, Group
from tightshuffle.gaussian import HISTOGRAM_SENSITIVITY, exact_scale
from tightshuffle.guarantee import log10_upper
from tightshuffle.numerics.roots import least_whole
from tightshuffle.planning.tuning import TUNABLE, Tunable, first_guess, most_private
from tightshuffle.points import (
    LARGEST_EPS0,
    LARGEST_N_OF_UPPER,
    RELEASES,
    SMALLEST_EPS,
    check_guarantee,
    make_points,
)
from tightshuffle.randomizers import Randomizer, parse
from tightshuffle.randomizers.expected_errors import errors, krr_deviation, mean_absolute

# Of eps0, relative: as precisely as the bound is known.
_PRECISION = {"reports": 1e-6, "sums": 1e-5}
_USERS = 1e-4  # precision of the fewest users, relative
_DEEP = -1e3  # log10 of (delta / wanted delta); the search treats any smaller delta as 0


@dataclass(frozen=True)
class Plan:
    """A guarantee for ``n`` users who could report: the budget ``eps0``, and the errors of the estimates.

    ``log10_delta``: `upper` at this eps0; -inf for eps0 = eps. If the shuffler fails, each round is still
    eps0-locally private. ``capped``: whether eps0 is the largest that the search tries (`LARGEST_EPS0`, and
    twice that for sums). ``sigma``: standard deviation of the analytic Gaussian mechanism's noise on each
    count, for the same guarantee. ``tv``: name -> expected total variation error. The names are
    "shuffle+INV" (the randomizer with eps0, shuffled and inverted), "gaussian", and "local" (the randomizer
    with eps0 = eps, no shuffler). For your own histogram, "uniform" is the distance of the uniform histogram
    from yours. ``randomizer``: its name, with the m or g that was found.
    """

    n: int
    eps0: float
    log10_delta: float
    capped: bool
    sigma: float
    tv: dict[str, float]
    randomizer: str


@renamed
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
        The share of the users for each value, for which errors are computed; uniform by default.

    Raises
    ------
    ValueError that names the argument that is out of range.
    """
    check_choice("release", release, RELEASES)
    rounds = check_whole("rounds", rounds, 1)
    participation = check_participation(participation)
    eps = check_guarantee(eps)
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
    if not isinstance(randomizer, str) or randomizer.startswith("file:"):
        raise ValueError(
            f"randomizer must be a name; a plan cannot change the eps0 of a matrix; got {randomizer!r}"
        )
    deletion = check_flag("deletion", deletion)
    k = check_whole("k", k, 2)
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
    largest_eps0 = _largest_eps0_of(release)

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

    if n is not None and error is None:
        n = check_whole("n", n, 1, LARGEST_N_OF_UPPER)
        reports = expected_reports(n, participation)
        if release == "sums":
            gaussian_limit = math.sqrt(reports / rounds) * sensitivity / sigma
            guess = _eps0_of_sums(randomizer, k, deletion, gaussian_limit, eps_per_round)
        else:
            guess = _eps0_of_noise(reports, k, sigma)
    elif error is not None and n is None:
        error = check_one("error", check_positive("error", error))
        check_one("colluding", check_colluding(colluding, LARGEST_N_OF_UPPER))

        @functools.cache
        def eps0_of_error(n: int) -> float:
            """The smallest eps0 at which the error of n users is at most ``error``; inf if none is."""
            return _least_eps0(lambda eps0: error_at(eps0, n) <= error, eps_per_round, largest_eps0)

        @functools.cache
        def surplus(n: int) -> float:
            """log10 of delta over its target, for n users at the eps0 of the error."""
            eps0 = eps0_of_error(n)
            if eps0 == eps_per_round:
                return _DEEP
            reached = 0.0 if eps0 == math.inf else log10_delta_at(eps0, n)
            return max(reached - target_log10_delta, _DEEP)

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

    eps0, reached_log10_delta = _largest_eps0(
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
        errors_by_name["uniform"] = float(np.abs(np.asarray(shares) - 1 / k).sum() / 2)
    return Plan(
        n=n,
        eps0=eps0,
        log10_delta=reached_log10_delta,
        capped=eps0 == largest_eps0,
        sigma=sigma,
        tv=errors_by_name,
        randomizer=randomizer,
    )


@renamed
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
    """The fewest users for whom reports with this eps0 have the guarantee (eps, delta): the least batch.

    The parameters are those of `tightshuffle.delta`, one number each, or those of `plan`.

    Returns
    -------
    n, for which `upper` was computed to be at most delta. The guarantee then holds for more users, too: they
    add reports that say nothing about the target user. n is within 0.01 %, and one user, of a number for
    which `upper` is above delta; whether still fewer users might have the guarantee is not searched.

    Raises
    ------
    ValueError naming a bad argument, or if 10^12 users are too few.
    """
    eps = check_one("eps", check_eps(eps))
    target_log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
    known_users = check_one("colluding", check_colluding(colluding, LARGEST_N_OF_UPPER))
    least = 1 if 0 < colluding < 1 else 1 + int(known_users)
    participation = check_participation(participation)
    setting: dict[str, Any] = {
        "k": k,
        "eps0": eps0,
        "randomizer": randomizer,
        "colluding": colluding,
        "rounds": rounds,
        "release": release,
        "deletion": deletion,
    }

    @functools.cache
    def surplus(n: int) -> float:
        """log10 of the upper bound on delta for n users, over its target."""
        reached = _log10_upper(eps, n=n, participation=participation, **setting)
        return max(reached - target_log10_delta, _DEEP)

    # The number of users for whom the Gaussian limit has the guarantee: mu falls as the root of n, grows as
    # that of the rounds, and is to be 1 / scale.
    point = make_points(eps, n=LARGEST_N_OF_UPPER, **setting)
    if release == "sums":
        mu = sums.gaussian_mu(point.randomizers[0], deletion=deletion)
    else:
        mu = float(gaussian_mu(n=1, randomizer=point.randomizers[0]))
    scale = float(exact_scale(eps, log10_delta=target_log10_delta))
    guess = point.rounds.item() * float(mu * scale) ** 2 / participation
    return _fewest(surplus, least, int(min(max(least, guess), LARGEST_N_OF_UPPER)))


def expected_reports(n: int, participation: float) -> int:
    """About how many of n users report in a round, at least 1."""
    return max(1, round(n * participation))


def _log10_upper(eps: float, *, n: int, participation: float, **setting: Any) -> float:
    """log10 of `tightshuffle.upper` for a user who reports in every round, as others with ``participation``.

    ``setting`` has the other arguments of `tightshuffle.delta`, apart from eps and n.
    """
    if participation == 1:
        return float(log10_upper(make_points(eps, n=n, **setting))[0])
    eps0, colluding = setting.pop("eps0"), setting.pop("colluding")
    group = Group("users", n, eps0, participation=participation, colluding=colluding)
    return float(Collection(setting.pop("k"), (group,), **setting).log10_delta(eps))


def _fewest(surplus: Callable[[int], float], least: int, guess: int) -> int:
    """A number of users with ``surplus`` <= 0, within 0.01 %, and one user, of one with a surplus above 0.

    The search goes from ``guess`` in ever longer steps until the surplus changes its sign, and then by
    secants. It may end at ``least``, if that has no surplus.
    """
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

    beside, tries = 0.4 * _USERS, 0
    while high - low > max(1, _USERS * high) and surplus(low) > 0:
        # A little above and then below the crossing of a line; at times the middle, so that this ends.
        tries += 1
        middle = (low + high) / 2
        if tries % 4:
            share = surplus(low) / (surplus(low) - surplus(high))
            middle = (low + (high - low) * share) * (1 + (beside if tries % 2 else -beside))
        n = min(max(round(middle), low + 1), high - 1)
        if surplus(n) > 0:
            low = n
        else:
            high = n
    return low if surplus(low) <= 0 else high


def _tuned_plan(
    kind: Tunable,
    n: float | None,
    k: float,
    eps: float,
    *,
    shares: npt.ArrayLike | None,
    **arguments: Any,
) -> Plan:
    """The plan for subset selection or local hashing (``kind``) with the best m or g.

    m is the number of values in a subset, and g that of hashes. The best has the least error, or the fewest
    users for the error that is asked for. It is that of uniform data: ``shares`` would reveal something about
    the users. From a first guess the search steps to the parameter with the least delta at the same error,
    until the plan does not become better. Other arguments are those of `plan`.
    """

    def plan_of(name: str, shares: npt.ArrayLike | None = None) -> Plan:
        """The plan of the randomizer with this name, for uniform data if ``shares`` is left out."""
        return plan(n=n, k=k, eps=eps, randomizer=name, shares=shares, **arguments)

    def cost(candidate: Plan) -> tuple[int, float]:
        """What is to be small: the users, which are the same if n is given, then the error."""
        return candidate.n, candidate.tv["shuffle+INV"]

    # k-RR's plan checks the arguments, and is about as accurate, so that its noise gives a first m or g.
    krr_plan = plan_of("grr")
    k = int(k)
    cells, sigma = np.array([float(k)]), np.array([krr_plan.sigma])
    parameters, _ = first_guess(kind, n=np.array([float(krr_plan.n)]), k=cells, sigma=sigma)
    parameter = int(parameters[0])
    best = plan_of(kind.of(k, eps, parameter).name)
    while True:
        # The m or g with the least delta at the error of the best plan so far. The eps0 is for the plan to
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
    """Expected total variation error of inverted k-RR, uniform data, before projection; all broadcast."""
    return check_k(k) / 2 * mean_absolute(krr_deviation(1 / check_k(k), n=n, k=k, eps0=eps0))


def expected_tv_gaussian(n: npt.ArrayLike, k: npt.ArrayLike, sigma: npt.ArrayLike) -> Floats:
    """Expected total variation error of counts with Gaussian noise of deviation ``sigma`` on each."""
    return check_k(k) / 2 * mean_absolute(check_positive("sigma", sigma) / check_n(n))


def _expected_error(randomizer: Randomizer, n: int, shares: npt.ArrayLike | None) -> float:
    """Expected total variation error of the unbiased estimate, before projection; uniform data if None."""
    if shares is None:
        return randomizer.k / 2 * float(errors(randomizer, 1 / randomizer.k, n=n))
    return float(errors(randomizer, shares, n=n).sum()) / 2


def _eps0_of_noise(n: int, k: int, sigma: float) -> float:
    """The eps0 at which an empty value's inverted count has the noise ``sigma``: a good first guess.

    n q (1 - q) / (p - q)^2 = sigma^2 is quadratic in y = e^eps0 - 1: sigma^2 y^2 = n (y + k - 1).
    """
    share = n / sigma**2
    return math.log1p((share + math.sqrt(share**2 + 4 * share * (k - 1))) / 2)


def _eps0_of_sums(
    randomizer: str, k: int, deletion: bool, gaussian_limit: float, eps_per_round: float
) -> float:
    """The eps0 at which the Gaussian limit of the counts has the guarantee: mu for one user is this."""

    def is_enough(eps0: float) -> bool:
        return (
            sums.gaussian_mu(parse(randomizer, k=k, eps0=eps0), deletion=deletion) >= gaussian_limit
        )

    return _least_eps0(is_enough, eps_per_round, _largest_eps0_of("sums"))


def _largest_eps0_of(release: str) -> float:
    """The largest eps0 that a plan tries: of sums, a change of value shows in two bits of half of it each."""
    return 2 * LARGEST_EPS0 if release == "sums" else LARGEST_EPS0


def _largest_eps0(
    log10_delta_at: Callable[[float], float],
    *,
    least: float,
    most: float,
    target_log10_delta: float,
    guess: float,
    precision: float,
) -> tuple[float, float]:
    """The largest eps0 at which log10 delta is at most the target, and log10 delta there.

    The eps0 is between ``least`` and ``most``, is searched from ``guess`` on, and is known to the relative
    ``precision``. ``log10_delta_at`` is the bound, which grows with eps0. At ``least`` delta counts as 0: the
    local guarantee of eps0 is enough there. Bounds have errors of about 0.01 % of delta, so a root between
    two eps0 proves nothing. The result is the largest of all eps0 that were tried with the guarantee.
    """
    log10_deltas = {least: -np.inf}  # at every eps0 that was tried

    def surplus(eps0: float) -> float:
        """log10 of delta over its target; keeps log10 delta."""
        if eps0 not in log10_deltas:
            log10_deltas[eps0] = log10_delta_at(eps0)
        return max(log10_deltas[eps0] - target_log10_delta, _DEEP)

    # Ever longer steps from the guess, down to an eps0 that is private enough, and up to one that is not.
    low = high = min(max(guess, least), most)
    step = 0.01 * low
    while low > least and surplus(low) > 0:
        low, high = max(low - step, least), low
        step *= 2
    while high < most and surplus(high) <= 0:
        low, high = high, min(high + step, most)
        step *= 2
    if surplus(high) > 0:  # the root itself is not used, only what was tried on the way
        scipy.optimize.brentq(surplus, low, high, xtol=precision * low, rtol=precision)
    largest = max(eps0 for eps0, reached in log10_deltas.items() if reached <= target_log10_delta)
    return largest, log10_deltas[largest]


def _least_eps0(
    is_enough: Callable[[float], bool], least: float, most: float = LARGEST_EPS0
) -> float:
    """The smallest eps0 in [least, most] with ``is_enough``, by bisection, rounded up by 1e-9 of it.

    It is inf where none is. A larger eps0 than one that is enough is enough, too.
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
