"""The papers' tables: every printed value in its cell, and the parameters."""

import pandas as pd
import pytest

from reproduction.report.claims_page import claims_page
from reproduction.report.tables import TESTED, errors_page, paper_tables
from reproduction.verification.verdicts import read_verdicts
from tests import ROOT
from tests.reproduction.report.report_page import real_verdicts, row

PARAMETERS = read_verdicts(ROOT / "data/published/parameters.csv")
SURFACE = {"n": 100, "k": 10, "count": 80, "eps": {"start": 0.1, "stop": 3.0, "steps": 30}, "eps0": 1}


@pytest.fixture(scope="module")
def verdicts():
    return pd.DataFrame(real_verdicts())


NO_JOINT = pd.DataFrame(columns=["item"])


def test_tables_show_every_printed_value_once(verdicts):
    tables = paper_tables(verdicts, PARAMETERS, SURFACE, {}, NO_JOINT, NO_JOINT)
    del tables["table_III"]
    for name, (rows, page) in tables.items():
        printed = verdicts[verdicts["item"] == name.replace("table_", "Table ")]
        pd.testing.assert_frame_equal(rows, printed[[*rows]])
        cells = page.count("**") - 2 * page.count("**printed**")
        assert cells == 2 * len(printed)
        assert all(f"**{found['printed']}** · " in page for found in printed.to_dict("records"))
    grids = [part for part in tables["table_IV"][1].split("\n\n") if part.startswith("|")]
    assert [len(grid.splitlines()) for grid in grids] == [5, 5, 5]
    assert "| eps0 = 1 | **2.08E-20** · 2.080E-20 = · 2.500E-3 |" in grids[0]


def test_a_cell_needs_one_value():
    rows = pd.DataFrame([row(item="Table V", n="1000", x0="1", mechanism="gaussian", printed="0.1")] * 2)
    with pytest.raises(ValueError, match="exactly one printed value; got 2"):
        errors_page(rows, "n", NO_JOINT)


def test_joint_tests_are_told_in_three_digits(verdicts):
    line = {
        "item": "Table V",
        "mechanism": "gaussian",
        "line": "",
        "values": "14",
        "p": "0.080695",
        "verdict": "so",
    }
    joint = pd.DataFrame(
        [dict.fromkeys(TESTED, "") | line, dict.fromkeys(TESTED, "x") | {"item": "Table VI"}]
    )
    page = errors_page(verdicts[verdicts["item"] == "Table V"], "n", joint)
    assert page.splitlines()[-1] == "| Table V | gaussian | – | – | 14 | – | 0.0807 | – | so | – | – | – |"


def test_parameters(verdicts):
    synthetic = {
        "cells": 15,
        "tv": {"budgets": [{"eps0": 4, "eps": 4}], "n": [2000]},
        "individual": {"budgets": [{"eps0": 4, "eps": 4}], "n": [1000, "all"], "cells": [1, 3]},
    }
    frame, page = paper_tables(verdicts, PARAMETERS, SURFACE, synthetic, NO_JOINT, NO_JOINT)["table_III"]
    frame = frame.set_index("parameter")
    assert frame.loc["n", "Table IV"] == "50, 100, 150"
    assert frame.loc["eps", "Table IV"] == "0.1, 0.5, 1, 1.5, 2, 2.5, 3"
    assert frame.loc["eps", "Figure 1"] == "0.1 to 3.0, 30 steps"
    assert frame["synthetic trials"].to_dict() == {
        "eps": "4", "eps0": "4", "n": "1000, 2000, all", "x0": "1, 3", "k": "15",
    }  # fmt: skip
    assert page.count("\n| ") == len(frame) + 2
    without, _ = paper_tables(verdicts, PARAMETERS, SURFACE, {}, NO_JOINT, NO_JOINT)["table_III"]
    assert set(without["synthetic trials"]) == {""}


def test_the_claims_page_escapes_bars():
    names = ("claim", "quote", "where", "about", "verdict_published", "verdict_exact", "verdict", "why")
    row = dict(zip(names, ("a | b", "b", "SV 5", "it", "holds", "fails", "fails", "so"), strict=True))
    page = claims_page(pd.DataFrame([row | {"family": ""}]))
    assert "| a \\| b | \u201cb\u201d SV 5; it | holds |" in page
    assert "| holds | 0 | 1 |" in page  # as published it holds, for the exact values it fails
