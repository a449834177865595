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
    LARGEST_EXPONENT,
    OPERATIONS,
    ULP,
    TiltedPoints,
    log_powers,
    log_rounded,
    mgf,
)
from tightshuffle.numerics.side import Side

MOST_NODES = 2**20  # nodes of one point; a point that needs more gets Chernoff's bound only
PAIRED = 8  # likeliest values, whose pairs are candidates for windows
BATCH = 2**20  # about how many nodes are in memory at once
# About how many terms of sums over values are computed at once: they fit into a cache.
TERMS = 2**14
# Candidates for the length L and for the shifts s of the alias bound, in standard deviations of S. A bound
# holds for each of them.
LENGTHS = np.array([6.0, 7, 8, 9, 10, 11, 12, 14, 16, 20, 25, 32, 40, 60, 100, 200, 400, 1000])
_SHIFTS = np.array([0.25, 0.5, 1, 1.5, 2, 3, 4, 5, 6, 8, 10, 13])
# Between two values: a smaller gap leaves no windows, and 2 pi / gap may overflow.
_LEAST_GAP = 1e-150
_ERROR_SHARE = 1e-3  # of a bracket's width, for each error but smoothing and rounding


def contour_bounds(
    points: TiltedPoints, tau: Floats, guess: Floats, width: float
) -> tuple[Floats, Floats]:
    """Lower and upper bounds on log E[S_+], (points,) each, by the trapezoid rule on the line Re z = theta.

    The tilt theta of `TiltedPoints` is near the saddle point. ``tau`` (points,) is the standard deviation of
    U. ``guess`` (points,) is about log(E[S_+] / M(theta)^n), and high - low is to be about log(1 +
    ``width``). The bounds hold for every guess and width, which only steer how many nodes there are.
    """
    # The log of how large each error but smoothing and rounding may be, in units of M(theta)^n.
    log_allowed = guess + math.log(width * _ERROR_SHARE)

    # Aliasing: the spacing h is 2 pi / L, with the shortest of the candidates L whose aliases are small
    # enough, or the last candidate.
    log_aliases = log_alias_bounds(points, tau)
    is_long_enough = log_aliases <= log_allowed[:, None]
    is_long_enough[:, -1] = True
    column = is_long_enough.argmax(axis=1)
    spacing = 2 * math.pi / (LENGTHS[column] * points.sigma)

    # Truncation and skipped nodes: nodes go up to u = reach, and those outside of windows are skipped. At
    # these the integrand is at most e^-threshold of its size at u = 0, so that they add about 1 / e of what
    # is allowed.
    last_node = _last_node(tau, spacing, log_allowed)
    reach = last_node * spacing
    threshold = 1 - log_allowed - np.log(2 * points.theta)
    distance, half_width = angle_windows(points, spacing, last_node, threshold)
    skips_nodes = half_width < reach

    # Points with too many nodes keep infinite errors. The others are summed in batches.
    windows = np.where(skips_nodes, np.floor(reach / distance) + 2, 1)
    nodes = np.minimum(windows * (2 * half_width / spacing + 1), last_node + 1)
    sums = np.zeros((2, len(points)))  # for tau and 2 tau
    errors = np.full((2, len(points)), np.inf)
    feasible = np.flatnonzero(nodes <= MOST_NODES)
    batches = np.floor(np.cumsum(nodes[feasible]) / BATCH)
    for batch in sorted(set(batches.tolist())):
        rows = feasible[batches == batch]
        sums[:, rows], errors[:, rows] = sum_nodes(
            points.rows(rows),
            tau[rows],
            spacing[rows],
            last_node[rows],
            distance[rows],
            half_width[rows],
            windows[rows],
        )

    of_skipped_nodes = np.where(skips_nodes, skipping_error(threshold, points.theta, spacing), 0.0)
    errors += truncation_error(reach, tau) + of_skipped_nodes
    alias = np.exp(log_aliases[np.arange(len(points)), column])
    return bounds_from_sums(points, tau, sums, errors, alias)


