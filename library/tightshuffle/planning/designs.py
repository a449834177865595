"""Which design to run: every one at its best parameters for a guarantee, and what it costs.

A design is a way to publish how many of n users hold each of k values, in one or several rounds. All rounds
together are (eps, delta)-private for every dataset if one user's values change. The functions that find the
parameters of a design guarantee this; here the designs are compared.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tightshuffle.arguments import (
    check_colluding,
    check_log10_delta,
    check_number,
    check_one,
    check_participation,
    check_positive,
    check_rounds,
    check_whole,
)
from tightshuffle.collection import Collection, Dummies, Group
from tightshuffle.collection.all_rounds import AllRounds
from tightshuffle.collection.errors import errors_of_values
from tightshuffle.dummies.best_law import (
    best_cut_law,
    best_noise,
    geometric_deviation,
    smallest_poisson_mean,
)
from tightshuffle.dummies.laws import Law, error_of_parties, expected_tv, poisson
from tightshuffle.dummies.shares import error_of_shares
from tightshuffle.mechanisms.gaussian import (
    HISTOGRAM_SENSITIVITY,
    geometric_error,
    scale_over_sensitivity,
)
from tightshuffle.mechanisms.krr import lie_probability, truth_probability
from tightshuffle.number_text import plain
from tightshuffle.numerics.powers import LN10
from tightshuffle.numerics.roots import least_enough
from tightshuffle.numerics.side import Side
from tightshuffle.planning.plan import expected_reports, plan
from tightshuffle.planning.search import fewest
from tightshuffle.points import (
    LARGEST_EPS0_OF_UPPER,
    LARGEST_K_OF_COLLECTION,
    LARGEST_N_OF_UPPER,
    LARGEST_ROUNDS,
    check_guarantee,
)
from tightshuffle.randomizers import parse
from tightshuffle.randomizers.expected_errors import errors, mean_absolute

# The error of k-RR with dummies over that of dummies alone: a few percent buy a smaller eps0.
ALLOWED_ERROR_RATIO = 1.05


@dataclass(frozen=True)
class Design:
    """A design with the parameters that have the guarantee.

    Errors are expected absolute ones of one round, without projection. ``rare_error`` and ``popular_error``
    are those of how many users hold a value, in users: of a value that nobody holds, and of one with the
    share that was asked for. ``error`` is half the sum over the values of the error of their shares, for
    uniform data. With one value per user it is the expected total variation error. ``messages_per_user`` and
    ``bits_per_user`` are per round, dummies included.

    ``eps_if_it_fails`` is what is left for all rounds, with delta = 0, if the party that is trusted shows
    everything that it receives. It is math.inf if nothing is left. ``trust`` says who must be trusted with
    what, and ``parameters`` are in words.

    ``eps0`` is the local budget of one report, math.inf without local noise. ``dummies`` is how many there
    are of all values on average, per round, and ``law`` names that of their number per value, of one
    aggregator's noise, or of the sum of the honest aggregators' shares of noise (`dummies.laws`).
    ``reference`` is true for a mechanism of a curator who sees all values.
    """

    name: str
    error: float
    rare_error: float
    popular_error: float
    messages_per_user: float
    bits_per_user: float
    eps_if_it_fails: float
    trust: str
    parameters: str
    eps0: float = math.inf
    dummies: float = 0.0
    law: str | None = None
    reference: bool = False


@dataclass(frozen=True)
class Comparison:
    """Designs for one guarantee, sorted by the error of a popular value, then by that of all values.

    ``left_out``: name -> why a design is not among them.
    """

    designs: tuple[Design, ...]
    left_out: dict[str, str]


def compare_designs(
    n: float,
    k: float,
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    rounds: int = 1,
    values_per_user: int = 1,
    colluding: float = 0,
    participation: float = 1.0,
    share: float = 0.1,
    parties: int = 2,
    honest: int = 1,
) -> Comparison:
    """Every design for n users and k values, at its best parameters for (eps, delta).

    "dummies of the best law", and the noise of aggregators, are the best of one family: `best_cut_law` and
    `best_noise`. "shares of noise" is for more than one honest aggregator. k-RR with dummies has the smallest
    eps0, in tenths, with an error about 5 % above that of dummies alone.

    Parameters
    ----------
    n, k : int
        Numbers of users who could report, up to 10^12, and of values, up to 10^7.
    eps, delta, log10_delta : float
        As for `planning.plan`.
    rounds : int
        In each, users report with fresh randomness. The guarantee is for all together.
    values_per_user : int
        The most different values that a user reports per round, all of which may change.
    colluding : float
        How many users reveal their reports, and the dummies of their devices, to the adversary. A number
        below 1 is a share of the users.
    participation : float, above 0 and at most 1
        As for `planning.plan`. Devices add dummies even if their users do not report.
    share : float, from 0 to 1
        The share of the users who hold the popular value.
    parties, honest : int
        How many aggregators add noise, and how many of them do not collude, at least.

    Raises
    ------
    ValueError naming the argument that is out of range.
    """
    n = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER))
    k = check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    participation = check_participation(participation)
    share = check_number("share", share, "a share of the users, from 0 to 1", lambda x: 0 <= x <= 1)
    values = check_whole("values_per_user", values_per_user, 1, k)
    rounds = int(check_one("rounds", check_rounds(rounds)))
    log10_delta = check_one("delta", check_log10_delta(delta, log10_delta))
    eps = check_guarantee(eps)
    largest = LARGEST_ROUNDS // (2 * values)  # a value that changes shows in two counts
    if rounds > largest:
        limit = f"at most {largest} where values_per_user is {values}"
        raise ValueError(f"rounds must be {limit}; got {rounds}")
    honest_devices = n - int(check_one("colluding", check_colluding(colluding, n)))

    task = _Task(n, k, eps, log10_delta, rounds, values, colluding, participation, share)
    guarantee: dict[str, Any] = {
        "log10_delta": log10_delta,
        "values_per_user": values,
        "rounds": rounds,
    }
    poisson_mean = smallest_poisson_mean(eps, **guarantee)
    noise = best_noise(eps, **guarantee, parties=parties, honest=honest)
    # All designs in which a user may have several values.
    designs = [
        _poisson_dummies_of_devices(task, poisson_mean, honest_devices),
        _dummies_of_the_shuffler(task, best_cut_law(eps, **guarantee)),
        _noise_of_aggregators(task, noise, parties, honest),
        _sums_of_bits(task, "rappor", "RAPPOR"),
        _sums_of_bits(task, "oue", "OUE"),
    ]

    left_out: dict[str, str] = {}
    if honest > 1:
        deviation = geometric_deviation(eps, **guarantee)
        designs.append(_shares_of_noise(task, deviation, parties, honest))
    # k-RR is for one value per user; with dummies it needs an eps0 that its plan alone does not reach.
    if values == 1:
        krr = _krr(task)
        designs.append(krr)
        eps0, reason = _eps0_with_dummies(task, poisson_mean, eps0_of_krr=krr.eps0)
        if eps0 is None:
            left_out["k-RR with dummies"] = reason
        else:
            designs.append(_krr_with_dummies(task, eps0, poisson_mean))
    else:
        for name in ("k-RR", "k-RR with dummies"):
            left_out[name] = "only for one report per user and round"

    designs += [_central_gaussian(task), _central_geometric(task)]
    designs.sort(key=lambda design: (design.popular_error, design.error))
    return Comparison(tuple(designs), left_out)


@dataclass(frozen=True)
class _Task:
    """What every design is for: to publish how many of ``n`` users hold each of ``k`` values.

    All ``rounds`` together must be (``eps``, 10^``log10_delta``)-private. In each round, a user takes part
    with probability ``participation``, and reports at most ``values_per_user`` different values.
    ``colluding`` users reveal their reports to the adversary. A number below 1 is a share of the users. The
    popular value is held by the ``share`` of the users. All is checked.
    """

    n: int
    k: int
    eps: float
    log10_delta: float
    rounds: int
    values_per_user: int
    colluding: float
    participation: float
    share: float

    @property
    def reports(self) -> int:
        """About how many users report in a round."""
        return expected_reports(self.n, self.participation)

    @property
    def changed_values(self) -> int:
        """How many values of one user may change, over all rounds."""
        return self.rounds * self.values_per_user

    def design(
        self,
        name: str,
        error_of_count: Callable[[float], float],
        *,
        messages: float,
        bits_per_message: float | None = None,
        **fields: Any,
    ) -> Design:
        """The `Design` called ``name``, with its errors and communication per user and round.

        ``error_of_count`` is a function: from the share of users who hold a value to the expected absolute
        error of the estimated number of these users. It is asked at three shares:

        - 0 for a rare value,
        - `share` for the popular value,
        - `values_per_user` / `k` for each of the k values, if data are uniform.

        The error of a share of users is that of the number over `reports`, the users who report. ``messages``
        is the number of messages per user and round, dummies included. ``bits_per_message`` is by default
        what one of k values needs. ``fields`` are the other fields of `Design`.
        """
        if bits_per_message is None:
            bits_per_message = (self.k - 1).bit_length()
        error_of_uniform_count = error_of_count(self.values_per_user / self.k)
        return Design(
            name,
            error=self.k / 2 * error_of_uniform_count / self.reports,
            rare_error=error_of_count(0.0),
            popular_error=error_of_count(self.share),
            messages_per_user=messages,
            bits_per_user=messages * bits_per_message,
            **fields,
        )

    def error_of_reports(self, randomizer: str, eps0: float) -> Callable[[float], float]:
        """The function ``error_of_count`` of `design` for estimates from reports of this randomizer.

        An estimated number of users is the estimated share of `reports`, times `reports`.
        """
        parsed = parse(randomizer, k=self.k, eps0=eps0)
        return lambda share: self.reports * float(errors(parsed, share, n=self.reports))

    def largest_eps0(self, **arguments: Any) -> float:
        """The largest local budget of a report with the guarantee for all rounds.

        ``arguments`` are those of `plan` that name the randomizer and the release. One user may change
        `changed_values` values in all rounds. They count as so many rounds, in each of which one value
        changes.
        """
        best_plan = plan(
            n=self.n,
            k=self.k,
            eps=self.eps,
            log10_delta=self.log10_delta,
            colluding=self.colluding,
            participation=self.participation,
            rounds=self.changed_values,
            **arguments,
        )
        return best_plan.eps0


def _poisson_dummies_of_devices(task: _Task, mean: float, honest_devices: int) -> Design:
    """The design in which every user's device adds a Poisson number of dummies of each value.

    The dummies of the ``honest_devices`` together have the ``mean`` per value that the guarantee needs. Those
    of the other devices come on top, as the adversary knows them.
    """
    law = poisson(mean * task.n / honest_devices)
    mean_text = plain(mean / honest_devices, 4, side=Side.UPPER)
    return _values_with_dummies(
        task,
        "Poisson dummies, from devices",
        law,
        parameters=f"mean {mean_text} per device and value",
        trust="shuffler: with all values, to mix; devices: to add dummies",
    )


def _dummies_of_the_shuffler(task: _Task, law: Law) -> Design:
    """The design in which the shuffler adds a number of dummies of each value by this ``law``."""
    return _values_with_dummies(
        task,
        "dummies of the best law",
        law,
        parameters=law.name,
        trust="shuffler: with all values, to mix, and to keep its dummies secret",
    )


def _values_with_dummies(
    task: _Task, name: str, law: Law, *, parameters: str, trust: str
) -> Design:
    """The design in which users send their values as they are, and only dummies hide them.

    ``law`` is the distribution of the number of dummies of each value. The count of a value has the error of
    that number, whichever share of the users hold the value. ``name``, ``parameters`` and ``trust`` (who must
    be trusted with what) are texts for the user. No finite eps is left if the trusted party shows all.
    """
    dummies_of_all_values = task.k * law.mean
    return task.design(
        name,
        lambda share: law.absolute_error,
        messages=task.values_per_user + dummies_of_all_values / task.reports,
        eps_if_it_fails=math.inf,
        trust=trust,
        parameters=parameters,
        dummies=dummies_of_all_values,
        law=law.name,
    )


def _noise_of_aggregators(task: _Task, noise: Law, parties: int, honest: int) -> Design:
    """The design in which aggregators sum the users' values and add noise to every sum.

    There are ``parties`` aggregators, of whom ``honest`` ones do not collude. Each adds a number with the
    distribution ``noise`` to the sum of each value. The error of a sum is that of all their numbers,
    whichever share of the users hold the value. A user's message has a bit per value. No finite eps is left
    if the aggregators fail.
    """
    error = error_of_parties(noise, parties)
    return task.design(
        "noise of aggregators",
        lambda share: error,
        messages=1.0,
        bits_per_message=task.k,
        eps_if_it_fails=math.inf,
        trust=f"aggregators: {honest} of {parties}, to add noise and show only sums",
        parameters=f"{noise.name} from each",
        law=noise.name,
    )


def _shares_of_noise(task: _Task, deviation: float, parties: int, honest: int) -> Design:
    """The design in which aggregators add shares of two-sided geometric noise to every sum.

    The shares of the ``honest`` aggregators sum to noise of this ``deviation``, and those of all ``parties``
    to more (`dummies.shares`). All else is as for `_noise_of_aggregators`. With one honest aggregator a share
    would be all of the noise, which is one of the laws that are tried there.
    """
    law = f"noise:1.0:{deviation!r}"
    error = error_of_shares(deviation, parties, honest)
    return task.design(
        "shares of noise",
        lambda share: error,
        messages=1.0,
        bits_per_message=task.k,
        eps_if_it_fails=math.inf,
        trust=f"aggregators: {honest} of {parties}, to add noise and show only sums",
        parameters=f"1/{honest} of {law} from each",
        law=law,
    )


def _sums_of_bits(task: _Task, randomizer: str, title: str) -> Design:
    """The design in which users send k randomized bits, one per value, and only their sums are shown.

    ``randomizer`` is the name of a unary encoding, with the largest eps0 that has the guarantee, and
    ``title`` is how the user knows it.
    """
    eps0 = task.largest_eps0(randomizer=randomizer, release="sums")
    return task.design(
        f"{title}, sums only",
        task.error_of_reports(randomizer, eps0),
        messages=1.0,
        bits_per_message=task.k,
        eps_if_it_fails=task.changed_values * eps0,
        trust="aggregators: to show only sums",
        parameters=f"eps0 = {plain(eps0, 4, side=Side.LOWER)}",
        eps0=eps0,
    )


def _krr(task: _Task) -> Design:
    """The design of shuffled k-RR with the largest eps0 that has the guarantee."""
    eps0 = task.largest_eps0()
    return task.design(
        "k-RR",
        task.error_of_reports("grr", eps0),
        messages=1.0,
        eps_if_it_fails=task.rounds * eps0,
        trust="shuffler: to mix",
        parameters=f"eps0 = {plain(eps0, 4, side=Side.LOWER)}",
        eps0=eps0,
    )


def _krr_with_dummies(task: _Task, eps0: float, poisson_mean: float) -> Design:
    """The design of shuffled k-RR with this ``eps0``, and the fewest uniform dummies for the guarantee.

    ``poisson_mean`` is the mean number of Poisson dummies per value that would be enough without local noise.
    The search for the fewest dummies starts from it.
    """
    dummies = fewest_dummies(
        task.n,
        task.k,
        task.eps,
        log10_delta=task.log10_delta,
        eps0=eps0,
        colluding=task.colluding,
        participation=task.participation,
        rounds=task.rounds,
        guess=poisson_mean,
    )
    one_round = collection_with_dummies(task.reports, task.k, eps0, dummies)

    def error_of_count(share: float) -> float:
        """The expected absolute error of the number of users who hold a value that this share holds."""
        return task.reports * float(errors_of_values(one_round, np.array([share]))[0])

    return task.design(
        "k-RR with dummies",
        error_of_count,
        messages=1 + dummies / task.reports,
        eps_if_it_fails=task.rounds * eps0,
        trust="shuffler: to mix, and to add dummies",
        parameters=f"eps0 = {eps0:g}, {dummies} dummies",
        eps0=eps0,
        dummies=dummies,
    )


def _central_gaussian(task: _Task) -> Design:
    """The design of a curator with all values, who adds Gaussian noise to each count."""
    sigma = _central_sigma(task.eps, task.log10_delta * LN10, task.changed_values)
    return _central(
        task,
        "central Gaussian",
        float(mean_absolute(sigma)),
        f"sigma = {plain(sigma, 4, side=Side.UPPER)}",
    )


def _central_geometric(task: _Task) -> Design:
    """The design of a curator with all values, who adds two-sided geometric noise to each count."""
    error = float(geometric_error(task.eps / task.changed_values))
    return _central(task, "central geometric", error, "delta = 0")


def _central(task: _Task, name: str, error: float, parameters: str) -> Design:
    """The design of a curator who sees all values, and adds noise to each count.

    ``error`` is the expected absolute value of the noise. It is that of a count, whichever share of the users
    hold the value. ``name`` and ``parameters`` are texts for the user.
    """
    return task.design(
        name,
        lambda share: error,
        messages=task.values_per_user,
        eps_if_it_fails=math.inf,
        trust="curator: with all values",
        parameters=parameters,
        reference=True,
    )


def fewest_dummies(
    n: float,
    k: float,
    eps: float,
    delta: float | None = None,
    *,
    log10_delta: float | None = None,
    eps0: float = math.inf,
    colluding: float = 0,
    participation: float = 1.0,
    rounds: int = 1,
    guess: float | None = None,
) -> int:
    """The fewest dummies with which our upper bound on delta makes shuffled k-RR (eps, delta)-private.

    A dummy is a report with a uniform value, which the shuffler adds. The result is the number of dummies of
    all values together in each of the ``rounds``. All rounds together have the guarantee.

    There are ``n`` users and ``k`` values, up to 10^7. ``eps`` is above 0, ``delta`` in (0, 1), or
    ``log10_delta`` < 0 is given instead. ``eps0`` is at most 50, or math.inf if users send the values
    themselves. ``colluding`` users reveal their reports to the adversary; below 1 it is a share of the users.
    ``participation`` is as for `planning.plan`.

    The search starts from ``guess``, which is about how many dummies per value are enough if eps0 is
    math.inf. A guess says that some dummies are needed, which is then not checked.

    ValueError names a bad argument, and is also raised if 10^12 dummies are too few.
    """
    n = check_whole("n", n, 1, int(LARGEST_N_OF_UPPER))
    k = check_whole("k", k, 2, LARGEST_K_OF_COLLECTION)
    eps = check_guarantee(eps)
    target_ln_delta = LN10 * check_one("delta", check_log10_delta(delta, log10_delta))

    def ln_delta_of(dummies: int) -> float:
        """ln of delta with so many dummies, by the upper bound for all rounds."""
        collection = collection_with_dummies(n, k, eps0, dummies, colluding, rounds, participation)
        bounds = AllRounds(collection, collection.groups[0])
        return float(bounds.ln_upper(np.array([eps]))[0])

    # Without local noise, so many dummies per value would about be enough.
    if guess is not None:
        enough_alone = float(check_one("guess", check_positive("guess", guess)))
    elif ln_delta_of(0) <= target_ln_delta:
        return 0
    else:
        # A Poisson number of this mean has the variance of the central Gaussian's noise.
        enough_alone = _central_sigma(eps, target_ln_delta, rounds) ** 2

    # The reports of k-RR hide each other, so fewer may be enough.
    reports = expected_reports(n, participation)
    start = k * max(_dummies_per_value(reports, k, eps0, enough_alone), 1.0)
    return fewest(ln_delta_of, target_ln_delta, guess=start, least=1, of="dummies")


def collection_with_dummies(
    n: float,
    k: float,
    eps0: float,
    dummies: int,
    colluding: float = 0,
    rounds: int = 1,
    participation: float = 1.0,
) -> Collection:
    """The `Collection` of n users of k-RR. In each round the shuffler adds so many uniform dummies."""
    group = Group("users", int(n), eps0, participation, colluding)
    return Collection(int(k), (group,), dummies=Dummies(number=dummies), rounds=int(rounds))


def _central_sigma(eps: float, ln_delta: float, changed_values: int) -> float:
    """The standard deviation of the central Gaussian mechanism's noise on each count, in users.

    It is (``eps``, e^``ln_delta``)-private if one user changes so many values, each of which changes two
    counts by 1.
    """
    sensitivity = HISTOGRAM_SENSITIVITY * math.sqrt(changed_values)
    return scale_over_sensitivity(eps, ln_delta) * sensitivity


def _dummies_per_value(n: int, k: int, eps0: float, enough_alone: float) -> float:
    """About how many dummies per value are enough beside n reports of k-RR.

    ``enough_alone`` is the mean of a Poisson number of dummies per value that would be enough without local
    noise. It is also the variance of a count then. k-RR reports the own value with probability p, and each
    other one with q. The count of a value that nobody holds is estimated from the number of its reports, less
    those expected, over p - q. So it has the variance

        (n q (1 - q) + dummies) / (p - q)^2.

    The result are the dummies at which this is ``enough_alone``. In the code p - q is ``slope``. The result
    is below 0 where the reports alone vary more.
    """
    q, slope = 0.0, 1.0
    if eps0 != math.inf:
        q = float(lie_probability(eps0, k))
        slope = float(truth_probability(eps0, k)) - q
    return slope**2 * enough_alone - n * q * (1 - q)


def _eps0_with_dummies(
    task: _Task, poisson_mean: float, *, eps0_of_krr: float
) -> tuple[float | None, str]:
    """The smallest eps0 at which k-RR with dummies is about as accurate as dummies alone, and an empty text.

    Dummies alone are a Poisson number per value of mean ``poisson_mean``, which is enough for the guarantee
    without local noise. k-RR with this eps0, and with about the dummies that it needs beside
    (`_dummies_per_value`), may have an expected total variation error that is `ALLOWED_ERROR_RATIO` times
    theirs. The eps0 is rounded up to tenths.

    If there is no such eps0, the result is None and the reason in words. Either k-RR without dummies is
    already so accurate at ``eps0_of_krr``, the largest eps0 with the guarantee. Or the error is larger at
    every eps0, as it might be where hardly a dummy is needed, whose number is whole.
    """
    n, k = task.reports, task.k
    target_error = ALLOWED_ERROR_RATIO * expected_tv(poisson(poisson_mean), n=n, k=k)

    def excess(eps0: float) -> float:
        """By how much the expected error at this eps0 is above the target."""
        dummies = max(0, round(k * _dummies_per_value(n, k, eps0, poisson_mean)))
        return collection_with_dummies(n, k, eps0, dummies).expected_error() - target_error

    if excess(eps0_of_krr) <= 0:
        return None, "k-RR alone is about as accurate"
    if excess(LARGEST_EPS0_OF_UPPER) > 0:
        allowed_excess = f"{ALLOWED_ERROR_RATIO - 1:.0%}"
        return None, f"at no eps0 is its error within {allowed_excess} of that of dummies alone"
    eps0 = least_enough(excess, eps0_of_krr, LARGEST_EPS0_OF_UPPER, tolerance=0.001)
    return math.ceil(10 * eps0) / 10, ""
