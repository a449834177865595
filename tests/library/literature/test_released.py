"""Numbers that authors print beside their released code, against ours."""

import csv
from pathlib import Path

import pytest

import tightshuffle
from tightshuffle.literature import amplification
from tightshuffle.points import make_points

ROWS = list(csv.DictReader(Path(__file__).with_name("released.csv").open(encoding="utf-8")))
LOG10_DELTAS = {
    "balle-hoeffding": amplification.balle_hoeffding,
    "balle-bennett": amplification.balle_bennett,
}


def number_of_ours(row: dict[str, str]) -> float:
    """delta or eps, whichever the authors print, in the setting of a row of released.csv."""
    setting = {"n": int(row["n"]), "k": int(row["k"]), "eps0": float(row["eps0"])}
    if row["randomizer"] == "generic":  # which the public functions do not offer
        points = make_points(float(row["at"]), **setting)
        return float(10 ** LOG10_DELTAS[row["method"]](points, randomizer="generic").item())
    function = {"delta": tightshuffle.delta, "eps": tightshuffle.epsilon}[row["asked"]]
    return float(function(float(row["at"]), method=row["method"], **setting))


@pytest.mark.parametrize(
    "row", ROWS, ids=lambda row: f"{row['method']}-{row['randomizer']}-{row['printed']}"
)
def test_a_released_number(row):
    """Closed forms agree but for two root searches; the clones lie between the released code's two ends."""
    printed = float(row["printed"])
    if row["relation"] == "equal":
        assert number_of_ours(row) == pytest.approx(printed, rel=1e-8)
    else:
        is_at_least = number_of_ours(row) >= printed
        assert is_at_least == (row["relation"] == "at least")
        assert number_of_ours(row) == pytest.approx(printed, rel=0.04)