# --- the error terms ---------------------------------------------------------------------------------------


def bounds_from_sums(
    points: TiltedPoints, tau: Floats, sums: Floats, errors: Floats, alias: Floats
) -> tuple[Floats, Floats]:
    """Lower and upper bounds on log E[S_+], (points,) each: 2 A(tau) - A(2 tau) <= E[S_+] <= A(tau).

    The lower bound is -inf where the difference is not positive, and the upper bound is inf where the nodes
    were too many to be summed.

    Parameters
    ----------
    tau : float array (points,)
        The standard deviation of U.
    sums, errors : float arrays (2, points)
        The sums over the nodes for tau and for 2 tau, and what they may be wrong by, aliases excepted. They
        are no logarithms: the first row is in units of M(theta)^n e^(theta^2 tau^2 / 2), and the second of
        M(theta)^n e^(theta^2 (2 tau)^2 / 2).
    alias : float array (points,)
        In the units of the first row, how much less than its sum A(tau) may be. As aliases are positive,
        A(2 tau) and the upper bound need no such term.
    """
    # From the units of the sums to M(theta)^n. ``above`` bounds A(tau), ``below`` 2 A(tau) - A(2 tau).
    scale_of_tau = np.exp((points.theta * tau) ** 2 / 2)
    scale_of_2_tau = np.exp(2 * (points.theta * tau) ** 2)
    above = scale_of_tau * (sums[0] + errors[0])
    below = 2 * scale_of_tau * (sums[0] - errors[0] - alias) - scale_of_2_tau * (
        sums[1] + errors[1]
    )

    with np.errstate(divide="ignore", invalid="ignore"):
        low = points.log_mgf_of_sum - points.rounding + log_rounded(below, side=Side.LOWER)
        high = points.log_mgf_of_sum + points.rounding + log_rounded(above, side=Side.UPPER)
    low = np.where(below > 0, low, -np.inf)
    high = np.where(np.isfinite(above) & (above > 0), high, np.inf)
    return np.where(np.isnan(low), -np.inf, low), high


def log_alias_bounds(points: TiltedPoints, tau: Floats) -> Floats:
    """Log of the bound on all aliases (error 2 of the module) for each of `LENGTHS`; (points, lengths).

    The least bound of all candidates s is taken for either sign of m, and both are added. The unit is
    M(theta)^n e^(theta^2 tau^2 / 2), with the standard deviation ``tau`` (points,) of U. With sigma the
    standard deviation of S under the tilt, a number in `LENGTHS` is L / sigma.
    """
    theta, sigma = points.theta[:, None], points.sigma[:, None]
    # The candidates s, (points, shifts). For m > 0, t = theta - s must be positive, so that s is below theta.
    shift = _SHIFTS / sigma
    down = np.concatenate([np.minimum(shift, 0.9 * theta), theta * [0.5, 0.7, 0.95]], axis=1)
    log_bounds = []
    for s, t in ((shift, theta + shift), (down, theta - down)):
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            # log of M(t)^n e^(t^2 tau^2 / 2) / (e t) in these units, (points, shifts).
            moment = mgf(points.g[:, None], points.p[:, None], points.probability_of_0[:, None], t)
            powers = log_powers(points.n[:, None], points.shares[:, None], moment)
            log_chernoff = (powers - points.log_powers[:, None]).sum(axis=2) - np.log(t) - 1
            log_chernoff += (t**2 - theta**2) * tau[:, None] ** 2 / 2 + 2 * points.rounding[:, None]

            # Divided by e^(s L) - 1, (points, lengths, shifts).
            decay = s[:, None] * LENGTHS[:, None] * sigma[:, None]
            log_bound = log_chernoff[:, None] - decay - np.log(-np.expm1(-decay))
        log_bounds.append(np.where(np.isnan(log_bound), np.inf, log_bound).min(axis=2))
    return np.logaddexp(*log_bounds)


