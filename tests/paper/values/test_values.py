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
from scripts.shared.printed import (
    COLUMNS,
    parse_tolerance,
    printed_to_decimal,
    read_values,
    records,
)
from tests import ROOT

VALUES = read_values(ROOT / "data/published/values.csv")
ROWS = records(VALUES)
ITEMS = {
    "Table II": 40,
    "Table 1": 20,
    "Table IV": 63,
    "Table V": 28,
    "Table VI": 28,
    "text": 4,
    "data": 2,
}
NEEDED = {  # quantity -> number of rows, kind, rule, columns that are never empty
    "delta": (123, "deterministic", "digits", "n eps0 eps mechanism"),
    "individual_error": (56, "random", "central", "n k eps0 eps x0 dataset mechanism"),
    "tv": (4, "random", "central", "n k eps0 eps dataset mechanism"),
    "checkins": (2, "data", "digits", "dataset"),
}
SIZES = {("san_francisco", "uniform"): 123026, ("san_francisco", "stepped"): 123026}
TOTALS = SIZES | {("paris", "uniform"): 11190, ("paris", "stepped"): 10260}
USERS = {"synthetic": 1_000_000, "san_francisco": 123_026, "paris": 11_190}
POINTS = [  # dataset, k and n of Tables V and VI
    ("synthetic", 15, 1000), ("synthetic", 15, 100_000),
    ("san_francisco", 408, 123_026), ("paris", 192, 11_190),
]  # fmt: skip
CELLS = [*range(1, 14, 2), *range(20, 300, 20)]  # every x0 of Tables V and VI
MECHANISMS = ("shuffle", "shuffle+INV", "gaussian")


def test_every_printed_value_has_its_row():
    """values.csv has a row per printed value: `ROWS` are its rows as texts, `VALUES` the same as a table.

    Written by hand, `ITEMS` has the number of rows of each table of the paper. `NEEDED` has for each quantity
    the number of rows, their kind, the rule of their tolerance, and the columns that are never empty.
    """
    assert Counter(row["item"] for row in ROWS) == ITEMS
    # No value is there twice: the rows differ in more than the number and the note.
    settings = VALUES.drop(columns=["printed", "note"])
    assert not settings.duplicated().any()
    assert len(ROWS) == 185
    for quantity, (number, kind, rule, columns) in NEEDED.items():
        rows = [row for row in ROWS if row["quantity"] == quantity]
        assert len(rows) == number
        for row in rows:
            assert (row["kind"], parse_tolerance(row["tolerance"])[0]) == (kind, rule)
            assert all(row[name] for name in ("source", *columns.split()))
            if row["mechanism"] == "this paper":
                # The paper's own deltas: of n users, 0.8 n hold x0.
                assert 10 * int(row["count"]) == 8 * int(row["n"])


def test_a_setting_in_all_three_parts_of_table_iv_has_the_same_deltas_there():
    table_iv = VALUES.query("item == 'Table IV' and eps0 == '2' and n == '100' and k == '10'")
    parts = [rows[["eps", "printed"]].to_numpy() for _, rows in table_iv.groupby("source")]
    first, second, third = parts
    assert np.array_equal(first, second)
    assert np.array_equal(first, third)


def test_printed_deltas_fall_with_eps():
    """In each line, the deltas of one mechanism in one setting, delta falls as eps rises.

    A slip in copying an exponent would show here. `ROWS` are the printed values as texts.
    """
    lines = {}  # (source, mechanism, n, k, eps0) -> [(eps, delta), ...] in the order of the file
    for row in ROWS:
        if row["quantity"] == "delta":
            # Within Table II the eps0 of a literature column changes at n = 1,000: data/published/README.md.
            eps0 = row["eps0"] if row["item"] == "Table IV" else ""
            line = (row["source"], row["mechanism"], row["n"], row["k"], eps0)
            delta = printed_to_decimal(row["printed"])
            lines.setdefault(line, []).append((float(row["eps"]), delta))
    # Table II has four mechanisms at two n, Table 1 five mechanisms, and Table IV nine lines.
    assert len(lines) == 2 * 4 + 5 + 9
    for line in lines.values():
        assert line == sorted(line)  # by eps
        # A delta that is printed as 0 may follow another such one.
        deltas = [delta for _, delta in line]
        assert all(after < before or after == before == 0 for before, after in pairwise(deltas))


@pytest.fixture(scope="module")
def deltas(tmp_path_factory):
    """The file with our delta of every printed one."""
    path = tmp_path_factory.mktemp("privacy") / "printed_deltas.csv"
    printed_deltas(VALUES).to_csv(path, index=False)
    return path


def make_trials(rng, dataset, k, n, cells=CELLS):
    """Made-up trials of one point: 200 errors of each of the ``cells`` and of TV, for each mechanism.

    They are rows as in a file of trials, of the experiment individual at eps0 = eps = 4. Of the ``cells``,
    by default all whose errors the paper prints, those up to ``k`` are there; cell 0 stands for TV.

    The errors are |N(0, 1)| / 1000. Rows of another experiment, all with the error 9, and of another eps0,
    with the error 5, are added: they must not count.
    """
    setting = {"experiment": "individual", "dataset": dataset, "eps0": 4.0, "eps": 4.0}
    cells_of_metric = {"tv": [0], "individual_error": [cell for cell in cells if cell <= k]}
    frames = []
    for mechanism, (metric, measured) in product(MECHANISMS, cells_of_metric.items()):
        repeated = np.repeat(measured, 200)
        errors = np.abs(rng.standard_normal(len(repeated))) / 1000
        draws = {"mechanism": mechanism, "metric": metric, "cell": repeated, "value": errors}
        frames.append(pd.DataFrame(setting | {"n": n, "k": k} | draws))
    trials = pd.concat(frames)
    other_experiment = trials.assign(experiment="tv", value=9.0)
    other_eps0 = trials.assign(eps0=6.0, value=5.0)
    return pd.concat([other_experiment, other_eps0, trials])


