"""log10_delta_hat: the largest delta of all counts that occur, found without computing most of them."""

import numpy as np
import pytest

from scripts.paper.delta import delta_hat
from scripts.paper.delta.delta_hat import log10_delta_hat, worst_count
from scripts.paper.delta.theorem_1 import log10_delta_of_count


@pytest.mark.parametrize("form", ["published", "exact"])
@pytest.mark.parametrize(
    "share",
    [
        0.02,
        pytest.param(0.2, marks=pytest.mark.slow),
        0.6,
        pytest.param(0.95, marks=pytest.mark.slow),
        0.999,
    ],
)
@pytest.mark.parametrize("eps0", [0.5, 2.0, 5.0])
def test_delta_hat_leaves_out_no_count_that_matters(form, share, eps0):
    rng = np.random.default_rng(17)
    for n, k in ((60, 4), (400, 30), (3000, 12)):
        counts = rng.multinomial(n, rng.dirichlet(np.full(k, 0.4)))
        others = counts[counts > 0] - 1
        deltas = log10_delta_of_count(share * eps0, n=n, k=k, eps0=eps0, count=others, form=form)
        largest = log10_delta_hat(counts, share * eps0, eps0=eps0, form=form, known={})
        assert largest == np.max(deltas)


@pytest.mark.parametrize("error", [1e-8, 1.0])
@pytest.mark.parametrize(("k", "eps0", "eps"), [(22, 2, 1.4), (31, 0.5, 0.35)])
def test_a_count_between_two_others_can_be_the_worst(k, eps0, eps, error, monkeypatch):
    """It is found also if deltas are only known up to an ``error``: then more of them are computed."""
    monkeypatch.setattr(delta_hat, "_ERROR_OF_TWO_DELTAS", error)
    counts = np.zeros(k, dtype=int)
    counts[:20] = np.arange(1, 21)
    deltas = log10_delta_of_count(eps, n=210, k=k, eps0=eps0, count=np.arange(20), form="exact")
    worst = worst_count(counts, eps, eps0=eps0, form="exact", known={})
    assert worst.log10_delta == np.max(deltas) == deltas[worst.other_holders]
    assert 0 < worst.other_holders < 19
