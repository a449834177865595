"""Numbers that authors print beside their released code, against ours; docs/speed.md has the same table."""

import csv
from pathlib import Path

import pytest

import tightshuffle
from tests import ROOT
from tightshuffle.literature import amplification

ROWS = list(csv.DictReader(Path(__file__).with_name("released.csv").open(encoding="utf-8")))
DELTAS = {"balle-hoeffding": amplification.balle_hoeffding, "balle-bennett": amplification.balle_bennett}


def ours(row: dict[str, str]) -> float:
    setting = {"n": int(row["n"]), "k": int(row["k"]), "eps0": float(row["eps0"])}
    if row["randomizer"] == "generic":  # which the public functions do not offer
        return float(10 ** DELTAS[row["method"]](float(row["at"]), randomizer="generic", **setting))
    function = {"delta": tightshuffle.delta, "eps": tightshuffle.epsilon}[row["asked"]]
    return float(function(float(row["at"]), method=row["method"], **setting))


def line(row: dict[str, str]) -> str:
    """The row of the table in docs/speed.md."""
    method = f"`{row['method']}`" + (", any randomizer" if row["randomizer"] == "generic" else "")
    if row["randomizer"] == "krr":
        method += f", k = {row['k']}"
    asked = f"{row['asked']} at {'eps' if row['asked'] == 'delta' else 'delta'} = {row['at']}"
    difference = ours(row) / float(row["printed"]) - 1
    shown = "below 1e-8" if row["relation"] == "equal" else f"{difference:+.1%}".replace("%", " %")
    words = {"equal": "", "at most": "upper bound: ", "at least": "lower bound: "}[row["relation"]]
    return f"| {method} | {asked} | {words}{float(row['printed']):.6g} | {ours(row):.6g} | {shown} |"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['method']}-{row['randomizer']}-{row['printed']}")
def test_a_released_number(row):
    """Closed forms agree but for two root searches; the clones lie between the released code's two ends."""
    printed = float(row["printed"])
    if row["relation"] == "equal":
        assert ours(row) == pytest.approx(printed, rel=1e-8)
    else:
        above = ours(row) >= printed
        assert above == (row["relation"] == "at least")
        assert ours(row) == pytest.approx(printed, rel=0.04)


def test_the_table_in_the_documents():
    text = (ROOT / "docs/speed.md").read_text(encoding="utf-8")
    missing = [line(row) for row in ROWS if line(row) not in text]
    assert not missing
