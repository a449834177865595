"""Checks of the arguments that every accountant takes: one ValueError that names the culprit."""

import numpy as np


def check_eps(eps):
    """``eps`` as a float array; ValueError unless every value is finite and >= 0."""
    return _numbers("eps", eps, "finite and >= 0", lambda x: x >= 0)


def check_eps0(eps0):
    """``eps0`` as a float array; ValueError unless every value is finite and > 0."""
    return _numbers("eps0", eps0, "finite and > 0", lambda x: x > 0)


def check_positive(name, value):
    """``value`` as a float array; ValueError that calls it ``name`` unless every value is finite and > 0."""
    return _numbers(name, value, "finite and > 0", lambda x: x > 0)


def check_delta(delta, name="delta"):
    """``delta`` as a float array; ValueError that calls it ``name`` unless every value lies in (0, 1)."""
    return _numbers(name, delta, "between 0 and 1, both excluded", lambda x: (x > 0) & (x < 1))


def check_n(n):
    """``n`` (users) as an integer array; ValueError unless every value is a whole number >= 1."""
    return _integers("n", n, "a whole number >= 1", lambda x: x >= 1)


def check_k(k):
    """``k`` (cells) as an integer array; ValueError unless every value is a whole number >= 2."""
    return _integers("k", k, "a whole number >= 2", lambda x: x >= 2)


def check_compositions(compositions):
    """``compositions`` (rounds) as an integer array; ValueError unless every value is a whole number >= 1."""
    return _integers("compositions", compositions, "a whole number >= 1", lambda x: x >= 1)


def check_count(count, n):
    """``count`` (how many of the other ``n - 1`` users hold x0) as an integer array, 0 <= count <= n - 1."""
    return _integers(
        "count", count, "a whole number between 0 and n - 1", lambda x: (x >= 0) & (x <= np.asarray(n) - 1)
    )


def check_choice(name, value, choices):
    """``value`` itself; ValueError unless it is one of ``choices``."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {value!r}")
    return value


def _numbers(name, value, wanted, valid):
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be {wanted}; got {value!r}") from None
    _require(name, array, wanted, np.isfinite(array) & valid(array))
    return array


def _integers(name, value, wanted, valid):
    array = _numbers(name, value, wanted, lambda x: x == np.floor(x))
    # Above 2**53 floats skip whole numbers, so that a count would silently be another one.
    _require(name, array, f"{wanted}, at most 2**53", np.abs(array) <= 2.0**53)
    whole = array.astype(np.int64)
    _require(name, whole, wanted, valid(whole))
    return whole


def _require(name, array, wanted, good):
    good = np.broadcast_arrays(array, good)[1]
    if not np.all(good):
        culprit = np.broadcast_to(array, good.shape)[~good].flat[0]
        raise ValueError(f"{name} must be {wanted}; got {culprit}")


class OutsideRange(UserWarning):
    """A theorem was asked for outside of the range for which its paper proves it; the answer is nan."""
