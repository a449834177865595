"""Every test about delta: real numbers where the truth is known, made-up bounds to show both outcomes."""

import math
from functools import partial

import numpy as np
import pytest

from reproduction.protocol.gaussian import published_scale
from reproduction.verification.claims import literature, privacy
from reproduction.verification.claims.evidence import GAUSSIAN, NoEvidenceError, Setting
from reproduction.verification.claims.verdict_rules import FAILS, HOLDS, UNSETTLED
from tests.reproduction.verification.claims.fabricated import (
    exact,
    numbers,
    outcome,
    published,
    row,
    says,
    verdict,
)
from tightshuffle.gaussian import log10_delta_of_scale
from tightshuffle.literature import count
from tightshuffle.randomizers.krr import truth_probability

POINTS = [(eps, 2.0, 20, 5) for eps in (0.2, 0.6, 1.0)]
SQUARE = [(eps, eps0, 20, 5) for eps in (0.1, 0.4) for eps0 in (1.0, 2.0)]
CUBE = [(0.1, 2.0, n, k) for n in (10, 20) for k in (3, 4, 5)]
BOTH = (published, exact)
SF = {"south": 37.7228, "north": 37.7946, "west": -122.5153, "east": -122.3789}
GRID = [row(item="Table IV", n=n, eps0=2.0, varying="n") for n in (20, 40)]
GRID += [row(item="Table IV", n=60, eps0=eps0, varying="eps0") for eps0 in (2.0, 3.0)]
ZERO = row(item="Table IV", eps=2.0, eps0=2.0, printed="0", n=20)
POSITIVE = row(item="Table IV", eps=1.0, eps0=2.0, printed="1E-9", n=20)
WORST = {"eps": (0.5, 1.0), "eps0": 2.0, "n": 20, "k": 5}


def printed_of(log10):
    """10**log10 as a paper prints it, four digits."""
    whole = math.floor(log10)
    return f"{10 ** (log10 - whole):.3f}E{whole}"


@pytest.fixture
def bounds(monkeypatch):
    """Replaces the bracket of the whole histogram's delta by a function of (eps, n, k, eps0)."""

    def replace(function):
        for module in (privacy, literature):
            monkeypatch.setattr(module, "bracket", function)

    return replace


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    ("test", "settings", "expected", "told"),
    [
        (privacy.trend, {"axis": "eps", "points": POINTS}, HOLDS, "true in both cases"),
        (privacy.trend, {"axis": "eps", "points": POINTS, "rising": True}, FAILS, "false in both cases"),
        (
            privacy.both_trends,
            {"eps_rising": False, "eps0_rising": True, "points": SQUARE},
            HOLDS,
            "true in both cases",
        ),
        (
            privacy.both_trends,
            {"eps_rising": True, "eps0_rising": True, "points": SQUARE},
            FAILS,
            "false in both cases",
        ),
        (
            privacy.both_trends,
            {"eps_rising": False, "eps0_rising": False, "points": SQUARE},
            FAILS,
            "true in both cases",
        ),
        (privacy.varies_with_the_count, {"eps": 4, "eps0": 4, "n": 50, "k": 5}, FAILS, "false"),
        (privacy.varies_with_the_count, {"eps": 1, "eps0": 4, "n": 50, "k": 5}, HOLDS, "true"),
        (privacy.inference_falls, {"k": (2, 5, 9), "eps0": (0.5, 3)}, HOLDS, "true in all 4 cases"),
        (privacy.inference_falls, {"k": (9, 5, 2), "eps0": (0.5, 3)}, FAILS, "false in all 4 cases"),
        (
            privacy.inference_falls,
            {"k": (2, 9, 5), "eps0": (0.5, 3)},
            FAILS,
            "true in 2 of 4 cases, false in 2",
        ),
        (privacy.worst_cell_protects, WORST, FAILS, "false in both cases"),
    ],
)
def test_statements_of_which_the_truth_is_known(make, test, settings, expected, told):
    found = outcome(test(make(), **settings))
    assert found.verdict == expected
    assert says(found, told)


