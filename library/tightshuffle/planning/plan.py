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
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import (
    Floats,
    check_eps,
    check_k,
    check_log10_delta,
    check_n,
    check_one,
    check_positive,
    check_shares,
    check_whole,
)
from tightshuffle.bounds import sums
from tightshuffle.bounds.gaussian_limit import gaussian_mu
from tightshuffle.mechanisms.gaussian import scale_over_sensitivity
from tightshuffle.methods import METHODS
from tightshuffle.numerics.powers import LN10
from tightshuffle.planning.search import fewest, largest_eps0_with_guarantee, least_eps0
from tightshuffle.planning.tuning import TUNABLE, Tunable, first_guess, most_private
from tightshuffle.points import (
    LARGEST_EPS0,
    LARGEST_N_OF_UPPER,
    SMALLEST_EPS,
    Neighbours,
    Points,
    check_guarantee,
    make_point,
)
from tightshuffle.randomizers import Randomizer, has_own_budget, parse
from tightshuffle.randomizers.expected_errors import errors, krr_deviation, mean_absolute

# Of eps0, relative: as precisely as the bound is known.
_PRECISION = {"reports": 1e-6, "sums": 1e-5}
_PRECISION_OF_USERS = 1e-4  # of the fewest users, relative


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
    neighbours: str = Neighbours.REPLACEMENT,
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
        A name that `randomizers.parse` takes; not a matrix or "unary:P:Q", which have one fixed eps0,
        and not "support:ALPHA:BETA", which has no estimates. "subset" and "hash" without a number get the m
        or g with the smallest error for uniform data.
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
    release, neighbours : str
        As for `tightshuffle.delta`. The estimates use no more than the sums, so errors are the same. The
        Gaussian has the same neighbours.
    shares : float array (k,)
        The share of the users for each value, for which errors are computed; uniform by default. They sum to
        1.

    Raises
    ------
    ValueError that names the argument that is out of range.
    """
    if (n is None) == (error is None):
        raise ValueError("n or error must be given, but not both")
    kind = TUNABLE.get(randomizer) if isinstance(randomizer, str) else None
    if kind is not None:
        _check_tunable(randomizer, participation, rounds, release)
    elif not isinstance(randomizer, str) or has_own_budget(randomizer):
        raise ValueError(
            "randomizer must be a name; a plan cannot change the eps0 of a matrix or density; got"
            f" {randomizer!r}"
        )
    if randomizer.startswith(("unary:", "support:")):
        why = "has one eps0" if randomizer.startswith("unary:") else "has no estimates"
        raise ValueError(f"randomizer must be another for a plan: {randomizer} {why}")

    eps = check_guarantee(eps)
    eps_per_round = eps / check_whole("rounds", rounds, 1)
    if eps_per_round < SMALLEST_EPS:
        raise ValueError(
            f"eps must be at least {SMALLEST_EPS:g} per round; got {eps:g} for {rounds} rounds"
        )
    point = make_point(
        n=LARGEST_N_OF_UPPER if n is None else n,
        k=k,
        eps0=eps_per_round,
        randomizer="grr" if kind is not None else randomizer,
        colluding=colluding,
        participation=participation,
        rounds=rounds,
        release=release,
        neighbours=neighbours,
    )
    task = _Task(
        point=point,
        eps=eps,
        ln_delta=LN10 * check_one("delta", check_log10_delta(delta, log10_delta)),
        colluding=colluding,
        shares=None if shares is None else check_shares(shares, point.k.item()),
    )
    if error is None:
        make_plan = functools.partial(_plan_for_users, n=point.n.item())
    else:
        error = check_one("error", check_positive("error", error))
        make_plan = functools.partial(_plan_for_error, error=error)
    return make_plan(task) if kind is None else _tuned_plan(kind, task, make_plan)


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
    neighbours: str = Neighbours.REPLACEMENT,
) -> int:
    """About the fewest users who have the guarantee (eps, delta) with reports of this eps0: the least batch.

    Parameters
    ----------
    eps, delta, log10_delta, k, eps0, randomizer, colluding, rounds, release, neighbours
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
    point = make_point(
        n=LARGEST_N_OF_UPPER,
        k=k,
        eps0=eps0,
        randomizer=randomizer,
        colluding=colluding,
        participation=participation,
        rounds=rounds,
        release=release,
        neighbours=neighbours,
    )
    task = _Task(
        point=point,
        eps=check_one("eps", check_eps(eps)),
        ln_delta=LN10 * check_one("delta", check_log10_delta(delta, log10_delta)),
        colluding=colluding,
    )
    # For many users, delta tends to that of Gaussian noise on a query of sensitivity 1. The guarantee needs
    # the mu of all reports to be 1 / scale, and their mu is that of one, times sqrt(rounds / reports).
    scale = scale_over_sensitivity(task.eps, task.ln_delta)
    mu_of_one = _gaussian_mu_of_one(point)
    return fewest(
        lambda n: task.ln_delta_of(n, point.eps0.item()),
        task.ln_delta,
        guess=point.rounds.item() * (mu_of_one * scale) ** 2 / point.participation,
        least=task.least_users,
        precision=_PRECISION_OF_USERS,
    )


