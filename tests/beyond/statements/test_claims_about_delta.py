"""The tests about delta: real numbers where the truth is known, made-up bounds to show both outcomes."""

import math

import pytest

from scripts.beyond.statements import claims_about_delta as about
from scripts.beyond.statements.evidence import GAUSSIAN, NoEvidenceError
from tests.beyond.statements.world import exact, numbers, reading, row, setting
from tightshuffle.literature import count

POINTS = [(eps, 2.0, 20, 5) for eps in (0.2, 0.6, 1.0)]
CUBE = [(0.1, 2.0, n, k) for n in (10, 20) for k in (3, 4, 5)]
WORST = {"eps0": 2.0, "n": 20, "k": 5}
EPS = {"axis": "eps", "points": POINTS}


@pytest.fixture
def bounds(monkeypatch):
    """Replaces the bracket of the whole histogram's delta by a function of (eps, eps0, n, k)."""
    return lambda function: monkeypatch.setattr(about, "bracket", function)


@pytest.mark.parametrize("make", [reading, exact])
@pytest.mark.parametrize(
    ("test", "settings", "signs"),
    [
        (about.trend, EPS, [1, 1]),
        (about.trend, EPS | {"rising": True}, [-1, -1]),
        (about.varies_with_the_count, {"eps": 4, "eps0": 4, "n": 50, "k": 5}, [-1]),
        (about.varies_with_the_count, {"eps": 1, "eps0": 4, "n": 50, "k": 5}, [1]),
        (about.inference_falls, {"k": (2, 9, 5), "eps0": (0.5, 3)}, [1, -1, 1, -1]),
        (about.worst_cell_protects, WORST | {"eps": (0.5, 1.0)}, [-1, -1]),
        # One user in two cells: (1, 0) stays with probability p, else it becomes (0, 1).
        (about.unbiased, {"histogram": (1, 0), "eps0": (1.0,), "projected": False}, [1]),
        (about.unbiased, {"histogram": (1, 0), "eps0": (1.0,), "projected": True}, [-1]),
    ],
)
def test_statements_of_which_the_truth_is_known(make, test, settings, signs):
    assert test(make(), **settings).signs.tolist() == signs


@pytest.mark.parametrize(
    ("function", "settings", "signs"),
    [
        (lambda e, e0, n, k: (-10 - e, -10 - e + 0.3), EPS, [1, 1]),
        (lambda e, e0, n, k: (-10 - e, -10 - e + 0.5), EPS, [0, 0]),
        (lambda e, e0, n, k: (-10 - e, -10 - e + 0.3), EPS | {"rising": True}, [-1, -1]),
        (lambda e, e0, n, k: (-5, -5), EPS, [0, 0]),  # ties
        (lambda e, e0, n, k: (-n * k, -n * k), {"axis": "n", "points": CUBE}, [1, 1, 1]),
        # from 0 to 0 is no step, from a number to 0 is one
        (lambda e, e0, n, k: (-9 if e < 0.5 else -math.inf,) * 2, EPS, [1]),
    ],
)
def test_a_trend_needs_bounds_that_do_not_overlap(bounds, function, settings, signs):
    bounds(function)
    assert about.trend(exact(), **settings).signs.tolist() == signs


@pytest.mark.parametrize(("miss", "verdict"), [(0.02, "holds"), (-0.02, "holds"), (0.03, "fails")])
def test_the_least_delta_is_within_5_percent(bounds, monkeypatch, miss, verdict):
    """log10(1.05) = 0.021, on either side; at eps >= eps0 there is nothing to compare."""
    values = numbers(*(row(item="Table IV", eps=eps, eps0=2.0) for eps in (0.5, 2.0)))
    given = {"n": 100, "k": 10, "eps0": 2.0, "count": 80}
    tight = float(count.delta(0.5, **given, direction="both"))
    bounds(lambda *point: (tight + miss,) * 2)
    found = about.least_delta(exact(values=values))
    assert (found.verdict, len(found.signs)) == (verdict, 1)
    assert about.least_delta(reading(values=values)).verdict == "fails"  # the paper's own
    forward = float(count.delta(0.5, **given))
    monkeypatch.setattr(about, "as_printed", lambda *point: forward + miss)
    assert about.least_delta(reading(values=values)).verdict == verdict


