"""Every test about delta: real numbers where the truth is known, made-up bounds to show both outcomes."""

import math

import numpy as np
import pytest

from reproduction.protocol.gaussian import published_scale
from reproduction.protocol.printed_formulas import theorem_1_as_printed
from reproduction.verification.claims import literature, privacy
from reproduction.verification.claims.evidence import GAUSSIAN, NoEvidenceError, Setting
from tests.reproduction.verification.claims.world import BOX, exact, numbers, published, row
from tightshuffle.literature import count

POINTS = [(eps, 2.0, 20, 5) for eps in (0.2, 0.6, 1.0)]
CUBE = [(0.1, 2.0, n, k) for n in (10, 20) for k in (3, 4, 5)]
BOTH = (published, exact)
WORST = {"eps0": 2.0, "n": 20, "k": 5}


@pytest.fixture
def bounds(monkeypatch):
    """Replaces the bracket of the whole histogram's delta by a function of (eps, n, k, eps0)."""

    def replace(function):
        for module in (privacy, literature):
            monkeypatch.setattr(module, "bracket", function)

    return replace


@pytest.mark.parametrize("make", BOTH)
@pytest.mark.parametrize(
    ("test", "settings", "statistic"),
    [
        (privacy.trend, {"axis": "eps", "points": POINTS}, "true in both cases"),
        (privacy.trend, {"axis": "eps", "points": POINTS, "rising": True}, "false in both cases"),
        (privacy.varies_with_the_count, {"eps": 4, "eps0": 4, "n": 50, "k": 5}, "false; 0 is the smallest"),
        (privacy.varies_with_the_count, {"eps": 1, "eps0": 4, "n": 50, "k": 5}, "true; "),
        (privacy.inference_falls, {"k": (2, 9, 5), "eps0": (0.5, 3)}, "true in 2 of 4 cases, false in 2"),
        (privacy.worst_cell_protects, WORST | {"eps": (0.5, 1.0)}, "false in both cases; too small by"),
    ],
)
def test_statements_of_which_the_truth_is_known(make, test, settings, statistic):
    assert test(make(), **settings).statistic.startswith(statistic)


@pytest.mark.parametrize(
    ("function", "points", "axis", "rising", "statistic"),
    [
        (lambda e, n, k, e0: (-10 - e, -10 - e + 0.3), POINTS, "eps", False, "true in both cases"),
        (lambda e, n, k, e0: (-10 - e, -10 - e + 0.5), POINTS, "eps", False, "undecided in both cases"),
        (lambda e, n, k, e0: (-10 - e, -10 - e + 0.3), POINTS, "eps", True, "false in both cases"),
        (lambda e, n, k, e0: (-5, -5), POINTS, "eps", False, "undecided in both cases"),  # ties
        (lambda e, n, k, e0: (-n * k, -n * k), CUBE, "n", False, "true in all 3 cases"),
        (lambda e, n, k, e0: (n * k, n * k), CUBE, "k", True, "true in all 4 cases"),
        # from 0 to 0 is no step, from a number to 0 is one
        (lambda e, n, k, e0: (-9 if e < 0.5 else -math.inf,) * 2, POINTS, "eps", False, "true"),
    ],
)
def test_a_trend_needs_bounds_that_do_not_overlap(bounds, function, points, axis, rising, statistic):
    bounds(function)
    assert privacy.trend(exact(), axis, points, rising).statistic == statistic


def test_at_most_n_minus_1_others_hold_x0():
    for share, held in ((0.8, 16), (0.2, 4), (1.0, 19)):
        expected = theorem_1_as_printed(0.1, n=20, k=5, eps0=1.0, count=held)
        assert privacy.as_printed(0.1, 20, 5, 1.0, share) == expected


def test_zeros_must_be_zeros_and_only_they():
    for texts, statistic in ((("0", "1E-9"), "true in both"), (("1E-9", "0"), "false in both")):
        settings = zip(texts, (2.0, 1.0), strict=True)
        rows = [row(item="Table IV", eps=eps, eps0=2.0, printed=text, n=20) for text, eps in settings]
        assert privacy.zero_exactly_at_zeros(published(values=numbers(rows))).statistic.startswith(statistic)


