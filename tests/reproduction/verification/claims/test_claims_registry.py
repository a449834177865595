"""Every statement has a test or a reason, looks at the paper's settings, and gets its verdict."""

import re

import pytest

from reproduction.verification.claims import literature, privacy, registry
from reproduction.verification.claims.claims_file import COLUMNS, read_claims
from reproduction.verification.claims.evidence import (
    GAUSSIAN,
    INV,
    LIKELIEST,
    RAW_GAUSSIAN,
    SHUFFLE,
    NoEvidenceError,
)
from reproduction.verification.claims.verdict_rules import (
    FAILS,
    HOLDS,
    UNSETTLED,
    UNTESTABLE,
    Comparisons,
    yes_or_no,
)
from tests import ROOT
from tests.reproduction.verification.claims import fabricated

CLAIMS = read_claims(ROOT / "data/published/claims.csv")
NONE = "the paper's experiments have no other estimate"


def test_the_list_says_none_exactly_where_there_is_no_test():
    assert not set(registry.TESTS) & set(registry.UNTESTABLE)
    for row in CLAIMS:
        tests = registry.TESTS.get(row["id"], ("", ""))
        for column, test in zip(("test_published", "test_exact"), tests, strict=True):
            assert (row[column] != "none") == callable(test), (row["id"], column)


@pytest.fixture
def two_claims(monkeypatch):
    monkeypatch.setattr(registry, "UNTESTABLE", {"b": "nobody measured it"})
    return [{**dict.fromkeys(COLUMNS, "x"), "id": name} for name in ("a", "b")]


def found(holds):
    return lambda reading: Comparisons(f"it is so as {reading.name}", yes_or_no([holds]), [1.0], [2.0])


def test_rows_carry_both_readings_and_the_reasons(monkeypatch, two_claims):
    monkeypatch.setattr(registry, "TESTS", {"a": (found(True), found(False))})
    rows = registry.judge_claims(two_claims, fabricated.published(), fabricated.exact())
    assert tuple(rows) == registry.RESULT_COLUMNS
    first, second = rows.to_dict("records")
    assert (first["verdict_published"], first["verdict_exact"]) == (HOLDS, FAILS)
    counts = "true", "false"
    assert (first["statistic_published"], first["statistic_exact"]) == counts
    assert first["verdict"] == "holds only as published"
    assert first["why"] == (
        f"Published: It is so as published: {counts[0]}. Exact: It is so as exact: {counts[1]}."
    )
    assert second["verdict"] == UNTESTABLE
    assert second["why"] == "Untestable: nobody measured it."


def test_missing_evidence_is_untestable_and_says_what_is_missing(monkeypatch, two_claims):
    def missing(reading):
        raise NoEvidenceError("the config has no paris")

    monkeypatch.setattr(registry, "TESTS", {"a": (missing, "it was not run")})
    row = registry.judge_claims(two_claims, fabricated.published(), fabricated.exact()).iloc[0]
    assert row["verdict"] == UNTESTABLE
    assert row["why"] == (
        "Published: Untestable: the config has no paris. Exact: Untestable: it was not run."
    )


@pytest.mark.parametrize("tests", [{}, {"a": (found(True),) * 2, "c": (found(True),) * 2}])
def test_a_claim_without_a_test_or_a_test_without_a_claim_stops(monkeypatch, two_claims, tests):
    monkeypatch.setattr(registry, "TESTS", tests)
    with pytest.raises(ValueError, match=r"each id of claims\.csv needs a test or a reason"):
        registry.judge_claims(two_claims, fabricated.published(), fabricated.exact())


def test_settings_are_those_of_the_papers_tables():
    rows = fabricated.PRINTED
    table_v = rows[rows["item"] == "Table V"]
    assert dict(registry._VALUES) == {
        name: value
        for name in ("eps", "eps0", "n", "k")
        for value in [table_v[name].min() if name == "n" else table_v[name].unique().item()]
    }
    table_iv = rows[(rows["item"] == "Table IV") & (rows["log10_printed"] > -float("inf"))]
    setting = {name: registry._WORST[name] for name in ("eps0", "n", "k")}
    line = table_iv[(table_iv[list(setting)] == list(setting.values())).all(axis=1)]
    assert sorted(set(line["eps"])) == list(registry._WORST["eps"])
    for place, name in ((2, "n"), (3, "k")):  # the smallest and the largest of Table IV
        assert {point[place] for point in registry._OTHERS} == {table_iv[name].min(), table_iv[name].max()}
    users = [n for _, _, n, _ in registry._USERS]
    assert (min(users), max(users), len(users)) == (
        10,
        300,
        4 * 8,
    )  # "n = 10 to 300, two k, two eps0, two eps"


# A world with a known answer. At the paper's settings shuffle+INV errs 1.5 times as much as the Gaussian,
# shuffle 4 times as much; all errors fall alike with n and eps0, which is eps on both readings. At other eps0
# it is the other way round. Deltas are the printed ones, and exactly those of `fabricated.bracket`.

