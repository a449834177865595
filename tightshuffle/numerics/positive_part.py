"""A certified bracket of log E[(G_1 + ... + G_n)_+], for independent G with finitely many values, at any n.

Every hockey-stick divergence of the shuffle model here is such an expectation (see `bounds.histogram`).
The number of summands may also be random, a sum of independent binomial and Poisson numbers (`bounds.cover`).
What follows is for a fixed n; otherwise M(z)^n becomes the product of (1 - s + s M(z))^n over the binomial
numbers, with n trials of probability s each, and of e^(n (M(z) - 1)) over the Poisson numbers, of mean n.
Let S = G_1 + ... + G_n, and M(z) = E[e^(z G)]. With a small Gaussian U of standard deviation tau, independent
of S, and for every theta > 0,

    A(tau) = E[(S + U)_+] = 1 / (2 pi) * integral of M(z)^n e^(z^2 tau^2 / 2) / z^2 over u,   z = theta + i u.

At the saddle point of M(z)^n / z^2 the integrand is a narrow bell, and the trapezoid rule with nodes u = j h,
h = 2 pi / L, needs few of them, whatever n is. Five errors are bounded, each goes to the safe side.

1. *Smoothing.* x_+ is convex, so E[S_+] <= A(tau) (Jensen). The excess kappa_tau(s) = E[(s + U)_+] - s_+
   falls with ``|s|``, and kappa_2tau(s) = 2 kappa_tau(s / 2), hence kappa_2tau >= 2 kappa_tau and

       2 A(tau) - A(2 tau) <= E[S_+] <= A(tau),

   which closes like tau^2: its relative width is about 1.5 (theta tau)^2.
2. *Aliasing.* By Poisson's summation formula the trapezoid rule gives A(tau) plus, for every whole m other
   than 0, e^(-theta m L) E[(S + U + m L)_+]. These are positive, so A(tau) is at most the sum over the nodes.
   With x_+ <= e^(t x) / (e t) for every t > 0 (here theta - s for m > 0, theta + s for m < 0) they add up
   to at most M(t)^n e^(t^2 tau^2 / 2) / (e t (e^(s L) - 1)) on each side.
3. *Truncation.* The nodes beyond V = J h add at most M(theta)^n e^(theta^2 tau^2 / 2) times the integral of
   e^(-u^2 tau^2 / 2) / (pi u^2) from V on, which is at most e^(-V^2 tau^2 / 2) / (pi V^3 tau^2).
4. *Skipped nodes.* With the tilted probabilities w_i = p_i e^(theta g_i) / M(theta),
   ``|M(z) / M(theta)|^2`` = 1 - 4 * sum over i < j of w_i w_j sin^2(u (g_i - g_j) / 2). By one pair i, j
   alone, the nodes with 2 n w_i w_j sin^2(u (g_i - g_j) / 2) > T add at most
   e^-T (1 / (2 theta) + h / theta^2) in all.
   Windows around the zeros of this sine remain; the pair that leaves the fewest nodes is taken.
5. *Rounding.* A node's logarithm is known to n times a few units in the last place of the terms that
   M(z) / M(theta) - 1 sums up; so is log M(theta). Values and probabilities count as exact: whoever rounds
   them moves them to the safe side (`outwards`).

Where only few combinations of values matter (few users, or eps next to eps0), they are summed one by one.
Under the tilted distribution, the counts of all but one of the values nearly always lie in a box. By the same
x_+ <= e^(theta x) / (e theta), other combinations add at most 1 / (e theta) times their tilted probability.
"""

import math
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Booleans, Floats, Integers

_ULP = 2.0**-52
_OPERATIONS = 24.0  # units in the last place that a handful of elementary functions and products may lose
_SMALLEST = 1e-150  # bound on the largest value of G: its square and the square of its reciprocal are floats
_MOST_USERS = 1e12
_ATTEMPTS = 8
_MOST_NODES = 2**20  # nodes of one point; a point that needs more gets Chernoff's bound only
_PAIRED = 8  # likeliest values, whose pairs are candidates for windows
_BATCH = 2**20  # about how many nodes are in memory at once
_TERMS = 2**18  # about how many terms of sums over values are in memory at once
_COARSE = 0.1  # width of the bracket that rules out most of a group
_UNLIKELY = 42.0  # -log of the probability beyond which counts of a value are left out
# Up to so many combinations of values are summed one by one:
_FEW_ATOMS = 4_000  # before any contour integral,
_SOME_ATOMS = 5 * 10**4  # after one contour integral whose bracket is too wide,
_MOST_ATOMS = 2 * 10**6  # after all contour integrals
_NEWTON = 12  # Newton's steps to the counts at the edge of a box
_MOST_COUNTED = 4_000  # users without the likeliest value in one combination
# Candidates for the length L and for the shifts s of the alias bound, in standard deviations of S.
_LENGTHS = np.array([6.0, 7, 8, 9, 10, 11, 12, 14, 16, 20, 25, 32, 40, 60, 100, 200, 400, 1000])
_SHIFTS = np.array([0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 13])


