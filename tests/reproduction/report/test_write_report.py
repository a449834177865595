"""The report's script: the same bytes every time, one readable line on failure."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from tests.reproduction.jobs.fake_job import errors, fake_job, run_script
from tests.reproduction.report.report_page import (
    EVERYTHING,
    PARAMETERS,
    PNG,
    ROOT,
    SETTINGS,
    SVG,
    TOTALS,
    as_read,
    as_text,
    claim_rows,
    found_in,
    real_verdicts,
    row,
)


@pytest.fixture
def rule(tmp_path, monkeypatch):
    """A snakemake object with all inputs in ``tmp_path``; a function that writes the verdicts."""
    monkeypatch.chdir(tmp_path)

    def table(name, rows):
        lines = [",".join(rows[0]), *(",".join(f'"{cell}"' for cell in found.values()) for found in rows)]
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    table("totals.csv", TOTALS)
    table("table_III.csv", PARAMETERS)
    Path("fig1_delta_surface.png").write_bytes(PNG)
    Path("fig1_delta_surface.svg").write_bytes(SVG)
    Path("fig1_delta_surface.txt").write_text("A caption.")
    given = {
        "verdicts": "verdicts.csv", "totals": "totals.csv", "parameters": "table_III.csv",
        "figures": ["fig1_delta_surface.png"], "vectors": ["fig1_delta_surface.svg"],
        "captions": ["fig1_delta_surface.txt"],
        "claim_verdicts": "claim_verdicts.csv", "findings": "findings.json", "data": ["totals.csv"],
        "errata": str(ROOT / "docs/errata.md"),
        "parts": [str(path) for path in (ROOT / "reproduction/report/page").iterdir()],
    }  # fmt: skip
    snakemake = fake_job("write_report", input=given, output=["index.html"], params=SETTINGS)

    def write(rows, **tables):
        table("verdicts.csv", rows)
        table("claim_verdicts.csv", claim_rows())
        tables = {name: as_read(found) for name, found in tables.items()}
        tables |= {"verdicts": as_text(rows), "claim_verdicts": as_text(claim_rows())}
        Path("findings.json").write_text(json.dumps(found_in(tables)))

    return snakemake, write


def test_script_writes_the_same_page_twice_without_paths_of_this_machine(rule, tmp_path):
    snakemake, write = rule
    write(real_verdicts())
    pages = []
    for _ in range(2):
        run_script("write_report", snakemake)
        pages.append(Path("index.html").read_bytes())
    assert pages[0] == pages[1]
    assert str(tmp_path).encode() not in pages[0]
    assert str(ROOT).encode() not in pages[0]
    assert not list(tmp_path.glob(".index*"))


def test_script_fails_in_one_line_and_leaves_no_page(rule):
    snakemake, write = rule
    write([row(printed="0"), row(printed="0", verdict="perfect")])
    with pytest.raises(SystemExit):
        run_script("write_report", snakemake)
    lines = errors().splitlines()
    assert len(lines) == 1
    assert "verdicts.csv, row 2" in lines[0]
    assert "'perfect'" in lines[0]
    assert not Path("index.html").exists()


def test_script_shows_the_optional_results_and_the_checksums(rule):
    snakemake, write = rule
    optional = {name: rows for name, rows in EVERYTHING.items() if name != "claim_verdicts"}
    write(real_verdicts(), **optional)
    for name, rows in optional.items():
        pd.DataFrame(rows).to_csv(f"{name}.csv", index=False)
        setattr(snakemake.input, name, f"{name}.csv")
    run_script("write_report", snakemake)
    page = Path("index.html").read_text(encoding="utf-8")
    assert all(f'id="{anchor}"' in page for anchor in ("parity-settings", "parity-plan", "audit-section"))
    assert hashlib.sha256(Path("totals.csv").read_bytes()).hexdigest() in page


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("fig1_delta_surface.txt", b" \n", "fig1_delta_surface.txt: the caption is empty"),
        ("fig1_delta_surface.png", b"GIF89a", "fig1_delta_surface.png: expected a PNG file"),
        ("fig1_delta_surface.svg", b"<html>", "fig1_delta_surface.svg: expected an SVG file"),
    ],
)
def test_script_names_a_broken_result(rule, name, content, message):
    snakemake, write = rule
    write([row(printed="0")])
    Path(name).write_bytes(content)
    with pytest.raises(SystemExit):
        run_script("write_report", snakemake)
    assert message in errors()
    assert not Path("index.html").exists()


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_hash_seed():
    code = (
        "import hashlib; from tests.reproduction.report import report_page as page;"
        "print(hashlib.sha256(page.page_of(page.real_verdicts()).encode()).hexdigest())"
    )
    digests = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        digests.append(subprocess.check_output([sys.executable, "-c", code], cwd=ROOT, env=environment))
    assert len(digests[0].strip()) == 64
    assert digests[0] == digests[1]
