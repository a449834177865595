"""Results beside the notes of their jobs, and beside those of the reference run."""

import hashlib
import json
from pathlib import Path

import pytest

from scripts.shared import verify
from scripts.shared.code import digest
from scripts.shared.notes import last_notes

FOUND = {"parity": {"low": 1.25, "rows": [{"title": "Paris", "own": True}]}, "audit": {"of": 140}}
FILES = ("results/a.csv", "results/b.csv", "results/findings.json")


@pytest.fixture
def reference(tmp_path, monkeypatch):
    """The folder of a reference run, in a working folder with results that are the same."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "reference"
    for name in ("results/logs", "reference"):
        (tmp_path / name).mkdir(parents=True)
    for name in FILES:
        text = json.dumps(FOUND) if name.endswith("json") else name
        (tmp_path / name).write_text(text)
    sums = [
        f"{hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()}  {name}" for name in FILES
    ]
    (folder / verify.SUMS).write_text("\n".join(sums) + "\n")
    (folder / verify.FINDINGS).write_text(json.dumps(FOUND))
    return folder


def job_wrote(*files, log="job", time="10:00", code=None, inputs=()):
    """A job has noted that it wrote these files, and read the inputs."""
    notes = [f"code {'0' * 64} {tree}  {file}" for file, tree in (code or {}).items()]
    notes += [f"read {digest(file)}  {file}" for file in inputs]
    notes += [f"wrote {digest(file)}  {file}" for file in files]
    lines = [f"2026-01-01 {time} INFO {note}\n" for note in notes]
    Path(f"results/logs/{log}.log").write_text("".join(lines))


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A working folder with results a and b, of which b was made from a and data; other code is elsewhere."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(verify, "ROOT", tmp_path)
    monkeypatch.setattr(verify, "code_digest", lambda file: Path(file).read_text())
    Path("results/logs").mkdir(parents=True)
    for name in ("results/a", "results/b", "data", "code.py"):
        Path(name).write_text("01")
    verify._content.cache_clear()
    job_wrote("results/a", log="a")
    job_wrote("results/b", log="b", inputs=["results/a", "data"], code={"code.py": "01"})
    return ["results/a", "results/b"]


NOTHING = {
    "same": [],
    "changed": [],
    "stale": [],
    "missing": [],
    "without_notes": [],
    "left_over": [],
}


def checked(outputs):
    """What a check finds, without the lists that are empty."""
    found = vars(verify.check(set(outputs), last_notes(Path("results/logs"))))
    assert found.keys() == NOTHING.keys()
    return {what: files for what, files in found.items() if files}


def test_results_as_their_jobs_wrote_them_are_the_same(results):
    assert checked(results) == {"same": results}


def test_a_result_that_was_edited_is_changed(results):
    Path("results/b").write_text("2")
    assert checked(results) == {"same": ["results/a"], "changed": ["results/b"]}


@pytest.mark.parametrize("file", ["data", "code.py"])
@pytest.mark.parametrize("edit", [lambda path: path.write_text("2"), Path.unlink])
def test_a_result_from_data_or_code_that_are_not_there_any_more_is_stale(results, file, edit):
    edit(Path(file))
    assert checked(results) == {"same": ["results/a"], "stale": [f"results/b ({file})"]}


def test_a_result_from_an_edited_result_is_stale_after_the_edit_is_put_back(results):
    """Whatever the dates are, and also while the other result is missing."""
    Path("results/a").write_text("2")
    job_wrote("results/b", log="b", inputs=["results/a"])
    Path("results/a").write_text("01")
    assert checked(results) == {"same": ["results/a"], "stale": ["results/b (results/a)"]}
    Path("results/a").unlink()
    assert checked(results) == {"missing": ["results/a"], "stale": ["results/b (results/a)"]}


def test_a_result_that_no_setting_makes_any_more_is_named_and_not_checked(results):
    Path("results/b").write_text("2")
    assert checked(["results/a"]) == {"same": ["results/a"], "left_over": ["results/b"]}


def test_a_result_of_which_no_log_knows_is_named(results):
    """As in a folder that was renamed."""
    Path("results/logs/b.log").unlink()
    assert checked(results) == {"same": ["results/a"], "without_notes": ["results/b"]}


def test_a_job_that_failed_has_written_nothing(results):
    Path("results/logs/b.log").write_text("2026-01-01 10:00 ERROR r: no\n")
    assert checked(results) == {"same": ["results/a"], "without_notes": ["results/b"]}


def test_the_notes_that_count_are_the_last_ones_in_whichever_log(results):
    """The log with the last notes comes first in the alphabet."""
    Path("results/b").write_text("2")
    job_wrote("results/b", log="a_new_name", time="10:01")
    assert checked(results) == {"same": results}


@pytest.mark.parametrize(
    ("break_it", "error", "named"),
    [
        (lambda path: path.write_text("2"), "remove these files and run make", "Changed since"),
        (Path.unlink, "run make, which makes these files again", "Missing"),
    ],
)
def test_verify_ends_with_an_error_that_says_what_to_do(results, capsys, break_it, error, named):
    break_it(Path("results/b"))
    with pytest.raises(SystemExit, match=f"^error: {error}"):
        verify.verify("results", results)
    assert capsys.readouterr().out.startswith(named)


def test_verify_of_an_empty_folder_is_an_error(results):
    with pytest.raises(SystemExit, match="no job has made a result in results"):
        verify.verify("results", ["results/c"])


def compared_in_words(reference):
    results = reference.with_name("results")
    return verify.compare_with_reference(results, reference).in_words()


def write_findings(reference, findings):
    """Results whose findings are these."""
    reference.with_name("results").joinpath("findings.json").write_text(json.dumps(findings))


def test_the_same_results_have_the_bytes_of_the_reference(reference):
    assert compared_in_words(reference) == "3 of 3 files have the bytes of the reference run."


def test_a_part_of_the_results_is_compared_as_far_as_it_goes(reference):
    reference.with_name("results").joinpath("a.csv").unlink()
    said = "2 of 2 files have the bytes of the reference run, which made 1 more."
    assert compared_in_words(reference) == said


def test_other_last_digits_are_named_and_agree(reference):
    """By less than `TOLERANCE`, as another processor may round them."""
    write_findings(reference, FOUND | {"audit": {"of": 140 * (1 + verify.TOLERANCE / 2)}})
    assert compared_in_words(reference) == (
        "2 of 3 files have the bytes of the reference run. Other bytes: results/findings.json.\n"
        "All findings agree within a relative 1e-06."
    )


@pytest.mark.parametrize(
    ("findings", "key"),
    [
        (FOUND | {"audit": {"of": 140 * (1 + 2 * verify.TOLERANCE)}}, "audit.of"),
        (FOUND | {"audit": {}}, "audit.of"),
        (FOUND | {"more": 1}, "more"),
        (FOUND | {"parity": {"low": 1.25, "rows": [{"title": "Paris", "own": False}]}}, "parity.rows.0.own"),
        (FOUND | {"parity": {"low": 1.25, "rows": [{"title": "", "own": True}]}}, "parity.rows.0.title"),
    ],
)  # fmt: skip
def test_a_finding_that_does_not_agree_is_named_by_its_key(reference, findings, key):
    write_findings(reference, findings)
    assert compared_in_words(reference).endswith(f"\nOther findings: {key}.")


def test_verify_ends_with_an_error_if_a_finding_does_not_agree(reference, monkeypatch, capsys):
    monkeypatch.setattr(verify, "REFERENCE", reference)
    job_wrote(*FILES)
    verify.verify("results", FILES)
    assert capsys.readouterr().out == (
        "Verified: 3 files in results are what their jobs wrote.\n"
        "3 of 3 files have the bytes of the reference run.\n"
    )
    write_findings(reference, {})
    job_wrote(*FILES)
    with pytest.raises(SystemExit, match="not those of the reference run"):
        verify.verify("results", FILES)
