"""The figures of several rounds: what is computed, what is drawn, what the caption says."""

import numpy as np
import pytest

from tests.figures.examples import draw_koskela, koskela_table
from tightshuffle.experiments.curves.koskela import COLUMNS


def test_rows_are_ordered_intervals_as_deep_as_the_figure():
    table = koskela_table()
    assert list(table.columns) == COLUMNS == draw_koskela.COLUMNS
    composed = table[table["curve"].isin(["strong", "weak"])]
    assert (composed["lower"] <= composed["upper"]).all()
    assert composed.groupby(["curve", "compositions"])["upper"].min().between(-40, -2).all()
    wide = composed.pivot(index="eps", columns=["curve", "compositions"], values="upper").dropna()
    assert (wide["strong"] > wide["weak"]).all(axis=None)
    assert (wide["weak", 3] > wide["weak", 1]).all()


def test_theorem_is_drawn_only_where_it_applies():
    table = koskela_table().query("curve == 'balle_analytic'")
    assert table["eps"].max() <= 1
    assert np.isfinite(table["upper"]).all()
    assert table["lower"].isna().all()


def test_caption_says_every_parameter():
    text = draw_koskela.caption(koskela_table())
    for words in ("1 and 3 rounds", "n = 400", "k = 4", "ε₀ = 2", "Theorem 3.1", "B + 1", "% apart"):
        assert words in text
    text = draw_koskela.caption(koskela_table(("clones", "stronger-clones")))
    assert "k = 4" not in text  # the clones do not depend on k
    assert "2/(e^{ε₀} + 1)" in text


def test_one_line_per_curve_and_number_of_rounds():
    axes = draw_koskela.draw(koskela_table(), -6).axes[0]
    assert len(axes.lines) == 2 * 2 + 2
    assert len({(line.get_color(), line.get_linestyle()) for line in axes.lines}) == 6
    assert axes.get_ylim() == (-6, 0)


def test_an_unknown_curve_is_named():
    with pytest.raises(ValueError, match="'laplace'"):
        draw_koskela.draw(koskela_table().replace("weak", "laplace"), -6)
