"""Faults on purpose: nothing wrong is taken for right, and the message says what to do."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest

from tests.workflow.conftest import Small, counted

pytestmark = [pytest.mark.pipeline, pytest.mark.slow]

DAY = 86_400


def lines_with(done, word):
    return [line for line in done.stdout.splitlines() if word in line]


def last_line(done):
    return done.stdout.rstrip().splitlines()[-1]


def idle(done):
    return done.returncode == 0 and "Nothing to be done" in done.stdout


def verify(project):
    return project.python("-m", "reproduction.jobs.checksums")


def test_a_damaged_result_is_named_and_not_used(calm, small):
    """Snakemake itself would draw the figure from the edited numbers."""
    surface, png = small.folder / small.SURFACE, small.folder / small.FIGURE
    assert verify(small).returncode == 0
    surface.write_bytes(surface.read_bytes().replace(b"1", b"2", 1))
    png.unlink()
    done = small.run()
    assert done.returncode != 0
    wanted = f"{small.SURFACE}: changed since its job ended. Remove it and run again"
    assert last_line(done) == f"error: draw_figure: {wanted}"
    checked = verify(small)
    assert (checked.returncode, checked.stderr) == (1, f"error: {wanted}\n")
    surface.unlink()
    assert small.run().returncode == 0
    assert small.results() == calm.results()


def test_a_copy_is_taken_with_its_records_and_refused_without(calm, small):
    """And what is the user's own is left alone."""
    notes = small.folder / "results/notes.txt"
    notes.write_text("mine")
    assert idle(small.run())
    assert verify(small).returncode == 0
    assert notes.read_text() == "mine"
    shutil.rmtree(small.folder / ".snakemake")
    checked = verify(small)
    assert checked.returncode == 1
    assert checked.stderr.startswith("error: no job of this folder made any result that is here: run make (")
    (small.folder / small.FIGURE).unlink()
    done = small.run()
    assert done.returncode != 0
    assert f"{small.SURFACE}: no job of this folder made it" in last_line(done)


def date_all(folder, seconds):
    for path in folder.rglob("*"):
        os.utime(path, (seconds, seconds))


def test_clocks_that_jump(calm, small):
    """Contents decide: files dated a year ahead or in 1970 rerun nothing, edits with such dates do."""
    script = small.folder / "scripts/compute_table.py"
    made, ahead = small.folder / small.made, time.time() + 300 * DAY
    for name in ("histograms", "figures"):
        date_all(made / name, ahead)  # newer than what is made from it, and the other way round
    for name in ("trials", "privacy"):
        date_all(made / name, DAY)
    for name in ("scripts", "tightshuffle", "data", "workflow"):
        date_all(small.folder / name, ahead)
    assert idle(small.run())

    script.write_text(script.read_text() + "\nEDITED = True\n")
    os.utime(script, (DAY, DAY))  # an edit that no date shows
    done = small.run()
    assert done.returncode == 0, done.stdout
    assert set(counted(done.stdout)) == {"compute_curve", "draw_figure"}
    assert small.results() == calm.results()

    (small.folder / "mine.csv").write_text("cell,count\n1,400\n2,150\n3,50\n4,0\n")
    os.utime(small.folder / "mine.csv", (DAY, DAY))  # an older file moved here
    assert set(counted(small.run().stdout)) == {"use_counts", "run_trials"}
    assert small.results()["histograms/mine.csv"] != calm.results()["histograms/mine.csv"]
    assert idle(small.run())


def everything(project):
    """path -> bytes and date of every file and folder, without Snakemake's own log and cache."""
    own = {".snakemake/log", ".snakemake/iocache", ".snakemake/auxiliary"}
    found = {}
    for path in sorted(project.folder.rglob("*")):
        name = path.relative_to(project.folder).as_posix()
        if "__pycache__" in path.parts or any(name == start or name.startswith(f"{start}/") for start in own):
            continue
        found[name] = (path.read_bytes() if path.is_file() else None, path.stat().st_mtime_ns)
    return found


