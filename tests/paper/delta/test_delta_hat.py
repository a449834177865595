"""delta_hat: the largest delta of all counts that occur, found without computing most of them."""

import numpy as np
import pytest

from scripts.paper.delta.delta_hat import _worst, delta_hat
from scripts.paper.delta.printed_formulas import delta_of_count


@pytest.mark.parametrize("form", ["published", "exact"])
@pytest.mark.parametrize("share", [0.02, 0.2, 0.6, 0.95, 0.999])
@pytest.mark.parametrize("eps0", [0.5, 2.0, 5.0])
def test_delta_hat_leaves_out_no_count_that_matters(form, share, eps0):
    rng = np.random.default_rng(17)
    for n, k in ((60, 4), (400, 30), (3000, 12)):
        counts = rng.multinomial(n, rng.dirichlet(np.full(k, 0.4)))
        held = np.unique(counts[counts > 0])
        every = delta_of_count(share * eps0, n=n, k=k, eps0=eps0, count=held - 1, form=form)
        assert delta_hat(counts, share * eps0, eps0=eps0, form=form, known={}) == np.max(every)


def test_a_count_between_two_others_can_be_the_worst():
    def delta_of(n, count):
        return float(delta_of_count(0.02, n=n, k=2, eps0=0.2, count=count, form="exact"))

    every = [delta_of(60, count) for count in range(60)]
    worst = _worst(list(range(60)), 60, delta_of)
    assert worst.log10_delta == max(every) == every[worst.others]
    assert max(every) > max(every[0], every[-1])
