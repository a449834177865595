"""Typed calls of the public functions. `mypy` reads this file too: numbers give a float, arrays an array."""

from typing import assert_type

import numpy as np
import pytest

import tightshuffle
from tightshuffle.arguments import Floats
from tightshuffle.planning.plan import Plan
from tightshuffle.randomizers import Finite

EPS = np.array([0.1, 0.2])
OWN = Finite([[0.7, 0.4], [0.3, 0.6]])


def test_numbers_give_a_float() -> None:
    """Both mypy and a run find floats. ``assert_type`` returns its argument, and OWN is a randomizer."""
    found = [
        assert_type(tightshuffle.delta(0.1, n=1000, k=10, eps0=2.0), float),
        assert_type(tightshuffle.delta(0, n=1e3, k=10, eps0=2, rounds=2, log10=True), float),
        assert_type(tightshuffle.epsilon(1e-6, n=1000, k=10, eps0=2.0), float),
        assert_type(
            tightshuffle.epsilon(log10_delta=-6, n=1000, randomizer=OWN, colluding=0.1), float
        ),
        assert_type(
            tightshuffle.delta(0.1, method="lower", n=1000, k=10, eps0=2.0, randomizer="oue"), float
        ),
        assert_type(tightshuffle.tradeoff(0.1, n=1000, k=10, eps0=2.0), float),
    ]
    assert {type(value) for value in found} == {float}


def test_arrays_give_an_array() -> None:
    """Both mypy and a run find arrays. ``assert_type`` returns its argument, and EPS has two numbers."""
    found = [
        assert_type(tightshuffle.delta(0.1, n=[1000, 2000], k=10, eps0=2.0), Floats),
        assert_type(tightshuffle.epsilon([1e-6, 1e-9], n=1000, k=10, eps0=2.0), Floats),
        assert_type(tightshuffle.delta(0.1, n=1000, k=10, eps0=EPS), Floats),
        assert_type(tightshuffle.delta(EPS, method="lower", n=1000, k=10, eps0=2.0), Floats),
        assert_type(tightshuffle.tradeoff(EPS, n=1000, k=10, eps0=2.0), Floats),
    ]
    assert {value.shape for value in found} == {(2,)}
    assert_type(tightshuffle.plan(n=1000, k=20, eps=0.5, delta=1e-6), Plan)


def test_a_misspelt_argument_is_an_error_to_mypy_too() -> None:
    with pytest.raises(TypeError, match="esp0"):
        tightshuffle.delta(0.1, n=9, k=3, esp0=2.0)  # type: ignore[call-overload]
