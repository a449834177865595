"""Every statement has a test or a reason, looks at the paper's settings, and gets its verdict."""

import re

import pytest

from reproduction.verification.claims import literature, privacy, registry
from reproduction.verification.claims.evidence import NoEvidenceError
from reproduction.verification.claims.registry import COLUMNS, TESTS, UNTESTABLE, judge_claims, read_claims
from reproduction.verification.claims.verdict_rules import Comparisons, yes_or_no
from tests import ROOT
from tests.reproduction.verification.claims import world

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
    "more-private-than-known": "h42 h42", "feldman-best": "h20 h10", "literature-far-from-tight": "h30 h30",
    "equal-privacy": "f1 f1", "gaussian-because-approximate": "f10 f10", "local-much-worse": "f10 f10",
    "table-V-small-n": "h1 h2", "table-V-depends-on-x0": "n1 n1", "table-V-large-n": "h7 h2",
    "delta-explains-table-V": "f1 f1", "fixed-noise": "f1 h1", "table-V-slightly-worse": "f1 h2",
    "table-V-low-error": "h7 f2", "tv-small-n": "h1 h1", "tv-gaussian-gains": "h1 n1",
    "tv-large-n-close": "f1 h1", "figure-2-inversion": "h2 h2", "figure-2-central-better": "h2 h2",
    "figure-2-slightly": "h2 h2", "figure-2-especially-small": "n1 n3",
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
}  # fmt: skip


def test_every_statement_looks_at_its_settings_and_gets_its_verdict(monkeypatch):
    for module in (privacy, literature):  # the real bounds take seconds
        monkeypatch.setattr(module, "bracket", world.bracket)
    rows = judge_claims(CLAIMS, *world.readings()).set_index("id")
    words = r"(?:true|false|undecided)(?: in (?:all |\d+ of )?(\d+|both) cases.*)?"

    def short(row, reading):
        parts = [re.fullmatch(words, part) for part in row[f"statistic_{reading}"].split("; ")]
        counts = [{None: "1", "both": "2"}.get(part[1], part[1]) for part in parts if part]
        return row[f"verdict_{reading}"][0] + ",".join(counts)

    found = {name: f"{short(row, 'published')} {short(row, 'exact')}" for name, row in rows.iterrows()}
    assert found == EXPECTED | dict.fromkeys(UNTESTABLE, "u u")


def test_the_list_says_none_exactly_where_there_is_no_test():
    for row in CLAIMS:
        tests = TESTS.get(row["id"], ("", ""))
        for column, test in zip(("test_published", "test_exact"), tests, strict=True):
            assert (row[column] != "none") == callable(test), (row["id"], column)


def test_settings_are_those_of_the_papers_tables():
    rows = world.PRINTED
    table_v = rows[rows["item"] == "Table V"]
    values = {name: table_v[name].unique().item() for name in ("eps", "eps0", "k")}
    assert values | {"n": table_v["n"].min()} == registry._VALUES
    table_iv = rows[(rows["item"] == "Table IV") & (rows["log10_printed"] > -float("inf"))]
    setting = {name: registry._WORST[name] for name in ("eps0", "n", "k")}
    line = table_iv[(table_iv[list(setting)] == list(setting.values())).all(axis=1)]
    assert sorted(set(line["eps"])) == list(registry._WORST["eps"])
    for place, name in ((2, "n"), (3, "k")):  # the smallest and the largest of Table IV
        assert {point[place] for point in registry._OTHERS} == {table_iv[name].min(), table_iv[name].max()}


def test_a_row_has_both_readings_the_number_and_the_reason(monkeypatch):
    def missing(reading):
        raise NoEvidenceError("no paris")

    tests = {
        "a": tuple(lambda reading, so=so: Comparisons(yes_or_no([so]), "ratio: 2") for so in (True, False)),
        "b": (missing, "it was not run"),
    }
    monkeypatch.setattr(registry, "TESTS", tests)
    monkeypatch.setattr(registry, "UNTESTABLE", {"c": "nobody measured it"})
    monkeypatch.setattr(registry, "REMARKS", {"b": "A harsh reading"})
    claims = [{**dict.fromkeys(COLUMNS, "x"), "id": name} for name in "abc"]
    rows = judge_claims(claims, world.published(), world.exact())
    assert tuple(rows) == registry.RESULT_COLUMNS
    assert rows[[*registry.RESULT_COLUMNS[len(COLUMNS) :]]].to_numpy().tolist() == [
        ["true; ratio: 2", "holds", "false; ratio: 2", "fails", "holds only as published",
         "Published: true; ratio: 2. Exact: false; ratio: 2."],
        ["", "untestable", "", "untestable", "untestable",
         "Published: untestable, no paris. Exact: untestable, it was not run. A harsh reading."],
        ["", "untestable", "", "untestable", "untestable", "Untestable: nobody measured it."],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("id,claim", "id,statement", "the columns must be id,claim"),
        ("eps-trend,", "eps-trend,,", "line 2: expected 9 fields; quote a field that has a comma"),
        ("k-trend,delta falls as k grows,", "k-trend,,", "line 7: claim is empty"),
        ("k-trend,", "n-trend,", "each id needs one row, and a test or a reason"),
        ("k-trend,", "no-trend,", "each id needs one row, and a test or a reason"),
    ],
)
def test_a_bad_list_is_named_in_one_line(tmp_path, old, new, message):
    path = tmp_path / "claims.csv"
    text = PATH.read_text("utf-8")
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ValueError, match=message) as error:
        read_claims(path)
    assert str(error.value).startswith(f"{path}")
