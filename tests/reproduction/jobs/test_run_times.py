"""The page of machine and run times: sums per rule, nothing that names the machine, escaped."""

import platform
import re
from pathlib import Path

import pytest

from reproduction.jobs.run_times import machine, processor, run_times
from tests.reproduction.jobs.fake_job import fake_job, run_script
from tests.reproduction.report.report_page import ROOT, Page

COLUMNS = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@pytest.fixture
def benchmarks(tmp_path):
    (tmp_path / "run_trials/paris").mkdir(parents=True)
    for name, line in {
        "run_trials/paris/a.tsv": "2.5\t0:00:02\t100.0\t1\t1\t1\t1\t1\t1\t2.0\n",
        "run_trials/paris/b.tsv": "4.0\t0:00:04\t90.5\t1\t1\t1\t1\t1\t1\t3.5\n",
        "draw.tsv": "0.2\t0:00:00\t-\t-\t-\t-\t-\t-\t-\tNA\n",
        "<b>.tsv": "0.1\t0:00:00\t5.0\t1\t1\t1\t1\t1\t1\t0.1\n",
    }.items():
        (tmp_path / name).write_text(COLUMNS + line)
    return tmp_path


def test_times_are_summed_per_rule_longest_first(benchmarks):
    found = run_times(benchmarks)
    assert [row["name"] for row in found] == ["run_trials", "draw", "<b>"]
    assert found[0] == {
        "name": "run_trials", "jobs": 2, "seconds": 6.5, "longest": 4.0, "cpu": 5.5, "mb": 100.0,
    }  # fmt: skip
    assert found[1]["mb"] != found[1]["mb"]  # a job too short to be measured


def test_a_file_of_another_kind_is_named(benchmarks):
    (benchmarks / "draw.tsv").write_text("seconds\n1\n")
    with pytest.raises(ValueError, match=r"draw\.tsv: no column 's'"):
        run_times(benchmarks)


def test_page_is_well_formed_escaped_and_does_not_name_the_machine(benchmarks, tmp_path, monkeypatch):
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    parts = [str(ROOT / f"reproduction/report/page/{name}") for name in ("run.html.j2", "style.css")]
    params = {"folder": str(benchmarks)}
    snakemake = fake_job("summarise_run", input={"parts": parts}, output=["run.html"], params=params)
    run_script("summarise_run", snakemake)
    text = Path("run.html").read_text(encoding="utf-8")
    page = Page(text)
    assert ["run_trials", "2", "6.5", "4.0", "5.5", "100.0"] in page.body()
    assert "<b>" in page.text
    assert not page.of("b")
    for name in {platform.node(), str(Path.home()), str(ROOT), str(tmp_path)} - {"", "/"}:
        assert name not in text


def test_memory_is_what_the_system_says():
    kilobytes = int(re.search(r"MemTotal: +(\d+)", Path("/proc/meminfo").read_text())[1])
    found = float(dict(machine())["memory"].removesuffix(" GiB"))
    assert found == pytest.approx(kilobytes / 2**20, rel=0.02)


def test_processor_falls_back_on_the_architecture(tmp_path):
    (tmp_path / "cpuinfo").write_text("processor\t: 0\nmodel name\t: A Chip  \n")
    assert processor(tmp_path / "cpuinfo") == f"A Chip ({platform.machine()})"
    assert processor(tmp_path / "nothing") == platform.machine()
