"""The crate of a run: every file with the sum of its bytes, every job, no date but those of the jobs."""

import base64
import hashlib
import json
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest

from reproduction.jobs import checksums, crate
from reproduction.jobs.code import ROOT, code_of
from tests.reproduction.jobs.fake_job import errors, fake_job, run_script

FIGURE, TABLE, OWN = "results/figures/mine 1.png", "results/table.csv", "data/own counts.csv"
PROJECT = [crate.CITATION, crate.WORKFLOW]
SETTINGS = {"seed": 7, "datasets": {"mine": {"n": [10, 20]}}}
ADDRESS = "https://example.org/raw.txt.gz?a=1&b=2"
RAW = "data/raw/raw.txt.gz"


def record(output, rule, script, inputs, start):
    """What Snakemake keeps of the job behind this output."""
    name = base64.urlsafe_b64encode(output.encode()).decode()
    parts = [name[i : i + 20] for i in range(0, len(name), 20)]  # a long name is cut into folders
    path = crate.RECORDS.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
    path.parent.mkdir(parents=True, exist_ok=True)
    kept = {"rule": rule, "input": inputs, "log": [f"results/logs/{rule}/a.log"], "starttime": start}
    code = repr(code_of(script))
    path.write_text(
        json.dumps({**kept, "params": ["3", code], "code": f'"../../{script}"\n', "endtime": start + 1.5})
    )


@pytest.fixture
def finished_run(tmp_path, monkeypatch):
    """Two jobs, a dataset of the user's and a file from the web, in a folder that is not the checkout."""
    monkeypatch.chdir(tmp_path)
    for path, content in {
        OWN: b"cell,count\n1,2\n",
        RAW: b"raw",
        TABLE: b"a\n1\n",
        FIGURE: b"\x89PNG",
    }.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(content)
    with checksums.recorded([], [TABLE, FIGURE]):
        pass
    record(TABLE, "use_counts", "scripts/use_counts.py", [OWN, RAW], 1_700_000_000.0)
    record(FIGURE, "draw_figure", "scripts/draw_figure.py", [TABLE], 1_700_000_002.0)


def written(path="results/crate.zip"):
    params = {"project": PROJECT, "settings": SETTINGS, "addresses": {RAW: ADDRESS}}
    job = fake_job("write_crate", input={"results": [FIGURE]}, output=[path], params=params)
    run_script("write_crate", job)
    return Path(path)


def entities(path):
    with zipfile.ZipFile(path) as archive:
        return {entity["@id"]: entity for entity in json.loads(archive.read(crate.METADATA))["@graph"]}


def wrong_files(path):
    """The files of a crate whose bytes are not those that it states, or that only one of the two has."""
    files = {unquote(name): one for name, one in entities(path).items() if "File" in one["@type"]}
    stated = {
        name: (one["sha256"], int(one["contentSize"])) for name, one in files.items() if ":" not in name
    }
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if name != crate.METADATA}
    found = {name: (hashlib.sha256(content).hexdigest(), len(content)) for name, content in held.items()}
    return {name for name, _ in stated.items() ^ found.items()}


def references(value):
    if isinstance(value, dict):
        return [value["@id"]]
    return [name for one in value for name in references(one)] if isinstance(value, list) else []


def dangling(path):
    """References to nothing in the crate, other than the two specifications that it conforms to."""
    held = entities(path)
    named = {name for one in held.values() for value in one.values() for name in references(value)}
    return named - held.keys() - {crate.RO_CRATE}


def test_every_file_has_the_stated_sum(finished_run):
    path = written()
    assert wrong_files(path) == set()
    with zipfile.ZipFile(path) as archive:
        names = set(archive.namelist())
        assert archive.read(FIGURE) == b"\x89PNG"
    scripts = {"scripts/use_counts.py", "scripts/draw_figure.py", "reproduction/jobs/checksums.py"}
    assert names >= {FIGURE, TABLE, OWN, *PROJECT, *scripts, crate.METADATA}
    assert RAW not in names
    assert entities(path)[ADDRESS]["sha256"] == hashlib.sha256(b"raw").hexdigest()


def test_a_broken_file_is_noticed(finished_run):
    broken = Path("broken.zip")
    with zipfile.ZipFile(written()) as whole, zipfile.ZipFile(broken, "w") as copy:
        for name in whole.namelist():
            if name != "LICENSE":
                copy.writestr(name, b"other" if name == FIGURE else whole.read(name))
    assert wrong_files(broken) == {FIGURE}