def log_positive_part(
    values: npt.ArrayLike,
    probabilities: npt.ArrayLike,
    n: npt.ArrayLike,
    *,
    shares: npt.ArrayLike | None = None,
    width: float = 1e-4,
    groups: npt.ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Bounds (low, high) with low <= log E[(G_1 + ... + G_n)_+] <= high.

    Parameters
    ----------
    values, probabilities : shape (..., c), the values of one G and their probabilities; what is missing to 1
        is the probability of the value 0. A value of probability 0 does not occur. The largest value, if
        positive, lies between 1e-150 and 1e150.
    n : number of independent copies of G, from 1 to 10^12; its shape broadcasts with the leading dimensions.
        With ``shares``, both have one more axis (..., m): the number of copies is then a sum of m independent
        ones, each Binomial(n, share), or Poisson of mean n where the share is 0. One share at least is above
        0.
    width : high - low is at most log(1 + width), unless rounding (item 5 above) or a limit of about a million
        nodes prevents it; the bounds hold in any case
    groups : whole numbers of the broadcast leading shape. Of the points with the same number only those that
        can have the largest expectation get this width; for all other points, the bracket only shows that
        they are smaller. None: every point gets this width.

    Returns
    -------
    low, high : arrays of the broadcast leading shape; both -inf where G has no positive value

    Raises
    ------
    ValueError if the largest value is out of range.
    """
    g, p = np.broadcast_arrays(np.asarray(values, float), np.asarray(probabilities, float))
    if shares is None:
        n, shares = np.asarray(n)[..., None], 1.0
    users, thinned = np.broadcast_arrays(np.asarray(n, float), np.asarray(shares, float))
    shape = np.broadcast_shapes(g.shape[:-1], users.shape[:-1])
    classes, parts = g.shape[-1], users.shape[-1]
    g = np.broadcast_to(g, (*shape, classes)).reshape(-1, classes)
    p = np.broadcast_to(p, (*shape, classes)).reshape(-1, classes)
    users, thinned = (np.broadcast_to(part, (*shape, parts)).reshape(-1, parts) for part in (users, thinned))
    g = np.where(p > 0, g, 0.0)
    low = np.full(len(users), -np.inf)
    high = low.copy()
    largest = g.max(axis=1)
    some = np.flatnonzero(largest > 0)
    if not np.all((largest[some] > _SMALLEST) & (largest[some] < 1 / _SMALLEST)):
        raise ValueError(f"the largest value must lie between {_SMALLEST:g} and {1 / _SMALLEST:g}")
    if some.size:
        points = _at_saddle(_clipped(g[some]), p[some], users[some], thinned[some])
        if groups is None:
            low[some], high[some] = _brackets(points, width)
        else:
            low[some], high[some] = _largest(points, np.reshape(groups, -1)[some], width)
    return low.reshape(shape), high.reshape(shape)


def tilted_copies(values: Floats, probabilities: Floats, n: npt.ArrayLike, shares: npt.ArrayLike) -> Floats:
    """About how many copies of G there are where (G_1 + ... + G_n)_+ has its expectation; (points,).

    ``values``, ``probabilities`` (points, c); ``n``, ``shares`` (m,), as for `log_positive_part`. 1 where no
    value is positive.
    """
    result = np.ones(len(values))
    some = np.flatnonzero(np.where(probabilities > 0, values, 0.0).max(axis=1) > 0)
    if some.size:
        g, p = _clipped(np.where(probabilities > 0, values, 0.0)[some]), probabilities[some]
        users, thinned = (np.broadcast_to(part, (len(some), np.size(n))) for part in (n, shares))
        points = _at_saddle(g, p, np.asarray(users, float), np.asarray(thinned, float))
        result[some] = points.rates.sum(axis=1)
    return result


def _clipped(g: Floats) -> Floats:
    """Values without those so far below 0 that their squares overflow.

    From there on one value outweighs all that the other copies can add: how far below does not matter.
    """
    return np.maximum(g, -10 * _MOST_USERS * g.max(axis=-1, keepdims=True))


def outwards(
    values: Floats, probabilities: Floats, round_up: bool, ulps: npt.ArrayLike
) -> tuple[Floats, Floats]:
    """Distributions moved to a larger (``round_up``) or smaller E[S_+], further than rounding moved them.

    ``values`` and ``probabilities`` (..., c) are known to ``ulps`` units in the last place, which broadcast.
    E[S_+] grows with every value, and with mass that moves to a larger value. So upwards positive values
    become likelier and negative ones less likely; downwards all become less likely but the smallest, which
    gets the rest.
    """
    up = 1 + np.asarray(ulps) * _ULP
    positive = values > 0
    moved = np.where(positive == round_up, values * up, values / up)
    if round_up:
        above = np.where(positive, probabilities * up, 0.0)
        below = np.where(positive, 0.0, probabilities / up)
        above /= np.maximum(above.sum(axis=-1, keepdims=True), 1.0)
        room = np.maximum(1 - above.sum(axis=-1, keepdims=True), 0.0)
        mass = below.sum(axis=-1, keepdims=True)
        return moved, above + below * np.where(mass > room, room / np.where(mass > 0, mass, 1.0), 1.0)
    kept = probabilities / up
    total = probabilities.sum(axis=-1, keepdims=True)
    rest = np.minimum(
        (total * (up - 1 / up)).max(axis=-1, keepdims=True), 1 - kept.sum(axis=-1, keepdims=True)
    )
    smallest = (np.arange(values.shape[-1]) == values.argmin(axis=-1)[..., None]) & (values < 0)
    return moved, kept + smallest * np.maximum(rest, 0.0)


@dataclass(frozen=True)
class _Points:
    """Points, one per row, and the distribution of G tilted by e^(theta G), theta near the saddle point."""

    g: Floats  # (points, values)
    p: Floats
    missing: Floats  # (points,), as everything below but the weights and units: the probability of 0
    n: Floats  # (points, parts), as the shares and rates
    shares: Floats
    rates: Floats  # of copies, under the tilt
    log_powers: Floats  # natural log of M(theta)^n, of each part
    theta: Floats
    log_mgf: Floats
    weights: Floats  # tilted probabilities
    units: Floats  # what rounding may do to a weight, in units in the last place
    sigma: Floats  # standard deviation of S under the tilt, and a little more: 1 / z^2 narrows the bell
    base: Floats  # n log M(theta), and
    rounding: Floats  # its error

    def __len__(self) -> int:
        return len(self.n)

    @property
    def tilted(self) -> Floats:
        """The shares under the tilt, (points, parts)."""
        return np.where(self.shares > 0, self.rates / np.maximum(self.n, 1e-300), 0.0)

    def rows(self, index: Integers | np.integer[Any]) -> "_Points":
        return _Points(*(getattr(self, field.name)[index] for field in fields(self)))


def _at_saddle(g: Floats, p: Floats, n: Floats, shares: Floats) -> _Points:
    # Exactly what is missing to 1: if positive values have probability 1e-16, an error of 1e-16 matters.
    missing = np.array([max(math.fsum([1.0, *row]), 0.0) for row in (-p).tolist()])
    theta = _saddle(g, p, missing, n, shares)
    mgf, weights, mean, variance = _moments(g, p, missing, theta)
    rates, (_, second) = _summed(n, shares, mgf, mean, variance)
    exponents = theta[:, None] * np.abs(g)
    few = _OPERATIONS + g.shape[1]
    terms = p * np.abs(np.expm1(theta[:, None] * g)) * np.exp(-mgf.log)[:, None]
    far = mgf.log[:, None] < -math.log(2)
    terms = np.where(far, weights, terms)  # see `_mgf`
    log_powers = _log_powers(n, shares, mgf)
    base = log_powers.sum(axis=1)
    rounding = rates.sum(axis=1) * (few * terms + 2 * weights * exponents).sum(axis=1)
    rounding += 4 * np.abs(log_powers).sum(axis=1) + few
    rounding += np.where(far & (shares > 0), few * (n - rates), 0.0).sum(axis=1)
    sigma = np.sqrt(second + 2 / theta**2)
    return _Points(
        g,
        p,
        missing,
        n,
        shares,
        rates,
        log_powers,
        theta,
        mgf.log,
        weights,
        few + 2 * exponents,
        sigma,
        base,
        _ULP * rounding,
    )


class _Mgf(NamedTuple):
    """M at some theta, its natural log, and M - 1 without cancellation."""

    value: Floats
    log: Floats
    excess: Floats


def _mgf(g: Floats, p: Floats, missing: Floats, theta: Floats) -> _Mgf:
    """M(theta), (...), for g and p (..., c): 1 + a sum, or all terms where that cancels."""
    excess = (p * np.expm1(theta[..., None] * g)).sum(axis=-1)
    far = excess < -0.5
    mgf, log_mgf = 1 + excess, np.log1p(np.where(far, 0.0, excess))
    if far.any():
        terms = missing + (p * np.exp(np.where(far, theta, 0.0)[..., None] * g)).sum(axis=-1)
        mgf, log_mgf = np.where(far, terms, mgf), np.where(far, np.log(terms), log_mgf)
    return _Mgf(mgf, log_mgf, excess)


def _moments(g: Floats, p: Floats, missing: Floats, theta: Floats) -> tuple[_Mgf, Floats, Floats, Floats]:
    """M(theta), and the tilted weights of the values, their mean and variance."""
    mgf = _mgf(g, p, missing, theta)
    x = theta[:, None] * g
    # 1 + expm1 has lost the digits of a small e^x.
    weights = np.where(x < -1, p * np.exp(x), p * np.expm1(x) + p) / mgf.value[:, None]
    mean = (weights * g).sum(axis=1)
    variance = (weights * (g - mean[:, None]) ** 2).sum(axis=1) + missing / mgf.value * mean**2
    return mgf, weights, mean, variance


def _log_powers(n: Floats, shares: Floats, mgf: _Mgf) -> Floats:
    """Natural log of M^n for each part, n and shares (..., parts), for M (...); see the docstring above."""
    value, log, excess = (part[..., None] for part in mgf)
    thinned = shares * excess
    with np.errstate(divide="ignore"):
        far = np.log((1 - shares) + shares * value)
    power = np.where(thinned < -0.5, far, np.log1p(np.maximum(thinned, -0.5)))
    return n * np.where(shares == 1, log, np.where(shares == 0, excess, power))


def _summed(
    n: Floats, shares: Floats, mgf: _Mgf, mean: Floats, variance: Floats
) -> tuple[Floats, tuple[Floats, Floats]]:
    """Tilted copies of each part, and mean and variance of S, from the mean and variance of one G."""
    value = mgf.value[:, None]
    tilted = np.where(shares == 1, 1.0, shares * value / ((1 - shares) + shares * value))
    rates = n * np.where(shares == 0, value, tilted)
    total = rates.sum(axis=1)
    return rates, (total * mean, total * variance + (rates * (1 - tilted)).sum(axis=1) * mean**2)


def _saddle(g: Floats, p: Floats, missing: Floats, n: Floats, shares: Floats) -> Floats:
    """theta > 0 near the minimum of n log M(theta) - 2 log theta, by Newton's method in log theta."""
    copies = (n * np.where(shares == 0, 1.0, shares)).sum(axis=1)
    first, second = copies * (p * g).sum(axis=1), copies * (p * g * g).sum(axis=1)
    start = np.where(
        first < 0, (np.sqrt(first**2 + 8 * second) - first) / (2 * second), 1.5 / np.sqrt(second)
    )
    ceiling = np.log(690 / g.max(axis=1))
    floor = np.full(len(n), -745.0)
    x = np.minimum(np.log(start), ceiling)
    settled = np.zeros(len(n), bool)
    for _ in range(200):
        theta = np.exp(x)
        mgf, _, mean, variance = _moments(g, p, missing, theta)
        _, (total, spread) = _summed(n, shares, mgf, mean, variance)
        slope = total * theta - 2
        curvature = spread * theta**2 + total * theta
        ceiling = np.where(slope > 0, np.minimum(ceiling, x), ceiling)
        floor = np.where(slope > 0, floor, np.maximum(floor, x))
        with np.errstate(divide="ignore", invalid="ignore"):
            step = np.where(curvature > 0, np.clip(-slope / curvature, -3, 3), -np.sign(slope))
        new = x + step
        new = np.where((floor < new) & (new < ceiling), new, (floor + ceiling) / 2)
        moved = np.abs(new - x) >= 1e-3
        x = np.where(settled, x, new)
        settled |= ~moved
        if settled.all():
            break
    return np.exp(x)


def _chernoff(points: _Points) -> Floats:
    """log of M(theta)^n / (e theta), which is at least E[S_+]."""
    return points.base + points.rounding - 1 + _log(1 / points.theta, round_up=True)


def _largest(points: _Points, groups: Integers, width: float) -> tuple[Floats, Floats]:
    """Brackets, as narrow as ``width`` for those points that can be the largest of their group."""
    low, high = np.full(len(points), -np.inf), _chernoff(points)
    best = np.full(groups.max() + 1, -np.inf)
    order = np.lexsort((-high, groups))
    first = np.unique(groups[order], return_index=True)[1]
    likely, unlikely = order[first], np.sort(np.delete(order, first))
    for rows, wanted in ((likely, width), (unlikely, _COARSE), (unlikely, width)):
        rows = rows[~(high[rows] < best[groups[rows]]) & ~(high[rows] - low[rows] <= math.log1p(wanted))]
        if rows.size:
            low[rows], high[rows] = _brackets(points.rows(rows), wanted)
            np.maximum.at(best, groups[rows], low[rows])
    return low, high


def _brackets(points: _Points, width: float) -> tuple[Floats, Floats]:
    low = np.full(len(points), -np.inf)
    high = _chernoff(points)
    chernoff = high.copy()

    def sum_boxes(asked: Booleans, most: int, unlikely: npt.ArrayLike) -> Booleans:
        asked = asked & np.all(points.shares == 1, axis=1)  # of a fixed number of copies
        if not asked.any():
            return asked
        boxes = _boxes(points, np.broadcast_to(unlikely, len(points)))
        held = boxes.atoms * max(boxes.g.shape[1] / 8, 1.0)  # many values count as more combinations
        asked = asked & (held <= most) & (boxes.last.sum(axis=1) <= _MOST_COUNTED)
        for row in np.flatnonzero(asked):
            box = _sum_box(points.rows(row), _Boxes(*(part[row] for part in boxes)))
            low[row], high[row] = max(low[row], box[0]), min(high[row], box[1])
        return asked

    def depth() -> Floats:
        # Where S is nearly always 0, or just below, Chernoff's bound is far above E[S_+].
        return np.asarray(_UNLIKELY + np.clip(chernoff - low, 0.0, 600.0))

    few = sum_boxes(np.ones(len(points), bool), _FEW_ATOMS, _UNLIKELY)
    left = np.flatnonzero(~few)
    tau = math.sqrt(width / 2) / points.theta
    guess = -np.log(points.theta**2 * points.sigma * math.sqrt(2 * math.pi))
    before = np.full(len(points), np.inf)

    def open_by(rows: Integers | slice) -> Floats:
        # A smaller tau helps against smoothing only, not against rounding.
        gap = high[rows] - low[rows] - 2 * points.rounding[rows]
        return np.asarray(gap / math.log1p(width))

    for attempt in range(_ATTEMPTS):
        if not left.size:
            break
        new_low, new_high = _contour(points.rows(left), tau[left], guess[left], width)
        low[left], high[left] = np.maximum(low[left], new_low), np.minimum(high[left], new_high)
        guess[left] = np.minimum(guess[left], high[left] - points.base[left])
        if attempt == 0:
            sum_boxes(~few & (open_by(slice(None)) > 1), _SOME_ATOMS, depth())
        still = open_by(left) > 1
        smooth, rows = new_high[still], left[still]
        high[rows] = np.minimum(high[rows], _without_zero(points.rows(rows), tau[rows], smooth))
        excess = open_by(left)
        tau[left] /= np.clip(1.1 * np.sqrt(np.maximum(excess, 0.0)), 1.2, 6.0)
        go_on = (excess > 1) & ((excess < 0.8 * before[left]) | np.isinf(excess))
        before[left] = excess
        left = left[go_on]
    sum_boxes(open_by(slice(None)) > 1, _MOST_ATOMS, depth())
    return low, high


# --- the contour integral ----------------------------------------------------------------------------------


def _contour(points: _Points, tau: Floats, guess: Floats, width: float) -> tuple[Floats, Floats]:
    """One attempt; ``guess`` is about log(E[S_+] / M(theta)^n) and steers only how many nodes are taken."""
    theta = points.theta
    allowed = guess + math.log(width * 1e-3)
    aliases = _log_aliases(points, tau)
    enough = aliases <= allowed[:, None]
    column = np.where(enough.any(axis=1), enough.argmax(axis=1), _LENGTHS.size - 1)
    alias = np.exp(aliases[np.arange(len(points)), column])
    h = 2 * math.pi / (_LENGTHS[column] * points.sigma)
    # Nodes up to V: the truncation bound by its own fixed-point equation for V^2, from above.
    reach = 1 / tau
    for _ in range(6):
        missing = -math.log(math.pi) - 3 * np.log(reach) - 2 * np.log(tau) - allowed
        reach = np.sqrt(2 * np.maximum(missing, 0.5)) / tau
    last = np.ceil(reach / h)
    reach = last * h
    tail = np.exp(-math.log(math.pi) - 3 * np.log(reach) - 2 * np.log(tau) - (reach * tau) ** 2 / 2)
    threshold = 1 - allowed - np.log(2 * theta)
    distance, half = _windows(points, h, last, threshold)
    skipped = np.where(half < reach, np.exp(-threshold) * (0.5 / theta + h / theta**2), 0.0)

    windows = np.where(half < reach, np.floor(reach / distance) + 2, 1)
    nodes = np.minimum(windows * (2 * half / h + 1), last + 1)
    sums = np.zeros((2, len(points)))
    errors = np.full((2, len(points)), np.inf)
    feasible = np.flatnonzero(nodes <= _MOST_NODES)
    batches = np.floor(np.cumsum(nodes[feasible]) / _BATCH)
    for batch in sorted(set(batches.tolist())):
        rows = feasible[batches == batch]
        sums[:, rows], errors[:, rows] = _sum_nodes(
            points.rows(rows), tau[rows], h[rows], last[rows], distance[rows], half[rows], windows[rows]
        )
    errors += tail + skipped
    growth = np.exp((theta * tau) ** 2 / 2), np.exp(2 * (theta * tau) ** 2)
    above = growth[0] * (sums[0] + errors[0])
    below = 2 * growth[0] * (sums[0] - errors[0] - alias) - growth[1] * (sums[1] + errors[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(below > 0, points.base - points.rounding + _log(below, round_up=False), -np.inf)
        high = points.base + points.rounding + _log(above, round_up=True)
    high = np.where(np.isfinite(above) & (above > 0), high, np.inf)
    return np.where(np.isnan(low), -np.inf, low), high


def _without_zero(points: _Points, tau: Floats, high: Floats) -> Floats:
    """``high``, a bound on log A(tau), less what U adds where all n gains are 0: a bound on log E[S_+] still.

    Where S is 0 and not just next to it, the excess kappa is of first order in tau, and only there.
    """
    most = points.p.sum(axis=1) * (1 + _ULP * (points.p.shape[1] + _OPERATIONS))
    none = -np.minimum(most, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        log_zero = points.n * np.where(points.shares == 0, none, np.log1p(points.shares * none))
    log_zero = log_zero.sum(axis=1)
    log_excess = np.log(tau / math.sqrt(2 * math.pi)) + log_zero
    log_excess -= _ULP * _OPERATIONS * (1 + np.abs(log_excess) + np.abs(log_zero))
    slack = _ULP * (np.abs(high) + 1)
    return high + slack + np.log1p(-np.exp(np.minimum(log_excess - high - slack, -_ULP)))


def _log(x: npt.ArrayLike, round_up: bool) -> Floats:
    """log x, moved up or down by more than the rounding error of the sum to which it is added."""
    log = np.log(x)
    error = _ULP * (_OPERATIONS + 4 * np.abs(log))
    return np.asarray(log + error if round_up else log - error)


def _log_aliases(points: _Points, tau: Floats) -> Floats:
    """log of the bound on all aliases over M(theta)^n e^(theta^2 tau^2 / 2); shape (points, lengths)."""
    theta, sigma = points.theta[:, None], points.sigma[:, None]
    shift = _SHIFTS / sigma
    down = np.concatenate([np.minimum(shift, 0.9 * theta), theta * [0.5, 0.7, 0.95]], axis=1)
    bounds = []
    for s, t in ((shift, theta + shift), (down, theta - down)):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            mgf = _mgf(points.g[:, None], points.p[:, None], points.missing[:, None], t)
            powers = _log_powers(points.n[:, None], points.shares[:, None], mgf)
            chernoff = (powers - points.log_powers[:, None]).sum(axis=2) - np.log(t) - 1
            chernoff += (t**2 - theta**2) * tau[:, None] ** 2 / 2 + 2 * points.rounding[:, None]
            decay = s[:, None] * _LENGTHS[:, None] * sigma[:, None]
            bound = chernoff[:, None] - decay - np.log(-np.expm1(-decay))
        bounds.append(np.where(np.isnan(bound), np.inf, bound).min(axis=2))
    return np.logaddexp(*bounds)


def _windows(points: _Points, h: Floats, last: Floats, threshold: Floats) -> tuple[Floats, Floats]:
    """Distance and half width of the windows that the best pair of values leaves; half > V: all nodes."""
    g = np.concatenate([points.g, np.zeros((len(points), 1))], axis=1)
    # Each part's M(z)^n shrinks; a copy that does not occur counts as the value 0.
    tilted = points.tilted
    both = (points.rates * tilted).sum(axis=1)
    missing = points.missing * np.exp(-points.log_mgf) + (points.rates * (1 - tilted)).sum(axis=1) / both
    w = np.concatenate([points.weights, missing[:, None]], axis=1)
    likeliest = np.argsort(-w, axis=1, kind="stable")[:, :_PAIRED]
    g, w = np.take_along_axis(g, likeliest, axis=1), np.take_along_axis(w, likeliest, axis=1)
    one, two = np.triu_indices(g.shape[1], 1)
    gap = np.abs(g[:, one] - g[:, two])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):  # of a gap that is not usable
        sine = threshold[:, None] / (2 * both[:, None] * w[:, one] * w[:, two])
        usable = (sine < 1) & (gap > 1e-150)
        half = np.where(usable, 2 / gap * np.arcsin(np.sqrt(np.where(usable, sine, 1.0))), np.inf)
        distance = 2 * math.pi / np.where(gap > 1e-150, gap, 1.0)
        cost = (np.floor((last * h)[:, None] / distance) + 2) * (2 * half / h[:, None] + 1)
    best = cost.argmin(axis=1)
    rows = np.arange(len(points))
    all_ = cost[rows, best] >= last
    # A little wider: a node next to the edge must not be lost when u / h is rounded.
    return distance[rows, best], np.where(all_, last * h, half[rows, best]) * (1 + 1e-9)


def _sum_nodes(
    points: _Points, tau: Floats, h: Floats, last: Floats, distance: Floats, half: Floats, windows: Floats
) -> tuple[Floats, Floats]:
    """The sums for tau and 2 tau, over M(theta)^n e^(theta^2 tau^2 / 2), and what rounding may do to them."""
    # Windows, then nodes, one after another; window w of a point is centred at w * distance.
    owner = np.repeat(np.arange(len(points)), windows.astype(np.int64))
    number = _count_up(windows)
    centre = number * distance[owner]
    start = np.maximum(np.ceil((centre - half[owner]) / h[owner]), 0.0)
    stop = np.minimum(np.floor((centre + half[owner]) / h[owner]), last[owner])
    start[1:] = np.where(number[1:] > 0, np.maximum(start[1:], stop[:-1] + 1), start[1:])
    size = np.maximum(stop - start + 1, 0.0)
    j = np.repeat(start, size.astype(np.int64)) + _count_up(size)
    owner = np.repeat(owner, size.astype(np.int64))

    theta = points.theta[owner]
    u = j * h[owner]
    real, imaginary, units_lost = np.empty((3, len(u)))
    some = max(1, _TERMS // points.g.shape[1])
    for part in (slice(first, first + some) for first in range(0, len(u), some)):
        w = points.weights[owner[part]]
        angle = u[part, None] * points.g[owner[part]]
        real[part] = -2 * (w * np.sin(angle / 2) ** 2).sum(axis=1)
        imaginary[part] = (w * np.sin(angle)).sum(axis=1)
        units = points.units[owner[part]] * np.minimum(np.abs(angle), 2.0)
        units_lost[part] = (w * units + 3 * w * np.abs(angle)).sum(axis=1)
    phase, log_size, lost = np.zeros((3, len(u)))
    for n, share, rate in zip(points.n.T, points.tilted.T, points.rates.T, strict=True):
        if not rate.any():
            continue
        n, share, rate = n[owner], share[owner], rate[owner]
        x, y = share * real, share * imaginary
        modulus = np.maximum(2 * x + x**2 + y**2, -1 + 1e-300)  # abs(M(z) / M(theta))^2 - 1
        poisson = share == 0
        turn = np.where(poisson, rate * imaginary, n * np.arctan2(y, 1 + x))
        log = np.where(poisson, rate * real, n * 0.5 * np.log1p(modulus))
        phase += turn
        log_size += log
        off = units_lost + 2 * (2 * np.abs(real) + np.where(poisson, 1.0, share) * (real**2 + imaginary**2))
        lost += rate * off / (1 + modulus) + 4 * (np.abs(turn) + np.abs(log))
    size_ = np.exp(log_size) / (theta**2 + u**2)
    size_ *= np.where(j > 0, 2.0, 1.0) * h[owner] / (2 * math.pi)
    lost = _ULP * (lost + 4 * _OPERATIONS)
    error = np.expm1(np.minimum(lost, 700.0))
    phase -= 2 * np.arctan2(u, theta)
    first = np.concatenate([[0], np.flatnonzero(np.diff(owner)) + 1])
    sums, errors = [], []
    for t in (tau, 2 * tau):
        bell = size_ * np.exp(-((u * t[owner]) ** 2) / 2)
        sums.append(np.add.reduceat(bell * np.cos(phase + theta * u * t[owner] ** 2), first))
        count = np.diff(np.append(first, len(owner)))
        errors.append(np.add.reduceat(bell * error, first) + _ULP * count * np.add.reduceat(bell, first))
    return np.array(sums), np.array(errors)


def _count_up(sizes: Floats) -> Floats:
    """0, 1, ..., sizes[0] - 1, 0, 1, ..., sizes[1] - 1, ..."""
    whole = sizes.astype(np.int64)
    return (np.arange(whole.sum()) - np.repeat(np.cumsum(whole) - whole, whole)).astype(float)


# --- the sum over a box of counts --------------------------------------------------------------------------


class _Boxes(NamedTuple):
    """The values, 0 among them, the likeliest last, and ranges of how many users have each but the last."""

    g: Floats
    log_p: Floats
    log_weights: Floats
    first: Floats
    last: Floats
    atoms: Floats  # combinations of counts in the box


def _boxes(points: _Points, unlikely: Floats) -> _Boxes:
    total = np.array([math.fsum(row) for row in points.p.tolist()])
    with np.errstate(divide="ignore"):
        zero = np.where(total < 0.5, np.log1p(-np.minimum(total, 0.5)), np.log(points.missing))
        log_p = np.concatenate([np.log(points.p), zero[:, None]], axis=1)
    g = np.concatenate([points.g, np.zeros((len(points), 1))], axis=1)
    log_weights = log_p + points.theta[:, None] * g - points.log_mgf[:, None]
    order = np.argsort(log_weights, axis=1, kind="stable")
    g, log_p, log_weights = (np.take_along_axis(part, order, axis=1) for part in (g, log_p, log_weights))
    # Both ends where Chernoff's bound of a Poisson distribution, x log(x / m) - x + m, reaches ``unlikely``.
    n = points.n.sum(axis=1)
    expected = n[:, None] * np.exp(log_weights[:, :-1])
    first, last = _unlikely_counts(np.maximum(expected, 1e-280), unlikely[:, None])
    first = np.where(expected > unlikely[:, None], np.floor(first), 0)
    last = np.where(expected > 0, np.minimum(np.ceil(last), n[:, None]), 0)
    with np.errstate(over="ignore"):  # of hundreds of values
        atoms = np.prod(last - first + 1, axis=1)
    return _Boxes(g, log_p, log_weights, first, last, atoms)


def _unlikely_counts(expected: Floats, unlikely: Floats) -> tuple[Floats, Floats]:
    """Both x at which x log(x / m) - x + m, which is convex, is ``unlikely``, for m = ``expected``.

    Newton's method from outside: below m, where there is such an x, and above it by Bernstein's inequality.
    """
    step = np.sqrt(2 * expected * unlikely)
    low = np.maximum(expected - step, 1e-12 * expected)
    high = expected + unlikely / 3 + np.hypot(unlikely / 3, step)
    for _ in range(_NEWTON):
        low, high = ((x - expected + unlikely) / np.log(x / expected) for x in (low, high))
        low = np.maximum(low, 1e-12 * expected)
    return low, high


def _sum_box(point: _Points, box: _Boxes) -> tuple[float, float]:
    """Bounds for one point: the sum over its box. The bound on the rest is added to the upper bound only."""
    from scipy.special import gammaln  # here, for it takes as long to import as numpy

    n = float(point.n.sum())
    probabilities = np.exp(box.log_weights)
    sides = [(a - 1, w) for a, w in zip(box.first, probabilities, strict=False) if a > 0]
    sides += [(b + 1, w) for b, w in zip(box.last, probabilities, strict=False) if b < n and w > 0]
    mass = sum(math.exp(-n * _relative_entropy(x / n, min(w, 1.0))) for x, w in sides)
    low = high = -math.inf
    if mass > 0:
        high = float(
            point.base + point.rounding - 1 + _log(1 / point.theta, round_up=True) + _log(mass, round_up=True)
        )

    ranges = [np.arange(a, b + 1) for a, b in zip(box.first, box.last, strict=True)]
    x = np.array([counts.ravel() for counts in np.meshgrid(*ranges, indexing="ij")])
    x = np.concatenate([x, n - x.sum(axis=0, keepdims=True)])
    s = box.g @ x
    slack = _ULP * (len(x) + 4) * (np.abs(box.g) @ x)
    possible = (x[-1] >= 0) & (s + slack > 0)
    x, s, slack = x[:, possible], s[possible], slack[possible]
    if s.size == 0:
        return low, high
    # log of n! / (n - counted)! as a running sum: for large n the two factorials nearly cancel.
    counted = (n - x[-1]).astype(np.int64)
    falling = np.concatenate([[0.0], np.cumsum(np.log(n - np.arange(counted.max())))])[counted]
    factorials = gammaln(x[:-1] + 1).sum(axis=0)
    log_p = np.where(np.isneginf(box.log_p), 0.0, box.log_p)
    exponent = log_p @ x + falling - factorials
    units = 4 * np.abs(log_p) @ x + (counted + 4) * falling + 8 * factorials
    lost = _ULP * (units + s.size + _OPERATIONS)
    top = exponent.max()
    terms = np.exp(exponent - top)
    below = float((np.maximum(s - slack, 0.0) * terms * np.exp(-lost)).sum())
    above = float(((s + slack) * terms * np.exp(np.minimum(lost, 700.0))).sum())
    if below > 0:
        low = float(top + _log(below, round_up=False)) - _ULP * 4 * abs(top)
    return low, float(np.logaddexp(high, top + _log(above, round_up=True) + _ULP * 4 * abs(top)))


def _relative_entropy(share: float, probability: float) -> float:
    """Kullback-Leibler divergence of Bernoulli(share) from Bernoulli(probability); probability in (0, 1)."""
    from scipy.special import rel_entr

    return float(rel_entr(share, probability) + rel_entr(1 - share, 1 - probability))