@pytest.mark.parametrize(
    ("function", "points", "axis", "rising", "expected", "told"),
    [
        (lambda e, n, k, e0: (-10 - e, -10 - e + 0.3), POINTS, "eps", False, HOLDS, "true in both cases"),
        (
            lambda e, n, k, e0: (-10 - e, -10 - e + 0.5),
            POINTS,
            "eps",
            False,
            UNSETTLED,
            "undecided in both cases",
        ),
        (lambda e, n, k, e0: (-10 - e, -10 - e + 0.3), POINTS, "eps", True, FAILS, "false in both cases"),
        (
            lambda e, n, k, e0: (-10 - e, -10 - e + 0.5),
            POINTS,
            "eps",
            True,
            UNSETTLED,
            "undecided in both cases",
        ),
        (lambda e, n, k, e0: (-5, -5), POINTS, "eps", False, UNSETTLED, "undecided in both cases"),  # ties
        (lambda e, n, k, e0: (-n * k, -n * k), CUBE, "n", False, HOLDS, "true in all 3 cases"),
        (lambda e, n, k, e0: (-n * k, -n * k), CUBE, "k", False, HOLDS, "true in all 4 cases"),
        (lambda e, n, k, e0: (n * k, n * k), CUBE, "k", True, HOLDS, "true in all 4 cases"),
        # from 0 to 0 is no step, from a number to 0 is one
        (
            lambda e, n, k, e0: (-math.inf, -math.inf if e > 0.5 else -9),
            POINTS,
            "eps",
            False,
            UNSETTLED,
            "undecided",
        ),
        (lambda e, n, k, e0: (-9 if e < 0.5 else -math.inf,) * 2, POINTS, "eps", False, HOLDS, "true"),
    ],
)
def test_a_trend_needs_bounds_that_do_not_overlap(bounds, function, points, axis, rising, expected, told):
    bounds(function)
    found = outcome(privacy.trend(exact(), axis, points, rising))
    assert found.verdict == expected
    assert says(found, told)


def test_several_shares_of_x0_are_tried_as_published_only():
    for make, groups in ((published, 4), (exact, 2)):
        found = privacy.both_trends(make(), False, True, SQUARE, (0.8, 0.2))
        assert len(found) == groups
        assert verdict(found) == HOLDS
    for share, held in ((0.8, 16), (0.2, 4), (1.0, 19)):  # at most n - 1 others can hold x0
        expected = count.delta(0.1, n=20, k=5, eps0=1.0, count=held, form="published")
        assert privacy.as_printed(0.1, 20, 5, 1.0, share) == expected


def test_table_iv_takes_the_block_that_varies():
    reading = exact(values=numbers(GRID))
    assert outcome(privacy.table_iv(reading, "n")).statistic == "true"
    assert outcome(privacy.table_iv(reading, "eps0", rising=True)).statistic == "true"
    with pytest.raises(NoEvidenceError, match="no printed values of Table IV"):
        privacy.table_iv(exact(), "n")


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    ("printed", "expected"), [(("0", "1E-9"), HOLDS), (("1E-9", "1E-9"), FAILS), (("0", "0"), FAILS)]
)
def test_zeros_must_be_zeros_and_only_they(make, printed, expected):
    rows = [given | {"printed": text} for given, text in zip((ZERO, POSITIVE), printed, strict=True)]
    found = outcome(privacy.zero_exactly_at_zeros(make(values=numbers(rows))))
    assert found.verdict == expected
    assert f"The {printed.count('0')} settings" in found.why


@pytest.mark.parametrize(("miss", "expected"), [(0.0, HOLDS), (0.02, HOLDS), (-0.02, HOLDS), (0.03, FAILS)])
def test_the_least_delta_is_within_5_percent(bounds, monkeypatch, miss, expected):
    """log10(1.05) = 0.021, on either side; at eps >= eps0 there is nothing to compare."""
    values = numbers([row(item="Table IV", eps=eps, eps0=2.0) for eps in (0.5, 2.0)])
    given = {"n": 100, "k": 10, "eps0": 2.0, "count": 80}
    tight = float(count.delta(0.5, **given, direction="both"))
    bounds(lambda eps, n, k, eps0: (tight + miss,) * 2)
    found = privacy.least_delta(exact(values=values))
    assert (verdict(found), len(found.signs)) == (expected, 1)
    forward = float(count.delta(0.5, **given))
    monkeypatch.setattr(privacy, "as_printed", lambda *setting: forward + miss)
    assert verdict(privacy.least_delta(published(values=values))) == expected


def test_the_papers_delta_is_not_the_least():
    for make in BOTH:
        found = privacy.least_delta(make(values=numbers([row(item="Table IV", eps=0.5, eps0=2.0)])))
        assert verdict(found) == FAILS
        assert found.left < found.right


