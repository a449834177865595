"""Theorem 1 as printed: it gives the paper's digits."""

from scripts.paper.delta.theorem_1 import theorem_1_as_printed
from scripts.paper.values.judgement import digits_verdict
from scripts.shared.printed import read_values, records
from tests import ROOT
from tightshuffle.number_text import from_log10


def test_theorem_1_gives_the_digits_of_table_iv():
    """In its line with n = 150 users, of whom 0.8 n hold x0."""
    values = records(read_values(ROOT / "data/published/values.csv"))
    printed = [row for row in values if row["item"] == "Table IV" and row["n"] == "150"]
    assert len(printed) == 7
    for row in printed:
        log10_delta = theorem_1_as_printed(float(row["eps"]), n=150, k=10, eps0=2, count=120)
        assert digits_verdict(row["printed"], from_log10(log10_delta)) == "same digits"
