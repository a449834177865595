"""Which files a rule's code is, and that its digest changes with their bytes alone."""

import os
import py_compile
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reproduction.jobs import code


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project of four files: script -> a -> b, and c beside them."""
    for name, text in {
        "scripts/s.py": "import numpy\nfrom tightshuffle.a import f\n",
        "tightshuffle/__init__.py": "",
        "tightshuffle/a.py": "def f():\n    from tightshuffle import b\n",
        "tightshuffle/b.py": "",
        "tightshuffle/c.py": "",
        "style.txt": "red",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    return tmp_path


def test_files_are_the_script_and_what_it_imports_at_any_depth(project):
    files = ["scripts/s.py", "tightshuffle/__init__.py", "tightshuffle/a.py", "tightshuffle/b.py"]
    assert code.files_of("scripts/s.py") == files
    assert code.files_of("scripts/s.py", "style.txt") == sorted([*files, "style.txt"])


@pytest.mark.parametrize("name", ["scripts/s.py", "tightshuffle/a.py", "tightshuffle/b.py", "style.txt"])
def test_an_edit_is_seen_whatever_its_date(project, name):
    before = code.code_of("scripts/s.py", "style.txt")
    state = (project / name).stat()
    (project / name).write_bytes((project / name).read_bytes() + b"#")
    os.utime(project / name, ns=(state.st_atime_ns, state.st_mtime_ns))
    changed = {path for path, now in code.code_of("scripts/s.py", "style.txt").items() if now != before[path]}
    assert changed == ({"style.txt"} if name == "style.txt" else {"scripts/s.py"})
    with pytest.raises(ValueError, match=r"or a file that it imports, was edited since this run began: run"):
        code.check_unchanged(before)


def test_other_files_and_dates_change_nothing(project):
    before = code.code_of("scripts/s.py")
    (project / "tightshuffle/c.py").write_text("edited")
    os.utime(project / "tightshuffle/b.py", (1, 1))
    code.check_unchanged(before)
    assert code.code_of("scripts/s.py") == before


def test_byte_code_of_another_text_of_the_same_size_and_date_is_not_run(project):
    module = project / "tightshuffle/c.py"
    module.write_text("print(1)")
    py_compile.compile(str(module), invalidation_mode=py_compile.PycInvalidationMode.TIMESTAMP)
    state = module.stat()
    module.write_text("print(2)")
    os.utime(module, ns=(state.st_atime_ns, state.st_mtime_ns))
    run = {"cwd": project, "capture_output": True, "text": True}
    said = [subprocess.run([sys.executable, "-c", "import tightshuffle.c"], **run).stdout]
    code.compile_by_contents()
    said.append(subprocess.run([sys.executable, "-c", "import tightshuffle.c"], **run).stdout)
    assert said == ["1\n", "2\n"]


def test_another_folders_code_is_refused(tmp_path):
    code.check_root(code.ROOT)
    with pytest.raises(
        ValueError, match=r"^the workflow is in .*, but Python imports tightshuffle from .*: run"
    ):
        code.check_root(tmp_path)


def test_source_files_are_named_from_where_the_run_is(monkeypatch, tmp_path):
    monkeypatch.chdir(code.ROOT)
    assert code.source("data/x.csv") == "data/x.csv"
    monkeypatch.chdir(tmp_path)
    assert Path(code.source("data/x.csv")) == code.ROOT / "data/x.csv"


# make and its environment ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["here", "mit Leerzeichen ü"])
def test_make_rebuilds_an_environment_that_was_made_elsewhere(tmp_path, name):
    """`make -n` shows what make would run; the stamp in the environment names the folder it was made in."""
    if not shutil.which("make"):
        pytest.fail("make is missing: apt-get install make")
    folder = tmp_path / name
    (folder / ".venv").mkdir(parents=True)
    for file in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy2(code.ROOT / file, folder)
    stamp = folder / ".venv/installed"

    def rebuilds():
        done = subprocess.run(
            ["make", "-n", "verify"], cwd=folder, capture_output=True, text=True, check=True
        )
        return "-m venv --clear .venv" in done.stdout

    assert rebuilds()
    stamp.write_text(f"{folder}\n")
    assert not rebuilds()
    stamp.write_text("/somewhere/else\n")
    assert rebuilds()


WORKFLOW = """
import subprocess, sys
sys.path.insert(0, sys.argv[1])  # as workflow/rules/common.smk does
from reproduction.jobs.code import run_code_of
run_code_of(sys.argv[1])
subprocess.run([sys.executable, "-c", "import tightshuffle; print(tightshuffle.__file__)"], cwd="/")
"""


def test_a_job_runs_the_code_of_the_workflows_folder(tmp_path):
    """Although the environment has another checkout installed, and wherever the job starts."""
    for name in ("tightshuffle", "reproduction"):
        shutil.copytree(code.ROOT / name, tmp_path / name)
    done = subprocess.run(
        [sys.executable, "-c", WORKFLOW, tmp_path],
        env={**os.environ, "PYTHONPATH": str(code.ROOT)},
        capture_output=True,
        text=True,
    )
    assert Path(done.stdout.strip()).parent == tmp_path / "tightshuffle", done.stderr
