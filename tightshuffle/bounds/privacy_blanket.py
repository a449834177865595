"""Rigorous bounds on delta of the histogram of n shuffled reports, for every dataset.

The gain of one report under a reference measure w is

    G(y) = (R_x0(y) - e^eps R_x1(y)) / w(y),  y ~ w,   delta_w = E[(G_1 + ... + G_n)_+] / n.

* ``upper``: w is the blanket, the infimum over x of R_x (Balle, Bell, Gascon and Nissim 2019, Lemma 5.3
  before any inequality; for k-RR the weak adversary of Koskela, Heikkila and Honkela, sections 3.2 to 3.4).
* ``lower``: the largest delta_w over w = R_x, all other users at x, and over mixtures of two.
* For k-RR with two values the histogram is one count: there `binary` gives both bounds.

docs/theory.md, Proposition 1, has the proof. Rounding errors always go to the safe side.
"""

import functools
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, Integers, check_eps
from tightshuffle.bounds.binary import binary
from tightshuffle.bounds.inverse import eps_of_setting
from tightshuffle.numerics.positive_part import log_positive_part, outwards
from tightshuffle.randomizers import Finite, KRandomizedResponse, Randomizer, SubsetSelection
from tightshuffle.setting import Setting, make_setting

_MIXTURES = (0.25, 0.5, 0.75)  # weights of the first of the two values in a mixture
BITS = 40  # classes or distributions of a matrix count as the same if they agree in so many bits
_BATCH = 2**15  # distributions times classes that are computed at once, about
WIDTH = 1e-4  # largest relative error that the computation adds to a bound
_WIDEST = 2e-3  # largest width of the bracket of k-RR with two values; mostly half of that is reached


