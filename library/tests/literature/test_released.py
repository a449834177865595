"""Numbers that authors print beside their released code, against ours."""

import csv
import math
from pathlib import Path

import pytest

import tightshuffle
from tightshuffle.literature import amplification
from tightshuffle.points import make_points

RELEASED = Path(__file__).with_name("released.csv").read_text(encoding="utf-8")
ROWS = list(csv.DictReader(RELEASED.splitlines()))
LN_DELTAS = {
    "balle-hoeffding": amplification.ln_balle_hoeffding,
    "balle-bennett": amplification.ln_balle_bennett,
}


def number_of_ours(row: dict[str, str]) -> float:
    """delta or eps, whichever the authors print, in the setting of a row of released.csv."""
    setting = {"n": int(row["n"]), "k": int(row["k"]), "eps0": float(row["eps0"])}
    if row["randomizer"] == "generic":  # which the public functions do not offer
        points = make_points(float(row["at"]), **setting)
        return math.exp(LN_DELTAS[row["method"]](points, randomizer="generic").item())
    function = {"delta": tightshuffle.delta, "eps": tightshuffle.epsilon}[row["asked"]]
    return float(function(float(row["at"]), method=row["method"], **setting))


def rows_with(*relations):
    """Rows whose printed number has one of these relations to ours, with ids."""
    rows = [row for row in ROWS if row["relation"] in relations]
    ids = [f"{row['method']}-{row['randomizer']}-{row['printed']}" for row in rows]
    return pytest.mark.parametrize("row", rows, ids=ids)


@rows_with("equal")
def test_released_number_is_ours(row):
    """They differ by 3e-12 at most, but three eps, which root searches find, by up to 4e-9."""
    assert number_of_ours(row) == pytest.approx(float(row["printed"]), rel=1e-8)


@rows_with("at most", "at least")
def test_number_of_ours_is_on_the_stated_side_of_a_released_bound(row):
    """A row of released.csv says whether ours is "at most" or "at least" the printed number."""
    ours, printed = number_of_ours(row), float(row["printed"])
    assert (ours >= printed) == (row["relation"] == "at least")
    assert ours == pytest.approx(printed, rel=0.04)
