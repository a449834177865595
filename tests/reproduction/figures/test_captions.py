"""Captions name every parameter, and the numbers in them are those of the tables."""

import re

import numpy as np
import pandas as pd
import pytest

from reproduction.figures import (
    audit,
    band,
    blanket_regions,
    calibration,
    checkins,
    delta_bounds,
    delta_surface,
    estimates,
    frontier,
    gaussian_scale,
    girgis_rdp,
    koskela,
    parity_estimates,
    parity_ratio,
    parity_tv,
    style,
    too_small,
    tv,
)
from tests.reproduction.figures.examples import (
    FIGURES,
    PARITY_TITLES,
    PROTOCOL,
    audit_table,
    band_table,
    blanket_tables,
    bound_table,
    city,
    frontier_table,
    girgis_tables,
    histogram_table,
    koskela_table,
    parity_rows,
    ratio_table,
    runs_of,
    scale_table,
    surface_table,
    trial_table,
    tv_rows,
    uneven_city,
)
from tightshuffle.number_text import typeset

CAPTIONS = {  # figure: (caption, what it says, what it does not)
    "delta_surface": (
        lambda: delta_surface.caption(surface_table()),
        [
            *("n = 120", "k = 11", "n_x₀ = 81", "0.5 to 3 in 6 steps", "published", "exact"),
            "these 21 of 36 points are left out.",
            "up to 17 orders",  # 20 * 2.5 / 3 = 16.7 at eps = 2.5, eps0 = 3
        ],
        [],
    ),
    "tv": (
        lambda: tv.caption(tv_rows(trial_table()), "San Francisco", PROTOCOL),
        [
            *("San Francisco", "k = 15", "10 repetitions", "n = 1,000 and 20,000"),
            "(a) ε₀ = ε = 4, δ = 10⁻³⁰. (b) ε₀ = ε = 6, δ = 10⁻³⁰",
            *("TV error 0.60", "sensitivity 1.", "at least 10⁻³⁰"),
        ],
        [],
    ),
    "parity_tv": (
        lambda: parity_tv.caption(parity_rows(eps0=(2, 4)), "Paris"),
        [
            *("Equal privacy", "sensitivity √2", "projected"),
            "(a) ε₀ = 2, ε = 0.014 to 0.063, δ = 10⁻⁶. (b) ε₀ = 4, ε = 0.028 to 0.13, δ = 10⁻⁶",
        ],
        ["published"],
    ),
    "checkins": (
        lambda: checkins.caption([city("San Francisco"), city(spread=False)], "stepped"),
        [
            *("stepped grid", "6 × 5 cells", "latitude 48.8 to 48.85", "longitude 2.2 to 2.26"),
            "The points of San Francisco are not",
            "in each sub-cell (16 × 16 to a cell of the paper's grid)",
            f"{histogram_table()['count'].sum():,} check-ins",
            f"{(histogram_table()['count'] > 0).sum()} of them not empty",
            f"from 1 to {histogram_table()['count'].max():,}",
        ],
        [],
    ),
    "checkins, not spread": (
        lambda: checkins.caption([city(spread=False)], "uniform"),
        [],
        ["sub-cell", "differ"],
    ),
    "checkins, uneven cells": (
        lambda: checkins.caption([uneven_city()], "uniform"),
        ["Its cells differ in width by up to 4 %: their edges are the nearest lines of the bundled counts."],
        [],
    ),
    "estimates": (
        lambda: estimates.caption(runs_of(histogram_table()), "Paris", PROTOCOL),
        [
            *("k = 30", f"n = {histogram_table()['count'].sum():,}", "grey with a minus sign"),
            *("ε₀ = ε = 2, δ = 10⁻³⁰", "ε₀ = ε = 6, δ = 10⁻³⁰", "sensitivity 1."),
        ],
        [],
    ),
    "estimates, no grid": (
        lambda: estimates.caption(runs_of(histogram_table()[["cell", "count"]]), "own", PROTOCOL),
        ["grey area"],
        ["minus sign"],
    ),
    "estimates, fine grid": (
        lambda: estimates.caption(runs_of(histogram_table(2, style.SIGNS_FIT + 1)), "fine", PROTOCOL),
        ["orange", "pixel"],
        ["minus sign"],
    ),
    "parity_estimates": (
        lambda: parity_estimates.caption(runs_of(histogram_table(), [(2, 0.02)], 1e-6), "Paris"),
        ["ε₀ = 2, ε = 0.02, δ = 10⁻⁶", "Equal privacy"],
        ["not projected", "published"],
    ),
    "blanket_regions": (
        lambda: blanket_regions.caption(blanket_tables()),
        [
            *("n = 40", "k = 4", "n_x₀ = 10", "ε₀ = 0.7"),
            *("S₁ = [κ₄, ln κ₂] is empty", "exists at 0 of the 12 ε₀"),
        ],
        [],
    ),
    "too_small": (
        lambda: too_small.caption(surface_table(), 2.0),
        ["At ε = 0.5 it gives 10⁻¹⁰, and the true value is 10⁻⁵", "n = 120", "k = 11", "ε₀ = 2", "81 of the"],
        [],
    ),
    "delta_bounds": (
        lambda: delta_bounds.caption(bound_table()),
        ["(a) n = 60, k = 5, ε₀ = 0.5, n_x₀ = 40", "(b) n = 5,000, k = 30, ε₀ = 3, n_x₀ = 10"],
        [],
    ),
    "band": (
        lambda: band.caption(band_table()),
        ["ε₀ = 1", "conjecture", "Where δ ≥ 10⁻¹², upper is at most 3.36 times tight"],
        [],
    ),
    "frontier": (
        lambda: frontier.caption(frontier_table(1)),
        [
            *("δ = 10⁻⁶", "n = 3,000, k = 8, ε = 1: "),
            f"{frontier_table(1)['ratio'].iloc[-1]:.2f} with 0.11 dummies per user.",
        ],
        [],
    ),
    "gaussian_scale": (
        lambda: gaussian_scale.caption(scale_table(stop=-10)),
        ["log₁₀ δ = -10"],
        ["too small from"],
    ),
    "girgis_rdp": (
        lambda: girgis_rdp.caption(girgis_tables()),
        [
            *("n = 300, k = 5", "ε₀ = 0.5 and 3", "after 1 and 20 rounds for ε₀ = 1."),
            *("Theorem 3.1", "PLD", "δ ≤ 10⁻⁶ after 20 rounds"),
        ],
        [],
    ),
    "girgis_rdp, too small eps": (lambda: girgis_rdp.caption(girgis_tables(eps=(0.05, 0.2))), [], ["δ ≤"]),
    "koskela": (
        lambda: koskela.caption(koskela_table()),
        ["1 and 3 rounds", "n = 400", "k = 4", "ε₀ = 2", "Theorem 3.1", "B + 1", "% apart"],
        [],
    ),
    "koskela, clones": (
        lambda: koskela.caption(koskela_table(("clones", "stronger-clones"))),
        ["2/(e^{ε₀} + 1)"],
        ["k = 4"],  # the clones do not depend on k
    ),
}