def upper(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
) -> Floats:
    """log10 of an upper bound on delta for every dataset of the other users and both directions.

    Source: Balle, Bell, Gascon and Nissim 2019, Lemma 5.3, computed exactly. Parameters and
    errors as for `tightshuffle.delta`. The computation adds at most 1e-4 of delta, for delta down to about
    10^-100,000; for k = 2 mostly 1e-3, and more for very small delta or very large n.
    """
    setting = make_setting(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    return log10_delta(check_eps(eps), setting, round_up=True)


def lower(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
) -> Floats:
    """log10 of a lower bound on delta of the worst dataset: some dataset has at least this delta."""
    setting = make_setting(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    return log10_delta(check_eps(eps), setting, round_up=False)


def log10_delta(eps: npt.ArrayLike, setting: Setting, *, round_up: bool) -> Floats:
    """`upper` (``round_up``) or `lower` of one round in this setting; -inf where eps >= eps0."""
    return setting.each(functools.partial(bound_of_each, round_up), eps)


@dataclass(frozen=True)
class Side:
    """`upper` or `lower` as a method, with its inverse, which is rounded to its own side."""

    round_up: bool

    def log10_delta(self, eps: npt.ArrayLike, setting: Setting) -> Floats:
        """log10 of the bound on delta of one round; -inf where eps >= eps0."""
        return log10_delta(eps, setting, round_up=self.round_up)

    def epsilon(self, wanted: Floats, setting: Setting) -> Floats:
        """The eps at which the bound is ``wanted``, to 1e-5 of log10 delta."""
        return setting.solve(
            lambda aim, one: eps_of_setting(self.log10_delta, aim, one, **vars(self)), wanted
        )


def bound_of_each(
    round_up: bool,
    eps: Floats,
    randomizers: Sequence[Randomizer],
    *,
    n: npt.ArrayLike,
    width: float = WIDTH,
    mixtures: bool = True,
) -> Floats:
    """`upper` (``round_up``) or `lower` of log10 delta at many points at once, each with its own randomizer.

    ``eps`` (points,); one of ``randomizers`` per point; ``n`` broadcasts. ``mixtures``: whether `lower` also
    tries random datasets, which is three times the work. Nothing is checked.
    """
    users = np.broadcast_to(np.asarray(n), eps.shape)
    eps0 = np.array([own.eps0 for own in randomizers])
    result = np.full(eps.shape, -np.inf)
    asked = [(index, randomizers[index]) for index in np.flatnonzero(eps < eps0).tolist()]
    counts = [index for index, own in asked if isinstance(own, KRandomizedResponse) and own.k == 2]
    if counts:
        low, high = binary(eps[counts], n=users[counts], eps0=eps0[counts])
        result[counts] = high if round_up else low
        if round_up and np.any(wide := high - low > np.log10(1 + _WIDEST)):
            # For very small delta, too many datasets stay possible. k-RR is subset selection of one value.
            some = np.array(counts)[wide]
            same = [SubsetSelection(2, budget, 1) for budget in eps0[some].tolist()]
            other = bound_of_each(True, eps[some], same, n=users[some], width=width)
            result[some] = np.minimum(result[some], other)
    counted = set(counts)
    distributions = (
        (index, *some)
        for index, own in asked
        if index not in counted
        for some in own.distributions(eps[index], ["blanket"] if round_up else _references(own, mixtures))
    )
    of_matrices = any(isinstance(own, Finite) for _, own in asked)
    for owners, values, probabilities in _batches(distributions):
        ulps = 16.0 + 2 * (values.shape[1] + (eps + eps0)[owners, None])
        if of_matrices:
            owners, values, probabilities = _merged(owners, values, probabilities)
            ulps = ulps.max() + 2.0 ** (53 - BITS)
        distribution = outwards(values, probabilities, round_up, ulps)
        bounds = log_positive_part(*distribution, users[owners], width=width, groups=owners)
        np.maximum.at(result, owners, (bounds[int(round_up)] - np.log(users[owners])) / np.log(10))
    return np.minimum(result, 0.0)


def _references(randomizer: Randomizer, mixtures: bool) -> list[str | dict[str, float]]:
    """The reference measures of `lower`: all of one value, and mixtures of x0 with x1 and with x2."""
    single = list(randomizer.references())
    if not mixtures:
        return [*single]
    return [*single, *({"x0": share, other: 1 - share} for other in single[1:3] for share in _MIXTURES)]


def _batches(
    distributions: Iterator[tuple[int, Floats, Floats]],
) -> Iterator[tuple[Integers, Floats, Floats]]:
    """Owners (m,), values and probabilities (m, classes), of some distributions at a time."""
    block: list[tuple[int, Floats, Floats]] = []
    held = 0
    for distribution in itertools.chain(distributions, [None]):
        if block and (distribution is None or held >= _BATCH):
            owners = np.repeat([owner for owner, _, _ in block], [len(own) for _, own, _ in block])
            values, probabilities = np.zeros((2, len(owners), max(own.shape[1] for _, own, _ in block)))
            first = 0
            for _, own, masses in block:
                part = slice(first, first := first + len(own)), slice(own.shape[1])
                values[part], probabilities[part] = own, masses
            yield owners, values, probabilities
            block, held = [], 0
        if distribution is not None:
            block.append(distribution)
            held += distribution[1].size


def _merged(owners: Integers, values: Floats, probabilities: Floats) -> tuple[Integers, Floats, Floats]:
    """Distributions (m, classes) rounded to `BITS` bits, without equal classes and equal distributions.

    A symmetric matrix gives few distributions that differ in more than the last digits.
    """
    near = rounded(values)
    order = np.argsort(near, axis=1)
    near, probabilities = (np.take_along_axis(part, order, axis=1) for part in (near, probabilities))
    place = np.cumsum(np.diff(near, axis=1, prepend=near[:, :1]) > 0, axis=1)
    distributions = np.zeros((len(owners), 1 + 2 * (place.max() + 1)))
    rows, (kept, masses) = np.arange(len(owners))[:, None], np.split(distributions[:, 1:], 2, axis=1)
    kept[rows, place] = near
    np.add.at(masses, (rows, place), probabilities)
    distributions[:, 0], masses[:] = owners, rounded(masses)
    distributions = np.unique(distributions, axis=0)
    values, probabilities = np.split(distributions[:, 1:], 2, axis=1)
    return distributions[:, 0].astype(int), values, probabilities


def rounded(numbers: Floats) -> Floats:
    """``numbers`` to `BITS` bits."""
    mantissas, exponents = np.frexp(numbers)
    return np.ldexp(np.rint(np.ldexp(mantissas, BITS)), exponents - BITS)
