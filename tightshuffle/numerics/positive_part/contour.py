"""The contour integral for E[S_+], S = G_1 + ... + G_n: five errors, one function each.

With M the moment generating function of a gain and U Gaussian with standard deviation tau, for every theta >
0,

    A(tau) = E[(S + U)_+] = 1 / (2 pi) int M(z)^n e^(z^2 tau^2 / 2) / z^2 du,  z = theta + iu.

If the number of gains is random, M(z)^n becomes the product of (1 - s + s M(z))^n over its binomial parts and
of e^(n (M(z) - 1)) over its Poisson parts. At the saddle point of M(z)^n / z^2 the integrand is a narrow
bell. The trapezoid rule with the nodes u = j h, h = 2 pi / L, needs few of them, whatever n is.

1. Smoothing. x_+ is convex, so E[S_+] <= A(tau) (Jensen). The excess kappa_tau(s) = E[(s + U)_+] - s_+ falls
   with |s|, and kappa_2tau(s) = 2 kappa_tau(s / 2). Hence kappa_2tau >= 2 kappa_tau and 2 A(tau) - A(2 tau)
   <= E[S_+] <= A(tau), with a relative width of about 1.5 (theta tau)^2.
2. Aliasing. By Poisson's summation formula the rule gives A(tau) plus e^(-theta m L) E[(S + U + m L)_+] >= 0
   for every whole m != 0, so A(tau) is at most the sum over the nodes. With x_+ <= e^(t x) / (e t) (t = theta
   - s for m > 0, theta + s for m < 0) they add at most M(t)^n e^(t^2 tau^2 / 2) / (e t (e^(s L) - 1)) on each
   side.
3. Truncation. The nodes beyond V add at most M(theta)^n e^(theta^2 tau^2 / 2) times the integral from V on of
   e^(-u^2 tau^2 / 2) / (pi u^2), which is at most e^(-V^2 tau^2 / 2) / (pi V^3 tau^2).
4. Skipped nodes. With the tilted probabilities w_i = p_i e^(theta g_i) / M(theta), |M(z) / M(theta)|^2 is 1 -
   4 sum over i < j of w_i w_j sin^2(u (g_i - g_j) / 2). By one pair alone, the nodes with 2 n w_i w_j sin^2(u
   (g_i - g_j) / 2) > T add at most e^-T (1 / (2 theta) + h / theta^2) in all. Windows around the zeros of
   this sine are left; the pair with the fewest nodes is taken.
5. Rounding. The logarithm of a node, and log M(theta), is known to n times a few units in the last place of
   the terms that M(z) / M(theta) - 1 sums up. Values and probabilities count as exact: whoever rounds them
   moves them to the safe side (`outwards`).

Sums and errors are in units of M(theta)^n e^(theta^2 tau^2 / 2).
"""

import functools
import math

import numpy as np

from tightshuffle.arguments import Floats, Integers
from tightshuffle.numerics.positive_part.tilt import (
    OPERATIONS,
    ULP,
    TiltedPoints,
    log_powers,
    log_rounded,
    mgf,
)
from tightshuffle.side import Side

_MOST_NODES = 2**20  # nodes of one point; a point that needs more gets Chernoff's bound only
_PAIRED = 8  # likeliest values, whose pairs are candidates for windows
_BATCH = 2**20  # about how many nodes are in memory at once
_TERMS = 2**14  # about how many terms of sums over values are computed at once: they fit into a cache
# Candidates for the length L and for the shifts s of the alias bound, in standard deviations of S.
_LENGTHS = np.array([6.0, 7, 8, 9, 10, 11, 12, 14, 16, 20, 25, 32, 40, 60, 100, 200, 400, 1000])
_SHIFTS = np.array([0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 13])


def contour(points: TiltedPoints, tau: Floats, guess: Floats, width: float) -> tuple[Floats, Floats]:
    """Bounds on log E[S_+], (points,); ``guess``, about log(E[S_+] / M(theta)^n), steers only how many nodes.

    ``tau`` (points,): the standard deviation of U. ``width``: of the bracket, roughly.
    """
    allowed = guess + math.log(width * 1e-3)
    aliases = log_aliasing(points, tau)
    enough = aliases <= allowed[:, None]
    column = np.where(enough.any(axis=1), enough.argmax(axis=1), _LENGTHS.size - 1)
    h = 2 * math.pi / (_LENGTHS[column] * points.sigma)
    last = _last_node(tau, h, allowed)
    reach = last * h
    threshold = 1 - allowed - np.log(2 * points.theta)
    distance, half = _windows(points, h, last, threshold)
    skips = half < reach

    windows = np.where(skips, np.floor(reach / distance) + 2, 1)
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
    errors += truncation(reach, tau) + np.where(skips, skipping(threshold, points.theta, h), 0.0)
    return smoothing(points, tau, sums, errors, np.exp(aliases[np.arange(len(points)), column]))


# --- the error terms ---------------------------------------------------------------------------------------