@pytest.mark.parametrize("name", FIGURES)
def test_a_caption_begins_with_what_the_figure_shows_in_few_words(name):
    first, *settings = FIGURES[name].caption().split("\n\n")
    sentence = re.split(r"(?<!eq)(?<!al)\. ", first)[0]
    assert len(sentence.split()) <= 30, sentence
    assert len(first.split()) <= 60, first
    assert settings
    assert "\n" not in first
    # Snakemake's report reads it as reStructuredText, where "(a) " begins a list
    assert not any(re.match(r"\(?\w\W ", paragraph) for paragraph in (first, *settings))


@pytest.mark.parametrize("name", FIGURES)
def test_no_sentence_of_a_caption_has_more_than_30_words(name):
    sentences = re.split(r"(?<!eq)(?<! al)\.\s+(?=[^a-z])", FIGURES[name].caption())
    long = [sentence for sentence in sentences if len(re.findall(r"[A-Za-z]{2,}", sentence)) > 30]
    assert long == []


@pytest.mark.parametrize("name", CAPTIONS)
def test_a_caption_names_every_parameter(name):
    caption, present, absent = CAPTIONS[name]
    text = caption()
    assert [phrase for phrase in present if phrase not in text] == [], text
    assert [phrase for phrase in absent if phrase in text] == [], text


def test_the_published_calibration_names_its_settings():
    text = calibration.published({"delta_form": "exact", "delta_floor": 1e-25, "sensitivity": 1.5})
    assert all(phrase in text for phrase in ("δ̂ in its exact form", "10⁻²⁵", "sensitivity 1.5"))


def test_the_surface_counts_the_further_points_without_a_logarithm():
    table = surface_table()
    table.loc[(table["eps"] == 0.5) & (table["eps0"] == 3.0), "published"] = -np.inf
    assert "left out, and 1 more in published." in delta_surface.caption(table)


def test_estimates_count_the_negative_values():
    runs = runs_of(histogram_table())
    below = (runs.runs[0].table["gaussian"] < 0).sum()
    text = estimates.caption(runs, "Paris", PROTOCOL)
    assert f"{below} and {below} of the 30 shares are negative" in text