@dataclass(frozen=True)
class _Task:
    """What is asked: (``eps``, e^``ln_delta``) for every dataset and all rounds, and how users report.

    All is checked. ``point`` says how they report; its eps does not count, and its n and eps0 only where no
    others are given. ``colluding`` is a number of users or, below 1, a share of them. ``shares`` (k,) are
    those of the users who hold each value, for which errors are computed; None for uniform data.
    """

    point: Points
    eps: float
    ln_delta: float
    colluding: float
    shares: Floats | None = None

    @property
    def k(self) -> int:
        """The number of values."""
        return int(self.point.k.item())

    @property
    def eps_per_round(self) -> float:
        """The eps0 at which the local guarantee is enough."""
        return self.eps / float(self.point.rounds.item())

    @property
    def largest_eps0(self) -> float:
        """The largest eps0 that a plan tries: twice as large if only sums are shown.

        There a change of a user's value changes two bits, each of which has half of eps0.
        """
        return 2 * LARGEST_EPS0 if self.point.release == "sums" else LARGEST_EPS0

    @property
    def least_users(self) -> int:
        """The target user, and those who collude if they are given as a number."""
        return 1 if 0 < self.colluding < 1 else 1 + int(self.colluding)

    @functools.cached_property
    def sigma(self) -> float:
        """The standard deviation of the analytic Gaussian mechanism's noise, for the same guarantee.

        Its noise in every round is one release of a query that is sqrt(rounds) as sensitive.
        """
        return scale_over_sensitivity(self.eps, self.ln_delta) * self.sensitivity

    @property
    def sensitivity(self) -> float:
        """The L2 sensitivity of the histograms of all rounds."""
        return self.point.neighbours.sensitivity * math.sqrt(self.point.rounds.item())

    def reports(self, n: int) -> int:
        """About how many of n users report in a round."""
        return expected_reports(n, self.point.participation)

    def ln_delta_of(self, n: int, eps0: float) -> float:
        """ln of the upper bound on delta of all rounds, if n users report with this eps0."""
        point = self.point.with_eps(self.eps).with_users(n, self.colluding).with_eps0(eps0)
        return float(METHODS["upper"].ln_delta(point)[0])

    def error(self, n: int, eps0: float) -> float:
        """The expected total variation error of the estimate before projection, in that setting."""
        [randomizer] = self.point.with_eps0(eps0).randomizers
        reports = self.reports(n)
        if self.shares is None:
            return self.k / 2 * float(errors(randomizer, 1 / self.k, n=reports))
        return float(errors(randomizer, self.shares, n=reports).sum()) / 2

    def error_of_gaussian(self, n: int) -> float:
        """The expected total variation error of the Gaussian mechanism, for n users who could report."""
        return float(expected_tv_gaussian(self.reports(n), self.k, self.sigma))