def test_says_which_job_made_which_file_from_which(finished_run):
    path = written()
    held = entities(path)
    assert dangling(path) == set()
    drawn, used = held["#job/draw_figure/a"], held["#job/use_counts/a"]
    assert drawn["result"] == {"@id": "results/figures/mine%201.png"}
    assert {"@id": TABLE} in drawn["object"]
    assert (drawn["startTime"], drawn["endTime"]) == (
        "2023-11-14T22:13:22+00:00",
        "2023-11-14T22:13:23+00:00",
    )
    assert used["result"] == {"@id": TABLE}
    assert set(references(used["object"])) == {"data/own%20counts.csv", ADDRESS, "#parameters/use_counts/a"}
    assert held["#parameters/use_counts/a"]["value"] == "3"
    script = held[drawn["instrument"]["@id"]]
    assert script["version"] == code_of("scripts/draw_figure.py")["scripts/draw_figure.py"]
    whole = held["#run"]
    assert references(whole["object"])[:2] == ["#seed", "#datasets"]
    assert json.loads(held["#datasets"]["value"]) == SETTINGS["datasets"]
    assert (whole["startTime"], whole["endTime"]) == (used["startTime"], drawn["endTime"])


def test_has_what_the_profile_requires(finished_run):
    """Provenance Run Crate 0.5: workflow, steps, tools, and the actions that connect them."""
    held = entities(written())
    kinds = Counter(kind for one in held.values() for kind in np.atleast_1d(one["@type"]))
    assert kinds["CreateAction"] == 3  # the run and two jobs
    assert (kinds["HowToStep"], kinds["ControlAction"], kinds["OrganizeAction"]) == (2, 2, 1)
    root, descriptor = held["./"], held[crate.METADATA]
    assert descriptor["about"] == {"@id": "./"}
    assert {"@id": crate.RO_CRATE} in descriptor["conformsTo"]
    assert set(references(root["conformsTo"])) == set(crate.PROFILES)
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    workflow = held[root["mainEntity"]["@id"]]
    assert {"ComputationalWorkflow", "HowTo", "File", "SoftwareSourceCode"} == set(workflow["@type"])
    assert held["#run"]["instrument"] == root["mainEntity"]
    tools = references(workflow["hasPart"])
    for control in (one for one in held.values() if one["@type"] == "ControlAction"):
        assert control["instrument"]["@id"] in references(workflow["step"])
        tool = held[control["instrument"]["@id"]]["workExample"]
        assert held[control["object"]["@id"]]["instrument"] == tool
        assert tool["@id"] in tools
    for parameter in references(workflow["input"]):
        assert held[held[parameter]["workExample"]["@id"]]["exampleOfWork"] == {"@id": parameter}


def test_the_same_run_gives_the_same_bytes_and_names_no_folder(finished_run, tmp_path):
    first = written().read_bytes()
    Path(TABLE).touch()
    assert written().read_bytes() == first
    with zipfile.ZipFile("results/crate.zip") as archive:
        text = archive.read(crate.METADATA).decode()
    assert str(tmp_path) not in text
    assert str(ROOT) not in text


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda: Path(TABLE).write_text("a\n2\n"), f"{TABLE}: changed since its job ended"),
        (lambda: Path(TABLE).unlink(), f"{TABLE}: a folder, a pipe or a broken link"),
        (lambda: shutil.rmtree(crate.RECORDS), f"{FIGURE}: Snakemake has no record of its job"),
        (lambda: Path(OWN).unlink(), OWN),
    ],
)
def test_a_run_that_is_not_whole_is_refused_in_one_line(finished_run, spoil, reason):
    spoil()
    with pytest.raises(SystemExit):
        written()
    assert reason in errors()
    assert errors().count("\n") == 1
    assert not list(Path("results").glob("*crate*"))


def test_code_that_was_edited_after_the_run_is_refused(finished_run):
    run = crate.run_of([FIGURE])
    run.jobs[0].code["scripts/use_counts.py"] = "0" * 16
    with pytest.raises(ValueError, match="edited since"):
        crate.write("crate.zip", run, project=PROJECT, settings={}, addresses={})
