"""The numbers that the documents quote: the same every time, computed, and against other ways to get them."""

import csv
import math
import re
from decimal import Decimal

import numpy as np
import pytest

from scripts import state_numbers
from tests.fake_job import fake_job
from tests.report.report_page import real_verdicts
from tightshuffle.mechanisms.gaussian import published_scale
from tightshuffle.mechanisms.krr import lie_probability, truth_probability
from tightshuffle.privacy import count, histogram
from tightshuffle.privacy.enumeration import enumerate_worst_case
from tightshuffle.report import quoted as _quoted
from tightshuffle.report.numbers import Numbers, scientific, written

TOTALS = [
    {"dataset": dataset, "grid": grid, "checkins": checkins}
    for dataset, grid, checkins in (
        ("san_francisco", "published", "123026"),
        ("san_francisco", "stepped", "123026"),
        ("paris", "published", "11190"),
        ("paris", "stepped", "10260"),
    )
]
VERDICTS = ("holds", "fails", "holds", "holds only as published")
CLAIMS = [{"id": str(number), "verdict": verdict} for number, verdict in enumerate(VERDICTS)]
AUDIT = [
    {
        "n": "100", "k": "10", "eps0": "2.0", "eps": eps, "count": "80", "observes": "count",
        "confidence": "0.999",
        "published_log10_delta": "-14.6", "upper_log10_delta": "-1.3",
        "audited_delta": alone, "joint_delta": together,
    }
    for eps, alone, together in (("0.1", "0.00536", "0.00503"), ("1.0", "0.0", "0.0"))
]  # fmt: skip
RATIOS = [
    {"metric": metric, "bound": bound, "comparison": comparison, "eps0": "4.0", "ratio": ratio}
    for metric, bound, comparison, ratio in (
        ("tv", "upper", "projected", "1.0701"),
        ("tv", "upper", "projected", "1.4524"),
        ("tv", "lower", "projected", "1.9"),
        ("tv", "upper", "unprojected", "0.94"),
        ("individual_error", "upper", "projected", "3.0"),
        ("tv", "", "published", "1.3"),
        ("tv", "", "published", "37.08"),
    )
]


def test_written_like_c():
    assert scientific(Decimal("2.4837E-5"), 3) == f"{2.4837e-5:.2e}" == "2.48e-05"
    assert scientific("9.996E-400", 3) == "1.00e-399"
    assert scientific(0, 3) == "0"


def test_a_number_carries_its_source():
    numbers = Numbers("here")
    numbers.add("share", 0.123, "{:.0%}", "somewhere.csv")
    numbers.add_call("root", "{:.3f}", math.sqrt, 2)
    numbers.add_delta("delta", 3, count.delta, 0.5, n=100, k=10, eps0=2.0, count=80, form="published")
    share, root, delta = numbers.rows
    assert (share.name, share.text, share.value, share.source) == (
        "here.share",
        "12%",
        "0.123",
        "somewhere.csv",
    )
    assert (root.text, float(root.value)) == ("1.414", math.sqrt(2))
    assert (delta.text, float(delta.value)) == ("3.25e-22", pytest.approx(3.24531207749e-22, rel=1e-11))
    assert delta.source.startswith("10 ** tightshuffle.privacy.count.delta(0.5, n=100, k=10, eps0=2.0")
    with pytest.raises(ValueError, match=re.escape("here.root is stated twice")):
        numbers.add("root", 1, "{}", "")


def test_sources_hold_no_addresses():
    assert written(_quoted.largest_shortfall, histogram.lower) == (
        "scripts/_quoted.py largest_shortfall(tightshuffle.privacy.histogram.lower)"
    )


