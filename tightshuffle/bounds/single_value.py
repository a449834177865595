"""A second upper bound on delta for every dataset: close to `histogram.lower` where the blanket's is not.

The blanket hides the target user among the reports that do not depend on a value; this bound hides the target
user among nearly all other users:

    delta <= E[D(n - 1 - g)],  g geometric,    D(m) >= E[(G_1 + ... + G_m)_+] / m for all m users at any x,
    G = (R_x0 - e^eps R_x1)(y) / R_x(y),  y ~ R_x,

with D(m) a trapezoid sum of absolute values. docs/proofs.md, "The single-value bound", has the proof.
`Randomizer.references` has one value of each kind. Local hashing with g > 2 needs three-wise independent hash
functions here (`histogram.upper`: pairwise).
"""

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tightshuffle.arguments import Floats, check_eps
from tightshuffle.bounds.inverse import eps_of_setting
from tightshuffle.numerics.positive_part import outwards
from tightshuffle.randomizers import Randomizer
from tightshuffle.setting import Setting, make_setting

_ULP = 2.0**-52
_SMOOTHING = 0.04  # theta tau: it adds 1.5 (theta tau)^2 to delta, relatively
_LENGTH = 12.0  # 2 pi / h in standard deviations of the tilted sum
_LAST = 8.0  # u tau of the last node
_NODES = 4000  # at most, about: for tiny delta tau is larger
_FINE, _COARSE = 0.25, 1.1  # of the blocks of g: first steps, in 1 / gamma, and later factor


def single_value(
    eps: npt.ArrayLike,
    *,
    n: npt.ArrayLike,
    k: npt.ArrayLike | None = None,
    eps0: npt.ArrayLike | None = None,
    randomizer: str | Randomizer = "grr",
    colluding: npt.ArrayLike = 0,
) -> Floats:
    """log10 of an upper bound on delta for every dataset of the other users, both directions.

    It is close to `histogram.lower` for many users. `histogram.upper` is smaller for few users; both hold.
    Parameters and errors as for `tightshuffle.delta`. The time is about 10 ms per point; for a matrix of your
    own, up to that for every pair of values.
    """
    setting = make_setting(n=n, k=k, eps0=eps0, randomizer=randomizer, colluding=colluding)
    return log10_delta(check_eps(eps), setting)


def log10_delta(eps: npt.ArrayLike, setting: Setting) -> Floats:
    """`single_value` in this setting; -inf where eps >= eps0."""
    points = np.broadcast_arrays(eps, setting.hidden, setting.k, setting.eps0)
    result = np.full(points[0].shape, -np.inf)
    for index in np.ndindex(result.shape):
        at, users, values, budget = (point[index].item() for point in points)
        if at < budget:
            own = setting.randomizers([values], [budget])[0]
            result[index] = _ln_bound(at, users, own) / math.log(10)
    return np.minimum(result, 0.0)[()]


def epsilon(wanted: Floats, setting: Setting) -> Floats:
    """The smallest eps with log10 delta = ``wanted``, rounded up; the bound is up to 1e-5 smaller there."""
    return setting.solve(lambda aim, one: eps_of_setting(log10_delta, aim, one, round_up=True), wanted)


def _ln_bound(eps: float, n: int, own: Randomizer) -> float:
    """Natural log of the largest bound over all pairs."""
    gamma = own.gamma * (1 - 1e-12)
    largest = -math.inf
    for pair in own.pairs():
        gains = [own.gains(eps, reference, pair) for reference in own.references()]
        if np.any(gains[0][0] > 0):  # G has the same sign for every reference
            sums = _Sums(eps + own.eps0, n, gains)
            if _ln_mean(n, gamma, sums.ln_chernoff) > largest:
                largest = max(largest, _ln_mean(n, gamma, sums.ln_delta))
    return largest


def _ln_mean(n: int, gamma: float, ln_delta: Callable[[Floats], Floats]) -> float:
    """Natural log of E[D(m)] over g, which is geometric; each block of g is taken at its last g."""
    needed = 8 - min(0.0, float(ln_delta(np.array([n]))[0]))  # later g have probability e^-needed
    later = 4 * _COARSE ** np.arange(math.log(max(needed / 4, 1)) / math.log(_COARSE) + 1)
    starts = np.ceil(np.concatenate([np.arange(0, 4, _FINE), later]) / gamma)
    starts = np.unique(np.minimum(starts, n - 1))
    beyond = starts * math.log1p(-gamma)  # log of the probability of at least so many
    with np.errstate(divide="ignore"):
        weights = beyond[:-1] + np.log(-np.expm1(np.diff(beyond)))
    blocks = weights + np.minimum(ln_delta(n - starts[1:]), 0.0)
    return float(np.logaddexp.reduce([*blocks, beyond[-1]])) + 1e-12


