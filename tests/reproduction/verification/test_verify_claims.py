"""The script that judges the paper's statements: from files to files."""

import pandas as pd

from reproduction.verification.claims import literature, privacy
from reproduction.verification.claims.registry import RESULT_COLUMNS
from reproduction.verification.printed import read_values
from tests import ROOT
from tests.reproduction.jobs.fake_job import fake_job, run_script
from tests.reproduction.verification.claims import world


def test_every_statement_gets_its_row(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for module in (literature, privacy):  # the real bounds take seconds
        monkeypatch.setattr(module, "bracket", world.bracket)
    world.trial_frame().to_parquet("trials.parquet", index=False)
    world.parity_frame().to_parquet("parity.parquet", index=False)
    values = read_values(ROOT / "data/published/values.csv")
    values[values["quantity"] == "delta"].assign(exact=-3.0).to_csv("deltas.csv", index=False)
    listed = ROOT / "data/published/claims.csv"
    inputs = {"claims": str(listed), "values": str(ROOT / "data/published/values.csv"), "estimates": []}
    inputs |= {"deltas": "deltas.csv", "trials": ["trials.parquet"], "parity": ["parity.parquet"]}
    outputs = ["claim_verdicts.csv"]
    params = {"sensitivity": 1, "boxes": {}}
    run_script("judge_claims", fake_job("judge_claims", input=inputs, output=outputs, params=params))
    judged, listed = (pd.read_csv(path, keep_default_na=False) for path in ("claim_verdicts.csv", listed))
    assert tuple(judged.columns) == RESULT_COLUMNS
    pd.testing.assert_frame_equal(judged[list(listed.columns)].astype(str), listed.astype(str))
    rows = judged.set_index("id")
    readings = ["verdict_published", "verdict_exact"]
    assert rows.loc["figure-2-inversion", readings].tolist() == ["fails", "holds"]  # as made up
    assert rows.loc["figure-7-inversion", "verdict"] == "untestable"  # no trials of Paris
    # one calibration at eps = eps0, in all files of trials together
    assert rows.loc["equal-privacy", "statistic_published"].startswith("false; for sensitivity 1, ")
