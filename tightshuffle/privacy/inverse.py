"""From delta to eps: the inverse that all bounds share."""

import warnings

import numpy as np
from scipy import optimize

from tightshuffle.privacy.arguments import OutsideRange, check_delta, check_eps0


def epsilon(bound, delta, *, eps0, **arguments):
    """The smallest eps in [0, eps0] at which a bound promises ``delta``.

    Parameters
    ----------
    bound : a function with the common signature ``bound(eps, *, eps0, ...) -> log10 delta``
    delta : in (0, 1); ``eps0`` and ``arguments`` (n, k, ...) are passed on. All of them broadcast.

    Returns
    -------
    eps, an array of the broadcast shape (a float for scalars), to 1e-12 absolute; rounded up, so that
    bound(eps) <= log10 delta holds for it. 0 where eps = 0 already suffices; nan where the bound does not
    apply at any eps that would do.
    """
    names = [name for name, value in arguments.items() if not isinstance(value, str)]
    fixed = {name: value for name, value in arguments.items() if isinstance(value, str)}
    values = np.broadcast_arrays(check_delta(delta), check_eps0(eps0), *(arguments[name] for name in names))
    result = np.empty(values[0].shape)
    for index in np.ndindex(result.shape):
        wanted, budget, *rest = (value[index].item() for value in values)
        point = dict(zip(names, rest, strict=True)) | fixed
        result[index] = _solve(
            lambda eps, point=point, budget=budget: bound(eps, eps0=budget, **point), np.log10(wanted), budget
        )
    return result[()]


def _solve(log_delta, wanted, budget):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OutsideRange)  # a nan on the way is not the answer
        if log_delta(0.0) <= wanted:
            return 0.0
        low, high = 0.0, _largest_with_a_value(log_delta, budget)
        if not log_delta(high) <= wanted:
            return np.nan
        # Shrink to where the bound is finite, or brentq would interpolate with infinities.
        while np.isneginf(log_delta(high)) and high - low > 1e-12:
            middle = (low + high) / 2
            low, high = (low, middle) if log_delta(middle) <= wanted else (middle, high)
        if high - low > 1e-12 and not np.isnan(log_delta(low)):
            root = optimize.brentq(lambda eps: log_delta(eps) - wanted, low, high, xtol=1e-13, rtol=1e-13)
            low, high = max(low, root - 1e-12), min(high, root + 1e-12)
        return next(eps for eps in ((low + high) / 2, high, budget) if log_delta(eps) <= wanted)


def _largest_with_a_value(log_delta, budget):
    """eps0 itself, or for theorems that hold only up to some eps the largest at which they do."""
    if not np.isnan(log_delta(budget)):
        return budget
    low, high = 0.0, budget
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if np.isnan(log_delta(middle)) else (middle, high)
    return low