@pytest.mark.parametrize(("miss", "verdict"), [(0.02, "holds"), (-0.02, "holds"), (0.03, "fails")])
def test_the_least_delta_is_within_5_percent(bounds, monkeypatch, miss, verdict):
    """log10(1.05) = 0.021, on either side; at eps >= eps0 there is nothing to compare."""
    values = numbers([row(item="Table IV", eps=eps, eps0=2.0) for eps in (0.5, 2.0)])
    given = {"n": 100, "k": 10, "eps0": 2.0, "count": 80}
    tight = float(count.delta(0.5, **given, direction="both"))
    bounds(lambda eps, n, k, eps0: (tight + miss,) * 2)
    found = privacy.least_delta(exact(values=values))
    assert (found.verdict, len(found.signs)) == (verdict, 1)
    assert privacy.least_delta(published(values=values)).verdict == "fails"  # the paper's own
    forward = float(count.delta(0.5, **given))
    monkeypatch.setattr(privacy, "as_printed", lambda *setting: forward + miss)
    assert privacy.least_delta(published(values=values)).verdict == verdict


@pytest.mark.parametrize(("shift", "verdict"), [(-1e-6, "holds"), (1e-6, "fails")])
def test_the_worst_cell_protects_what_leaks_less(bounds, shift, verdict):
    """Its delta is the largest over all counts up to n - 1, found here one by one."""
    largest = max(float(count.delta(0.5, **WORST, count=held, direction="both")) for held in range(20))
    bounds(lambda eps, n, k, eps0: (largest + shift, 0.0))
    assert privacy.worst_cell_protects(exact(), **WORST, eps=(0.5,)).verdict == verdict


def test_no_noise_has_the_shuffle_models_delta_of_0():
    """Neither the library's scale nor one with which nothing could be seen."""
    for make, sensitivity in ((published, "1"), (exact, "1.41")):
        reading = make(calibrations=frozenset({(4.0, 1e-30)}))
        for scale_of in (published_scale, lambda eps, delta, sensitivity: 1e3):
            found = privacy.equal_privacy(reading, scale_of)
            assert found.verdict == "fails"
            assert f"for sensitivity {sensitivity}," in found.numbers
        with pytest.raises(NoEvidenceError):
            privacy.equal_privacy(make(), published_scale)


def test_statements_about_the_models():
    def at(eps):
        return exact(Setting("synthetic", 1000, 15, 4.0, eps, 1e-6, "tv", 0, {GAUSSIAN: np.ones(2)}, "1e-06"))

    assert privacy.local_is_worse(at(0.4), factor=2.0).verdict == "holds"  # a tenth of eps0: far worse
    assert privacy.local_is_worse(at(0.4), factor=1e6).verdict == "fails"
    assert privacy.approximate(at(0.4)).verdict == "holds"
    assert privacy.approximate(at(4.0)).verdict == "fails"  # eps = eps0


def test_projection_makes_the_inverted_histogram_wrong_on_average():
    """One user in two cells, by hand: (1, 0) stays with probability p, else it becomes (0, 1)."""
    few = {"histogram": (1, 0), "eps0": (1.0,)}
    assert privacy.unbiased(published(), **few, projected=False).statistic == "true"
    assert (
        privacy.unbiased(exact(), **few, projected=True).statistic == f"false; off by {1 / (math.e + 1):.3g}"
    )


def test_area_against_the_haversine_formula():
    reading = published(boxes={"san_francisco": BOX})
    middle, half = (
        math.radians((BOX["south"] + BOX["north"]) / 2),
        math.radians(BOX["east"] - BOX["west"]) / 2,
    )
    wide, tall = 2 * 6371 * math.asin(math.cos(middle) * math.sin(half)), 6371 * math.radians(0.0718)
    found = privacy.area(reading, "san_francisco", 12, 8)
    assert (found.verdict, found.numbers) == ("holds", f"{wide:.2f} km x {tall:.2f} km")
    for size in ((11, 8), (12, 7)):
        assert privacy.area(reading, "san_francisco", *size).verdict == "fails"
    with pytest.raises(NoEvidenceError, match="no dataset paris with a box"):
        privacy.area(reading, "paris", 8, 6)


