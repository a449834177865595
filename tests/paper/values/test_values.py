"""The printed values: the file is complete, and each value gets its verdict from the right numbers."""

from collections import Counter
from decimal import Decimal
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest

from scripts.paper.delta.compute_printed_deltas import printed_deltas
from scripts.paper.values.judge_values import (
    NO_GAUSSIAN,
    judge_values,
    read_deltas,
    read_individual_trials,
)
from scripts.shared.printed import COLUMNS, parse_tolerance, printed_to_decimal, read_values
from tests import ROOT

# All columns are texts.
PRINTED_VALUES = read_values(ROOT / "data/published/values.csv")


def test_every_printed_value_has_its_row():
    assert Counter(PRINTED_VALUES["item"]) == {
        "Table II": 40,
        "Table 1": 20,
        "Table IV": 63,
        "Table V": 28,
        "Table VI": 28,
        "text": 4,
        "data": 2,
    }


def test_no_printed_value_has_two_rows():
    settings = PRINTED_VALUES.drop(columns=["printed", "note"])
    assert not settings.duplicated().any()


@pytest.mark.parametrize(
    ("quantity", "number", "kind", "rule", "columns"),
    [
        ("delta", 123, "deterministic", "digits", "n eps0 eps mechanism"),
        ("individual_error", 56, "random", "central", "n k eps0 eps x0 dataset mechanism"),
        ("tv", 4, "random", "central", "n k eps0 eps dataset mechanism"),
        ("checkins", 2, "data", "digits", "dataset"),
    ],
)
def test_values_of_a_quantity_have_its_kind_its_rule_and_their_setting(
    quantity, number, kind, rule, columns
):
    """``rule`` is the first word of the tolerance, and ``columns`` are those that are never empty."""
    rows = PRINTED_VALUES[PRINTED_VALUES["quantity"] == quantity]
    assert len(rows) == number
    assert set(rows["kind"]) == {kind}
    rules = [parse_tolerance(tolerance)[0] for tolerance in rows["tolerance"]]
    assert set(rules) == {rule}
    assert (rows[["source", *columns.split()]] != "").all(axis=None)


def test_value_x0_is_held_by_four_fifths_of_the_users_in_the_papers_own_deltas():
    own = PRINTED_VALUES[PRINTED_VALUES["mechanism"] == "this paper"]
    assert (10 * own["count"].astype(int) == 8 * own["n"].astype(int)).all()


def test_a_setting_in_all_three_parts_of_table_iv_has_the_same_deltas_there():
    rows = PRINTED_VALUES.query("item == 'Table IV' and eps0 == '2' and n == '100' and k == '10'")
    parts = [part[["eps", "printed"]].to_numpy() for _, part in rows.groupby("source")]
    first, second, third = parts
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)


def test_printed_deltas_of_a_mechanism_in_a_setting_fall_with_eps():
    """A slip in copying an exponent would show here."""
    rows = PRINTED_VALUES[PRINTED_VALUES["quantity"] == "delta"].astype({"eps": float})
    # Within Table II the eps0 of a literature column changes at n = 1,000: data/published/README.md.
    eps0 = rows["eps0"].where(rows["item"] == "Table IV", "")
    lines = rows.groupby(["source", "mechanism", "n", "k", eps0])
    # Table II has four mechanisms at two n, Table 1 five mechanisms, and Table IV nine lines.
    assert len(lines) == 2 * 4 + 5 + 9
    for _, line in lines:
        assert line["eps"].is_monotonic_increasing
        assert line["eps"].is_unique
        deltas = [printed_to_decimal(text) for text in line["printed"]]
        # A delta that is printed as 0 may follow another such one.
        assert all(after < before or after == before == 0 for before, after in pairwise(deltas))


@pytest.fixture(scope="module")
def our_deltas(tmp_path_factory):
    """Our log10 delta in the setting of every printed delta, from a file that has them."""
    path = tmp_path_factory.mktemp("privacy") / "printed_deltas.csv"
    printed_deltas(PRINTED_VALUES).to_csv(path, index=False)
    return read_deltas(path, PRINTED_VALUES)


@pytest.fixture
def judge(our_deltas, tmp_path):
    """A function: the printed values with the verdicts by our deltas, by trials and by numbers of check-ins.

    Its arguments are ``trials``, a list of frames, and ``totals``, (dataset, kind of grid) -> check-ins.
    """

    def judged_values(trials=(), totals=None):
        path = tmp_path / "trials.parquet"
        if trials:
            pd.concat(trials).to_parquet(path, index=False)
        ours = read_individual_trials([path] if trials else [])
        users = {"synthetic": 1_000_000, "san_francisco": 123_026, "paris": 11_190}
        return judge_values(PRINTED_VALUES, our_deltas, totals or {}, ours, users)

    return judged_values


def made_up_trials(dataset, *, k, n, cells):
    """200 errors, |N(0, 1)| / 1000, of TV (cell 0) and of each of the ``cells``, for each mechanism.

    They are rows as in a file of trials, of the experiment individual at eps0 = eps = 4.
    """
    errors = pd.DataFrame(
        columns=["mechanism", "cell", "repetition"],
        data=product(["shuffle", "shuffle+INV", "gaussian"], [0, *cells], range(200)),
    )
    errors["metric"] = np.where(errors["cell"] == 0, "tv", "individual_error")
    errors["value"] = np.abs(np.random.default_rng(n).standard_normal(len(errors))) / 1000
    return errors.assign(experiment="individual", dataset=dataset, eps0=4.0, eps=4.0, n=n, k=k)


@pytest.fixture
def trials_of_paris():
    """Made-up trials of all users of Paris, with the errors of the cells that Table VI prints."""
    return made_up_trials("paris", k=192, n=11_190, cells=range(20, 160, 20))