@pytest.mark.parametrize(("shift", "verdict"), [(-1e-6, "holds"), (1e-6, "fails")])
def test_the_worst_cell_protects_what_leaks_less(bounds, shift, verdict):
    """Its delta is the largest over all counts up to n - 1, found here one by one."""
    largest = max(float(count.delta(0.5, **WORST, count=held, direction="both")) for held in range(20))
    bounds(lambda *point: (largest + shift, 0.0))
    assert about.worst_cell_protects(exact(), **WORST, eps=(0.5,)).verdict == verdict


def test_statements_about_the_models():
    def at(eps):
        places = [
            ("synthetic", 4.0),
            *((city, e0) for city in ("paris", "san_francisco") for e0 in (4.0, 6.0)),
        ]
        return exact(*(setting(name, eps0=eps0, **{GAUSSIAN: 0.1}) | {"eps": eps} for name, eps0 in places))

    assert about.local_is_worse(at(0.4), factor=2.0).verdict == "holds"  # a tenth of eps0: far worse
    assert about.local_is_worse(at(0.4), factor=1e6).verdict == "fails"
    assert about.approximate(at(0.4)).verdict == "holds"
    assert about.approximate(at(6.0)).verdict == "fails"


CITED = {"balle": -4.0, "feldman": -5.1, "koskela": -6.5, "erlingsson": math.nan}
TABLE = {"this paper": "1E-9", "balle": "1E-3", "feldman": "9E-9", "erlingsson": "0.9"}
VALUES = numbers(*(row(mechanism, printed=printed) for mechanism, printed in TABLE.items()), **CITED)
II = ("Table II",)


@pytest.mark.parametrize(
    ("make", "bound", "mechanisms", "decades", "signs"),
    [
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
    found = about.below_the_literature(make(values=VALUES), II, mechanisms, decades)
    assert found.signs.tolist() == signs
    which = {"items": II, "mechanisms": mechanisms, "decades": decades}
    most = about.mostly_below_the_literature(make(values=VALUES), **which)
    assert most.signs.tolist() == [1 if signs.count(1) > len(signs) / 2 else -1]
    with pytest.raises(NoEvidenceError):
        about.below_the_literature(exact(values=VALUES), II, ("erlingsson",))


@pytest.mark.parametrize(
    ("make", "best", "others", "signs"),
    [
        (reading, "feldman", ("balle", "erlingsson"), [1, 1]),
        (exact, "feldman", ("balle", "erlingsson"), [1]),  # Erlingsson's theorem does not apply
        (exact, "balle", ("feldman",), [-1]),
    ],
)
def test_best_of_the_cited(make, best, others, signs):
    """Exactly, it is about bounds for any randomizer."""
    assert about.best_of_the_cited(make(values=VALUES), *II, best, others).signs.tolist() == signs


@pytest.mark.parametrize(("shift", "verdict"), [(-1e-3, "fails"), (-300.0, "holds")])
def test_sound_looks_at_reproduced_rows_only(bounds, shift, verdict):
    formula = about.as_printed(0.1, 0.5, 100, 10)
    whole = math.floor(formula)
    rows = [row(printed=f"{10 ** (formula - whole):.3f}E{whole}"), row(eps=0.2, printed="0.9"), row("balle")]
    assert about.sound(reading(values=numbers(*rows)), *II).signs.tolist() == [-1]
    bounds(lambda *point: (formula + 0.01 + shift, 0.0))
    assert about.sound(exact(values=numbers(*rows)), *II).verdict == verdict
    with pytest.raises(NoEvidenceError, match="has no row that the printed formula gives"):
        about.sound(reading(values=numbers(row(printed="0.9"))), *II)