def test_the_blanket_papers_largest_gap_and_roots():
    regions, tightness = blanket_tables()
    grown = tightness[(tightness["eps"] == 0.3) & (tightness["n"] == 80)].iloc[0]
    orders = min(0, grown["equation_3"]) - grown["upper"]
    text = blanket_regions.caption((regions.assign(roots_H=[2] + [0] * 11), tightness))
    assert f"up to {orders:,.0f} orders of magnitude, at n = 80, ε = 0.3" in text
    assert "exists at 1 of the 12" in text


def test_the_published_bounds_gap():
    table = bound_table()
    gap = (table["lower"] - table["published"])[table["setting"] == 2]
    assert f"(b) {gap.min():,.0f} to {gap.max():,.0f}" in delta_bounds.caption(table)


def test_where_the_published_scale_stops():
    table = scale_table()
    text = gaussian_scale.caption(table)
    for eps, row in table.groupby("eps").last().iterrows():
        assert f"For ε = {eps:g} it stops at {row['published']:.4g}" in text
        assert f"A log₁₀ δ of -60 needs {row['exact']:.4g}. From log₁₀ δ = -" in text
    assert text.count("on, it is more than 1 % too small.") == table["eps"].nunique()


def test_how_much_larger_the_renyi_bound_is():
    divergences, composed = girgis_tables()
    ratio = divergences["girgis"] / divergences["clones"]
    assert f"{ratio.min():.2g} to {ratio.max():.2g} times" in girgis_rdp.caption((divergences, composed))


def test_the_audit_counts_what_it_shows():
    table = audit_table()
    text = audit.caption(table)
    inside = table[table["eps"] < table["eps0"]]
    for phrase in (
        "n_x₀ hold x₀: 40 at n = 60",
        "Runs with either user: 20,000.",
        "99.9 % confidence",
        "hold x₁ or one same third value",  # k = 2 has no third cell
        f"{table['violated'].sum()} of 24 bounds exceed the published δ",
        "all 24 hold at once with a confidence of at least 97.6 %",
        f"If all must hold at once with 99.9 %, {table['violated_jointly'].sum()} still exceed it.",
        "None of the bounds exceed the upper bound",
        f"{(inside['audited_delta'] == 0).sum()} of {len(inside)} bounds at ε < ε₀ are 0",
        f"At ε ≥ ε₀, where δ is 0, none of {24 - len(inside)} bounds is above 0",
    ):
        assert phrase in text
    assert table["violated"].sum() > 0
    first = (table[audit.SETTING] == table[audit.SETTING].iloc[0]).all(axis=1)
    longer = audit.caption(table.assign(runs=np.where(first, 70_000, 20_000)))
    assert "Runs with either user: 70,000 at n = 60, k = 5, ε₀ = 2 and 20,000 elsewhere." in longer
    broken = audit.caption(table.assign(upper_violated=np.arange(24) < 2))
    assert " 2 of the bounds exceed" in broken
    own = table[(table["observes"] == "count") & (table["audited_delta"] > 0)]
    gaps = np.log10(own["audited_delta"]) - own["published_log10_delta"]
    widest = own.loc[gaps.idxmax(), "audited_delta"]
    assert (
        f"audited at least {typeset(widest, round_up=False)}, exact" in text
    )  # a lower bound is rounded down


def test_the_ratios_shares_and_changes():
    table = ratio_table()
    told = table[(table["bound"] == "upper") & table["informative"]]
    drawn = told[told["comparison"] == "projected"]["ratio"]
    heading = parity_ratio.draw(table, PARITY_TITLES).get_suptitle().replace("\n", " ")
    ends = f"{drawn.min():.2f} to {drawn.max():.2f} at equal (ε, δ)"
    assert f"1.5 to 56 in our rerun of the published protocol; {ends}" in heading
    text = parity_ratio.caption(table, PARITY_TITLES)
    near = told[told["comparison"] == "unprojected"]
    assert "In 4 of the 36 settings (crosses, without bars)" in text
    for eps0, rows in near.groupby("eps0"):
        assert f"{rows['ratio'].between(1 / 1.05, 1.05).sum()} of {len(rows)} (ε₀ = {eps0})" in text
    keys = ["dataset", "n", "eps0", "delta_rule", "comparison"]
    wide = table.dropna(subset="bound").pivot(index=keys, columns="bound", values="ratio")
    change = np.ceil(1000 * (wide["upper"] / wide["lower"] - 1).abs().max()) / 10
    assert f"by more than {change:.1f} %" in text
    assert "200 repetitions" in text
    assert "unequal projection" not in text
    pairs = table[table["comparison"] == "projected"].assign(comparison="the paper's pairing")
    pairs["ratio"] = np.where(pairs["informative"], 0.3, 9)
    paired = parity_ratio.caption(pd.concat([table, pairs]), PARITY_TITLES)
    assert "With this unequal projection at equal (ε, δ), the ratio is 0.30 in" in paired