@pytest.fixture
def judge(deltas, tmp_path):
    """Function of trials, a frame for each point: the rows of the printed values with their verdicts."""

    def judged_rows(frames, totals=TOTALS):
        path = tmp_path / "trials.parquet"
        pd.concat(frames).to_parquet(path, index=False)
        trials = read_individual_trials([path])
        judged = judge_values(VALUES, read_deltas(deltas, VALUES), totals, trials, USERS)
        return judged.to_dict("records")

    return judged_rows


@pytest.fixture
def frames():
    """Made-up trials of every point of `POINTS`, in this order: the last is Paris."""
    rng = np.random.default_rng(3)
    return [make_trials(rng, *point) for point in POINTS]


def test_every_value_gets_its_verdict(judge, frames):
    """``frames`` are made-up trials of all points of the paper's tables, with errors below 1.

    ``judge`` gives a row for each printed value, in the order of `ROWS`, which are those of values.csv. A
    random value has an interval (low to high) and a quantile. A row of the Gaussian has no exact value, and
    its note ends with `NO_GAUSSIAN`, why there is none. For the mechanism koskela we have no formula.
    """
    for row, given in zip(judge(frames), ROWS, strict=True):
        # The columns of values.csv are kept, and the note may go on.
        assert row.items() >= {name: given[name] for name in COLUMNS if name != "note"}.items()
        assert row["note"].startswith(given["note"])
        assert (row["verdict"] == "not comparable") == (row["mechanism"] == "koskela")
        has_interval = [bool(row[name]) for name in ("quantile", "low", "high")]
        assert has_interval == [row["kind"] == "random"] * 3
        assert row["note"].endswith(NO_GAUSSIAN) == (row["mechanism"] == "gaussian")
        assert not (row["mechanism"] == "gaussian" and row["exact"])
        # The trials' rows of another experiment or eps0, with the errors 9 and 5, do not count.
        assert not row["high"] or float(row["high"]) < 1


def test_the_verdicts_of_checkins_and_deltas_come_from_our_numbers(judge, frames):
    """For each value: its verdict, what we get as the paper does it, and the exact number.

    ``judge`` judges all printed values by our own: the numbers of check-ins (`TOTALS`, by city and grid), our
    deltas, and trials, here ``frames``. For Paris the paper prints 10,260, the check-ins that a stepped grid
    leaves of the 11,190 in the box. For San Francisco it prints 123,108, 82 more than the bundled data have.
    """
    rows = pd.DataFrame(judge(frames)).set_index(["item", "dataset", "mechanism", "n", "eps"])
    judged = rows[["verdict", "reproduced", "exact"]].sort_index()
    [paris] = judged.loc["data", "paris"].to_numpy().tolist()
    assert paris == ["same digits", "10260", "11190"]
    [san_francisco] = judged.loc["data", "san_francisco"].to_numpy().tolist()
    assert san_francisco == ["close", "123026", "123026"]

    # Two printed deltas of Theorem 1: one that its formula gives, and one that it does not give.
    assert judged.loc["Table 1", "", "this paper", "100", "0.4"]["verdict"] == "same digits"
    deep = judged.loc["Table II", "", "this paper", "1000", "0.4"]
    assert deep["verdict"] == "differs"
    assert 0 < Decimal(deep["reproduced"]) < Decimal("1e-308")  # below the smallest float


def test_verdicts_use_the_right_draws(judge, frames):
    """One cell's Gaussian errors are moved to 1: only that value of Table VI becomes inconsistent by it."""
    before = judge(frames)
    paris = frames[3]
    is_moved = (paris["cell"] == 60) & (paris["mechanism"] == "gaussian") & (paris["eps0"] == 4)
    paris.loc[is_moved, "value"] = 1.0
    [changed] = [row for row, other in zip(judge(frames), before, strict=True) if row != other]
    assert (changed["dataset"], changed["x0"], changed["mechanism"]) == ("paris", "60", "gaussian")
    assert (changed["verdict"], changed["reproduced"]) == ("inconsistent", "1.00000e+0")


def test_what_was_not_run_is_not_comparable(judge):
    """A printed value for which we have no trials has the verdict "not comparable", and its note says why.

    Only the synthetic dataset was run: with 1,000 users for cell 1 alone, and with 100,000 users in 20 cells,
    where the paper has 15. ``judge`` gives a row for each printed value. ``values_by_reason`` is a part of
    the note -> the number of printed values that have it.
    """
    rng = np.random.default_rng(4)
    frames = [
        make_trials(rng, "synthetic", 15, 1000, [1]),
        make_trials(rng, "synthetic", 20, 100_000),
    ]
    rows = [row for row in judge(frames, totals={}) if row["verdict"] == "not comparable"]
    assert all(not row["reproduced"] and not row["quantile"] for row in rows)
    values_by_reason = {
        "has no individual_error of cell 3 for gaussian": 1,  # one example of 1,000 users
        # 100,000 users: individual errors of 7 cells and the TV error, each of 2 mechanisms.
        "our trials have k = 20, the paper's k = 15": 16,
        "of the config has no trials at": 28,  # Table VI
        "no gridded dataset": 2,  # the check-ins of two cities
    }
    for reason, number in values_by_reason.items():
        assert sum(reason in row["note"] for row in rows) == number