def _check_tunable(randomizer: str, participation: float, rounds: float, release: str) -> None:
    """ValueError for what a plan that has to find the parameter of the ``randomizer`` does not take."""
    if rounds != 1:
        raise ValueError(f"rounds must be 1 for {randomizer!r} without number; got {rounds}")
    if release != "reports":
        raise ValueError(f"release must be 'reports' for {randomizer!r}; got {release!r}")
    if participation != 1:
        raise ValueError(
            f"participation must be 1 for {randomizer!r} without number; got {participation}"
        )


def _plan_for_users(task: _Task, n: int) -> Plan:
    """The plan for n users."""
    if task.point.release == "sums":
        return _plan_near(task, n, _eps0_of_sums(task, n))
    return _plan_near(task, n, _eps0_of_noise(task.reports(n), task.k, task.sigma))


def _plan_for_error(task: _Task, error: float) -> Plan:
    """The plan for the fewest users for whom the expected error is at most ``error``, with the guarantee."""

    @functools.cache
    def eps0_of_error(n: int) -> float:
        """The smallest eps0 at which the error of n users is small enough; inf if none is."""
        return least_eps0(
            lambda eps0: task.error(n, eps0) <= error, task.eps_per_round, task.largest_eps0
        )

    def ln_delta_of(n: int) -> float:
        """ln of delta for n users, at the eps0 of the error."""
        eps0 = eps0_of_error(n)
        if eps0 == task.eps_per_round:
            return -math.inf  # the local guarantee is enough: delta is 0
        if eps0 == math.inf:
            return 0.0  # no eps0 has so small an error: delta counts as 1
        return task.ln_delta_of(n, eps0)

    guess = float(expected_tv_gaussian(1, task.k, task.sigma)) / error / task.point.participation
    n = fewest(
        ln_delta_of,
        task.ln_delta,
        guess=guess,
        least=task.least_users,
        culprit="error",
    )
    return _plan_near(task, n, eps0_of_error(n))


def _plan_near(task: _Task, n: int, guess: float) -> Plan:
    """The plan for n users, whose eps0 is looked for from ``guess`` on."""

    @functools.cache
    def ln_delta_of(eps0: float) -> float:
        """ln of delta for n users, which is 0 where the local guarantee is enough."""
        return -math.inf if eps0 == task.eps_per_round else task.ln_delta_of(n, eps0)

    eps0 = largest_eps0_with_guarantee(
        ln_delta_of,
        task.ln_delta,
        guess=guess,
        least=task.eps_per_round,
        most=task.largest_eps0,
        precision=_PRECISION[task.point.release],
    )
    errors_by_name = {
        "shuffle+INV": task.error(n, eps0),
        "gaussian": task.error_of_gaussian(n),
        "local": task.error(n, task.eps_per_round),
    }
    if task.shares is not None:
        errors_by_name["uniform"] = float(np.abs(task.shares - 1 / task.k).sum() / 2)
    return Plan(
        n=n,
        eps0=eps0,
        log10_delta=ln_delta_of(eps0) / LN10,
        capped=eps0 == task.largest_eps0,
        sigma=task.sigma,
        tv=errors_by_name,
        randomizer=str(task.point.randomizer),
    )


def expected_reports(n: int, participation: float) -> int:
    """About how many of n users report in a round, at least 1."""
    return max(1, round(n * participation))