def wait_for(condition, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_two_runs_in_one_folder(calm, small):
    shutil.rmtree(small.folder / "results")
    (small.folder / ".snakemake/run.lock").write_text("")
    first = small.start("--forceall", *small.command(small.TRIALS))
    wait_for((small.folder / ".snakemake/run.lock").read_text)
    first.send_signal(signal.SIGSTOP)  # else it could end before the second run starts
    second = small.run()
    before = everything(small)
    reading = small.run("--dry-run")
    assert everything(small) == before
    first.send_signal(signal.SIGCONT)
    assert first.wait() == 0
    assert second.returncode != 0
    (refusal,) = lines_with(second, "another run is active in this folder")
    assert f"process {first.pid} on " in refusal
    assert "wait for its end, or stop it" in refusal
    assert "Traceback" not in second.stdout
    assert reading.returncode == 0
    same = small.results()
    assert {"trials", "histograms"} == {name.split("/")[0] for name in same}
    assert same.items() <= calm.results().items()
    assert idle(small.run(targets=[small.TRIALS]))


@contextlib.contextmanager
def mounted(folder, *options):
    """Something mounted at the folder; skips the test where that is not allowed."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", *options, folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"no mount allowed here: {done.stderr.strip()}")
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a small file system as Linux does")
def test_a_full_disk(calm, small):
    results = small.folder / "results"
    shutil.rmtree(results)
    with mounted(results, "-t", "tmpfs", "-o", "size=64k", "none"):
        done = small.run(targets=[small.FIGURE])
        assert done.returncode != 0
        error = last_line(done)
        assert error.startswith(f"error: draw_figure: {small.made}/figures/fig1_delta_surface.")
        assert error.endswith("the disk is full: make room and run again")
        assert "Traceback" not in done.stdout
        assert not {name for name in small.results() if name.startswith("figures/")}
        subprocess.run(["mount", "-o", "remount,size=10m", results], check=True)
        assert small.run(targets=[small.FIGURE]).returncode == 0
        same = small.results()
        assert len(same) == 5  # the surface; the figure in three formats and its caption
        assert same.items() <= calm.results().items()


@pytest.mark.skipif(sys.platform != "linux", reason="mounts a read-only folder as Linux does")
def test_a_read_only_folder(calm, small):
    results = small.folder / "results"
    with mounted(results, "--bind", results):
        remounted = subprocess.run(
            ["mount", "-o", "remount,bind,ro", results], capture_output=True, text=True
        )
        if remounted.returncode:
            pytest.skip(f"no read-only mount here: {remounted.stderr.strip()}")
        done = small.run("--forceall")
        subprocess.run(["mount", "--bind", small.folder, small.folder], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", small.folder], check=True)
        planned = small.run("--dry-run")
        subprocess.run(["umount", "--lazy", small.folder], check=True)
    assert planned.returncode != 0
    assert lines_with(planned, f"{small.folder} is not writable: use another folder with snakemake -d FOLDER")
    assert "Traceback" not in planned.stdout
    assert done.returncode != 0
    assert "Write-protected output files" in done.stdout
    assert f"{small.made}/" in done.stdout.partition("Write-protected output files")[2], "it names the file"
    assert "Traceback" not in done.stdout
    assert small.results() == calm.results()


# Bad and hostile input through the real command line -------------------------------------------------


def test_code_in_a_configuration_is_refused_before_anything_is_made(tmp_path):
    project = Small(tmp_path / "project")
    (project.folder / "bad.yaml").write_text("seed: !!python/object/apply:os.system ['touch mark']\n")
    done = project.snakemake(
        "--cores", "1", "--configfile", "bad.yaml", "--", "results/bad/histograms/mine.csv"
    )
    assert done.returncode != 0
    assert len(lines_with(done, "not valid JSON or YAML")) == 1, done.stdout
    assert "Traceback" not in done.stdout
    assert not (project.folder / "results").exists()
    assert not (project.folder / "mark").exists()


def test_unusual_input_works(tmp_path, calm):
    project = Small(tmp_path / "project")
    name = "zählung 中文 $HOME 'q' *;&.csv"
    (project.folder / name).write_bytes(b"\xef\xbb\xbfcell,count\r\n1,400\r\n2,150\r\n3,0\r\n4,50\r\n")
    dataset = f'{{kind: counts, title: "$<&", file: "{name}"}}'
    (project.folder / "overlay.yaml").write_text(f"\ufeff# ä\r\nseed: 5\r\ndatasets: {{mine: {dataset}}}\r\n")
    done = project.snakemake("--cores", "1", "--configfile", "overlay.yaml", "--", project.HISTOGRAM)
    assert done.returncode == 0, done.stdout
    assert project.results()["histograms/mine.csv"] == calm.results()["histograms/mine.csv"]