@pytest.fixture
def trials_of_all_points(trials_of_paris):
    """Made-up trials for every random value that the paper prints."""
    return [
        made_up_trials("synthetic", k=15, n=1000, cells=range(1, 14, 2)),
        made_up_trials("synthetic", k=15, n=100_000, cells=range(1, 14, 2)),
        made_up_trials("san_francisco", k=408, n=123_026, cells=range(40, 300, 40)),
        trials_of_paris,
    ]


@pytest.fixture
def judged(judge, trials_of_all_points):
    """The printed values with their verdicts, where there are trials and check-ins for all of them."""
    grids = product(["san_francisco", "paris"], ["uniform", "stepped"])
    return judge(trials_of_all_points, totals=dict.fromkeys(grids, 1000))


def test_judged_values_keep_their_columns_and_the_beginning_of_their_notes(judged):
    kept = [name for name in COLUMNS if name != "note"]
    assert judged[kept].equals(PRINTED_VALUES[kept])
    for note, printed_note in zip(judged["note"], PRINTED_VALUES["note"], strict=True):
        assert note.startswith(printed_note)


def test_only_deltas_of_koskela_are_not_comparable(judged):
    """For them we have no formula."""
    is_koskela = judged["mechanism"] == "koskela"
    assert (judged["verdict"] == "not comparable").equals(is_koskela)


@pytest.mark.parametrize("column", ["quantile", "low", "high"])
def test_only_random_values_have_a_quantile_and_an_interval(judged, column):
    assert (judged[column] != "").equals(judged["kind"] == "random")


def test_values_of_the_gaussian_have_no_exact_one_and_a_note_why(judged):
    is_gaussian = judged["mechanism"] == "gaussian"
    assert judged["note"].str.endswith(NO_GAUSSIAN).equals(is_gaussian)
    assert (judged.loc[is_gaussian, "exact"] == "").all()


@pytest.mark.parametrize("other", [{"experiment": "tv"}, {"eps0": 6.0}])
def test_trials_of_another_experiment_or_eps0_do_not_count(judge, trials_of_paris, other):
    others = trials_of_paris.assign(**other, value=9.0)
    with_others = pd.concat([others, trials_of_paris])
    assert judge([with_others]).equals(judge([trials_of_paris]))


def only_row(judged, **texts):
    """The one row that has these texts in these columns."""
    [row] = [row for row in judged.to_dict("records") if row.items() >= texts.items()]
    return row


def test_checkins_are_judged_by_the_stepped_grid_and_exact_in_the_whole_box(judge):
    """Of Paris the paper prints 10,260."""
    judged = judge(totals={("paris", "uniform"): 11_190, ("paris", "stepped"): 10_260})
    paris = only_row(judged, item="data", dataset="paris")
    assert paris["verdict"] == "same digits"
    assert (paris["reproduced"], paris["exact"]) == ("10260", "11190")


def test_checkins_that_differ_in_the_last_digits_are_close(judge):
    """Of San Francisco the paper prints 123,108."""
    grids = [("san_francisco", "uniform"), ("san_francisco", "stepped")]
    judged = judge(totals=dict.fromkeys(grids, 123_026))
    assert only_row(judged, item="data", dataset="san_francisco")["verdict"] == "close"


def test_a_printed_delta_that_theorem_1_gives_has_the_same_digits(judge):
    row = only_row(judge(), item="Table 1", mechanism="this paper", n="100", eps="0.4")
    assert row["verdict"] == "same digits"


def test_a_printed_delta_that_theorem_1_does_not_give_differs_even_below_floats(judge):
    row = only_row(judge(), item="Table II", mechanism="this paper", n="1000", eps="0.4")
    assert row["verdict"] == "differs"
    assert 0 < Decimal(row["reproduced"]) < Decimal("1e-308")  # below the smallest float


def test_an_error_is_judged_by_the_draws_of_its_own_cell_and_mechanism(judge, trials_of_paris):
    before = judge([trials_of_paris])
    moved = (trials_of_paris["cell"] == 60) & (trials_of_paris["mechanism"] == "gaussian")
    trials_of_paris.loc[moved, "value"] = 1.0
    after = judge([trials_of_paris])
    [row] = after[(after != before).any(axis=1)].to_dict("records")
    assert (row["dataset"], row["x0"], row["mechanism"]) == ("paris", "60", "gaussian")
    assert (row["verdict"], row["reproduced"]) == ("inconsistent", "1.00000e+0")


def test_values_without_trials_and_checkins_are_not_comparable(judge):
    judged = judge(trials=[], totals={})
    without = judged[judged["kind"].isin(["random", "data"])]
    assert (without[["reproduced", "quantile"]] == "").all(axis=None)
    assert set(without["verdict"]) == {"not comparable"}
    assert without["note"].str.contains("of the config has no trials at").sum() == 60
    assert without["note"].str.contains("no gridded dataset").sum() == 2  # two cities


def test_an_error_of_a_cell_without_trials_is_not_comparable(judge):
    judged = judge([made_up_trials("synthetic", k=15, n=1000, cells=[1])])
    row = only_row(judged, n="1000", x0="3", mechanism="gaussian")
    assert row["verdict"] == "not comparable"
    assert "has no individual_error of cell 3 for gaussian" in row["note"]


def test_errors_of_trials_with_another_number_of_cells_are_not_comparable(judge):
    judged = judge([made_up_trials("synthetic", k=20, n=100_000, cells=range(1, 14, 2))])
    other_k = judged[judged["note"].str.contains("our trials have k = 20, the paper's k = 15")]
    # Individual errors of 7 cells and the TV error, each of 2 mechanisms.
    assert len(other_k) == 16
    assert set(other_k["verdict"]) == {"not comparable"}