def truncation_error(reach: Floats, tau: Floats) -> Floats:
    """What the nodes beyond the angle u = V = ``reach`` add at most (error 3 of the module); (points,).

    It is no logarithm, in units of M(theta)^n e^(theta^2 tau^2 / 2). The bound is computed by its logarithm.
    """
    return np.exp(-math.log(math.pi) - 3 * np.log(reach) - 2 * np.log(tau) - (reach * tau) ** 2 / 2)


def skipping_error(threshold: Floats, theta: Floats, spacing: Floats) -> Floats:
    """What the nodes outside of the windows add at most (error 4 of the module); (points,), no logarithm.

    The unit is M(theta)^n e^(theta^2 tau^2 / 2). h = ``spacing`` is the distance of two nodes. At these nodes
    the integrand is at most e^-T of its size at u = 0, with T = ``threshold``.
    """
    return np.exp(-threshold) * (0.5 / theta + spacing / theta**2)


def rounding_of_terms(weights: Floats, weight_ulps: Floats, angles: Floats) -> Floats:
    """By how many units in the last place of 1 the sum M(z) / M(theta) - 1 may be wrong; (nodes,).

    The sum has a term w (e^(i u g) - 1) for each value g, at the node z = theta + iu. This is the first part
    of error 5 of the module. All arguments are (values, nodes): the tilted probabilities w = ``weights``, by
    how many units in their last place rounding may change these, ``weight_ulps``, and the angles u g.
    """
    # |e^(i x) - 1| is at most |x| and 2. The rounding of x and of its functions is in proportion to |x|.
    size = np.abs(angles)
    return _sum_over_values(weights * (weight_ulps * np.minimum(size, 2.0)) + 3 * weights * size)


def rounding_of_power(
    ulps: Floats,
    real: Floats,
    imaginary: Floats,
    share: Floats,
    copies: Floats,
    squared_modulus_less_1: Floats,
) -> Floats:
    """By how many ULP the logarithm of one part's factor of M(z)^n / M(theta)^n may be wrong; (nodes,).

    A part is a random number of copies: Binomial(n, share), or Poisson for the share 0. Its factor is
    (1 + share w)^n, or e^(copies w) for Poisson. Here w = M(z) / M(theta) - 1, and the share and the mean
    number of copies are those under the tilt. This is the second part of error 5 of the module, without the
    rounding of the logarithm itself.

    Parameters
    ----------
    ulps : float array (nodes,)
        By how many ULP w may be wrong, as of `rounding_of_terms`.
    real, imaginary : float arrays (nodes,)
        The parts of w = real + i imaginary.
    share, copies : float arrays (nodes,)
        The part's share, 0 for Poisson, and its mean number of copies, under the tilt.
    squared_modulus_less_1 : float array (nodes,)
        abs(1 + share w)^2 - 1, and 0 for Poisson.
    """
    share_or_1 = np.where(share == 0, 1.0, share)
    wrong_ulps = ulps + 2 * (2 * np.abs(real) + share_or_1 * (real**2 + imaginary**2))
    return copies * wrong_ulps / (1 + squared_modulus_less_1)


def high_without_zero(points: TiltedPoints, tau: Floats, high: Floats) -> Floats:
    """An upper bound on log E[S_+], (points,), from one on log E[(S + U)_+]: less what U adds where S is 0.

    ``high`` (points,) is the upper bound on log E[(S + U)_+], where U is Gaussian with the standard deviation
    ``tau`` (points,). Where S = 0, U adds E[U_+] = tau / sqrt(2 pi), and elsewhere it adds more than 0. S = 0
    has at least the probability that all gains are 0. This is (1 - p)^n for a fixed number n of gains, where
    p is the sum of the probabilities ``points.p``. For a binomial number of gains with a share it is
    (1 - share p)^n, and for a Poisson number e^(-n p).
    """
    # p is rounded up, so that the probability is rounded down.
    total_p = points.p.sum(axis=1) * (1 + ULP * (points.p.shape[1] + OPERATIONS))
    minus_p = -np.minimum(total_p, 1.0)[:, None]
    with np.errstate(divide="ignore"):
        log_zero = points.n * np.where(
            points.shares == 0, minus_p, np.log1p(points.shares * minus_p)
        )
    log_zero = log_zero.sum(axis=1)

    # The log of what U adds, rounded down, and high + log(1 - e^(log_excess - high)), rounded up.
    log_excess = np.log(tau / math.sqrt(2 * math.pi)) + log_zero
    log_excess -= ULP * OPERATIONS * (1 + np.abs(log_excess) + np.abs(log_zero))
    slack = ULP * (np.abs(high) + 1)
    return high + slack + np.log1p(-np.exp(np.minimum(log_excess - high - slack, -ULP)))


