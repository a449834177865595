"""The headlines under other seeds: each number lies in the range that the documents state."""

import json
from functools import cache

import pandas as pd
import pytest

from scripts.shared.configuration import PAPERS_FILE, merged, papers_eps0
from scripts.shared.findings import in_papers_settings
from tests import ROOT
from tests.workflow.conftest import Project

pytestmark = [pytest.mark.slow, pytest.mark.pipeline]

STATED = json.loads((ROOT / "data/reference/findings.json").read_text())
# Only the paper's eps0, and few bootstrap samples, as no interval is compared.
SETTINGS = "seed: {}\nparity: {{eps0: [4, 6], bootstrap: 10}}\n"
DELTA_HAT = [f"trials/delta_hat/{name}.csv" for name in ("synthetic", "san_francisco", "paris")]
TABLES = ["parity/parity_ratio.csv", "trials/constants.csv", *DELTA_HAT]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """A function: seed -> the tables of a run with this seed, by name."""
    folder = tmp_path_factory.mktemp("seeds")

    @cache
    def of_seed(seed):
        (folder / f"seed{seed}.yaml").write_text(SETTINGS.format(seed))
        options = ["-s", f"{ROOT}/Snakefile", "-d", ".", "--cores", "2"]
        project = Project(folder, arguments=[*options, "--configfile", f"seed{seed}.yaml"])
        results = f"results/seed{seed}"
        project.make(*(f"{results}/{name}" for name in TABLES))
        return {name: pd.read_csv(folder / results / name) for name in TABLES}

    return of_seed


def is_in_range(ratios, stated):
    return stated["low"] <= ratios.min() and ratios.max() <= stated["high"]


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_headlines_hold_under_another_seed(tables, seed):
    """The three ranges on errors: of the rerun, at equal privacy, and below eps0."""
    made = tables(seed)
    constants = made["trials/constants.csv"]
    assert is_in_range(constants["ratio"], STATED["rerun"])
    at_largest_n = (constants["experiment"] == "tv") & (constants["end"] == "largest")
    assert is_in_range(constants.loc[at_largest_n, "ratio"], STATED["rerun"]["largest_n"])

    ratios = made["parity/parity_ratio.csv"].query(
        "bound == 'upper' and comparison == 'projected' and metric == 'tv'"
    )
    like_papers = in_papers_settings(ratios, papers_eps0(merged([PAPERS_FILE])))
    assert len(like_papers) == STATED["papers_settings"]["of"]
    assert is_in_range(like_papers["ratio"], STATED["papers_settings"]["simultaneous"])

    trials = pd.concat(made[name] for name in DELTA_HAT)
    for noise, rows in trials.groupby("noise"):
        assert is_in_range(rows["ratio"], STATED["delta_hat"]["ratios"][noise])
