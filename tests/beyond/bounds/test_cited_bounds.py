"""The bounds that the columns of Tables II and 1 name."""

import numpy as np
import pytest

import tightshuffle
from scripts.beyond.bounds.compute_cited_bounds import cited_bounds
from scripts.shared.printed import DELTA_KEY, OWN, read_values
from tests import ROOT

VALUES = read_values(ROOT / "data/published/values.csv")


def test_every_printed_delta_of_the_literature_has_a_row():
    deltas = VALUES[VALUES["quantity"] == "delta"]
    literature = deltas[deltas["mechanism"] != OWN]
    assert cited_bounds(VALUES)[DELTA_KEY].equals(literature[DELTA_KEY])


def test_a_column_has_the_bound_of_the_work_that_it_names():
    """In the first line of Table 1, n = 100, k = 10, eps0 = 0.5, eps = 0.1, against other programs."""
    first_line = cited_bounds(VALUES).query("item == 'Table 1' and eps == '0.1'")
    delta_of_work = 10 ** first_line.set_index("mechanism")["cited"]
    assert delta_of_work["balle"] == pytest.approx(1.073e-4, rel=1e-3)
    assert delta_of_work["feldman"] == pytest.approx(1.574e-3, rel=1e-3)
    assert delta_of_work["koskela"] == pytest.approx(1.312e-6, rel=1e-3)


def test_erlingssons_theorem_applies_nowhere_or_has_a_delta_in_its_range():
    """It needs n >= 1000, eps0 < 1/2 and delta < 1/100."""
    rows = cited_bounds(VALUES)
    erlingsson = rows[rows["mechanism"] == "erlingsson"]
    known = erlingsson[erlingsson["cited"].notna()]
    assert len(known) < len(erlingsson)
    assert (known["n"].astype(int) >= 1000).all()
    assert (known["eps0"].astype(float) < 0.5).all()
    assert np.all(known["cited"] < -2)


def test_the_bound_beside_koskelas_column_is_the_blankets():
    """Koskela's weak adversary is the privacy blanket (data/published/README.md, "Exact values").

    The method `upper` would be another bound: it is the smaller one of the blanket's and another one.
    """
    rows = cited_bounds(VALUES).query("mechanism == 'koskela'")
    eps = rows["eps"].astype(float).to_numpy()  # 0.1, 0.2, 0.3, 0.4
    setting = {"n": 100, "k": 10, "eps0": 0.5, "log10": True}
    blanket = tightshuffle.delta(eps, method="privacy-blanket", **setting)
    np.testing.assert_allclose(rows["cited"].astype(float), blanket, rtol=1e-12)
    is_upper_clearly_smaller = tightshuffle.delta(eps, **setting) < blanket - 0.05
    assert is_upper_clearly_smaller.tolist() == [False, True, True, True]
