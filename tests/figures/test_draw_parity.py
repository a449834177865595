"""The figures at equal privacy: what they pick from the runs, what they say, errors that name the file."""

import pytest

from tests.figures.examples import (
    PARITY_TITLES,
    draw_estimates,
    draw_parity_ratio,
    draw_parity_tv,
    draw_tv,
    histogram_table,
    parity_rows,
    ratio_table,
    runs_of,
)
from tightshuffle.figures import parity_words as _parity


def test_tv_takes_the_papers_estimators_and_the_upper_bound(tmp_path):
    rows, budgets = parity_rows(tmp_path, eps0=(2, 4))
    assert set(rows["mechanism"]) == {"shuffle", "shuffle+INV", "gaussian"}
    assert rows["value"].max() < 7  # the value of the rows of the lower bound
    assert [words for words, _ in budgets] == [
        "ε₀ = 2, ε = 0.014 to 0.063, δ = 10⁻⁶",
        "ε₀ = 4, ε = 0.028 to 0.13, δ = 10⁻⁶",
    ]
    text = draw_tv.caption(rows, "Paris", _parity.reading_words(), budgets=budgets)
    for words in ("equal privacy", "sensitivity √2", "ε₀ = 2, ε = 0.014 to 0.063", "projected"):
        assert words in text
    assert "published" not in text
    with pytest.raises(ValueError, match=r"own.parquet: no rows with metric 'tv', .*delta_rule '0.5'"):
        draw_parity_tv.read_rows(tmp_path / "own.parquet", 0.5)


def test_estimates_say_that_both_are_projected():
    histogram = histogram_table()
    runs = runs_of(histogram, [(2, 0.02), (4, 0.1)], 1e-6)
    text = draw_estimates.caption(histogram, runs, "Paris", _parity.reading_words(), projected=True)
    assert "Both estimates are projected" in text
    assert "not projected" not in text


def test_ratio_heading_and_caption_are_computed():
    table = ratio_table()
    drawn = table[(table["bound"] == "upper") & (table["comparison"] == "projected")]["ratio"]
    heading = draw_parity_ratio.draw(table, PARITY_TITLES).get_suptitle()
    assert f"errs {drawn.min():.2f} to {drawn.max():.2f} times" in heading.replace("\n", " ")
    assert "as published 1.5 to 56 times" in heading.replace("\n", " ")
    text = draw_parity_ratio.caption(table, PARITY_TITLES)
    near = table[(table["bound"] == "upper") & (table["comparison"] == "unprojected")]
    for eps0, rows in near.groupby("eps0"):
        assert f"{((rows['ratio'] - 1).abs() <= 0.05).mean():.0%} at ε₀ = {eps0}" in text
    wide = table.dropna(subset="bound").pivot(
        index=["dataset", "n", "eps0", "delta_rule", "comparison"], columns="bound", values="ratio"
    )
    wide = wide.drop("maximum likelihood", level="comparison")
    assert f"by more than {(wide['upper'] / wide['lower'] - 1).abs().max():.1%}" in text
    assert "200 repetitions" in text


def test_ratio_draws_every_setting_of_the_upper_bound():
    figure = draw_parity_ratio.draw(ratio_table(), PARITY_TITLES)
    panels = figure.axes
    assert len(panels) == 9
    # Two budgets and two rules, each one container of points with intervals.
    assert all(len(axes.containers) == 4 for axes in panels)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "ε₀ = 1",
        "ε₀ = 6",
        "δ = 10⁻⁶",
        "δ = $n^{-1.1}$",
        "published protocol",
    ]