def _tuned_plan(kind: Tunable, task: _Task, make_plan: Callable[[_Task], Plan]) -> Plan:
    """The plan for subset selection or local hashing, with the parameter m or g of the best plan.

    ``kind`` is the class of one of these two randomizers. m is the number of values in a subset, and g is the
    number of hash values. The best plan has the least expected error, or the fewest users for the error that
    is asked for. It is the best for uniform data, since a parameter that depends on the shares would reveal
    something about the users. The errors in the result are those for the shares, if they are given.

    The search starts from a first guess of the parameter. In each step it makes a plan, by ``make_plan``,
    with the parameter that has the least delta at the error of the last plan. It ends if this plan is not
    better.
    """

    def plan_of(name: str, shares: Floats | None = None) -> Plan:
        """The plan of the randomizer with this name, for uniform data if ``shares`` is left out."""
        return make_plan(replace(task, point=replace(task.point, randomizer=name), shares=shares))

    def cost(candidate: Plan) -> tuple[int, float]:
        """What the best plan has the least of: users (the same for all plans if n is given), then error."""
        return candidate.n, candidate.tv["shuffle+INV"]

    # The functions of `tuning` take one-element arrays here, and give the parameter as one, too. k-RR's plan
    # is about as accurate, so the noise of its guarantee gives a first m or g.
    krr_plan = plan_of("grr")
    cells, sigma = np.array([float(task.k)]), np.array([krr_plan.sigma])
    parameters, _ = first_guess(kind, n=np.array([float(krr_plan.n)]), k=cells, sigma=sigma)
    parameter = int(parameters[0])
    # Only the name of the randomizer, with its parameter, is needed, so that its eps0 may be anything.
    best = plan_of(kind.of(task.k, task.eps, parameter).name)
    while True:
        # The m or g with the least delta at the error of the best plan so far. Its eps0 is for the plan to
        # find.
        randomizer = parse(best.randomizer, k=task.k, eps0=best.eps0)
        honest_users = task.point.with_users(best.n, task.colluding).honest_users
        parameters, _ = most_private(
            kind,
            np.array([parameter]),
            np.array([float(task.eps)]),
            n=np.array([float(best.n)]),
            k=cells,
            variance=np.array([float(randomizer.variance(1 / task.k, best.n))]),
            hidden=honest_users.astype(float),
        )
        candidate = plan_of(kind.of(task.k, task.eps, int(parameters[0])).name)
        if cost(candidate) >= cost(best):
            break
        best, parameter = candidate, int(parameters[0])
    return best if task.shares is None else plan_of(best.randomizer, task.shares)


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


def _eps0_of_noise(n: int, k: int, sigma: float) -> float:
    """The eps0 at which k-RR's estimated count of a value that nobody holds has the deviation ``sigma``.

    Reports of n users have the own value with probability p, and each other one with q. The variance n q (1 -
    q) / (p - q)^2 = sigma^2 of the count is quadratic in y = e^eps0 - 1: y^2 = ratio (y + k - 1), with ratio
    = n / sigma^2. This is a good first guess of the eps0 whose delta is that of such Gaussian noise.
    """
    ratio = n / sigma**2
    return math.log1p((ratio + math.sqrt(ratio**2 + 4 * ratio * (k - 1))) / 2)


def _eps0_of_sums(task: _Task, n: int) -> float:
    """The eps0 of a unary encoding at which the Gaussian limit of its sums has the guarantee of a plan.

    It is at least the eps of a round, and inf if no eps0 that a plan tries has so large a mu.
    """
    rounds = task.point.rounds.item()
    largest_mu_of_one = math.sqrt(task.reports(n) / rounds) * task.sensitivity / task.sigma
    return least_eps0(
        lambda eps0: _gaussian_mu_of_one(task.point.with_eps0(eps0)) >= largest_mu_of_one,
        task.eps_per_round,
        task.largest_eps0,
    )


def _gaussian_mu_of_one(point: Points) -> float:
    """mu of the Gaussian differential privacy that n reports tend to, times the root of n."""
    [randomizer] = point.randomizers
    if point.release == "sums":
        return sums.gaussian_mu(randomizer, neighbours=point.neighbours)
    return float(gaussian_mu(n=1, randomizer=randomizer))
