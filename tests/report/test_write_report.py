"""The report's script: the same bytes every time, one readable line on failure."""

import hashlib
from pathlib import Path

import pandas as pd
import pytest

from tests.fake_job import errors, fake_job, run_script
from tests.report.report_page import (
    EVERYTHING,
    PARAMETERS,
    PNG,
    ROOT,
    SETTINGS,
    TOTALS,
    real_verdicts,
    row,
    scale_table,
)


@pytest.fixture
def rule(tmp_path, monkeypatch):
    """A snakemake object with all inputs in ``tmp_path``; a function that writes the verdicts."""
    monkeypatch.chdir(tmp_path)

    def table(name, rows):
        lines = [",".join(rows[0]), *(",".join(f'"{cell}"' for cell in found.values()) for found in rows)]
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")

    table("totals.csv", TOTALS)
    scale_table().to_csv("scales.csv", index=False)
    table("table_III.csv", PARAMETERS)
    Path("fig1_delta_surface.png").write_bytes(PNG)
    Path("fig1_delta_surface.txt").write_text("A caption.")
    given = {
        "verdicts": "verdicts.csv", "totals": "totals.csv", "parameters": "table_III.csv",
        "figures": ["fig1_delta_surface.png"], "captions": ["fig1_delta_surface.txt"],
        "scales": "scales.csv", "data": ["totals.csv"],
        "parts": [str(path) for path in (ROOT / "workflow/report/page").iterdir()],
    }  # fmt: skip
    snakemake = fake_job("write_report", input=given, output=["index.html"], params=SETTINGS)
    return snakemake, lambda rows: table("verdicts.csv", rows)


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


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fig1_delta_surface.txt": b" \n"}, "fig1_delta_surface.txt: the caption is empty"),
        ({"fig1_delta_surface.png": b"GIF89a"}, "fig1_delta_surface.png: expected a PNG file"),
    ],
)
def test_script_names_a_broken_figure(rule, change, message):
    snakemake, write = rule
    write([row(printed="0")])
    for name, content in change.items():
        Path(name).write_bytes(content)
    with pytest.raises(SystemExit):
        run_script("write_report", snakemake)
    assert message in errors()


def test_script_shows_the_optional_results_and_the_checksums(rule):
    snakemake, write = rule
    write(real_verdicts())
    for name, rows in EVERYTHING.items():
        pd.DataFrame(rows).to_csv(f"{name}.csv", index=False)
        setattr(snakemake.input, name, f"{name}.csv")
    run_script("write_report", snakemake)
    page = Path("index.html").read_text(encoding="utf-8")
    assert all(f'id="{anchor}"' in page for anchor in ("parity-settings", "parity-plan", "audit-section"))
    assert hashlib.sha256(Path("totals.csv").read_bytes()).hexdigest() in page


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("claims", {"verdict": "perhaps"}, "claims.csv, row 1: verdict is 'perhaps'"),
        ("audit", {"joint_delta": None}, "audit.csv: column joint_delta is missing"),
        ("parity_ratio", {"ratio": None}, "parity_ratio.csv: column ratio is missing"),
    ],
)
def test_script_names_a_broken_optional_result(rule, name, change, message):
    snakemake, write = rule
    write([row(printed="0")])
    rows = [{**found, **change} for found in EVERYTHING[name]]
    dropped = [column for column, value in change.items() if value is None]
    pd.DataFrame(rows).drop(columns=dropped).to_csv(f"{name}.csv", index=False)
    setattr(snakemake.input, name, f"{name}.csv")
    with pytest.raises(SystemExit):
        run_script("write_report", snakemake)
    assert message in errors()
    assert not Path("index.html").exists()
