"""Every test about delta: real numbers where the truth is known, made-up bounds to show both outcomes."""

import math

import pytest

from reproduction.protocol.gaussian import published_scale
from reproduction.verification.claims import literature, privacy
from reproduction.verification.claims.evidence import GAUSSIAN, NoEvidenceError
from reproduction.verification.claims.verdict_rules import FAILS, HOLDS, UNSETTLED
from tests.reproduction.verification.claims.fabricated import exact, published, setting
from tightshuffle.literature import count

POINTS = [(eps, 2.0, 20, 5) for eps in (0.2, 0.6, 1.0)]
SF = {"south": 37.7228, "north": 37.7946, "west": -122.5153, "east": -122.3789}


def row(mechanism="this paper", item="Table II", n=100, eps=0.1, printed="1E-2", eps0=0.5, varying="eps0"):
    own = mechanism == "this paper"
    return {
        "item": item, "mechanism": mechanism, "n": str(n), "k": "10" if own else "", "eps0": str(eps0),
        "eps": str(eps), "count": str(round(0.8 * n)) if own else "", "printed": printed,
        "source": f"varying {varying}",
    }  # fmt: skip


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


@pytest.mark.parametrize("make", [published, exact])
def test_delta_falls_with_eps_and_does_not_rise(make):
    assert privacy.trend(make(), "eps", POINTS).verdict == HOLDS
    assert privacy.trend(make(), "eps", POINTS, rising=True).verdict == FAILS


def test_a_trend_needs_bounds_that_do_not_overlap(bounds):
    bounds(lambda eps, n, k, eps0: (-10.0 - eps, -10.0 - eps + 0.3))  # steps of 0.4 are seen
    assert privacy.trend(exact(), "eps", POINTS).verdict == HOLDS
    bounds(lambda eps, n, k, eps0: (-10.0 - eps, -10.0 - eps + 0.5))
    outcome = privacy.trend(exact(), "eps", POINTS)
    assert outcome.verdict == UNSETTLED
    assert "the bounds leave 2 open" in outcome.why


def test_a_trend_compares_along_its_axis_only(bounds):
    bounds(lambda eps, n, k, eps0: (-n * k, -n * k))
    points = [(0.1, 2.0, n, k) for n in (10, 20) for k in (3, 4, 5)]
    assert privacy.trend(exact(), "n", points).statistic == "3 of 3 for, 0 against"
    assert privacy.trend(exact(), "k", points).statistic == "4 of 4 for, 0 against"
    assert privacy.trend(exact(), "k", points, rising=True).verdict == FAILS


def test_table_iv_takes_the_block_that_varies():
    rows = [row(item="Table IV", n=n, eps0=2.0, varying="n") for n in (20, 40)]
    rows += [row(item="Table IV", n=60, eps0=eps0, varying="eps0") for eps0 in (2.0, 3.0)]
    reading = exact(values=rows)
    assert privacy.table_iv(reading, "n").statistic == "1 of 1 for, 0 against"
    assert privacy.table_iv(reading, "eps0", rising=True).statistic == "1 of 1 for, 0 against"
    with pytest.raises(NoEvidenceError, match="no printed values of Table IV"):
        privacy.table_iv(exact(), "n")


def test_both_trends_need_both():
    points = [(eps, eps0, 20, 5) for eps in (0.1, 0.4) for eps0 in (1.0, 2.0)]
    assert privacy.both_trends(published(), False, True, points, (0.8, 0.0)).verdict == HOLDS
    assert privacy.both_trends(published(), True, True, points).verdict == FAILS
    assert privacy.both_trends(published(), False, False, points).verdict == FAILS


def test_zeros_must_be_zeros_and_only_they():
    fitting = [
        row(item="Table IV", eps=2.0, eps0=2.0, printed="0", n=20),
        row(item="Table IV", eps=1.0, eps0=2.0, printed="1E-9", n=20),
    ]
    for make in (published, exact):
        assert privacy.zero_exactly_at_zeros(make(values=fitting)).verdict == HOLDS
        for index, printed in ((0, "1E-9"), (1, "0")):
            wrong = [dict(line) for line in fitting]
            wrong[index]["printed"] = printed
            assert privacy.zero_exactly_at_zeros(make(values=wrong)).verdict == FAILS


def test_least_delta(bounds):
    """The paper's formula misses; bounds that enclose the count's delta would let the exact reading hold."""
    reading = {"values": [row(item="Table IV", eps=0.5, eps0=2.0)]}
    assert privacy.least_delta(published(**reading)).verdict == FAILS
    assert privacy.least_delta(exact(**reading)).verdict == FAILS
    tight = float(count.delta(0.5, n=100, k=10, eps0=2.0, count=80, direction="both"))
    bounds(lambda eps, n, k, eps0: (tight - 0.01, tight + 0.01))
    assert privacy.least_delta(exact(**reading)).verdict == HOLDS