class _Sums:
    """Step 2 for the gains of one eps and pair: theta, tau and the nodes are those for n users.

    The ``largest_loss`` is eps + eps0: the gains' rounding errors grow with it.
    """

    def __init__(self, largest_loss: float, n: int, gains: list[tuple[Floats, Floats]]) -> None:
        from scipy.optimize import minimize_scalar  # here, for it takes as long to import as numpy

        g, p = np.zeros((2, len(gains), max(len(values) for values, _ in gains)))
        for row, (values, probabilities) in enumerate(gains):
            g[row, : len(values)], p[row, : len(values)] = values, probabilities
        self.g, self.p = outwards(g, p, True, 16.0 + 2 * (g.shape[1] + largest_loss))

        start = -0.5 * math.log(n * float((self.p * self.g**2).sum(axis=1).max()))
        highest = math.log(500 / self.g.max())
        found = minimize_scalar(
            lambda ln_theta: float((n * self._log_mgf(math.exp(ln_theta))).max()) - 2 * ln_theta,
            bounds=(min(start, highest) - 10, min(start + 10, highest)),
            method="bounded",
        )
        self.theta = math.exp(found.x)
        self.log_mgf = self._log_mgf(self.theta)
        self.weights = self.p * np.exp(self.theta * self.g - self.log_mgf[:, None])
        mean = (self.weights * self.g).sum(axis=1)
        spread = math.sqrt(n * float(((self.weights * self.g**2).sum(axis=1) - mean**2).max()))
        self.h = 2 * math.pi / (_LENGTH * max(spread, 1 / self.theta))
        self.tau = max(_SMOOTHING / self.theta, _LAST / (_NODES * self.h))
        self.u = self.h * np.arange(math.ceil(_LAST / (self.tau * self.h)) + 1)

    def _log_mgf(self, theta: float) -> Floats:
        """log M_x(theta), shape (kinds of value,), rounded up."""
        terms = self.p * np.expm1(theta * self.g)
        lost = 8 * _ULP * (np.abs(terms) * (1 + np.abs(theta * self.g))).sum(axis=1)
        return np.log1p(terms.sum(axis=1) + lost * terms.shape[1])

    @cached_property
    def log_modulus(self) -> Floats:
        """log of |M_x(z) / M_x(theta)|, shape (kinds of value, nodes), rounded up."""
        angle = self.g[..., None] * self.u
        w, sine, versine = self.weights[..., None], np.sin(angle), 2 * np.sin(angle / 2) ** 2
        real, imaginary = -(w * versine).sum(axis=1), (w * sine).sum(axis=1)
        lost = (w * (versine + np.abs(angle * sine))).sum(axis=1)
        lost += np.abs(imaginary) * (w * np.abs(angle)).sum(axis=1)
        square = 2 * real + real**2 + imaginary**2 + 8 * _ULP * self.weights.shape[1] * lost
        return 0.5 * np.log1p(np.clip(square, -1 + 1e-300, 0.0))

    def ln_chernoff(self, users: Floats) -> Floats:
        """Natural log of a larger bound on D(m), in no time: x_+ <= e^(theta x) / (e theta)."""
        m = np.asarray(users, dtype=float)
        top = m * self.log_mgf.max()
        return top - 1 - math.log(self.theta) - np.log(m) + 1e-12 + 4 * _ULP * np.abs(top)

    def ln_delta(self, users: Floats) -> Floats:
        """Natural log of a bound on D(m) for m = ``users``, shape (blocks,)."""
        m = np.asarray(users, dtype=float)[:, None, None]
        heights = m * self.log_mgf[:, None]
        top = heights.max(axis=1, keepdims=True)
        bells = np.exp(heights - top + m * self.log_modulus - (self.u * self.tau) ** 2 / 2)
        terms = bells / (self.theta**2 + self.u**2)
        sums = self.h / (2 * math.pi) * (2 * terms.sum(axis=-1) - terms[..., 0])
        last = self.u[-1]
        left_out = math.exp(-((last * self.tau) ** 2) / 2) / (math.pi * last)
        total = np.log(sums.max(axis=1) + left_out) + top[:, 0, 0] + (self.theta * self.tau) ** 2 / 2
        return total - np.log(m[:, 0, 0]) + 1e-12 + 4 * _ULP * np.abs(top[:, 0, 0])
