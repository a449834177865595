"""Every test about errors, on settings whose answer is known: it can hold, fail, and stay open."""

import numpy as np
import pytest

from scripts.beyond.statements import claims_about_errors as about
from scripts.beyond.statements.evidence import GAUSSIAN, INV, RAW_GAUSSIAN, NoEvidenceError
from scripts.beyond.statements.judge_claims import TESTS
from tests.beyond.statements.world import PRINTED, exact, reading, setting, three

N = (1000, 2000, 5000)
SYNTHETIC = {"budgets": {"synthetic": (4, 6)}}


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
MANY = {"axis": "n", "towards": "large", "gap": "log ratio"}
FALLS = {"axis": "n", "mechanisms": (INV, GAUSSIAN)}


@pytest.mark.parametrize(
    ("test", "settings", "where", "signs"),
    [
        (about.better, [GOOD, BAD, TIE], ORDER, [1, -1, 0]),
        (about.better, [GOOD, BAD], ORDER | {"ends": "small n"}, [1]),
        (about.better, [three(0.1, 0.3), three(0.1, 0.15, n=2000)], ORDER | {"times": 2}, [1, -1]),
        (about.close, [three(0.1, 0.18)], {}, [1]),
        (about.close, [three(0.1, 0.04)], {}, [-1]),
        (about.close, [three(0.1, 0.2)], {}, [0]),
        (about.close, [three(0.1, 0.15)], {"factor": 1.1}, [-1]),
        (about.close, ENDS, {"ends": "corner"}, [1]),
        (about.close, ENDS, {"ends": "small n"}, [1, -1]),
        (about.small, SMALL, {"limit": 0.01, "mechanisms": (GAUSSIAN, INV)}, [1, -1, 1, -1]),
        (about.gap_shrinks, curve((2, 4, 8)), MANY | {"towards": "small"}, [1]),
        (about.gap_shrinks, curve((2, 4, 8)), MANY, [-1]),
        (about.gap_shrinks, curve((0.25, 0.5, 0.5)), MANY, [1]),  # whoever is better
        (about.gap_shrinks, curve((0.25, 0.5, 0.5)), MANY | {"gap": "signed log ratio"}, [-1]),
        (about.gap_shrinks, curve((2, 2, 2)), MANY, [0]),
        (about.gap_shrinks, curve((2, 2, 2)), MANY | {"gap": "difference"}, [1]),  # both fall, and so it does
        (about.gap_shrinks, EPS0, MANY | {"axis": "eps0"}, [1, 1, 1]),
        (about.gap_shrinks, RULES, MANY, [-1, 1]),  # curves do not mix the rules of delta
        (about.closest_at_corner, CORNER, {}, [1] * 5),
        (about.closest_at_corner, RULES, {}, [1, 1, -1, -1]),
        (about.depends_on_cell, cells(2, 4) + cells(2, 2, n=2000), {"ends": "small n"}, [1]),
        (about.depends_on_cell, cells(2, 2, 2), {}, [0]),
        (about.falls_along, curve((2, 4, 16)), FALLS, [-1, 1]),
    ],
)
def test_statements_about_errors(test, settings, where, signs):
    assert test(reading(*settings), **SYNTHETIC, **where).signs.tolist() == signs


def test_one_setting_has_no_trend():
    for test, where in ((about.gap_shrinks, MANY), (about.closest_at_corner, {})):
        with pytest.raises(NoEvidenceError, match=r"experiments have one (n|setting) only"):
            test(reading(GOOD), **SYNTHETIC, **where)


@pytest.mark.slow
def test_depends_on_cell_has_its_level():
    """Cochran's Q on equal cells: wrong in at most 1 % of 500 runs and 4 binomial deviations."""
    rng, wrong, settings = np.random.default_rng(7), 0, cells(*[1] * 7)
    for _ in range(500):
        for one, errors in zip(settings, np.abs(rng.standard_normal((7, 2, 1000))), strict=True):
            one[INV], one[GAUSSIAN] = errors
        wrong += about.depends_on_cell(reading(*settings), **SYNTHETIC).verdict == "holds"
    assert wrong / 500 <= 0.01 + 4 * np.sqrt(0.01 * 0.99 / 500)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "holds"), (1.3, "fails"), (0.8, "fails")])
def test_same_noise_for_all_n(factor, verdict):
    """The individual error in users: value times n."""
    settings = [
        setting(metric="individual_error", cell=cell, n=n, **{GAUSSIAN: error, RAW_GAUSSIAN: error})
        for cell in (1, 3)
        for n, error in ((1000, 0.01), (100000, 0.0001 * factor))
    ]
    found = about.same_noise_for_all_n(reading(*settings), **SYNTHETIC)
    assert found.verdict == verdict
    assert found.numbers == pytest.approx([factor], rel=0.02)  # of 2 x 40 draws with 2 %: seven deviations
    assert about.same_noise_for_all_n(exact(*settings), **SYNTHETIC).verdict == "holds"  # by definition


def test_same_order():
    """As on the whole in the model; with the same eps0s in both cities, each eps0 has its own order."""
    model = [three(0.1, 0.2, 0.3, dataset="san_francisco", n=n) for n in N]
    alike = [three(0.2, 0.3, 0.6, dataset="paris", n=n) for n in N]
    other = three(0.2, 0.7, 0.6, dataset="paris", n=9000)
    cities = {"model": {"san_francisco": (4,)}, "tested": {"paris": (4,)}}
    assert about.same_order(reading(*model, *alike), **cities).signs.tolist() == [1] * 6
    assert sorted(about.same_order(reading(*model, *alike, other), **cities).signs) == [-1, *[1] * 7]
    errors = {4.0: (0.1, 0.2, 0.3), 6.0: (0.3, 0.2, 0.1)}
    turned = [three(*errors[e], dataset=city, eps0=e) for city in ("paris", "san_francisco") for e in errors]
    budgets = {"model": {"san_francisco": (4, 6)}, "tested": {"paris": (4, 6)}}
    assert about.same_order(reading(*turned), **budgets).signs.tolist() == [1] * 4


def test_where_the_paper_prints_the_numbers_they_judge():
    """Whatever our runs of the protocol give: here shuffle+INV errs ten times as much as the Gaussian."""
    for claim, ratio in (("tv-small-n", 26 / 14), ("tv-large-n-close", 48), ("table-V-small-n", 118 / 79)):
        test = TESTS[claim][0]
        assert test(reading(*curve([10, 10, 10]), values=PRINTED)).numbers == pytest.approx([ratio])
        with pytest.raises(NoEvidenceError):
            test(reading())
