"""Every statement has its tests, looks at the paper's settings, and gets its verdict."""

import re
from functools import partial

import pytest

from scripts.beyond.statements import claims_about_delta
from scripts.beyond.statements.judge_claims import TESTS, judge_claims, read_claims
from tests import ROOT
from tests.beyond.statements import world

PATH = ROOT / "data/published/claims.csv"
CLAIMS = read_claims(PATH)

# Published and exact: h(olds), f(ails), n(ot settled), u(ntestable), and the numbers of comparisons.
EXPECTED = {
    "eps-trend": "h28 h28", "eps0-trend": "h10 h10", "zero-beyond-the-loss": "h63 h63", "n-trend": "h8 h8",
    "more-users-more-privacy": "h24 h24", "k-trend": "h8 h8", "larger-domain-less-inference": "h35 h35",
    "figure-1-text": "f406,406 f10,10", "figure-1-caption": "h406,406 h10,10",
    "trends-everywhere": "h20,20,20,20,20,20 h20,20", "eps-delta-exchange": "h18 h8",
    "least-delta": "f28 f28", "worst-cell-guarantee": "f4 f4", "table-II-sound": "f5 f5",
    "table-II-tighter": "h30 h30", "table-II-strictly-tighter": "h30 h30", "table-1-tighter": "h16 h16",
    "more-private-than-known": "h42 h42", "feldman-best": "h20 h10", "literature-far-from-tight": "h1 h1",
    "equal-privacy": "f1 f1", "gaussian-because-approximate": "f10 f10", "local-much-worse": "f10 f10",
    "table-V-small-n": "h1 h2", "table-V-depends-on-x0": "n1 n1", "table-V-large-n": "h7 h2",
    "delta-explains-table-V": "f1 f1", "fixed-noise": "f1 h1", "table-V-slightly-worse": "f1 h2",
    "table-V-low-error": "h7 f2", "tv-small-n": "h1 h1", "tv-gaussian-gains": "h1 n1",
    "tv-large-n-close": "f1 h1", "figure-2-inversion": "h2 h2", "figure-2-central-better": "h2 h2",
    "figure-2-slightly": "h2 h2", "figure-2-especially-small": "n1 n1",
    "figures-4-5-central-better": "h6 h6", "figure-2-short-central-better": "h2 h2",
    "figures-4-5-comparable": "h2 h6", "heatmaps-very-close": "f4 f4", "central-better-everywhere": "h10 h10",
    "n-and-eps-matter": "h8 h8", "eps-matters": "h8 h8", "comparable-few-users-low-privacy": "h3 h3",
    "figure-6-shuffle-worse": "h4 h4", "figure-6-inversion": "h4 h4", "figure-6-same-for-all-eps": "h4 h4",
    "figure-6-corner-close": "h1 h1", "figure-6-corner-closest": "n3 n3", "figure-7-same-trend": "h8 h8",
    "figure-7-inversion": "h4 h4", "figure-7-indistinguishable": "f1 f1", "almost-comparable": "h10 h10",
    "gap-vanishes-many-users-absolute": "h5 h5", "gap-vanishes-many-users-relative": "n5 n5",
    "gap-vanishes-few-users-absolute": "f5 f5", "gap-vanishes-few-users-relative": "n5 n5",
    "gap-high-privacy-absolute": "h4 h4", "gap-high-privacy-relative": "n4 n4", "denoising-helps": "h10 h10",
    "inversion-optimal": "u f10", "estimate-unbiased-long": "f2 f2", "estimate-unbiased-short": "h2 h2",
    "no-central-denoising": "u f10", "area-san-francisco": "h2 h2", "area-paris": "u u",
    "gaussian-denoised": "u u", "novel-bound": "u u", "first-comparison": "u u", "more-convenient": "u u",
    "inversion-for-histograms-only": "u u",
}  # fmt: skip


def test_every_statement_looks_at_its_settings_and_gets_its_verdict(monkeypatch):
    monkeypatch.setattr(claims_about_delta, "bracket", world.bracket)  # the real bounds take seconds
    rows = judge_claims(CLAIMS, *world.readings()).set_index("id")

    def short(row, reading):
        counts = re.findall(
            r"(?:true|false|undecided)( in .*? of \d+ cases)?(?:;|$)", row[f"statistic_{reading}"]
        )
        sizes = [count.split()[-2] if count else "1" for count in counts]
        return row[f"verdict_{reading}"][0] + ",".join(sizes)

    found = {name: f"{short(row, 'published')} {short(row, 'exact')}" for name, row in rows.iterrows()}
    assert found == EXPECTED
    assert rows.loc["fixed-noise", "verdict"] == "holds only exactly"
    assert rows.loc["area-paris", "statistic_exact"] == "the config has no dataset paris with a box"
    for row in CLAIMS:  # the list says none exactly where there is no test
        for column, test in zip(("test_published", "test_exact"), TESTS[row["id"]], strict=True):
            assert (row[column] != "none") == callable(test), (row["id"], column)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k-trend,delta falls as k grows,", "k-trend,,", "line 7: claim is empty"),
        ("k-trend,", "no-trend,", "each id needs one row, and its tests in judge_claims"),
    ],
)
def test_a_bad_list_is_named_in_one_line(tmp_path, old, new, message):
    path = tmp_path / "claims.csv"
    text = PATH.read_text("utf-8")
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ValueError, match=message) as error:
        read_claims(path)
    assert str(error.value).startswith(f"{path}")


def test_only_the_papers_eps0_decide():
    """data/published/README.md, "settings"; Figures 4 and 5 have eps0 = 2, too."""
    papers = {"synthetic": {4}, "san_francisco": {2, 4, 6}, "paris": {2, 4, 6}}
    others = []
    checked = 0
    for name, tests in TESTS.items():
        for test in tests:
            arguments = test.keywords if isinstance(test, partial) else {}
            for argument in ("budgets", "model", "tested"):
                for dataset, eps0 in arguments.get(argument, {}).items():
                    others += [] if {*eps0} <= papers[dataset] else [name]
                    checked += 1
    assert others == []
    assert checked > 20
