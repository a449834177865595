"""What the study says: its sentences and its table, from rows whose answer is plain."""

import pandas as pd

from scripts.study.write_which import statement, which_lines, which_page

RATIOS = {"grr": 1.2, "subset": 1.2, "oue": 1.5, "hash": 1.6, "rappor": 4.0, "hadamard": 9.0}


def row(n, randomizer, ratio, rule="1e-06"):
    tv = 0.1 * ratio if n > 1000 else ratio
    return {
        "n": n, "k": 16, "eps": 1.0, "delta": 1e-6, "delta_rule": rule, "randomizer": randomizer,
        "name": "grr" if randomizer in ("grr", "subset") else randomizer, "eps0": 3.0, "bits": 4.0, "tv": tv,
        "ratio": ratio, "local_tv": 5 * tv,
    }  # fmt: skip


def table():
    rows = [row(n, name, ratio) for n in (1000, 10_000) for name, ratio in RATIOS.items()]
    # a second rule of delta, where another one wins by more than 0.1 %
    rows += [row(1000, name, ratio - 0.4 * (name == "oue"), "n^-1.1") for name, ratio in RATIOS.items()]
    return pd.DataFrame(rows)


def test_the_sentences_count_wins_and_name_extremes():
    first, ties, larger, useless, wins, small, local, large = statement(table())
    assert first.startswith("The 3 settings have n from 1,000 to 10,000, k from 16 to 16 and eps from 1 to 1")
    assert "in 2 of 3 settings (2 of 2 with delta = 1e-06)." in ties
    assert "In the other 1, the error of k-RR is 9.1 to 9.1 % larger" in larger  # 1.2 / 1.1
    assert useless == (
        "In 0 of these, the smallest total variation error is at most 0.5; elsewhere it is at least 1.1."
    )
    assert "in 2 of 3 settings" in wins
    assert "is 1.20 to 1.20 times" in small
    assert "at least 5.0 times" in local
    assert "RAPPOR 4.0 times, and that of Hadamard response 9 times." in large


def test_two_cells_and_a_larger_eps_are_told_apart():
    rows = table()
    both = pd.concat([rows, rows.assign(k=2, ratio=0.6 * rows["ratio"])])
    assert statement(both)[5] == statement(rows)[5]  # the Gaussian ignores that two counts have a fixed sum
    wider = rows.assign(eps=rows["eps"] + (rows["n"] == 1000))
    assert statement(wider)[5].endswith("guarantee; at eps = 2 it is up to 1.20 times.")


def test_a_line_names_the_best_or_says_that_none_is_good_enough():
    which = {"n": [1000, 10_000], "k": [16], "eps": [1]}
    assert which_lines(table(), which) == [
        ["1,000", "16", "1", "more users or fewer values", "3.00", "4", "above 1", "1.20", "above 1"],
        ["10,000", "16", "1", "k-RR", "3.00", "4", "0.12", "1.20", "0.6"],
    ]
    assert which_page(table(), which).count("\n|") == 4
