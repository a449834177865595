"""Noise that users add to their values: the least with the guarantee, and the deviation of the mean."""

import math

import numpy as np
import pytest

import tightshuffle
from tests.cli.calls import text_answer
from tightshuffle.planning import means
from tightshuffle.planning.means import compare_means

GUARANTEE = {"eps": 1.0, "delta": 1e-6}
LAPLACE, GAUSSIAN = means._KINDS


@pytest.fixture(autouse=True)
def _laplace_noise_only(monkeypatch):
    """Unless a test asks for Gaussian noise, which takes seconds."""
    monkeypatch.setattr(means, "_KINDS", (LAPLACE,))


def design_of(kind, **asked):
    """The design of this kind of noise."""
    found = compare_means(**asked)
    return next(design for design in found.designs if design.name == kind.name)


def parameter_of(design, kind):
    """The scale or the sigma, from the deviation that the design has."""
    return design.deviation * math.sqrt(design.n) / kind.factor


def log10_delta(kind, parameter, *, eps, n, delta, **setting):
    name = {"scale": "laplace", "sigma": "gaussian"}[kind.parameter]
    randomizer = f"density:{name}:{parameter!r}"
    return tightshuffle.delta(eps, n=n, randomizer=randomizer, log10=True, **setting)


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        (LAPLACE, GUARANTEE | {"n": 100_000}),
        (LAPLACE, {"eps": 0.3, "delta": 1e-9, "n": 3000, "colluding": 0.2}),
        pytest.param(GAUSSIAN, GUARANTEE | {"n": 10_000}, marks=pytest.mark.slow),
    ],
)
def test_no_less_noise_has_the_guarantee(kind, asked, monkeypatch):
    monkeypatch.setattr(means, "_KINDS", (kind,))
    design = design_of(kind, **asked)
    parameter = parameter_of(design, kind)
    assert log10_delta(kind, parameter, **asked) <= math.log10(asked["delta"]) + 1e-9
    assert log10_delta(kind, 0.999 * parameter, **asked) > math.log10(asked["delta"])
    rounded = float(design.parameters.split(" = ")[1])
    assert parameter <= rounded * (1 + 1e-12) < 1.001 * parameter
    if kind is LAPLACE:  # the loss is 1 / scale at most
        assert design.eps_if_it_fails == pytest.approx(1 / parameter, rel=1e-12)
    else:
        assert design.eps_if_it_fails == math.inf


@pytest.mark.parametrize(
    ("n", "eps", "deviation"),
    [
        (10_000, 1.0, 2.38e-3),
        (100_000, 1.0, 5.43e-4),
        pytest.param(1_000_000, 1.0, 1.342e-4, marks=pytest.mark.slow),
        (100_000, 0.1, 1.094e-3),
    ],
)
def test_deviations_of_laplace_noise_are_those_of_another_program(n, eps, deviation):
    """Of an own matrix of the reports in bins, and its blanket's bound."""
    found = design_of(LAPLACE, n=n, eps=eps, delta=1e-6)
    assert found.deviation == pytest.approx(deviation, rel=3e-3)
    assert found.uniform_deviation == found.deviation


def test_one_user_fewer_is_too_few_for_a_deviation():
    asked = GUARANTEE | {"value_range": (0.0, 10.0)}
    found = design_of(LAPLACE, **asked, deviation=0.1)
    assert found.deviation == pytest.approx(0.1, rel=1e-9)
    for n, is_enough in ((found.n, True), (found.n - 1, False)):
        scale = 0.01 * math.sqrt(n / 2)  # of noise that has this deviation for n users
        assert (log10_delta(LAPLACE, scale, **GUARANTEE, n=n) <= -6) == is_enough


@pytest.mark.parametrize("kind", [LAPLACE, GAUSSIAN])
def test_drawn_noise_has_the_stated_deviation(kind):
    """Within 1 %, more than four standard errors, of 10^6 drawn numbers."""
    rng = np.random.default_rng(20261129)
    draw = {"scale": rng.laplace, "sigma": rng.normal}[kind.parameter]
    design = kind.design(task_of(1.0), 0.7, 400)
    assert design.deviation == pytest.approx(draw(scale=0.7, size=10**6).std() / 20, rel=0.01)


def task_of(width):
    """The task of a mean with the guarantee of this file."""
    return means._Task(1.0, -6.0, rounds=1, colluding=0, participation=1.0, width=width)


def test_where_no_bound_is_computed_the_reason_is_printed(monkeypatch):
    monkeypatch.setattr(means, "_KINDS", (LAPLACE, GAUSSIAN))
    text = text_answer("design --mean --n 10 --eps 1 --delta 1e-6 --participation 50%")
    for name in ("Laplace reports", "Gaussian reports"):
        line = f"Left out: {name} (computed for one round and 100 % participation only).\n"
        assert line in text