def smoothing(
    points: TiltedPoints, tau: Floats, sums: Floats, errors: Floats, alias: Floats
) -> tuple[Floats, Floats]:
    """Item 1: bounds on log E[S_+] from the sums for tau and 2 tau and their ``errors``, (2, points)."""
    growth = np.exp((points.theta * tau) ** 2 / 2), np.exp(2 * (points.theta * tau) ** 2)
    above = growth[0] * (sums[0] + errors[0])
    below = 2 * growth[0] * (sums[0] - errors[0] - alias) - growth[1] * (sums[1] + errors[1])
    with np.errstate(divide="ignore", invalid="ignore"):
        low = np.where(
            below > 0, points.base - points.rounding + log_rounded(below, side=Side.LOWER), -np.inf
        )
        high = points.base + points.rounding + log_rounded(above, side=Side.UPPER)
    high = np.where(np.isfinite(above) & (above > 0), high, np.inf)
    return np.where(np.isnan(low), -np.inf, low), high


def log_aliasing(points: TiltedPoints, tau: Floats) -> Floats:
    """Item 2: log of the bound on all aliases, for every length; (points, lengths)."""
    theta, sigma = points.theta[:, None], points.sigma[:, None]
    shift = _SHIFTS / sigma
    down = np.concatenate([np.minimum(shift, 0.9 * theta), theta * [0.5, 0.7, 0.95]], axis=1)
    bounds = []
    for s, t in ((shift, theta + shift), (down, theta - down)):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            moment = mgf(points.g[:, None], points.p[:, None], points.missing[:, None], t)
            powers = log_powers(points.n[:, None], points.shares[:, None], moment)
            chernoff = (powers - points.log_powers[:, None]).sum(axis=2) - np.log(t) - 1
            chernoff += (t**2 - theta**2) * tau[:, None] ** 2 / 2 + 2 * points.rounding[:, None]
            decay = s[:, None] * _LENGTHS[:, None] * sigma[:, None]
            bound = chernoff[:, None] - decay - np.log(-np.expm1(-decay))
        bounds.append(np.where(np.isnan(bound), np.inf, bound).min(axis=2))
    return np.logaddexp(*bounds)


def truncation(reach: Floats, tau: Floats) -> Floats:
    """Item 3: what the nodes beyond V = ``reach`` add at most."""
    return np.exp(-math.log(math.pi) - 3 * np.log(reach) - 2 * np.log(tau) - (reach * tau) ** 2 / 2)


def skipping(threshold: Floats, theta: Floats, h: Floats) -> Floats:
    """Item 4: what the nodes outside of the windows for T = ``threshold`` add at most."""
    return np.exp(-threshold) * (0.5 / theta + h / theta**2)


def rounding_of_terms(weights: Floats, units: Floats, angles: Floats) -> Floats:
    """Item 5: units in the last place of 1 by which M(z) / M(theta) - 1 may be wrong; all (values, nodes)."""
    size = np.abs(angles)
    return _sum_over_values(weights * (units * np.minimum(size, 2.0)) + 3 * weights * size)


def rounding_of_power(
    units: Floats, real: Floats, imaginary: Floats, share: Floats, rate: Floats, modulus: Floats
) -> Floats:
    """Item 5: units by which the logarithm of one part's M(z)^n / M(theta)^n may be wrong, before its own.

    ``units`` are those of M(z) / M(theta) - 1 = real + i imaginary; 1 + modulus is the part's square.
    """
    off = units + 2 * (2 * np.abs(real) + np.where(share == 0, 1.0, share) * (real**2 + imaginary**2))
    return rate * off / (1 + modulus)