@pytest.mark.parametrize(("shift", "expected"), [(-1e-6, HOLDS), (1e-6, FAILS)])
def test_the_worst_cell_protects_what_leaks_less(bounds, shift, expected):
    """Its delta is the largest over all counts up to n - 1, found here one by one."""
    given = {"n": 20, "k": 5, "eps0": 2.0}
    largest = max(float(count.delta(0.5, **given, count=held, direction="both")) for held in range(20))
    bounds(lambda eps, n, k, eps0: (largest + shift, 0.0))
    assert verdict(privacy.worst_cell_protects(exact(), **WORST | {"eps": (0.5,)})) == expected


def test_p_is_that_of_krr():
    found = privacy.inference_falls(published(), k=(2, 5), eps0=(0.5,))
    assert (found.left, found.right) == ([truth_probability(0.5, 5)], [truth_probability(0.5, 2)])


def test_no_noise_has_the_shuffle_models_delta_of_0():
    """Neither the library's scale nor one with which nothing could be seen."""
    for make, sensitivity in ((published, 1.0), (exact, math.sqrt(2))):
        for scale_of in (published_scale, lambda eps, delta, sensitivity: 1e3):
            found = privacy.equal_privacy(make(calibrations=frozenset({(4.0, 1e-30)})), scale_of)
            assert verdict(found) == FAILS
            scale = scale_of(4.0, 1e-30, 1.0)
            assert found.left == log10_delta_of_scale(4.0, scale=scale, sensitivity=sensitivity)
        with pytest.raises(NoEvidenceError):
            privacy.equal_privacy(make(), published_scale)


def at(eps):
    return Setting("synthetic", 1000, 15, 4.0, eps, 1e-6, "tv", 0, {GAUSSIAN: np.ones(2)}, "1e-06")


@pytest.mark.parametrize(
    ("test", "eps", "expected"),
    [
        (
            partial(privacy.local_is_worse, factor=2.0),
            0.4,
            HOLDS,
        ),  # a tenth of eps0: the local model is far worse
        (partial(privacy.local_is_worse, factor=1e6), 0.4, FAILS),
        (privacy.approximate, 4.0, FAILS),  # eps = eps0
        (privacy.approximate, 0.4, HOLDS),
    ],
)
def test_statements_about_the_models(test, eps, expected):
    found = outcome(test(exact(at(eps))))
    assert found.verdict == expected
    assert ("pure differential privacy" in found.why) == (eps == 4.0)


def test_projection_makes_the_inverted_histogram_wrong_on_average():
    """One user in two cells: by hand, the projected mean is off by what is cut away."""
    few = {"histogram": (1, 0), "eps0": (1.0,)}
    assert verdict(privacy.unbiased(published(), **few, projected=False)) == HOLDS
    found = privacy.unbiased(exact(), **few, projected=True)
    assert verdict(found) == FAILS
    p = math.e / (math.e + 1)
    assert found.left == pytest.approx([1 - p])  # (1, 0) stays with probability p, else it becomes (0, 1)


def test_area_against_the_haversine_formula():
    reading = published(boxes={"san_francisco": SF})
    found = privacy.area(reading, "san_francisco", 12, 8)
    assert verdict(found) == HOLDS
    middle = math.radians((SF["south"] + SF["north"]) / 2)
    half = math.radians(SF["east"] - SF["west"]) / 2
    wide = 2 * 6371 * math.asin(math.cos(middle) * math.sin(half))
    assert found.left == pytest.approx([wide, 6371 * math.radians(SF["north"] - SF["south"])], rel=1e-4)
    for size in ((11, 8), (12, 7)):
        assert verdict(privacy.area(reading, "san_francisco", *size)) == FAILS
    with pytest.raises(NoEvidenceError, match="no dataset paris with a box"):
        privacy.area(reading, "paris", 8, 6)


# --- the literature ----------------------------------------------------------------------------------------


def table(own, item="Table II", **others):
    rows = [row(printed=own), *(row(mechanism, printed=printed) for mechanism, printed in others.items())]
    return [given | {"item": item} for given in rows]


AS_PRINTED = table("1E-9", balle="1E-3", feldman="9E-9", erlingsson="0.9")
CITED = {"balle": -4.0, "feldman": -5.1, "koskela": -6.5, "erlingsson": math.nan}
REAL = table("1E-30", **dict.fromkeys(CITED, "1E-3"))


