"""Every statement has its test, which looks at the paper's settings and gets its verdict."""

import re
from dataclasses import dataclass, field

import pytest

from scripts.beyond.statements import delta_comparisons
from scripts.beyond.statements.evidence import Reading
from scripts.beyond.statements.judge_claims import judge_claims, read_claims
from scripts.beyond.statements.statement import TESTS, UntestableError, statement
from tests import ROOT
from tests.beyond.statements import world

PATH = ROOT / "data/published/claims.csv"
CLAIMS = read_claims(PATH)
# A part of a statistic, such as "true in 2, false in 1 of 3 cases", and how many cases it counts.
COUNT = re.compile(r"(?:true|false|undecided)(?: in .*? of (\d+) cases)?(?:;|$)")


@dataclass(frozen=True)
class Expected:
    """The verdicts on both readings, and how many comparisons each part of the test makes there."""

    published: str
    exact: str
    published_parts: list[int] = field(default_factory=list)
    exact_parts: list[int] = field(default_factory=list)


def on_both(verdict: str, comparisons: int, exact: int | None = None) -> Expected:
    """The same verdict on both readings, after as many comparisons, or ``exact`` on the exact one."""
    return Expected(verdict, verdict, [comparisons], [exact or comparisons])


UNTESTABLE = Expected("untestable", "untestable")  # without a comparison
EXPECTED = {
    "eps-trend": on_both("holds", 28),
    "eps0-trend": on_both("holds", 10),
    "zero-beyond-the-loss": on_both("holds", 63),
    "n-trend": on_both("holds", 8),
    "more-users-more-privacy": on_both("holds", 24),
    "k-trend": on_both("holds", 8),
    "larger-domain-less-inference": on_both("holds", 35),
    "figure-1-text": Expected("fails", "fails", published_parts=[406, 406], exact_parts=[10, 10]),
    "figure-1-caption": Expected(
        "holds", "holds", published_parts=[406, 406], exact_parts=[10, 10]
    ),
    "trends-everywhere": Expected("holds", "holds", published_parts=[20] * 6, exact_parts=[20, 20]),
    "eps-delta-exchange": on_both("holds", 18, exact=8),
    "least-delta": on_both("fails", 28),
    "worst-cell-guarantee": on_both("fails", 4),
    "table-II-sound": on_both("fails", 5),
    "table-II-tighter": on_both("holds", 30),
    "table-II-strictly-tighter": on_both("holds", 30),
    "table-1-tighter": on_both("holds", 16),
    "more-private-than-known": on_both("holds", 42),
    "feldman-best": on_both("holds", 20, exact=10),
    "literature-far-from-tight": on_both("holds", 1),
    "equal-privacy": on_both("fails", 1),
    "gaussian-because-approximate": on_both("fails", 10),
    "local-much-worse": on_both("fails", 10),
    "table-V-small-n": on_both("holds", 1, exact=2),
    "table-V-depends-on-x0": on_both("not settled", 1),
    "table-V-large-n": on_both("holds", 7, exact=2),
    "delta-explains-table-V": on_both("fails", 1),
    "fixed-noise": Expected("fails", "holds", published_parts=[1], exact_parts=[1]),
    "table-V-slightly-worse": Expected("fails", "holds", published_parts=[1], exact_parts=[2]),
    "table-V-low-error": Expected("holds", "fails", published_parts=[7], exact_parts=[2]),
    "tv-small-n": on_both("holds", 1),
    "tv-gaussian-gains": on_both("holds", 1),
    "tv-large-n-close": Expected("fails", "holds", published_parts=[1], exact_parts=[1]),
    "figure-2-inversion": on_both("holds", 2),
    "figure-2-central-better": on_both("holds", 2),
    "figure-2-slightly": on_both("holds", 2),
    "figure-2-especially-small": on_both("holds", 1),
    "figures-4-5-central-better": on_both("holds", 6),
    "figure-2-short-central-better": on_both("holds", 2),
    "figures-4-5-comparable": on_both("holds", 2, exact=6),
    "heatmaps-very-close": on_both("fails", 4),
    "central-better-everywhere": on_both("holds", 10),
    "n-and-eps-matter": on_both("holds", 8),
    "eps-matters": on_both("holds", 8),
    "comparable-few-users-low-privacy": on_both("holds", 3),
    "figure-6-shuffle-worse": on_both("holds", 4),
    "figure-6-inversion": on_both("holds", 4),
    "figure-6-same-for-all-eps": on_both("holds", 4),
    "figure-6-corner-close": on_both("holds", 1),
    "figure-6-corner-closest": on_both("holds", 3),
    "figure-7-same-trend": on_both("holds", 8),
    "figure-7-inversion": on_both("holds", 4),
    "figure-7-indistinguishable": on_both("fails", 1),
    "almost-comparable": on_both("holds", 10),
    "gap-vanishes-many-users-absolute": on_both("holds", 5),
    "gap-vanishes-many-users-relative": on_both("fails", 5),
    "gap-vanishes-few-users-absolute": on_both("fails", 5),
    "gap-vanishes-few-users-relative": on_both("holds", 5),
    "gap-high-privacy-absolute": on_both("holds", 4),
    "gap-high-privacy-relative": on_both("holds", 4),
    "denoising-helps": on_both("holds", 10),
    "inversion-optimal": Expected("untestable", "fails", exact_parts=[10]),
    "estimate-unbiased-long": on_both("fails", 2),
    "estimate-unbiased-short": on_both("holds", 2),
    "no-central-denoising": Expected("untestable", "fails", exact_parts=[10]),
    "area-san-francisco": on_both("holds", 2),
    "area-paris": UNTESTABLE,
    "gaussian-denoised": UNTESTABLE,
    "novel-bound": UNTESTABLE,
    "first-comparison": UNTESTABLE,
    "more-convenient": UNTESTABLE,
    "inversion-for-histograms-only": UNTESTABLE,
}


