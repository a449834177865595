"""The audit's table and figure: rows of every tally, held jointly; a caption that says what is shown."""

import numpy as np
import pandas as pd

from tests.figures.examples import AUDIT_SETTINGS, audit_table, draw_audit
from tightshuffle.experiments.audit import assess
from tightshuffle.experiments.game import play

LEADING = [
    *("n", "k", "eps0", "eps", "count", "published_log10_delta", "exact_log10_delta", "upper_log10_delta"),
    *("audited_delta", "confidence", "runs"),
]


def test_the_table_holds_every_tally():
    table = audit_table()
    assert list(table.columns[: len(LEADING)]) == LEADING
    assert set(draw_audit.COLUMNS) <= set(table.columns)
    assert len(table) == len(AUDIT_SETTINGS) * 4 * 2
    tally = play(**AUDIT_SETTINGS[1], runs=20_000)
    alone = pd.DataFrame(assess([tally], [0.1, 0.3, 1.0, 1.5], confidence=0.999))
    own = table[table["n"] == 20].reset_index(drop=True)
    assert own.drop(columns=["joint_delta", "violated_jointly"]).equals(
        alone.drop(columns=["joint_delta", "violated_jointly"])
    )
    assert (own["joint_delta"] <= alone["joint_delta"]).all()  # more rows to hold at once


def test_the_caption_says_what_is_shown():
    table = audit_table()
    text = draw_audit.caption(table)
    inside = table[table["eps"] < table["eps0"]]
    for words in (
        "n = 60, k = 5, ε₀ = 2, n_x₀ = 40: 20,000",
        "99.9 % confidence",
        "the rest hold x₁ or one same third cell",  # k = 2 has no third cell
        f"{table['violated'].sum()} of 24 bounds exceed the published δ",
        f"{table['violated_jointly'].sum()} do so also if all 24",
        "all hold at once with at least 97.6 %",
        "None of the bounds exceeds the upper bound",
        f"{(inside['audited_delta'] == 0).sum()} of {len(inside)} bounds at ε < ε₀ are 0",
        f"At ε ≥ ε₀, where δ is 0, none of {24 - len(inside)} is above 0",
    ):
        assert words in text
    assert table["violated"].sum() > 0
    broken = draw_audit.caption(table.assign(upper_violated=np.arange(24) < 2))
    assert " 2 of the bounds exceeds" in broken


def test_lower_bounds_are_rounded_down():
    assert np.isclose(draw_audit._floor(0.00578), 0.0057, rtol=1e-12)
    rows = assess([play(**AUDIT_SETTINGS[0], runs=50)], [9.0], confidence=0.9)
    assert [row["audited_delta"] for row in rows] == [0, 0]