# --- the nodes ---------------------------------------------------------------------------------------------


def _last_node(tau: Floats, spacing: Floats, log_allowed: Floats) -> Floats:
    """The number j of the last node, (points,), so large that those beyond add about e^log_allowed or less.

    The nodes beyond the angle V add at most e^(-V^2 tau^2 / 2) / (pi V^3 tau^2). Each of six steps solves for
    the V in the exponent, with the V of the step before in the power. V^2 tau^2 stays at 1 or more. The
    result need not be exact, as `truncation_error` bounds what is beyond any V. ``tau``, ``spacing``: the
    standard deviation of the Gaussian, and the distance of two nodes.
    """
    reach = 1 / tau
    for _ in range(6):
        missing = -math.log(math.pi) - 3 * np.log(reach) - 2 * np.log(tau) - log_allowed
        reach = np.sqrt(2 * np.maximum(missing, 0.5)) / tau
    return np.ceil(reach / spacing)


def angle_windows(
    points: TiltedPoints, spacing: Floats, last_node: Floats, threshold: Floats
) -> tuple[Floats, Floats]:
    """The distance of the windows' centres, and half the width of a window: only nodes in windows are summed.

    Both are angles u, (points,), and windows are centred at 0, distance, 2 distance, ... For any two values
    g_i, g_j of a gain, with the probabilities w_i, w_j under the tilt, the integrand at the angle u is at
    most

        e^(-2 n w_i w_j sin^2(u (g_i - g_j) / 2))

    of its size at u = 0, where n is the number of copies. So windows around the zeros of the sine are enough.
    The pair whose windows have the fewest nodes is taken. Where no pair saves nodes, half the width is the u
    of the last node: then the first window, around 0, holds all nodes.

    Parameters
    ----------
    points : TiltedPoints
        Of these, ``mean_copies`` is the mean number of copies of each part, and ``tilted_shares`` this number
        over the largest number of copies, or 0 for a Poisson part.
    spacing, last_node : float arrays (points,)
        The distance h between two nodes, and the number j of the last one.
    threshold : float array (points,)
        T: how far ln of the integrand must be below that at u = 0 for a node to be skipped.
    """
    # A binomial part of N copies with the tilted share s counts as N s^2 of them: each has its value, or with
    # the odds (1 - s) / s the value 0. A Poisson part does not count.
    shares = points.tilted_shares
    copies = (points.mean_copies * shares).sum(axis=1)
    zero = points.probability_of_0 * np.exp(-points.log_mgf)
    zero = zero + (points.mean_copies * (1 - shares)).sum(axis=1) / copies
    g = np.concatenate([points.g, np.zeros((len(points), 1))], axis=1)
    w = np.concatenate([points.weights, zero[:, None]], axis=1)
    likeliest = np.argsort(-w, axis=1, kind="stable")[:, :PAIRED]
    g, w = np.take_along_axis(g, likeliest, axis=1), np.take_along_axis(w, likeliest, axis=1)

    # All pairs (i, j) of these values, in columns. In a window, 2 n w_i w_j sin^2(u gap / 2) is at most T.
    i, j = np.triu_indices(g.shape[1], 1)
    gap = np.abs(g[:, i] - g[:, j])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        squared_sine = threshold[:, None] / (2 * copies[:, None] * w[:, i] * w[:, j])
        usable = (squared_sine < 1) & (gap > _LEAST_GAP)
        edge = 2 / gap * np.arcsin(np.sqrt(np.where(usable, squared_sine, 1.0)))
        half_width = np.where(usable, edge, np.inf)
        distance = 2 * math.pi / np.where(gap > _LEAST_GAP, gap, 1.0)
        windows = np.floor((last_node * spacing)[:, None] / distance) + 2
        nodes = windows * (2 * half_width / spacing[:, None] + 1)

    # The pair with the fewest nodes of each point.
    rows = np.arange(len(points))
    best = nodes.argmin(axis=1)
    saves_none = nodes[rows, best] >= last_node
    half_width = np.where(saves_none, last_node * spacing, half_width[rows, best])
    # A little wider: a node next to the edge must not be lost when u / h is rounded.
    return distance[rows, best], half_width * (1 + 1e-9)