def table(own, item="Table II", **others):
    rows = [row(printed=own), *(row(mechanism, printed=printed) for mechanism, printed in others.items())]
    return [given | {"item": item} for given in rows]


AS_PRINTED = table("1E-9", balle="1E-3", feldman="9E-9", erlingsson="0.9")
CITED = {"balle": -4.0, "feldman": -5.1, "koskela": -6.5, "erlingsson": math.nan}
REAL = table("1E-30", **dict.fromkeys(CITED, "1E-3"))


@pytest.mark.parametrize(
    ("make", "mechanisms", "more", "verdict", "statistic"),
    [
        (published, ("balle",), {}, "holds", "true; below by 6.0 orders of magnitude"),
        (
            published,
            ("balle", "feldman"),
            {},
            "fails",
            "true in 1 of 2 cases, false in 1; below by 1.0 to 6.0",
        ),
        (published, ("balle", "feldman"), {"majority": True}, "fails", "true in 1 of 2 cases, false in 1"),
        (published, ("balle", "feldman", "erlingsson"), {"majority": True}, "holds", "true in 2 of 3 cases"),
        (exact, ("balle",), {}, "holds", "true; below by 2.0 orders"),
        (exact, ("feldman",), {}, "not settled", "undecided"),  # between a factor 8 and a factor 12
        (exact, ("balle", "erlingsson"), {}, "holds", "true"),  # Erlingsson's theorem does not apply
        (exact, ("koskela",), {"decades": 0.0}, "fails", "false"),
    ],
)
def test_below_the_literature(bounds, make, mechanisms, more, verdict, statistic):
    bounds(lambda eps, n, k, eps0: (-6.2, -6.0) if (n, k, eps0) == (100, 10, 0.5) else None)
    values = numbers(AS_PRINTED) if make is published else numbers(REAL, **CITED)
    found = literature.below_the_literature(make(values=values), ("Table II",), mechanisms, **more)
    assert found.verdict == verdict
    assert found.statistic.startswith(statistic)


def test_below_needs_a_bound_is_strict_and_takes_all_tables(bounds):
    with pytest.raises(NoEvidenceError, match="no cited bound applies"):
        literature.below_the_literature(exact(values=numbers(REAL, **CITED)), ("Table II",), ("erlingsson",))
    rows = [*table("1E-9", balle="1E-8"), *table("1E-3", item="Table 1", balle="1E-3")]
    tables = "Table II", "Table 1"
    found = literature.below_the_literature(published(values=numbers(rows)), tables, ("balle",), decades=0.0)
    assert found.statistic.startswith("true in 1 of 2 cases, false in 1")


def test_best_of_the_cited():
    """Exactly, it is about bounds for any randomizer; Erlingsson's theorem does not apply."""
    rows = numbers(table("1E-9", balle="1E-3", feldman="1E-5", erlingsson="0.9"), **CITED)
    others = ("balle", "erlingsson")
    found = literature.best_of_the_cited(published(values=rows), "Table II", "feldman", others)
    assert found.statistic == "true in both cases; larger by 2.0 to 5.0 orders of magnitude"
    found = literature.best_of_the_cited(exact(values=rows), "Table II", "feldman", others)
    assert found.statistic.startswith("true; ")
    assert (
        literature.best_of_the_cited(exact(values=rows), "Table II", "balle", ("feldman",)).verdict == "fails"
    )


@pytest.mark.parametrize(("shift", "verdict"), [(-1e-3, "fails"), (-300.0, "holds")])
def test_sound_looks_at_reproduced_rows_only(bounds, shift, verdict):
    formula = privacy.as_printed(0.1, 100, 10, 0.5)
    whole = math.floor(formula)
    printed = f"{10 ** (formula - whole):.3f}E{whole}"
    rows = [row(printed=printed), row(eps=0.2, printed="0.9"), row("balle", printed="1E-3")]
    assert literature.sound(published(values=numbers(rows)), "Table II").statistic.startswith("false; ")
    bounds(lambda eps, n, k, eps0: (formula + 0.01 + shift, 0.0))
    assert literature.sound(exact(values=numbers(rows)), "Table II").verdict == verdict
    with pytest.raises(NoEvidenceError, match="has no row that the printed formula gives"):
        literature.sound(published(values=numbers([row(printed="0.9")])), "Table II")
