"""Every test about errors, on settings whose answer is known: it can hold, fail, and stay open."""

import numpy as np
import pytest

from reproduction.verification.claims import registry, utility
from reproduction.verification.claims.evidence import GAUSSIAN, INV, RAW_GAUSSIAN, NoEvidenceError, Setting
from tests.reproduction.verification.claims.world import PRINTED, exact, published, setting, three

N = (1000, 2000, 5000)


def curve(ratios, **point):
    """Settings along n: the Gaussian's error falls as 1 / n, shuffle+INV's is a multiple of it."""
    errors = [(n, 100 / n, ratio) for n, ratio in zip(N, ratios, strict=True)]
    return [three(error, ratio * error, n=n, **point) for n, error, ratio in errors]


def cells(*ratios, n=1000):
    each = enumerate(ratios, start=1)
    return [three(0.1, 0.1 * ratio, n=n, metric="individual_error", cell=cell) for cell, ratio in each]


GOOD, BAD = three(0.1, 0.2), three(0.2, 0.1, n=2000)
TIE = setting(n=5000, spread=0.0, **{GAUSSIAN: 0.1, INV: 0.1})
ENDS = [three(0.1, 0.15, eps0=6.0), three(0.1, 0.9, eps0=4.0), three(0.1, 0.9, n=2000, eps0=6.0)]
SMALL = [three(0.001, 0.02), three(0.001, 0.02, n=2000)]
EPS0 = [three(0.1, 0.3 if eps0 == 4 else 0.2, n=n, eps0=eps0) for n in N for eps0 in (4.0, 6.0)]
CORNER = [*curve((1.5, 2, 3), eps0=6.0), *curve((2.5, 3, 4), eps0=4.0)]
RULES = [*curve((2, 4, 8), rule="1e-06"), *curve((8, 4, 2), rule="n^-1.1")]
ORDER = {"first": GAUSSIAN, "second": INV}
MANY = {"axis": "n", "towards": "large", "relative": True}


@pytest.mark.parametrize(
    ("test", "settings", "where", "verdict", "statistic"),
    [
        ("better", [GOOD], ORDER, "holds", "true; ratio of the Gaussian to shuffle+INV: 0."),
        ("better", [GOOD, TIE], ORDER, "not settled", "true in 1 of 2 cases, undecided in 1"),
        ("better", [GOOD, BAD, TIE], ORDER, "fails", "true in 1 of 3 cases, false in 1, undecided in 1"),
        ("better", [GOOD, BAD], ORDER | {"ends": "small n"}, "holds", "true"),
        ("close", [three(0.1, 0.18)], {}, "holds", "true"),
        ("close", [three(0.1, 0.04)], {}, "fails", "false"),
        ("close", [three(0.1, 0.2)], {}, "not settled", "undecided"),
        ("close", [three(0.1, 0.15)], {"factor": 1.1}, "fails", "false"),
        ("close", ENDS, {"ends": "corner"}, "holds", "true"),
        ("close", ENDS, {"ends": "small n"}, "fails", "true in 1 of 2 cases, false in 1"),
        ("far", [three(0.1, 0.3), three(0.1, 0.15, n=2000)], {}, "fails", "true in 1 of 2 cases, false in 1"),
        ("small", SMALL, {"limit": 0.01, "mechanisms": (GAUSSIAN, INV)}, "fails", "true in 2 of 4 cases"),
        ("small", SMALL, {"limit": 0.01, "mechanisms": (GAUSSIAN,)}, "holds", "true in both cases; mean er"),
        ("gap_shrinks", curve((2, 4, 8)), MANY | {"towards": "small"}, "holds", "true"),
        ("gap_shrinks", curve((2, 4, 8)), MANY, "fails", "false"),
        ("gap_shrinks", curve((0.25, 0.5, 0.5)), MANY, "holds", "true"),  # whoever is better
        ("gap_shrinks", curve((2, 2, 2)), MANY, "not settled", "undecided"),
        # both errors fall, and so does their difference
        ("gap_shrinks", curve((2, 2, 2)), MANY | {"relative": False}, "holds", "true"),
        ("gap_shrinks", EPS0, MANY | {"axis": "eps0"}, "holds", "true in all 3 cases"),
        # curves do not mix the rules of delta
        ("gap_grows_with_n", RULES, {}, "fails", "true in 1 of 2 cases, false in 1"),
        ("closest_at_corner", CORNER, {}, "holds", "true in all 5 cases; 1."),
        ("closest_at_corner", RULES, {}, "fails", "true in 2 of 4 cases, false in 2"),
        ("depends_on_cell", cells(2, 4) + cells(2, 2, n=2000), {"ends": "small n"}, "holds", "true"),
        ("depends_on_cell", cells(2, 2, 2), {"ends": "small n"}, "not settled", "undecided"),
        (
            "falls_along",
            curve((2, 2, 2)),
            {"axis": "n"},
            "holds",
            "true in both cases; ratio of the largest n",
        ),
        ("falls_along", curve((2, 4, 16)), {"axis": "n"}, "fails", "true in 1 of 2 cases, false in 1"),
    ],
)
def test_statements_about_errors(test, settings, where, verdict, statistic):
    found = getattr(utility, test)(published(*settings), **where)
    assert found.verdict == verdict
    assert found.statistic.startswith(statistic)


