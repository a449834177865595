"""The tests about delta: real numbers where the truth is known, made-up bounds to show both outcomes."""

import math

import pytest

from scripts.verdicts import claims_about_delta as privacy
from scripts.verdicts.evidence import GAUSSIAN, NoEvidenceError
from tests.verdicts.world import exact, numbers, reading, row, setting
from tightshuffle.literature import count

POINTS = [(eps, 2.0, 20, 5) for eps in (0.2, 0.6, 1.0)]
CUBE = [(0.1, 2.0, n, k) for n in (10, 20) for k in (3, 4, 5)]
WORST = {"eps0": 2.0, "n": 20, "k": 5}


@pytest.fixture
def bounds(monkeypatch):
    """Replaces the bracket of the whole histogram's delta by a function of (eps, eps0, n, k)."""
    return lambda function: monkeypatch.setattr(privacy, "bracket", function)


@pytest.mark.parametrize("make", [reading, exact])
@pytest.mark.parametrize(
    ("test", "settings", "signs"),
    [
        (privacy.trend, {"axis": "eps", "points": POINTS}, [1, 1]),
        (privacy.trend, {"axis": "eps", "points": POINTS, "rising": True}, [-1, -1]),
        (privacy.varies_with_the_count, {"eps": 4, "eps0": 4, "n": 50, "k": 5}, [-1]),
        (privacy.varies_with_the_count, {"eps": 1, "eps0": 4, "n": 50, "k": 5}, [1]),
        (privacy.inference_falls, {"k": (2, 9, 5), "eps0": (0.5, 3)}, [1, -1, 1, -1]),
        (privacy.worst_cell_protects, WORST | {"eps": (0.5, 1.0)}, [-1, -1]),
    ],
)
def test_statements_of_which_the_truth_is_known(make, test, settings, signs):
    assert test(make(), **settings).signs.tolist() == signs


@pytest.mark.parametrize(
    ("function", "points", "axis", "rising", "signs"),
    [
        (lambda e, e0, n, k: (-10 - e, -10 - e + 0.3), POINTS, "eps", False, [1, 1]),
        (lambda e, e0, n, k: (-10 - e, -10 - e + 0.5), POINTS, "eps", False, [0, 0]),
        (lambda e, e0, n, k: (-10 - e, -10 - e + 0.3), POINTS, "eps", True, [-1, -1]),
        (lambda e, e0, n, k: (-5, -5), POINTS, "eps", False, [0, 0]),  # ties
        (lambda e, e0, n, k: (-n * k, -n * k), CUBE, "n", False, [1, 1, 1]),
        (lambda e, e0, n, k: (n * k, n * k), CUBE, "k", True, [1, 1, 1, 1]),
        # from 0 to 0 is no step, from a number to 0 is one
        (lambda e, e0, n, k: (-9 if e < 0.5 else -math.inf,) * 2, POINTS, "eps", False, [1]),
    ],
)
def test_a_trend_needs_bounds_that_do_not_overlap(bounds, function, points, axis, rising, signs):
    bounds(function)
    assert privacy.trend(exact(), axis, points, rising).signs.tolist() == signs


@pytest.mark.parametrize(("miss", "verdict"), [(0.02, "holds"), (-0.02, "holds"), (0.03, "fails")])
def test_the_least_delta_is_within_5_percent(bounds, monkeypatch, miss, verdict):
    """log10(1.05) = 0.021, on either side; at eps >= eps0 there is nothing to compare."""
    values = numbers(*(row(item="Table IV", eps=eps, eps0=2.0) for eps in (0.5, 2.0)))
    given = {"n": 100, "k": 10, "eps0": 2.0, "count": 80}
    tight = float(count.delta(0.5, **given, direction="both"))
    bounds(lambda *point: (tight + miss,) * 2)
    found = privacy.least_delta(exact(values=values))
    assert (found.verdict, len(found.signs)) == (verdict, 1)
    assert privacy.least_delta(reading(values=values)).verdict == "fails"  # the paper's own
    forward = float(count.delta(0.5, **given))
    monkeypatch.setattr(privacy, "as_printed", lambda *point: forward + miss)
    assert privacy.least_delta(reading(values=values)).verdict == verdict


@pytest.mark.parametrize(("shift", "verdict"), [(-1e-6, "holds"), (1e-6, "fails")])
def test_the_worst_cell_protects_what_leaks_less(bounds, shift, verdict):
    """Its delta is the largest over all counts up to n - 1, found here one by one."""
    largest = max(float(count.delta(0.5, **WORST, count=held, direction="both")) for held in range(20))
    bounds(lambda *point: (largest + shift, 0.0))
    assert privacy.worst_cell_protects(exact(), **WORST, eps=(0.5,)).verdict == verdict


