"""delta_hat: the largest delta of all counts that occur, found without computing most of them."""

import numpy as np
import pytest

from scripts.trials.delta_hat import delta_hat
from tightshuffle.literature.count import delta


def test_delta_hat_is_the_worst_cell_that_somebody_holds():
    counts = np.array([0, 5, 12, 12, 71])
    cells = [delta(0.3, n=100, k=5, eps0=1.0, count=c - 1) for c in (5, 12, 71)]
    assert delta_hat(counts, 0.3, eps0=1.0) == max(cells)


@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.6, 0.95, 0.999])
@pytest.mark.parametrize("eps0", [0.5, 2.0, 5.0])
def test_delta_hat_leaves_out_no_count_that_matters(direction, share, eps0):
    rng = np.random.default_rng(17)
    for n, k in ((60, 4), (400, 30), (3000, 12)):
        counts = rng.multinomial(n, rng.dirichlet(np.full(k, 0.4)))
        held = np.unique(counts[counts > 0])
        setting = {"n": n, "k": k, "eps0": eps0, "direction": direction}
        every = delta(share * eps0, count=held - 1, **setting)
        assert delta_hat(counts, share * eps0, eps0=eps0, direction=direction) == np.max(every)


def test_a_histogram_of_nobody_has_none():
    with pytest.raises(ValueError, match="at least one user"):
        delta_hat([0, 0], 0.3, eps0=1.0)
