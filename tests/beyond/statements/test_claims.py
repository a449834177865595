"""Every statement has its test, which looks at the paper's settings and gets its verdict."""

import re

import pytest

from scripts.beyond.statements import delta_comparisons
from scripts.beyond.statements.evidence import EVERYWHERE, Reading
from scripts.beyond.statements.judge_claims import judge, judge_claims, read_claims
from scripts.beyond.statements.statement import TESTS, statement
from tests import ROOT
from tests.beyond.statements import world

PATH = ROOT / "data/published/claims.csv"
CLAIMS = read_claims(PATH)
# A part of a statistic, such as "true in 2, false in 1 of 3 cases", and how many cases it counts.
COUNT = re.compile(r"(?:true|false|undecided)(?: in .*? of (\d+) cases)?(?:;|$)")

# A line for each statement of claims.csv: its verdict in the made-up world, and how many
# comparisons each part of its test makes there, on the published and then on the exact reading. Last is the
# verdict of both readings together.
EXPECTED = """
eps-trend                        |holds      |28               |holds      |28   |holds
eps0-trend                       |holds      |10               |holds      |10   |holds
zero-beyond-the-loss             |holds      |63               |holds      |63   |holds
n-trend                          |holds      |8                |holds      |8    |holds
more-users-more-privacy          |holds      |24               |holds      |24   |holds
k-trend                          |holds      |8                |holds      |8    |holds
larger-domain-less-inference     |holds      |35               |holds      |35   |holds
figure-1-text                    |fails      |406 406          |fails      |10 10|fails
figure-1-caption                 |holds      |406 406          |holds      |10 10|holds
trends-everywhere                |holds      |20 20 20 20 20 20|holds      |20 20|holds
eps-delta-exchange               |holds      |18               |holds      |8    |holds
least-delta                      |fails      |28               |fails      |28   |fails
worst-cell-guarantee             |fails      |4                |fails      |4    |fails
table-II-sound                   |fails      |5                |fails      |5    |fails
table-II-tighter                 |holds      |30               |holds      |30   |holds
table-II-strictly-tighter        |holds      |30               |holds      |30   |holds
table-1-tighter                  |holds      |16               |holds      |16   |holds
more-private-than-known          |holds      |42               |holds      |42   |holds
feldman-best                     |holds      |20               |holds      |10   |holds
literature-far-from-tight        |holds      |1                |holds      |1    |holds
equal-privacy                    |fails      |1                |fails      |1    |fails
gaussian-because-approximate     |fails      |10               |fails      |10   |fails
local-much-worse                 |fails      |10               |fails      |10   |fails
table-V-small-n                  |holds      |1                |holds      |2    |holds
table-V-depends-on-x0            |not settled|1                |not settled|1    |not settled
table-V-large-n                  |holds      |7                |holds      |2    |holds
delta-explains-table-V           |fails      |1                |fails      |1    |fails
fixed-noise                      |fails      |1                |holds      |1    |holds only at equal privacy
table-V-slightly-worse           |fails      |1                |holds      |2    |holds only at equal privacy
table-V-low-error                |holds      |7                |fails      |2    |holds only as published
tv-small-n                       |holds      |1                |holds      |1    |holds
tv-gaussian-gains                |holds      |1                |holds      |1    |holds
tv-large-n-close                 |fails      |1                |holds      |1    |holds only at equal privacy
figure-2-inversion               |holds      |2                |holds      |2    |holds
figure-2-central-better          |holds      |2                |holds      |2    |holds
figure-2-slightly                |holds      |2                |holds      |2    |holds
figure-2-especially-small        |holds      |1                |holds      |1    |holds
figures-4-5-central-better       |holds      |6                |holds      |6    |holds
figure-2-short-central-better    |holds      |2                |holds      |2    |holds
figures-4-5-comparable           |holds      |2                |holds      |6    |holds
heatmaps-very-close              |fails      |4                |fails      |4    |fails
central-better-everywhere        |holds      |10               |holds      |10   |holds
n-and-eps-matter                 |holds      |8                |holds      |8    |holds
eps-matters                      |holds      |8                |holds      |8    |holds
comparable-few-users-low-privacy |holds      |3                |holds      |3    |holds
figure-6-shuffle-worse           |holds      |4                |holds      |4    |holds
figure-6-inversion               |holds      |4                |holds      |4    |holds
figure-6-same-for-all-eps        |holds      |4                |holds      |4    |holds
figure-6-corner-close            |holds      |1                |holds      |1    |holds
figure-6-corner-closest          |holds      |3                |holds      |3    |holds
figure-7-same-trend              |holds      |8                |holds      |8    |holds
figure-7-inversion               |holds      |4                |holds      |4    |holds
figure-7-indistinguishable       |fails      |1                |fails      |1    |fails
almost-comparable                |holds      |10               |holds      |10   |holds
gap-vanishes-many-users-absolute |holds      |5                |holds      |5    |holds
gap-vanishes-many-users-relative |fails      |5                |fails      |5    |fails
gap-vanishes-few-users-absolute  |fails      |5                |fails      |5    |fails
gap-vanishes-few-users-relative  |holds      |5                |holds      |5    |holds
gap-high-privacy-absolute        |holds      |4                |holds      |4    |holds
gap-high-privacy-relative        |holds      |4                |holds      |4    |holds
denoising-helps                  |holds      |10               |holds      |10   |holds
inversion-optimal                |untestable |                 |fails      |10   |fails
estimate-unbiased-long           |fails      |2                |fails      |2    |fails
estimate-unbiased-short          |holds      |2                |holds      |2    |holds
no-central-denoising             |untestable |                 |fails      |10   |fails
area-san-francisco               |holds      |2                |holds      |2    |holds
area-paris                       |holds      |2                |holds      |2    |holds
gaussian-denoised                |untestable |                 |untestable |     |untestable
novel-bound                      |untestable |                 |untestable |     |untestable
first-comparison                 |untestable |                 |untestable |     |untestable
more-convenient                  |untestable |                 |untestable |     |untestable
inversion-for-histograms-only    |untestable |                 |untestable |     |untestable
"""


