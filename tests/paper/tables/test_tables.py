"""The papers' tables: every printed value once, and the parameters."""

import pandas as pd

from scripts.paper.tables.write_tables import paper_tables
from scripts.paper.values.verdict_counts import read_verdicts
from tests import ROOT
from tests.report.world import real_verdicts


def tables_with(**sections):
    """The tables by name, with these sections of the config: ``surface`` (Figure 1) and ``synthetic``."""
    verdicts = pd.DataFrame(real_verdicts())
    parameters = read_verdicts(ROOT / "data/published/parameters.csv")
    sections = {"surface": {}, "synthetic": {}} | sections
    return paper_tables(verdicts, parameters, **sections)


def test_tables_have_every_printed_value_once():
    verdicts = pd.DataFrame(real_verdicts())
    tables = tables_with()
    del tables["table_III"]  # parameters
    for name, rows in tables.items():
        printed = verdicts[verdicts["item"] == name.replace("table_", "Table ")]
        pd.testing.assert_frame_equal(rows, printed[[*rows]])


def test_table_iii_has_the_parameters_of_table_iv():
    of_table_iv = tables_with()["table_III"].set_index("parameter")["Table IV"]
    assert of_table_iv["n"] == "50, 100, 150"
    assert of_table_iv["eps"] == "0.1, 0.5, 1, 1.5, 2, 2.5, 3"


def test_table_iii_has_the_range_of_eps_in_figure_1():
    tables = tables_with(surface={"eps": {"start": 0.1, "stop": 3.0, "steps": 30}})
    of_figure_1 = tables["table_III"].set_index("parameter")["Figure 1"]
    assert of_figure_1["eps"] == "0.1 to 3.0, 30 steps"


def test_table_iii_has_the_parameters_of_both_experiments_on_synthetic_data():
    """k is the number of cells of the dataset, and x0 are the cells whose individual errors are measured."""
    budgets = [{"eps0": 4, "eps": 4}]
    synthetic = {
        "cells": 15,
        "tv": {"budgets": budgets, "n": [2000]},
        "individual": {"budgets": budgets, "n": [1000, "all"], "cells": [1, 3]},
    }
    parameters = tables_with(synthetic=synthetic)["table_III"].set_index("parameter")
    of_both = {"eps": "4", "eps0": "4", "n": "1000, 2000, all", "x0": "1, 3", "k": "15"}
    assert parameters["synthetic trials"].to_dict() == of_both


def test_table_iii_has_an_empty_column_without_synthetic_trials():
    assert set(tables_with(synthetic={})["table_III"]["synthetic trials"]) == {""}