def without_zero(points: TiltedPoints, tau: Floats, high: Floats) -> Floats:
    """``high``, a bound on log A(tau), less what U adds where all n gains are 0: a bound on log E[S_+] still.

    Where S is 0 and not just next to it, the excess kappa is of first order in tau, and only there.
    """
    most = points.p.sum(axis=1) * (1 + ULP * (points.p.shape[1] + OPERATIONS))
    none = -np.minimum(most, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        log_zero = points.n * np.where(points.shares == 0, none, np.log1p(points.shares * none))
    log_zero = log_zero.sum(axis=1)
    log_excess = np.log(tau / math.sqrt(2 * math.pi)) + log_zero
    log_excess -= ULP * OPERATIONS * (1 + np.abs(log_excess) + np.abs(log_zero))
    slack = ULP * (np.abs(high) + 1)
    return high + slack + np.log1p(-np.exp(np.minimum(log_excess - high - slack, -ULP)))


# --- the nodes ---------------------------------------------------------------------------------------------


def _last_node(tau: Floats, h: Floats, allowed: Floats) -> Floats:
    """The number of the last node: by `truncation`'s own fixed-point equation for V^2, from above."""
    reach = 1 / tau
    for _ in range(6):
        missing = -math.log(math.pi) - 3 * np.log(reach) - 2 * np.log(tau) - allowed
        reach = np.sqrt(2 * np.maximum(missing, 0.5)) / tau
    return np.ceil(reach / h)


def _windows(points: TiltedPoints, h: Floats, last: Floats, threshold: Floats) -> tuple[Floats, Floats]:
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


def _nodes(
    h: Floats, last: Floats, distance: Floats, half: Floats, windows: Floats
) -> tuple[Integers, Floats]:
    """Whose every node is, and its number; window w of a point is centred at w * distance."""
    owner = np.repeat(np.arange(len(h)), windows.astype(np.int64))
    number = _count_up(windows)
    centre = number * distance[owner]
    start = np.maximum(np.ceil((centre - half[owner]) / h[owner]), 0.0)
    stop = np.minimum(np.floor((centre + half[owner]) / h[owner]), last[owner])
    start[1:] = np.where(number[1:] > 0, np.maximum(start[1:], stop[:-1] + 1), start[1:])
    size = np.maximum(stop - start + 1, 0.0)
    j = np.repeat(start, size.astype(np.int64)) + _count_up(size)
    return np.repeat(owner, size.astype(np.int64)), j


def _sum_nodes(
    points: TiltedPoints,
    tau: Floats,
    h: Floats,
    last: Floats,
    distance: Floats,
    half: Floats,
    windows: Floats,
) -> tuple[Floats, Floats]:
    """The sums for tau and 2 tau, and what rounding may do to them; both (2, points)."""
    owner, j = _nodes(h, last, distance, half, windows)
    terms, bells, wrong = np.empty((3, 2, len(j)))
    chunk = 1 + _TERMS // points.g.shape[1]
    for start in range(0, len(j), chunk):
        nodes = slice(start, start + chunk)
        of_nodes = _node_terms(points, tau, h, owner[nodes], j[nodes])
        terms[:, nodes], bells[:, nodes], wrong[:, nodes] = of_nodes

    first = np.concatenate([[0], np.flatnonzero(np.diff(owner)) + 1])
    count = np.diff(np.append(first, len(owner)))
    errors = np.add.reduceat(wrong, first, axis=1) + ULP * count * np.add.reduceat(bells, first, axis=1)
    return np.add.reduceat(terms, first, axis=1), errors


def _node_terms(
    points: TiltedPoints, tau: Floats, h: Floats, owner: Integers, j: Floats
) -> tuple[Floats, Floats, Floats]:
    """Terms of nodes, their absolute values, and what rounding may do to them, for tau and 2 tau; (2, nodes).

    ``owner``, ``j`` (nodes,): the point of each node, and the node's number.
    """
    if owner[0] == owner[-1]:
        owner = owner[:1]  # one point: its numbers broadcast
    theta, step = points.theta[owner], h[owner]
    u = j * step

    # M(z) / M(theta) - 1, by values as rows.
    weights = points.weights[owner].T
    angle = u * points.g[owner].T
    real = -2 * _sum_over_values(weights * np.sin(angle / 2) ** 2)
    imaginary = _sum_over_values(weights * np.sin(angle))
    units = rounding_of_terms(weights, points.units[owner].T, angle)

    # Its powers, of each part.
    phase, log_size, lost = np.zeros((3, len(j)))
    for n, share, rate in zip(points.n.T, points.tilted.T, points.rates.T, strict=True):
        if not rate.any():
            continue
        n, share, rate = n[owner], share[owner], rate[owner]
        x, y = share * real, share * imaginary
        modulus = np.maximum(2 * x + x**2 + y**2, -1 + 1e-300)  # abs(M(z) / M(theta))^2 - 1
        turn, log = n * np.arctan2(y, 1 + x), n * 0.5 * np.log1p(modulus)
        poisson = share == 0
        if poisson.any():
            turn = np.where(poisson, rate * imaginary, turn)
            log = np.where(poisson, rate * real, log)
        phase += turn
        log_size += log
        of_logs = 4 * (np.abs(turn) + np.abs(log))
        lost += rounding_of_power(units, real, imaginary, share, rate, modulus) + of_logs

    size = np.exp(log_size) / (theta**2 + u**2)
    size *= np.where(j > 0, 2.0, 1.0) * step / (2 * math.pi)
    phase -= 2 * np.arctan2(u, theta)
    error = np.expm1(np.minimum(ULP * (lost + 4 * OPERATIONS), 700.0))
    smoothing_widths = tau[owner] * [[1.0], [2.0]]
    bells = size * np.exp(-((u * smoothing_widths) ** 2) / 2)
    return bells * np.cos(phase + theta * u * smoothing_widths**2), bells, bells * error


def _sum_over_values(terms: Floats) -> Floats:
    """The sum of the rows; of few rows this is faster than numpy's sum, with the same bits."""
    return np.asarray(functools.reduce(np.add, terms))


def _count_up(sizes: Floats) -> Floats:
    """0, 1, ..., sizes[0] - 1, 0, 1, ..., sizes[1] - 1, ..."""
    whole = sizes.astype(np.int64)
    return (np.arange(whole.sum()) - np.repeat(np.cumsum(whole) - whole, whole)).astype(float)