@pytest.fixture(scope="module")
def judgement():
    """(The verdicts on the statements of claims.csv in a made-up world, what their tests picked for them).

    The answers of the world are known: the Gaussian errs least, and shuffle+INV about 1.5 times as much. What
    was picked are pairs of a dataset and its eps0s.
    """
    pick = Reading.pick
    picked = []

    def recording_pick(reading, *mechanisms, selection=EVERYWHERE):
        picked.extend(selection.budgets.items())
        return pick(reading, *mechanisms, selection=selection)

    with pytest.MonkeyPatch.context() as monkeypatch:
        # The real bounds take seconds.
        monkeypatch.setattr(delta_comparisons, "log10_bounds_of_histogram", world.bracket)
        monkeypatch.setattr(Reading, "pick", recording_pick)
        return judge_claims(CLAIMS, *world.both_readings()), picked


@pytest.fixture(scope="module")
def judged_claims(judgement):
    """A row for each statement of claims.csv: its verdicts in the made-up world, and their statistics."""
    return judgement[0]


def comparisons_in(statistic):
    """How many comparisons each part of a statistic counts: "20 1" for "true in 20 of 20 cases; false"."""
    return " ".join(number or "1" for number in COUNT.findall(statistic))


def test_every_statement_gets_its_verdicts_by_its_number_of_comparisons(judged_claims):
    """`EXPECTED` has them in a line for each statement: as published, exactly, and of both together."""
    judged = []
    for row in judged_claims.to_dict("records"):
        published = [row["verdict_published"], comparisons_in(row["statistic_published"])]
        exact = [row["verdict_exact"], comparisons_in(row["statistic_exact"])]
        judged.append([row["id"], *published, *exact, row["verdict"]])
    expected = [re.split(r" *\| *", line) for line in EXPECTED.strip().splitlines()]
    assert sorted(judged) == sorted(expected)


def test_what_lacks_its_data_has_the_reason_in_the_place_of_a_statistic():
    reason = "the config has no dataset paris with a box"
    assert judge(TESTS["area-paris"], world.exact_reading()) == (reason, "untestable")


def test_the_list_names_no_test_exactly_where_a_statement_is_untestable(judged_claims):
    for reading in ("published", "exact"):
        has_no_test = judged_claims[f"test_{reading}"] == "none"
        is_untestable = judged_claims[f"verdict_{reading}"] == "untestable"
        assert has_no_test.tolist() == is_untestable.tolist()


def test_a_statement_has_one_test():
    message = "statement 'k-trend' has two tests: delta_falls_as_k_grows"
    with pytest.raises(ValueError, match=message):
        statement("k-trend")(lambda reading: None)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("k-trend,delta falls as k grows,", "k-trend,,", "line 7: claim is empty"),
        ("k-trend,", "no-trend,", "each id needs one row here, and one function @statement"),
    ],
)
def test_a_bad_list_is_named_in_one_line(tmp_path, old, new, message):
    path = tmp_path / "claims.csv"
    text = PATH.read_text("utf-8")
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(ValueError, match=message) as error:
        read_claims(path)
    assert str(error.value).startswith(f"{path}")


def test_statements_pick_settings_at_the_papers_eps0_alone(judgement):
    """The eps0s are in data/published/README.md, "settings". The world has settings at eps0 = 1, too."""
    papers_eps0 = {"synthetic": {4}, "san_francisco": {2, 4, 6}, "paris": {2, 4, 6}}
    _, picked = judgement
    assert {dataset for dataset, _ in picked} == set(papers_eps0)
    for dataset, eps0 in picked:
        assert set(eps0) <= papers_eps0[dataset]