def comparisons_in(statistic: str) -> list[int]:
    """How many comparisons each part of a statistic counts; of a single one it says the outcome alone."""
    return [int(number or 1) for number in COUNT.findall(statistic)]


@pytest.fixture
def readings(monkeypatch):
    """The published and the exact reading of a made-up world whose bounds on delta are quick, too.

    Its answers are known: the Gaussian errs least, and shuffle+INV about 1.5 times as much.
    """
    monkeypatch.setattr(
        delta_comparisons, "log10_bounds_of_histogram", world.bracket
    )  # the real bounds take seconds
    return world.both_readings()


def test_every_statement_looks_at_its_settings_and_gets_its_verdict(readings):
    """Each statement: its verdict on both readings, and how many comparisons each part of its test makes.

    `CLAIMS` are the paper's 72 empirical statements, and `readings` the published and the exact reading of a
    made-up world, where the Gaussian errs least. `EXPECTED` is statement -> `Expected`: the verdicts and
    numbers of comparisons that this world must give. A statistic is a text that says for each part of a test,
    for instance, "true in 17, false in 3 of 20 cases". `comparisons_in` finds the 20 of each part.
    """
    rows = judge_claims(CLAIMS, *readings).set_index("id")
    judged = {}
    for name, row in rows.iterrows():
        published_parts = comparisons_in(row["statistic_published"])
        exact_parts = comparisons_in(row["statistic_exact"])
        judged[name] = Expected(
            row["verdict_published"], row["verdict_exact"], published_parts, exact_parts
        )
    assert judged == EXPECTED
    # The verdict of both readings together, and the reason why a statement cannot be tested.
    assert rows.loc["fixed-noise", "verdict"] == "holds only exactly"
    assert rows.loc["area-paris", "statistic_exact"] == "the config has no dataset paris with a box"


def test_the_list_says_none_exactly_where_there_is_no_test(readings):
    """claims.csv names each statement's test on the published and on the exact reading, or says "none".

    `CLAIMS` are its rows. `TESTS` is statement -> the function that tests it on a reading, which raises
    `UntestableError` where the statement cannot be tested. `readings` are those of a made-up world.
    """
    published, exact = readings

    def is_testable(name, reading):
        try:
            TESTS[name](reading)
        except UntestableError:
            return False
        except ValueError:  # a test, for which this world has no data: of the area of Paris
            return True
        return True

    for row in CLAIMS:
        assert (row["test_published"] != "none") == is_testable(row["id"], published), row["id"]
        assert (row["test_exact"] != "none") == is_testable(row["id"], exact), row["id"]


def test_a_statement_has_one_test():
    with pytest.raises(
        ValueError, match="statement 'k-trend' has two tests: delta_falls_as_k_grows"
    ):
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


def test_only_the_papers_eps0_decide(readings, monkeypatch):
    """No statement looks at settings with an eps0 that is not the paper's.

    A statement picks settings of a `Reading` by a `Selection`, whose ``budgets`` are dataset -> eps0s. They
    are recorded here. The paper's eps0s are in data/published/README.md, "settings": 4 and 6 for the cities,
    and 2 in Figures 4 and 5. `readings`, of a made-up world, have eps0 = 1, too.
    """
    papers = {"synthetic": {4}, "san_francisco": {2, 4, 6}, "paris": {2, 4, 6}}
    selections = []
    pick = Reading.pick

    def recording_pick(reading, *mechanisms, **arguments):
        selections.append(arguments.get("selection"))
        return pick(reading, *mechanisms, **arguments)

    monkeypatch.setattr(Reading, "pick", recording_pick)
    judge_claims(CLAIMS, *readings)
    chosen = [selection for selection in selections if selection is not None]
    assert len(chosen) > 60  # of 88 times that settings are picked: nearly always with a selection
    for selection in chosen:
        for dataset, eps0 in selection.budgets.items():
            assert set(eps0) <= papers[dataset], selection