def _nodes_in_windows(
    spacing: Floats, last_node: Floats, distance: Floats, half_width: Floats, windows: Floats
) -> tuple[Integers, Floats]:
    """The nodes in the windows of all points: the point that each node belongs to, and its number j.

    Both are (nodes,), ascending, no node twice. A node is at the angle u = j * spacing, and window w = 0, 1,
    ... of a point has the angles up to ``half_width`` from w * distance. All arguments are (points,):
    ``last_node`` is the largest j, and ``windows`` the number of windows.
    """
    # The first and the last j of each window.
    point = np.repeat(np.arange(len(spacing)), windows.astype(np.int64))
    window = _count_up(windows)
    centre = window * distance[point]
    start = np.maximum(np.ceil((centre - half_width[point]) / spacing[point]), 0.0)
    stop = np.minimum(np.floor((centre + half_width[point]) / spacing[point]), last_node[point])

    # A window that overlaps the one before, of the same point, starts after it.
    after_previous = np.maximum(start[1:], stop[:-1] + 1)
    start[1:] = np.where(window[1:] > 0, after_previous, start[1:])

    size = np.maximum(stop - start + 1, 0.0)
    repeats = size.astype(np.int64)
    return np.repeat(point, repeats), np.repeat(start, repeats) + _count_up(size)


def sum_nodes(
    points: TiltedPoints,
    tau: Floats,
    spacing: Floats,
    last_node: Floats,
    distance: Floats,
    half_width: Floats,
    windows: Floats,
) -> tuple[Floats, Floats]:
    """The sums over the nodes for tau and 2 tau, and bounds on their rounding; (2, points) each.

    A sum is about E[(S + U)_+], where U is Gaussian with the standard deviation tau or 2 tau, in units of
    M(theta)^n e^(theta^2 tau^2 / 2), with 2 tau for tau in the second row. All arguments after the points are
    (points,). The nodes are at the angles u = j * ``spacing`` up to j = ``last_node``, and only those in one
    of the ``windows`` are summed. These are centred at 0, 1, ... times ``distance``, and reach ``half_width``
    to each side.
    """
    # ``owner`` is the point of each node. So many nodes are summed at once that their terms fit into a cache.
    owner, j = _nodes_in_windows(spacing, last_node, distance, half_width, windows)
    terms, sizes, errors_of_terms = np.empty((3, 2, len(j)))
    chunk = 1 + TERMS // points.g.shape[1]
    for start in range(0, len(j), chunk):
        nodes = slice(start, start + chunk)
        of_nodes = _node_terms(points, tau, spacing, owner[nodes], j[nodes])
        terms[:, nodes], sizes[:, nodes], errors_of_terms[:, nodes] = of_nodes

    # The nodes of a point are a run, which begins at ``first``. A sum has the rounding of each term, and of
    # as many additions as the point has nodes.
    first = np.concatenate([[0], np.flatnonzero(np.diff(owner)) + 1])
    count = np.diff(np.append(first, len(owner)))
    of_terms = np.add.reduceat(errors_of_terms, first, axis=1)
    of_additions = ULP * count * np.add.reduceat(sizes, first, axis=1)
    return np.add.reduceat(terms, first, axis=1), of_terms + of_additions