def test_script(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "totals.csv", TOTALS)
    verdicts = real_verdicts()
    write(tmp_path / "verdicts.csv", verdicts)
    write(tmp_path / "claims.csv", CLAIMS)
    write(tmp_path / "audit.csv", AUDIT)
    write(tmp_path / "ratios.csv", RATIOS)
    names = ("verdicts", "totals", "claims", "audit", "ratios")
    inputs = {name: f"{name}.csv" for name in names}
    snakemake = fake_job("state_numbers", input=inputs, output=["numbers.csv"])
    state_numbers.main(snakemake)
    with open("numbers.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["name", "text", "value", "source"]
    assert all(row["text"] and row["value"] and row["source"] for row in rows)
    names = [row["name"] for row in rows]
    assert len(set(names)) == len(names)
    text = {row["name"]: row["text"] for row in rows}
    assert text["errata.paris_lost"] == "930"
    assert text["errata.paris_published"] == "11,190"
    assert text["errata.san_francisco_missing"] == "82"
    assert text["readme.published_at_0.5"] == "3.25e-22"
    reproduced = sum(row["verdict"] in ("exact", "close", "consistent") for row in verdicts)
    assert text["readme.reproduced"] == f"{reproduced} of {len(verdicts)}"
    assert text["readme.claims"] == "2 of 4"
    assert (text["readme.fails"], text["readme.untestable"]) == ("1 fail", "0 are untestable")
    assert text["readme.audited"] == "5.3e-03"  # of 5.36e-3: a lower bound is rounded down
    assert (text["readme.audit_over_published"], text["readme.audit_over_upper"]) == (
        "1 of 2",
        "none exceeds",
    )
    assert (text["readme.parity_eps0_4_least"], text["readme.parity_eps0_4_most"]) == ("1.07", "1.45")
    assert text["readme.parity_published"] == "37 times"
    assert text["errata.parity_eps0_4"] == "1.45 times"


def test_a_config_without_parity_states_no_ratios():
    assert state_numbers.parity_spans([], "projected") == {}


@pytest.mark.parametrize(("bound", "text"), [(0.00536, "5.3e-03"), (0.0103, "1.0e-02"), (2.09e-7, "2.0e-07")])
def test_a_lower_bound_is_rounded_down(bound, text):
    assert state_numbers.rounded_down(bound) == text


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def test_a_value_that_is_missing_is_named():
    rows = [{"item": "Table V", "n": "1000"}]
    with pytest.raises(ValueError, match="no row with item = Table V, n = 7"):
        state_numbers.chosen(rows, item="Table V", n="7")
    assert state_numbers.chosen(rows, n="1000") == rows


def test_what_a_config_leaves_out_is_no_error():
    assert state_numbers.three_digits("") == "not comparable"
    assert state_numbers.three_digits("3.36884e-4") == "3.37e-04"


# --- what is quoted, computed in another way ---------------------------------------------------------------


def test_two_counts_are_a_view_of_the_third_cell():
    """A marginal of the whole histogram: with three cells it is all of it, with more it tells less."""
    for k, exact in ((3, True), (4, False)):
        setting = {"n": 5, "k": k, "eps0": 1.2}
        others = (0, 0, 4) + (0,) * (k - 3)
        for eps in (0.0, 0.3, 0.9):
            whole = float(enumerate_worst_case(eps, **setting)[others])
            seen = _quoted.two_counts(eps, **setting)
            assert seen == pytest.approx(whole, rel=1e-12) if exact else seen <= whole * (1 + 1e-12)


def test_two_counts_with_one_user():
    p, q = truth_probability(1.0, 5), lie_probability(1.0, 5)
    assert _quoted.two_counts(0.2, n=1, k=5, eps0=1.0) == pytest.approx(p - math.exp(0.2) * q, rel=1e-12)


@pytest.mark.parametrize("delta", [1e-20, 1e-60])
def test_where_diffprivlibs_search_ends(delta):
    for eps in (4.0, 6.0):
        assert _quoted.end_of_search(eps) == pytest.approx(published_scale(eps, delta, 1.0), rel=1e-9)
    for eps in np.linspace(0.5, 10, 39):
        assert published_scale(eps, delta, 1.0) <= _quoted.end_of_search(eps) * (1 + 1e-9)


def test_where_phi_is_0():
    edge = _quoted.where_phi_is_0()
    assert 1 + math.erf(-(edge + 1e-3) / math.sqrt(2)) == 0
    assert 1 + math.erf(-(edge - 1e-3) / math.sqrt(2)) > 0


def test_expected_tv_is_the_mean_of_draws():
    """Within five standard errors: a false alarm once in more than a million seeds."""
    n, k = 1000, 15
    scale = published_scale(4.0, 1e-30, 1.0)
    draws = np.abs(np.random.default_rng(20).normal(0, scale, (4000, k))).sum(axis=1) / (2 * n)
    expected = _quoted.expected_tv(n=n, k=k, eps=4.0, delta=1e-30, sensitivity=1.0)
    assert abs(draws.mean() - expected) < 5 * draws.std() / math.sqrt(len(draws))


def test_shortfalls_are_ratios_to_the_truth(monkeypatch):
    monkeypatch.setattr(_quoted, "TINY", ({"n": 3, "k": 3, "eps0": 1.0},))
    monkeypatch.setattr(_quoted, "SHARES", (0.2, 0.5))
    eps = np.array([0.2, 0.5])
    truth = np.max(list(enumerate_worst_case(eps, n=3, k=3, eps0=1.0).values()), axis=0)

    def half(eps, **_):
        return np.log10(truth * [1.0, 0.5])

    assert _quoted.largest_shortfall(half) == pytest.approx(2)
    assert _quoted.largest_shortfall(lambda eps, **_: np.log10(truth)) == pytest.approx(1)


def test_worst_count_and_directions():
    setting = {"n": 20, "k": 4, "eps0": 1.0}
    each = [
        count.delta(0.3, count=m, direction=name, **setting)
        for m in range(20)
        for name in ("forward", "reverse")
    ]
    assert _quoted.worst_count(0.3, **setting) == max(each)
    ratio = _quoted.reverse_over_forward(0.3, count=0, **setting)
    assert ratio == pytest.approx(10 ** (each[1] - each[0]))