@pytest.mark.parametrize(("test", "where"), [("gap_shrinks", MANY), ("closest_at_corner", {})])
def test_one_setting_has_no_trend(test, where):
    with pytest.raises(NoEvidenceError, match=r"experiments have one (n|setting) only"):
        getattr(utility, test)(published(GOOD), **where)


@pytest.mark.slow
def test_depends_on_cell_has_its_level():
    """Cochran's Q on equal cells: wrong in at most 1 % of 500 runs and 4 binomial deviations."""
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(500):
        settings = []
        for cell, errors in enumerate(np.abs(rng.standard_normal((7, 2, 1000))), start=1):
            samples = dict(zip((INV, GAUSSIAN), errors, strict=True))
            point = "synthetic", 1000, 15, 4.0, 4.0, 1e-30, "individual_error", cell
            settings.append(Setting(*point, samples))
        wrong += utility.depends_on_cell(published(*settings), "small n").verdict == "holds"
    assert wrong / 500 <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / 500)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "holds"), (1.3, "fails"), (0.8, "fails")])
def test_same_noise_for_all_n(factor, verdict):
    """The individual error in users: value times n."""
    settings = [
        setting(metric="individual_error", cell=cell, n=n, **{GAUSSIAN: error, RAW_GAUSSIAN: error})
        for cell in (1, 3)
        for n, error in ((1000, 0.01), (100000, 0.0001 * factor))
    ]
    found = utility.same_noise_for_all_n(published(*settings))
    assert found.verdict == verdict
    # of 2 x 40 draws with 2 %: seven deviations
    assert float(found.numbers.removeprefix("ratio: ")) == pytest.approx(factor, rel=0.02)
    assert utility.same_noise_for_all_n(exact(*settings)).verdict == "holds"  # by definition


def test_same_order():
    """As on the whole in the model; with the same eps0s in both cities, each eps0 has its own order."""
    model = [three(0.1, 0.2, 0.3, dataset="san_francisco", n=n) for n in N]
    alike = [three(0.2, 0.3, 0.6, dataset="paris", n=n) for n in N]
    other = three(0.2, 0.7, 0.6, dataset="paris", n=9000)
    cities = {"model": {"san_francisco": (4,)}, "tested": {"paris": (4,)}}
    assert utility.same_order(published(*model, *alike), **cities).statistic == "true in all 6 cases"
    found = utility.same_order(published(*model, *alike, other), **cities)
    assert (found.verdict, found.statistic) == ("fails", "true in 7 of 8 cases, false in 1")
    errors = {4.0: (0.1, 0.2, 0.3), 6.0: (0.3, 0.2, 0.1)}
    turned = [
        three(*errors[eps0], dataset=city, eps0=eps0)
        for city in ("paris", "san_francisco")
        for eps0 in errors
    ]
    budgets = {"model": {"san_francisco": (4, 6)}, "tested": {"paris": (4, 6)}}
    assert utility.same_order(published(*turned), **budgets).statistic == "true in all 4 cases"


@pytest.mark.parametrize(
    ("claim", "verdict", "statistic"),
    [
        ("tv-small-n", "holds", "true; ratio of shuffle+INV to the Gaussian: 1.86"),  # 0.026 / 0.014
        ("tv-large-n-close", "fails", "false; ratio of shuffle+INV to the Gaussian: 48"),  # 0.0048 / 0.0001
        ("table-V-small-n", "holds", "true; ratio of shuffle+INV to the Gaussian: 1.49"),  # of the means
        ("table-V-large-n", "holds", "true in all 7 cases; ratio of the Gaussian to shuffle+INV: 0.002 to"),
        ("table-V-low-error", "holds", "true in all 7 cases; mean error 3e-05 to 0.003"),
    ],
)
def test_where_the_paper_prints_the_numbers_they_judge(claim, verdict, statistic):
    """Whatever our runs of the protocol give: here shuffle+INV errs ten times as much as the Gaussian."""
    test = registry.TESTS[claim][0]
    single = [three(0.1, 1.0, n=n, metric="individual_error", cell=1) for n in N]
    found = test(published(*curve([10, 10, 10]), *single, values=PRINTED))
    assert found.verdict == verdict
    assert found.statistic.startswith(statistic)
    with pytest.raises(NoEvidenceError):
        test(published())