def _node_terms(
    points: TiltedPoints, tau: Floats, spacing: Floats, owner: Integers, j: Floats
) -> tuple[Floats, Floats, Floats]:
    """Terms of nodes, bounds on their absolute values, and bounds on their rounding, for tau and 2 tau.

    E[(S + U)_+] of the sum S of the gains G and a Gaussian U is a sum of such terms. The term of the node at
    u = j h is the real part of

        h / (2 pi) M(z)^n e^(z^2 tau^2 / 2) / z^2,  z = theta + iu,  M(z) = E[e^(z G)].

    For j > 0 it is doubled, for the node -j. Each of the three results is (2, nodes), with rows for tau and
    2 tau, in units of M(theta)^n e^(theta^2 tau^2 / 2) with the tau of the row.

    ``tau``, ``spacing`` (points,): the standard deviation of U, and the distance h between two nodes.
    ``owner``, ``j`` (nodes,): the index of the point that has the node, and the node's number.
    """
    if owner[0] == owner[-1]:
        owner = owner[:1]  # one point: its numbers broadcast
    theta, h = points.theta[owner], spacing[owner]
    u = j * h

    # w = real + i imaginary = M(z) / M(theta) - 1 is the sum of weight (e^(i u g) - 1) over the values g. The
    # rows are values, the columns nodes. A weight is a value's probability under the tilt.
    weights = points.weights[owner].T
    angle = u * points.g[owner].T
    real = -2 * _sum_over_values(weights * np.sin(angle / 2) ** 2)
    imaginary = _sum_over_values(weights * np.sin(angle))
    ulps_of_w = rounding_of_terms(weights, points.weight_ulps[owner].T, angle)

    # log of M(z)^n / M(theta)^n = log_size + i phase, and its error in ULP. Each is a sum over the random
    # numbers of copies: Binomial(n, share) has n log(1 + share w), and Poisson has copies w. The share and
    # the mean number of copies are those under the tilt.
    phase, log_size, ulps = np.zeros((3, len(j)))
    parts = zip(points.n.T, points.tilted_shares.T, points.mean_copies.T, strict=True)
    for n, share, copies in parts:
        if not copies.any():
            continue
        n, share, copies = n[owner], share[owner], copies[owner]
        x, y = share * real, share * imaginary
        squared_modulus_less_1 = np.maximum(2 * x + x**2 + y**2, -1.0)  # of 1 + x + iy
        turn = n * np.arctan2(y, 1 + x)
        log = n * 0.5 * np.log1p(squared_modulus_less_1)
        is_poisson = share == 0
        if is_poisson.any():
            turn = np.where(is_poisson, copies * imaginary, turn)
            log = np.where(is_poisson, copies * real, log)
        phase += turn
        log_size += log
        of_logs = 4 * (np.abs(turn) + np.abs(log))
        of_power = rounding_of_power(
            ulps_of_w, real, imaginary, share, copies, squared_modulus_less_1
        )
        ulps += of_power + of_logs

    # Divided by z^2, and times h / (2 pi), or twice that for j and -j.
    size = np.exp(log_size) / (theta**2 + u**2)
    size *= np.where(j > 0, 2.0, 1.0) * h / (2 * math.pi)
    phase -= 2 * np.arctan2(u, theta)
    error = np.expm1(np.minimum(ULP * (ulps + 4 * OPERATIONS), LARGEST_EXPONENT))  # relative

    # Times e^(z^2 tau^2 / 2), of absolute value e^((theta^2 - u^2) tau^2 / 2) and phase theta u tau^2. Its
    # factor e^(theta^2 tau^2 / 2) is in the unit. The rows are for tau and 2 tau.
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
