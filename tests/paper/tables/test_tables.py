"""The papers' tables: every printed value once, and the parameters."""

import pandas as pd

from scripts.paper.tables.write_tables import paper_tables
from scripts.paper.values.verdict_counts import read_verdicts
from tests import ROOT
from tests.report.world import real_verdicts

PARAMETERS = read_verdicts(ROOT / "data/published/parameters.csv")
SURFACE = {"n": 100, "k": 10, "eps": {"start": 0.1, "stop": 3.0, "steps": 30}, "eps0": 1}
BUDGETS = [{"eps0": 4, "eps": 4}]
SYNTHETIC = {"cells": 15, "tv": {"budgets": BUDGETS, "n": [2000]}}
SYNTHETIC["individual"] = {"budgets": BUDGETS, "n": [1000, "all"], "cells": [1, 3]}


def test_tables_have_every_printed_value_once():
    verdicts = pd.DataFrame(real_verdicts())
    tables = paper_tables(verdicts, PARAMETERS, SURFACE, SYNTHETIC)
    del tables["table_III"]  # parameters
    for name, rows in tables.items():
        printed = verdicts[verdicts["item"] == name.replace("table_", "Table ")]
        pd.testing.assert_frame_equal(rows, printed[[*rows]])


def test_table_iii_has_the_parameters():
    """Table III has a row per parameter and a column per experiment. Its cells are texts.

    The column Table IV has the printed parameters (`PARAMETERS`). The other two come from sections of a
    configuration. `SURFACE`, for Figure 1, has eps from 0.1 to 3.0 in 30 steps. `SYNTHETIC`, for the
    synthetic trials, has 15 cells, the budget eps0 = eps = 4, and two experiments: one with n = 2000, and one
    with n = 1000 and all users and the cells 1 and 3.
    """
    verdicts = pd.DataFrame(real_verdicts())
    table_iii = paper_tables(verdicts, PARAMETERS, SURFACE, SYNTHETIC)["table_III"]
    parameters = table_iii.set_index("parameter")
    assert parameters.loc["n", "Table IV"] == "50, 100, 150"
    assert parameters.loc["eps", "Table IV"] == "0.1, 0.5, 1, 1.5, 2, 2.5, 3"
    assert parameters.loc["eps", "Figure 1"] == "0.1 to 3.0, 30 steps"
    # n of both experiments together; x0 are the cells whose errors the second one takes.
    of_both = {"eps": "4", "eps0": "4", "n": "1000, 2000, all", "x0": "1, 3", "k": "15"}
    assert parameters["synthetic trials"].to_dict() == of_both

    # A configuration without this dataset leaves its column empty.
    without_trials = paper_tables(verdicts, PARAMETERS, SURFACE, {})["table_III"]
    assert set(without_trials["synthetic trials"]) == {""}
