"""The literature's bounds in a checked setting: delta at eps, and the smallest eps at a delta, rounded up."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy.typing as npt

from tightshuffle.arguments import Floats
from tightshuffle.bounds import rounds
from tightshuffle.bounds.inverse import smallest_eps
from tightshuffle.literature import count, renyi
from tightshuffle.setting import Setting

Theorem = Callable[..., Floats]  # (eps, *, n, k, eps0) -> log10 delta of one round of k-RR


@dataclass(frozen=True)
class OneRound:
    """A theorem on one round."""

    theorem: Theorem

    def log10_delta(self, eps: npt.ArrayLike, setting: Setting) -> Floats:
        return self.theorem(eps, n=setting.hidden, k=setting.k, eps0=setting.eps0)

    def epsilon(self, wanted: Floats, setting: Setting) -> Floats:
        return _searched(self.log10_delta, wanted, setting)


@dataclass(frozen=True)
class Pair:
    """delta of a pair of distributions that dominates every dataset's in one round: such pairs compose.

    ``zero_from_eps0``: whether that delta is 0 from eps = eps0 on.
    """

    theorem: Theorem
    zero_from_eps0: bool = True

    def _of_one_round(self, eps: npt.ArrayLike, setting: Setting) -> Floats:
        return self.theorem(eps, n=setting.hidden, k=setting.k, eps0=setting.eps0)

    def log10_delta(self, eps: npt.ArrayLike, setting: Setting) -> Floats:
        return rounds.log10_delta(self._of_one_round, eps, setting, zero_from_eps0=self.zero_from_eps0)

    def epsilon(self, wanted: Floats, setting: Setting) -> Floats:
        return setting.solve(self._epsilon, wanted)

    def _epsilon(self, wanted: float, one: Setting) -> float:
        if one.compositions > 1:
            return rounds.epsilon(self._of_one_round, wanted, one, zero_from_eps0=self.zero_from_eps0)
        return smallest_eps(lambda eps: self._of_one_round(eps, one), wanted, one.eps0.item(), falls=True)


class Count:
    """delta of the count of x0, in the dataset and the direction of the setting."""

    def log10_delta(self, eps: npt.ArrayLike, setting: Setting) -> Floats:
        assert setting.count is not None  # `methods.check` asks for it
        return count.delta(
            eps,
            n=setting.hidden,
            k=setting.k,
            eps0=setting.eps0,
            count=setting.count,
            direction=setting.direction or "both",
        )

    def epsilon(self, wanted: Floats, setting: Setting) -> Floats:
        return _searched(self.log10_delta, wanted, setting)


class Girgis:
    """The bound on Renyi divergences, which add up over rounds."""

    def log10_delta(self, eps: npt.ArrayLike, setting: Setting) -> Floats:
        times = setting.compositions
        return renyi.girgis(eps, n=setting.hidden, k=setting.k, eps0=setting.eps0, compositions=times)

    def epsilon(self, wanted: Floats, setting: Setting) -> Floats:
        return _searched(self.log10_delta, wanted, setting)


def _searched(log10_delta: Callable[..., Floats], wanted: Floats, setting: Setting) -> Floats:
    """The smallest eps at every point, up to compositions * eps0, which holds without shuffling."""
    return setting.solve(
        lambda aim, one: smallest_eps(lambda eps: log10_delta(eps, one), aim, one.local.item()), wanted
    )