N = {"synthetic": (1000, 100_000), "san_francisco": (10_000, 123_026), "paris": (1000, 11_190)}
EPS0 = {"synthetic": (4.0,), "san_francisco": (4.0, 6.0), "paris": (4.0, 6.0)}
TIMES = {GAUSSIAN: 1.0, INV: 1.5, SHUFFLE: 4.0, RAW_GAUSSIAN: 1.2, LIKELIEST: 1.4}
OTHERWISE = TIMES | {GAUSSIAN: 4.0, SHUFFLE: 1.0}


def world(dataset, n, eps0, rule="", metric="tv", cell=0, papers=True):
    """The errors of a setting; the Gaussian's is 0.06 with all users at eps0 = 4."""
    error = 0.06 * (N[dataset][-1] / n) ** 0.5 * (4 / eps0)
    error = error / 6 if metric == "individual_error" else error  # shuffle+INV's is 0.015
    means = {name: error * times for name, times in (TIMES if papers else OTHERWISE).items()}
    return fabricated.setting(dataset, n, eps0, metric=metric, cell=cell, rule=rule, **means)


def papers(rule=""):
    tv = [world(city, n, eps0, rule) for city in N for n in N[city] for eps0 in EPS0[city]]
    single = [
        world("synthetic", n, 4.0, rule, "individual_error", cell) for n in (1000, 100_000) for cell in (1, 3)
    ]
    return tv + single


CITIES = ("san_francisco", "paris")
HEATMAPS = [
    world(city, N[city][-1], eps0, metric="cell_error") for city in CITIES for eps0 in (2.0, 4.0, 6.0)
]
WHOLE = [world(city, N[city][-1], 2.0, "1e-06") for city in CITIES]  # of Figures 4 and 5, at equal privacy
BEYOND = [world(name, n, 1.0, "1e-06", papers=False) for name in N for n in N[name]]

# statement -> verdict and numbers of comparisons as published, and the same exactly
EXPECTED = {
    "eps-trend": (HOLDS, [28], HOLDS, [28]),
    "eps0-trend": (HOLDS, [10], HOLDS, [10]),
    "zero-beyond-the-loss": (HOLDS, [63], HOLDS, [63]),
    "n-trend": (HOLDS, [8], HOLDS, [8]),
    "more-users-more-privacy": (HOLDS, [24], HOLDS, [24]),
    "k-trend": (HOLDS, [8], HOLDS, [8]),
    "larger-domain-less-inference": (HOLDS, [35], HOLDS, [35]),
    "figure-1-text": (FAILS, [406, 406], FAILS, [10, 10]),
    "figure-1-caption": (HOLDS, [406, 406], HOLDS, [10, 10]),
    "trends-everywhere": (HOLDS, [20, 20, 20, 20, 20, 20], HOLDS, [20, 20]),
    "eps-delta-exchange": (HOLDS, [18], HOLDS, [8]),
    "least-delta": (FAILS, [28], FAILS, [28]),
    "worst-cell-guarantee": (FAILS, [4], FAILS, [4]),
    "table-II-sound": (FAILS, [5], FAILS, [5]),
    "table-II-tighter": (HOLDS, [30], HOLDS, [30]),
    "table-II-strictly-tighter": (HOLDS, [30], HOLDS, [30]),
    "table-1-tighter": (HOLDS, [16], HOLDS, [16]),
    "more-private-than-known": (HOLDS, [42], HOLDS, [42]),
    "feldman-best": (HOLDS, [20], HOLDS, [10]),
    "literature-far-from-tight": (HOLDS, [30], HOLDS, [30]),
    "equal-privacy": (FAILS, [1], FAILS, [1]),
    "gaussian-because-approximate": (FAILS, [10], FAILS, [10]),
    "local-much-worse": (FAILS, [10], FAILS, [10]),
    "table-V-small-n": (HOLDS, [1], HOLDS, [2]),
    "table-V-depends-on-x0": (UNSETTLED, [1], UNSETTLED, [1]),
    "table-V-large-n": (HOLDS, [7], HOLDS, [2]),
    "delta-explains-table-V": (FAILS, [1], FAILS, [1]),
    "fixed-noise": (FAILS, [1], HOLDS, [1]),
    "table-V-slightly-worse": (FAILS, [1], HOLDS, [2]),
    "table-V-low-error": (HOLDS, [7], FAILS, [2]),
    "tv-small-n": (HOLDS, [1], HOLDS, [1]),
    "tv-gaussian-gains": (HOLDS, [1], UNSETTLED, [1]),
    "tv-large-n-close": (FAILS, [1], HOLDS, [1]),
    "figure-2-inversion": (HOLDS, [2], HOLDS, [2]),
    "figure-2-central-better": (HOLDS, [2], HOLDS, [2]),
    "figure-2-slightly": (HOLDS, [2], HOLDS, [2]),
    "figure-2-especially-small": (UNSETTLED, [1], UNSETTLED, [3]),
    "figures-4-5-central-better": (HOLDS, [6], HOLDS, [6]),
    "figure-2-short-central-better": (HOLDS, [2], HOLDS, [2]),
    "figures-4-5-comparable": (HOLDS, [2], HOLDS, [6]),
    "heatmaps-very-close": (FAILS, [4], FAILS, [4]),
    "central-better-everywhere": (HOLDS, [10], HOLDS, [10]),
    "n-and-eps-matter": (HOLDS, [8], HOLDS, [8]),
    "eps-matters": (HOLDS, [8], HOLDS, [8]),
    "comparable-few-users-low-privacy": (HOLDS, [3], HOLDS, [3]),
    "figure-6-shuffle-worse": (HOLDS, [4], HOLDS, [4]),
    "figure-6-inversion": (HOLDS, [4], HOLDS, [4]),
    "figure-6-same-for-all-eps": (HOLDS, [4], HOLDS, [4]),
    "figure-6-corner-close": (HOLDS, [1], HOLDS, [1]),
    "figure-6-corner-closest": (UNSETTLED, [3], UNSETTLED, [3]),
    "figure-7-same-trend": (HOLDS, [8], HOLDS, [8]),
    "figure-7-inversion": (HOLDS, [4], HOLDS, [4]),
    "figure-7-indistinguishable": (FAILS, [1], FAILS, [1]),
    "almost-comparable": (HOLDS, [10], HOLDS, [10]),
    "gap-vanishes-many-users-absolute": (HOLDS, [5], HOLDS, [5]),
    "gap-vanishes-many-users-relative": (UNSETTLED, [5], UNSETTLED, [5]),
    "gap-vanishes-few-users-absolute": (FAILS, [5], FAILS, [5]),
    "gap-vanishes-few-users-relative": (UNSETTLED, [5], UNSETTLED, [5]),
    "gap-high-privacy-absolute": (HOLDS, [4], HOLDS, [4]),
    "gap-high-privacy-relative": (UNSETTLED, [4], UNSETTLED, [4]),
    "denoising-helps": (HOLDS, [10], HOLDS, [10]),
    "inversion-optimal": (UNTESTABLE, [], FAILS, [10]),
    "estimate-unbiased-long": (FAILS, [2], FAILS, [2]),
    "estimate-unbiased-short": (HOLDS, [2], HOLDS, [2]),
    "no-central-denoising": (UNTESTABLE, [], FAILS, [10]),
    "area-san-francisco": (HOLDS, [2], HOLDS, [2]),
}


