"""k-RR with dummies: the fewest that give a guarantee, and what the designs cost."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats

import tightshuffle
from tests.library.cli.calls import call
from tightshuffle import Collection, Dummies, Group
from tightshuffle.designs import fewest_dummies, frontier, luo_wang_yi

SETTINGS = [  # n, k, eps, delta, eps0
    (2000, 16, 0.5, 1e-6, 3.5),
    (2000, 16, 0.5, 1e-6, math.inf),
    (300, 2, 1.0, 1e-3, 4.0),
    (10**8, 40, 0.1, 1e-9, 13.0),
    (5, 1000, 2.0, 1e-6, 8.0),
]


def collection(n, k, eps0, dummies, colluding=0):
    group = Group("all", n, eps0, colluding=colluding)
    return Collection(k, (group,), dummies=Dummies(number=dummies))


def delta_of_dummies(dummies, k, eps):
    """delta if users send the values themselves and the shuffler adds uniform dummies, without our bounds.

    N0 and N1 of the dummies + 1 uniform reports are of x0 and of x1. Given the counts, a report of x0 was the
    user's with probability N0 / (dummies + 1), of k times its probability among uniform reports.
    """
    sent = dummies + 1
    most = int(stats.binom.isf(1e-16, sent, 1 / k))
    zeros, ones = np.arange(most + 1)[:, None], np.arange(most + 1)
    both = stats.binom.pmf(zeros, sent, 1 / k) * stats.binom.pmf(ones, sent - zeros, 1 / (k - 1))
    return float((np.maximum(zeros - np.exp(eps) * ones, 0) * both).sum() * k / sent)


@pytest.mark.parametrize(("n", "k", "eps", "delta", "eps0"), SETTINGS)
def test_one_dummy_fewer_is_too_few(n, k, eps, delta, eps0):
    found = fewest_dummies(n, k, eps, delta, eps0=eps0)
    assert found > 0
    assert collection(n, k, eps0, found).delta(eps) <= delta
    assert collection(n, k, eps0, found - 1).delta(eps) > delta


@pytest.mark.parametrize(("k", "eps", "delta"), [(100, 1.0, 1e-6), (10, 0.5, 1e-4), (400, 2.0, 1e-9)])
def test_dummies_alone_are_those_of_the_formula(k, eps, delta):
    """Our bound is within 0.01 % of delta, which is less than a dummy in a thousand changes."""
    found = fewest_dummies(1, k, eps, delta)
    assert delta_of_dummies(found, k, eps) <= delta
    assert delta_of_dummies(round(0.999 * found) - 1, k, eps) > delta


def test_no_dummies_where_reports_alone_are_enough():
    alone = tightshuffle.plan(n=2000, k=16, eps=0.5, delta=1e-6).eps0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=0.4) == 0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=0.999 * alone) == 0
    assert fewest_dummies(2000, 16, 0.5, 1e-6, eps0=1.001 * alone) > 0
    # Where the histogram is one count, the blanket's bound asks for dummies in vain.
    alone = tightshuffle.plan(n=740, k=2, eps=0.1, delta=6.2e-9).eps0
    assert fewest_dummies(740, 2, 0.1, 6.2e-9, eps0=alone) == 0


def test_a_frontier_goes_from_krr_alone_to_dummies_alone():
    designs = frontier(10_000, 64, 0.5, 1e-6)
    plan = tightshuffle.plan(n=10_000, k=64, eps=0.5, delta=1e-6)
    assert (designs[0].eps0, designs[0].dummies, designs[-1].eps0) == (plan.eps0, 0, math.inf)
    assert designs[0].error == pytest.approx(plan.tv["shuffle+INV"], rel=1e-9)
    for before, after in itertools.pairwise(designs):
        assert before.eps0 < after.eps0
        assert before.messages_per_user < after.messages_per_user
        assert before.error > after.error
    assert designs[-2].error < 1.005 * designs[-1].error < designs[-3].error


def test_a_design_is_a_collection_with_the_guarantee():
    for design in frontier(3000, 20, 1.0, 1e-6, eps0=[5.5, 7, math.inf], colluding=20):
        own = collection(3000, 20, design.eps0, design.dummies, colluding=20)
        assert own.epsilon(1e-6) <= 1 < 1.02 * own.epsilon(1e-6)
        assert own.if_the_shuffler_fails() == design.eps0
        assert design.error == own.expected_error()
        assert design.ratio == pytest.approx(design.error / own.gaussian_error(1.0, -6.0), rel=1e-9)
        assert design.messages_per_user == 1 + own.dummies.number / 3000


def run(*words):
    code, out, err = call("design", "--n", "3000", "--k", "20", *words)
    assert (code, err) == (0, "")
    return out


def test_the_command_prints_the_frontier():
    asked = ["--eps", "1", "--delta", "1e-6", "--colluding", "1%"]
    designs = frontier(3000, 20, 1.0, 1e-6, colluding=30)
    found = json.loads(run(*asked, "--json"))
    assert (found["n"], found["k"], found["colluding"], found["log10_delta"]) == (3000, 20, 30, -6)
    assert [row["eps0"] for row in found["designs"]] == [*(d.eps0 for d in designs[:-1]), None]
    for column, name in (("expected_tv", "error"), ("ratio", "ratio"), ("dummies", "dummies")):
        assert [row[column] for row in found["designs"]] == [getattr(d, name) for d in designs]
    assert found["dummies_alone"]["times"] == pytest.approx(luo_wang_yi(1, 1e-6) * 20 / designs[-1].dummies)
    text = run(*asked)
    for design in designs:
        assert f" {design.dummies} " in text