@pytest.mark.parametrize(
    ("make", "mechanisms", "more", "expected", "told"),
    [
        (published, ("balle",), {}, HOLDS, "true; below by 6.0 orders of magnitude"),
        (published, ("balle", "feldman"), {}, FAILS, "true in 1 of 2 cases, false in 1; below by 1.0 to 6.0"),
        (published, ("feldman",), {"decades": 0.0}, HOLDS, "true"),
        (published, ("balle", "feldman"), {"majority": True}, FAILS, "true in 1 of 2 cases, false in 1"),
        (
            published,
            ("balle", "feldman", "erlingsson"),
            {"majority": True},
            HOLDS,
            "true in 2 of 3 cases, false in 1",
        ),
        (exact, ("balle",), {}, HOLDS, "true; below by 2.0 orders"),
        (exact, ("feldman",), {}, UNSETTLED, "undecided"),  # between a factor 8 and a factor 12
        (exact, ("balle", "erlingsson"), {}, HOLDS, "true"),  # Erlingsson's theorem does not apply
        (exact, ("koskela",), {"decades": 0.0}, FAILS, "false"),
    ],
)
def test_below_the_literature(bounds, make, mechanisms, more, expected, told):
    bounds(lambda eps, n, k, eps0: (-6.2, -6.0) if (n, k, eps0) == (100, 10, 0.5) else None)
    values = numbers(AS_PRINTED) if make is published else numbers(REAL, **CITED)
    found = outcome(literature.below_the_literature(make(values=values), ("Table II",), mechanisms, **more))
    assert found.verdict == expected
    assert says(found, told)
    assert ("Another 1 rows lie outside" in found.why) == ("erlingsson" in mechanisms and make is exact)
    near = "not that far below Feldman" in found.why
    assert near == ("feldman" in mechanisms and more.get("decades") is None)


def test_no_cited_bound_is_no_evidence(bounds):
    reading = exact(values=numbers(REAL, **CITED))
    with pytest.raises(NoEvidenceError, match="no cited bound applies"):
        literature.below_the_literature(reading, ("Table II",), ("erlingsson",))


def test_equal_is_not_smaller():
    rows = numbers(table("1E-3", balle="1E-3"))
    found = literature.below_the_literature(published(values=rows), ("Table II",), ("balle",), decades=0.0)
    assert verdict(found) == FAILS


def test_both_tables_count():
    rows = numbers([*table("1E-9", balle="1E-8"), *table("1E-2", item="Table 1", balle="1E-3")])
    tables = "Table II", "Table 1"
    found = outcome(literature.below_the_literature(published(values=rows), tables, ("balle",), decades=0.0))
    assert says(found, "true in 1 of 2 cases, false in 1")
    assert found.why.endswith("It is below by a factor of 10 or more in 1 cases.")


def test_best_of_the_cited():
    rows = numbers(table("1E-9", balle="1E-3", feldman="1E-5", erlingsson="0.9"), **CITED)
    others = ("balle", "erlingsson")
    found = literature.best_of_the_cited(published(values=rows), "Table II", "feldman", others)
    assert outcome(found).statistic == "true in both cases; larger by 2.0 to 5.0 orders of magnitude"
    found = outcome(literature.best_of_the_cited(exact(values=rows), "Table II", "feldman", others))
    assert found.verdict == HOLDS  # for any randomizer; Erlingsson's theorem does not apply
    assert says(found, "true")
    assert found.why.endswith("Of the bounds for k-RR itself 0 are larger.")
    found = literature.best_of_the_cited(exact(values=rows), "Table II", "balle", ("feldman",))
    assert verdict(found) == FAILS


@pytest.mark.parametrize(("shift", "expected"), [(-1e-3, FAILS), (-300.0, HOLDS)])
def test_sound_looks_at_reproduced_rows_only(bounds, shift, expected):
    formula = privacy.as_printed(0.1, 100, 10, 0.5)
    rows = [row(printed=printed_of(formula)), row(eps=0.2, printed="0.9"), row("balle", printed="1E-3")]
    found = outcome(literature.sound(published(values=numbers(rows)), "Table II"))
    assert found.verdict == FAILS
    assert says(found, "false; ")
    bounds(lambda eps, n, k, eps0: (formula + 0.01 + shift, 0.0))
    assert verdict(literature.sound(exact(values=numbers(rows)), "Table II")) == expected
    with pytest.raises(NoEvidenceError, match="has no row that the printed formula gives"):
        literature.sound(published(values=numbers([row(printed="0.9")])), "Table II")
