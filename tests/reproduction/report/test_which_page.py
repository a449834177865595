"""What the study says: its sentences and its table, from rows whose answer is plain."""

import pandas as pd

from reproduction.report.which_page import statement, which_lines, which_page

RATIOS = {"grr": 1.2, "subset": 1.2, "oue": 1.5, "hash": 1.6, "rappor": 4.0, "hadamard": 9.0}


def row(n, randomizer, ratio, rule="1e-06", lower=None):
    tv = 0.1 * ratio if n > 1000 else ratio
    return {
        "n": n, "k": 16, "eps": 1.0, "delta": 1e-6, "delta_rule": rule, "randomizer": randomizer,
        "name": "grr" if randomizer in ("grr", "subset") else randomizer, "eps0": 3.0, "bits": 4.0, "tv": tv,
        "ratio": ratio, "ratio_lower": lower, "local_tv": 5 * tv, "gaussian_tv": 0.4, "geometric_tv": 0.2,
    }  # fmt: skip


def table():
    rows = [row(n, name, ratio, lower=ratio) for n in (1000, 10_000) for name, ratio in RATIOS.items()]
    # a second rule of delta, where another one wins by more than 0.1 %
    rows += [row(1000, name, ratio - 0.4 * (name == "oue"), "n^-1.1") for name, ratio in RATIOS.items()]
    return pd.DataFrame(rows)


def test_the_sentences_count_wins_and_name_extremes():
    first, ties, larger, useless, _, wins, _, _, sure, small, central, gain, _, large, largest = statement(
        table()
    )
    assert first == (
        "The 3 settings have n from 1,000 to 10,000, k from 16 to 16 and eps from 1 to 1,"
        " each with delta = 1e-06 and n^-1.1."
    )
    assert "in 2 of 3 settings" in wins
    assert "k-RR has the smallest" in ties
    assert "in 2 of 3 settings (2 of 2 with delta = 1e-06)." in ties
    assert "the error of k-RR is 9.1 to 9.1 % larger" in larger  # 1.2 / 1.1
    assert useless == "There the smallest total variation error is at least 1.1, so no estimate is useful."
    assert "in 2 of 2 settings" in sure
    assert "is 1.20 to 1.20 times" in small
    assert small.endswith("guarantee.")
    wider = table().assign(eps=lambda rows: rows["eps"] + (rows["n"] == 1000))
    assert "guarantee; at eps = 2 it is up to 1.20 times." in statement(wider)[9]
    assert "is 2.0 to 2.0 times" in central
    assert "at least 5.0 times" in gain
    assert "At n = 10,000 and eps up to 1" in large
    assert "at least 1.5 times" in large
    assert "RAPPOR it is at least 4.0 times that, and for Hadamard response at least 9 times" in largest


def test_nothing_is_said_of_settings_in_which_k_rr_loses_if_there_are_none():
    rows = table()
    few = statement(rows[rows["delta_rule"] == "1e-06"])
    assert len(few) == len(statement(rows)) - 2
    assert not any("larger than" in sentence or "There" in sentence for sentence in few)


def test_subset_selection_may_win_with_more_than_one_value():
    rows = table()
    best = (rows["randomizer"] == "subset") & (rows["delta_rule"] == "1e-06")
    name = rows["name"].mask(best, "subset:2")
    told = statement(rows.assign(ratio=rows["ratio"].mask(best, 1.0), name=name))
    _, ties, larger, useless, _, single, wins, *_ = told
    assert single == "Where the smallest error is below 0.1, m = 1 is the best."
    assert "in 2 of 3 settings" in wins
    assert "in 0 of 3 settings" in ties
    assert "In the other 3, the error of k-RR is 9.1 to 20 % larger" in larger
    assert "at least 0.1." in useless


def test_the_error_is_named_where_a_looser_bound_may_hide_a_smaller_one():
    rows = table()
    hidden = (rows["randomizer"] == "oue") & (rows["n"] == 10_000)
    told = statement(rows.assign(ratio_lower=rows["ratio_lower"].mask(hidden, 1.0)))
    sure = next(place for place, sentence in enumerate(told) if "in 1 of 2 settings" in sentence)
    assert told[sure + 1] == "In the other one, the smallest total variation error is at least 0.1."


def test_rules_that_are_all_numbers_are_read_as_numbers():
    rows = table()
    rows = rows[rows["delta_rule"] == "1e-06"]
    assert statement(rows.assign(delta_rule=1e-6)) == statement(rows)


def test_two_cells_are_not_in_the_range_as_the_gaussian_ignores_their_fixed_sum():
    both = pd.concat([table(), table().assign(k=2, ratio=lambda rows: 0.6 * rows["ratio"])])
    assert statement(both)[9] == statement(table())[9]
    assert statement(both)[9].startswith("For eps up to 1 and k > 2")


def test_a_line_names_the_best_or_says_that_none_is_good_enough():
    which = {"n": [1000, 10_000], "k": [16], "eps": [1]}
    assert which_lines(table(), which) == [
        ["1,000", "16", "1", "more users or fewer values", "3.00", "4", "above 1", "1.20", "above 1"],
        ["10,000", "16", "1", "k-RR", "3.00", "4", "0.12", "1.20", "0.6"],
    ]
    assert which_page(table(), which).count("\n|") == 4