def test_least_delta_holds_if_the_printed_form_were_right(monkeypatch):
    monkeypatch.setattr(
        privacy,
        "as_printed",
        lambda eps, n, k, eps0: float(count.delta(eps, n=n, k=k, eps0=eps0, count=round(0.8 * n))),
    )
    reading = published(values=[row(item="Table IV", eps=0.5, eps0=2.0)])
    assert privacy.least_delta(reading).verdict == HOLDS


def test_worst_cell(bounds):
    setting = {"eps": (0.5, 1.0), "eps0": 2.0, "n": 20, "k": 5}
    assert privacy.worst_cell_protects(published(), **setting).verdict == FAILS
    assert privacy.worst_cell_protects(exact(), **setting).verdict == FAILS
    bounds(lambda eps, n, k, eps0: (-50.0, -50.0))
    assert privacy.worst_cell_protects(exact(), **setting).verdict == HOLDS


def test_delta_varies_with_the_count_below_eps0_only():
    for make in (published, exact):
        assert privacy.varies_with_the_count(make(), eps=4, eps0=4, n=50, k=5).verdict == FAILS
        assert privacy.varies_with_the_count(make(), eps=1, eps0=4, n=50, k=5).verdict == HOLDS


def test_inference_falls_with_k():
    assert privacy.inference_falls(published(), k=(2, 5, 9), eps0=(0.5, 3)).verdict == HOLDS
    assert privacy.inference_falls(published(), k=(9, 5, 2), eps0=(0.5, 3)).verdict == FAILS


@pytest.mark.parametrize("scale_of", [published_scale, lambda eps, delta, sensitivity: 1e3])
def test_no_noise_has_the_shuffle_models_delta_of_0(scale_of):
    """Neither the library's scale nor one with which nothing could be seen."""
    for reading in (published, exact):
        outcome = privacy.equal_privacy(reading(calibrations=frozenset({(4.0, 1e-30)})), scale_of)
        assert (outcome.verdict, outcome.why[:11]) == (FAILS, "no Gaussian")
        with pytest.raises(NoEvidenceError):
            privacy.equal_privacy(reading(), scale_of)


def test_local_model():
    """At a tenth of eps0 the local model is far worse."""
    same = setting(**{GAUSSIAN: 0.1})
    amplified = type(same)("synthetic", 1000, 15, 4.0, 0.4, 1e-6, "tv", 0, same.samples, "1e-06")
    assert privacy.local_is_worse(exact(amplified), 2.0).verdict == HOLDS
    assert privacy.local_is_worse(exact(amplified), 1e6).verdict == FAILS


def test_approximate_is_where_eps_is_below_eps0():
    same = setting(**{GAUSSIAN: 0.1})  # eps = eps0
    below = type(same)("synthetic", 1000, 15, 4.0, 0.4, 1e-6, "tv", 0, same.samples)
    assert privacy.approximate(published(same)).verdict == FAILS
    assert privacy.approximate(exact(below)).verdict == HOLDS


def test_projection_makes_the_inverted_histogram_wrong_on_average():
    """Two users in one of two cells: p^2 of the answers show (1, 0), the projection moves what is outside."""
    few = {"histogram": (2, 0), "eps0": (1.0,)}
    assert privacy.unbiased(published(), **few, projected=False).verdict == HOLDS
    outcome = privacy.unbiased(exact(), **few, projected=True)
    assert outcome.verdict == FAILS
    p = math.e / (math.e + 1)
    mean = p**2 + 2 * p * (1 - p) / 2  # (1, 0) stays, (1/2, 1/2) stays, (0, 1) stays; the truth is (1, 0)
    assert f"is {1 - mean:.3g} off" in outcome.why


def test_area_against_the_haversine_formula():
    outcome = privacy.area(published(boxes={"san_francisco": SF}), "san_francisco", 12, 8)
    assert outcome.verdict == HOLDS
    middle = math.radians((SF["south"] + SF["north"]) / 2)
    half = math.radians(SF["east"] - SF["west"]) / 2
    wide = 2 * 6371 * math.asin(math.cos(middle) * math.sin(half))
    assert float(outcome.statistic.split(" km")[0]) == pytest.approx(wide, abs=0.006)
    assert privacy.area(published(boxes={"san_francisco": SF}), "san_francisco", 11, 8).verdict == FAILS
    with pytest.raises(NoEvidenceError, match="no dataset paris with a box"):
        privacy.area(published(boxes={"san_francisco": SF}), "paris", 8, 6)