def test_statements_about_the_models():
    def at(eps):
        rows = [
            setting(name, eps0=4.0, **{GAUSSIAN: 0.1}) | {"eps": eps} for name in ("paris", "san_francisco")
        ]
        return exact(
            setting(**{GAUSSIAN: 0.1}) | {"eps": eps}, *rows, *(each | {"eps0": 6.0} for each in rows)
        )

    assert privacy.local_is_worse(at(0.4), factor=2.0).verdict == "holds"  # a tenth of eps0: far worse
    assert privacy.local_is_worse(at(0.4), factor=1e6).verdict == "fails"
    assert privacy.approximate(at(0.4)).verdict == "holds"
    assert privacy.approximate(at(6.0)).verdict == "fails"


def test_projection_makes_the_inverted_histogram_wrong_on_average():
    """One user in two cells, by hand: (1, 0) stays with probability p, else it becomes (0, 1)."""
    few = {"histogram": (1, 0), "eps0": (1.0,)}
    assert privacy.unbiased(reading(), **few, projected=False).statistic == "true"
    assert privacy.unbiased(exact(), **few, projected=True).numbers == pytest.approx([1 / (math.e + 1)])


def table(own, item="Table II", **others):
    rows = [row(printed=own), *(row(mechanism, printed=printed) for mechanism, printed in others.items())]
    return [given | {"item": item} for given in rows]


CITED = {"balle": -4.0, "feldman": -5.1, "koskela": -6.5, "erlingsson": math.nan}
VALUES = numbers(*table("1E-9", balle="1E-3", feldman="9E-9", erlingsson="0.9"), **CITED)


@pytest.mark.parametrize(
    ("make", "bound", "mechanisms", "decades", "signs"),
    [
        (reading, None, ("balle",), 1.0, [1]),
        (reading, None, ("balle", "feldman"), 1.0, [1, -1]),  # a factor of 9
        (reading, None, ("feldman",), 0.0, [1]),
        (exact, (-6.0, -5.5), ("balle",), 1.0, [1]),
        (exact, (-6.0, -5.5), ("feldman",), 0.0, [1]),
        (exact, (-6.2, -6.0), ("feldman",), 1.0, [0]),  # between 0.9 and 1.1 decades below
        (exact, (-6.0, -5.9), ("feldman",), 1.0, [-1]),
        (exact, (-6.2, -6.2), ("balle", "erlingsson"), 1.0, [1]),  # no theorem, no row
    ],
)
def test_below_the_literature(bounds, make, bound, mechanisms, decades, signs):
    bounds(lambda *point: bound)
    given = make(values=VALUES)
    assert privacy.below_the_literature(given, ("Table II",), mechanisms, decades).signs.tolist() == signs
    with pytest.raises(NoEvidenceError):
        privacy.below_the_literature(exact(values=VALUES), ("Table II",), ("erlingsson",))


def test_most_is_more_than_half():
    which = {"items": ("Table II",), "mechanisms": ("balle", "feldman")}
    assert (
        privacy.mostly_below_the_literature(reading(values=VALUES), **which).verdict == "fails"
    )  # one of two
    which["mechanisms"] += ("erlingsson",)
    assert privacy.mostly_below_the_literature(reading(values=VALUES), **which).verdict == "holds"


def test_best_of_the_cited():
    """Exactly, it is about bounds for any randomizer; Erlingsson's theorem does not apply."""
    for make, best, others, signs in (
        (reading, "feldman", ("balle", "erlingsson"), [1, 1]),
        (exact, "feldman", ("balle", "erlingsson"), [1]),
        (exact, "balle", ("feldman",), [-1]),
    ):
        assert (
            privacy.best_of_the_cited(make(values=VALUES), "Table II", best, others).signs.tolist() == signs
        )


@pytest.mark.parametrize(("shift", "verdict"), [(-1e-3, "fails"), (-300.0, "holds")])
def test_sound_looks_at_reproduced_rows_only(bounds, shift, verdict):
    formula = privacy.as_printed(0.1, 0.5, 100, 10)
    whole = math.floor(formula)
    rows = [row(printed=f"{10 ** (formula - whole):.3f}E{whole}"), row(eps=0.2, printed="0.9"), row("balle")]
    assert privacy.sound(reading(values=numbers(*rows)), "Table II").signs.tolist() == [-1]
    bounds(lambda *point: (formula + 0.01 + shift, 0.0))
    assert privacy.sound(exact(values=numbers(*rows)), "Table II").verdict == verdict
    with pytest.raises(NoEvidenceError, match="has no row that the printed formula gives"):
        privacy.sound(reading(values=numbers(row(printed="0.9"))), "Table II")