@pytest.fixture(scope="module")
def judged():
    values = fabricated.PRINTED.assign(log10_cited=-0.5)
    box = {"south": 37.7228, "north": 37.7946, "west": -122.5153, "east": -122.3789}
    more = {"values": values, "calibrations": frozenset({(4.0, 1e-30)}), "boxes": {"san_francisco": box}}
    readings = (
        fabricated.published(*papers(), *HEATMAPS, **more),
        fabricated.exact(*papers("1e-06"), *WHOLE, *BEYOND, **more),
    )
    with pytest.MonkeyPatch.context() as patch:
        for module in (privacy, literature):
            patch.setattr(module, "bracket", fabricated.bracket)
        return registry.judge_claims(CLAIMS, *readings).set_index("id")


def counts(statistic):
    """The numbers of comparisons: 'true', 'false in both cases', 'true in 17 of 20 cases, false in 3'."""
    words = r"(?:true|false|undecided)(?: in (?:all |\d+ of )?(\d+|both) cases.*)?"
    found = [match for part in statistic.split("; ") if (match := re.fullmatch(words, part))]
    return [{None: 1, "both": 2}.get(match[1]) or int(match[1]) for match in found]


@pytest.mark.parametrize("name", EXPECTED)
def test_every_statement_looks_at_its_settings_and_gets_its_verdict(judged, name):
    row = judged.loc[name]
    published = row["verdict_published"], counts(row["statistic_published"])
    assert (*published, row["verdict_exact"], counts(row["statistic_exact"])) == EXPECTED[name]


def test_the_rest_is_untestable(judged):
    rest = judged.drop(index=[*EXPECTED])
    assert set(rest["verdict"]) == {UNTESTABLE}
    assert {*rest.index} == {*registry.UNTESTABLE, "area-paris"}  # the world has no box of Paris


def test_the_other_eps0_are_told_and_do_not_judge(judged):
    told = "Not in the paper, eps0 = 1, 2: true in 2 of 8 cases, false in 6"
    for name in ("central-better-everywhere", "almost-comparable", "denoising-helps"):
        assert told in judged.loc[name, "why"]