# --- the literature ----------------------------------------------------------------------------------------


def table(own, **others):
    return [row(printed=own), *(row(mechanism, printed=printed) for mechanism, printed in others.items())]


def cited(**values):
    return {("Table II", mechanism, "100", "0.1"): value for mechanism, value in values.items()}


def test_below_the_literature_as_printed():
    rows = table("1E-9", balle="1E-3", feldman="9E-9")
    assert literature.below_the_literature(published(values=rows), ("Table II",), ("balle",)).verdict == HOLDS
    outcome = literature.below_the_literature(published(values=rows), ("Table II",), ("balle", "feldman"))
    assert outcome.verdict == FAILS
    assert "less than that below feldman" in outcome.why
    strict = literature.below_the_literature(published(values=rows), ("Table II",), ("feldman",), decades=0.0)
    assert strict.verdict == HOLDS


def test_below_the_literature_exactly(bounds):
    bounds(lambda eps, n, k, eps0: (-6.2, -6.0))
    rows = table("1E-30", balle="1E-3", feldman="1E-3", erlingsson="1E-3")
    reading = exact(values=rows, cited=cited(balle=-4.0, feldman=-5.1, erlingsson=math.nan))

    def verdict(*mechanisms):
        return literature.below_the_literature(reading, ("Table II",), mechanisms)

    assert verdict("balle").verdict == HOLDS
    assert verdict("feldman").verdict == UNSETTLED  # between a factor 8 and a factor 12 below
    assert "1 rows lie outside" in verdict("balle", "erlingsson").why
    with pytest.raises(NoEvidenceError, match="no cited bound applies"):
        verdict("erlingsson")
    weaker = exact(values=rows, cited=cited(balle=-6.5))
    assert literature.below_the_literature(weaker, ("Table II",), ("balle",)).verdict == FAILS


def test_mostly_loose():
    rows = table("1E-9", balle="1E-3", feldman="9E-9", erlingsson="0.9")
    every = ("balle", "feldman", "erlingsson")
    assert literature.mostly_loose(published(values=rows), ("Table II",), every).verdict == HOLDS
    assert (
        literature.mostly_loose(published(values=rows), ("Table II",), ("balle", "feldman")).verdict == FAILS
    )


def test_best_of_the_cited():
    rows = table("1E-9", balle="1E-3", feldman="1E-5", erlingsson="0.9")
    reading = {"values": rows, "cited": cited(balle=-4.0, feldman=-3.0, erlingsson=math.nan)}
    others = ("balle", "erlingsson")
    assert literature.best_of_the_cited(published(**reading), "Table II", "feldman", others).verdict == HOLDS
    outcome = literature.best_of_the_cited(exact(**reading), "Table II", "feldman", others)
    assert outcome.verdict == HOLDS  # for any randomizer; Erlingsson's theorem does not apply
    assert "1 of 1 comparisons" in outcome.why
    assert outcome.why.endswith("with their bounds for k-RR itself, in 0")
    assert literature.best_of_the_cited(exact(**reading), "Table II", "balle", ("feldman",)).verdict == FAILS


def test_both_tables_count(bounds):
    rows = [
        *table("1E-9", balle="1E-3"),
        *(line | {"item": "Table 1"} for line in table("1E-2", balle="1E-3")),
    ]
    tables = "Table II", "Table 1"
    outcome = literature.below_the_literature(published(values=rows), tables, ("balle",), decades=0.0)
    assert outcome.statistic.startswith("1 of 2 for, 1 against")
    assert outcome.why.endswith("a tenth or less of them in 1")


def test_sound_looks_at_reproduced_rows_only(bounds):
    reproduced = printed_of(privacy.as_printed(0.1, 100, 10, 0.5))
    reading = {"values": [row(printed=reproduced), row(eps=0.2, printed="0.9")]}
    outcome = literature.sound(published(**reading), "Table II")
    assert outcome.verdict == FAILS
    assert outcome.statistic == "0 of 1 for, 1 against"
    assert literature.sound(exact(**reading), "Table II").verdict == FAILS
    bounds(lambda eps, n, k, eps0: (-300.0, -299.0))
    assert literature.sound(exact(**reading), "Table II").verdict == HOLDS
    with pytest.raises(NoEvidenceError, match="has no row that the printed formula gives"):
        literature.sound(published(values=[row(printed="0.9")]), "Table II")
