"""Results beside those of the reference run: equal bytes, equal findings, and what is said of others."""

import hashlib
import json

import pytest

from scripts.shared import verify

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
    sums = (reference / verify.SUMS).read_text().splitlines()
    log = [f"2026-01-01 00:00:00,000 INFO sha256 {line}\n" for line in sums[:2]]
    reference.with_name("results").joinpath("logs/job.log").write_text("".join(log))
    verify.verify("results")
    assert "3 of 3 files have the bytes of the reference run." in capsys.readouterr().out
    write_findings(reference, {})
    with pytest.raises(SystemExit, match="not those of the reference run"):
        verify.verify("results")
