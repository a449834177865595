"""The bounds that the columns of Tables II and 1 name."""

import numpy as np
import pytest

import tightshuffle
from scripts.beyond.bounds.compute_cited_bounds import cited_bounds
from scripts.shared.printed import DELTA_KEY, OWN, read_values
from tests import ROOT

VALUES = read_values(ROOT / "data/published/values.csv")


def test_every_row_of_the_literature_has_the_bound_that_its_column_names():
    """`VALUES` are the numbers that the paper prints, as texts. Its tables name four works of the literature.

    Every delta that is printed for one of them has one row of `cited_bounds`: the columns that tell printed
    deltas apart (`DELTA_KEY`), and log10 of the delta by that work's own bound as ``cited``.
    """
    bounds = cited_bounds(VALUES)
    deltas = VALUES[VALUES["quantity"] == "delta"]
    literature = deltas[deltas["mechanism"] != OWN]
    assert bounds[DELTA_KEY].equals(literature[DELTA_KEY])

    # The first line of Table 1 has n = 100, k = 10, eps0 = 0.5, eps = 0.1. The expected deltas are by other
    # programs, to four digits. The fourth work's theorem does not apply there.
    first_line = bounds[(bounds["item"] == "Table 1") & (bounds["eps"] == "0.1")]
    delta_by_work = 10 ** first_line.set_index("mechanism")["cited"]
    expected = {"balle": 1.073e-4, "feldman": 1.574e-3, "koskela": 1.312e-6}
    assert delta_by_work[list(expected)].to_dict() == pytest.approx(expected, rel=1e-3)


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
    is_upper_clearly_smaller = tightshuffle.upper(eps, **setting) < blanket - 0.05
    assert is_upper_clearly_smaller.tolist() == [False, True, True, True]
