"""The script that judges the paper's statements: from files to files."""

import pandas as pd
import pytest

from reproduction.verification.claims import literature, privacy
from reproduction.verification.claims.evidence import printed_numbers
from reproduction.verification.claims.registry import RESULT_COLUMNS
from reproduction.verification.printed import read_values
from tests import ROOT
from tests.reproduction.jobs.fake_job import errors, fake_job, run_script
from tests.reproduction.verification.claims import fabricated


@pytest.fixture
def snakemake(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    trials = tmp_path / "trials.parquet"
    fabricated.trial_frame(n=1000).to_parquet(trials, index=False)
    parity = tmp_path / "parity.parquet"
    fabricated.parity_frame(n=1000).to_parquet(parity, index=False)
    run = tmp_path / "run.csv"
    point = {"dataset": "paris", "eps0": 4, "eps": 4, "n": 11190, "delta": 1e-30}
    cells = {"original": 0.5, "gaussian": [0.4, 0.7], "shuffle+INV": [0.9, 0.1]}
    pd.DataFrame(point | cells).to_csv(run, index=False)
    values = read_values(ROOT / "data/published/values.csv")
    deltas = values[values["quantity"] == "delta"].assign(exact=-3.0)
    deltas.loc[deltas["mechanism"] == "erlingsson", "exact"] = None
    deltas.to_csv(tmp_path / "deltas.csv", index=False)
    inputs = {
        "claims": str(ROOT / "data/published/claims.csv"),
        "values": str(ROOT / "data/published/values.csv"),
        "deltas": str(tmp_path / "deltas.csv"),
        "trials": [str(trials)],
        "estimates": [str(run)],
        "parity": [str(parity)],
    }
    outputs = {"csv": "claim_verdicts.csv", "md": "claim_verdicts.md"}
    params = {"sensitivity": 1, "boxes": {}}
    return fake_job("judge_claims", input=inputs, output=outputs, params=params)


def test_every_statement_gets_its_row(snakemake, tmp_path, monkeypatch):
    for module in (literature, privacy):  # the real bounds take seconds
        monkeypatch.setattr(module, "bracket", fabricated.bracket)
    run_script("judge_claims", snakemake)
    judged = pd.read_csv(tmp_path / "claim_verdicts.csv", keep_default_na=False)
    listed = pd.read_csv(ROOT / "data/published/claims.csv", keep_default_na=False)
    assert tuple(judged.columns) == RESULT_COLUMNS
    pd.testing.assert_frame_equal(judged[list(listed.columns)].astype(str), listed.astype(str))
    row = judged.set_index("id").loc["figure-2-inversion"]
    assert (row["verdict_published"], row["verdict_exact"]) == ("fails", "holds")  # as fabricated
    assert judged.set_index("id").loc["figure-7-inversion"]["verdict"] == "untestable"  # no trials of Paris
    cross, statements = (tmp_path / "claim_verdicts.md").read_text().split("\n| claim |")
    assert statements.count("\n| ") == len(judged) + 1  # the header's rule
    assert "\n| untestable | " in cross


def test_cited_bounds_that_do_not_apply_are_no_numbers(snakemake):
    deltas = pd.read_csv(snakemake.input.deltas)
    found = printed_numbers(read_values(snakemake.input.values), deltas)
    cited = found.set_index(["item", "mechanism", "n", "eps"]).sort_index()["log10_cited"]
    assert cited["Table II", "balle", 100, 0.1] == -3.0
    for none in (("Table II", "erlingsson"), ("Table II", "this paper")):
        assert cited[none].isna().all()
    assert found["log10_printed"].max() == pytest.approx(5.09, abs=0.01)  # 123,108 check-ins


def test_a_bad_list_of_statements_is_one_line(snakemake, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("id,claim\n")
    snakemake.input.claims = str(bad)
    with pytest.raises(SystemExit):
        run_script("judge_claims", snakemake)
    error = errors()
    assert error.count("\n") == 1
    assert error.startswith(f"error: judge_claims: {bad}: the columns must be id,claim,version")
    assert not (tmp_path / "claim_verdicts.csv").exists()
