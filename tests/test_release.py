"""What a release needs before a person publishes it: the refusals, the archives, the image, the actions."""

import re
import shutil
import subprocess
import tarfile
import zipfile

import pytest
import yaml
from flit_core import buildapi

import tightshuffle
from tests import ROOT

ACTIONS = sorted((ROOT / ".github/workflows").glob("*.yml"))
IMAGE = (ROOT / "workflow/apptainer.def").read_text(encoding="utf-8")


def git(folder, *arguments):
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)


def ready(folder):
    return subprocess.run([".ci/release", "ready"], cwd=folder, capture_output=True, text=True)


@pytest.fixture
def project(tmp_path):
    """A repository whose version is ready."""
    for name in (".ci", "tightshuffle"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    (tmp_path / "CHANGELOG.md").write_text(f"## [{tightshuffle.__version__}] - 2026-12-01\n\n- A change.\n")
    git(tmp_path, "init")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "All")
    return tmp_path


def test_a_version_that_is_ready(project):
    assert (ready(project).returncode, ready(project).stderr) == (0, "")


def edit(project):
    (project / "new.py").touch()


def tag(project):
    git(project, "tag", f"v{tightshuffle.__version__}")


def undated(project):
    (project / "CHANGELOG.md").write_text(f"## [{tightshuffle.__version__}] - Unreleased\n")
    git(project, "commit", "--all", "-m", "Undated")


@pytest.mark.parametrize(
    ("change", "why"), [(edit, "git status lists"), (tag, "the tag v"), (undated, "CHANGELOG.md: no line")]
)
def test_a_version_that_is_not_ready_is_refused_in_one_line(project, change, why):
    change(project)
    done = ready(project)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"error: {why}")
    assert done.stderr.count("\n") == 1


def test_the_source_archive_gives_the_same_wheel(tmp_path, monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    monkeypatch.chdir(ROOT)
    archive = tmp_path / buildapi.build_sdist(str(tmp_path))
    wheel = (tmp_path / buildapi.build_wheel(str(tmp_path))).read_bytes()
    with tarfile.open(archive) as source:
        source.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path / archive.name.removesuffix(".tar.gz"))
    (tmp_path / "again").mkdir()
    assert (tmp_path / "again" / buildapi.build_wheel(str(tmp_path / "again"))).read_bytes() == wheel


def test_the_image_is_made_by_the_commands_of_ci_and_readme(tmp_path):
    part = {name: text.strip() for name, text in re.findall(r"^%(\w+)\n((?: +.*\n)+)", IMAGE, re.MULTILINE)}
    assert [line.strip() for line in part["post"].splitlines()] == [
        "cd /opt/tight-shuffle",
        ".ci/prepare",
        "make install",
    ]
    assert "\n.ci/prepare tests\n" in (ROOT / ".ci/run").read_text()
    for line in part["files"].splitlines():
        name, target = line.split()
        assert target == f"/opt/tight-shuffle/{name}"
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy2)(ROOT / name, tmp_path / name)
    # What `make install` reads: the rule's sources, and what flit puts into a wheel.
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        (tmp_path / "made").mkdir()
        assert zipfile.is_zipfile(tmp_path / "made" / buildapi.build_editable("made"))
    planned = subprocess.run(["make", "-n", "install"], cwd=tmp_path, capture_output=True, text=True)
    assert planned.returncode == 0, planned.stderr


@pytest.mark.parametrize("path", ACTIONS, ids=lambda path: path.stem)
def test_actions_run_what_the_project_has(path):
    """`docs/releasing.md` says how to check the files' form."""
    action = yaml.safe_load(path.read_text())
    commands = [step["run"] for job in action["jobs"].values() for step in job["steps"] if "run" in step]
    ours = [command for command in commands if not command.startswith("git config ")]
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for command in ours:
        program, *arguments = command.split()
        if program == "make":
            assert set(arguments) <= targets
        else:
            assert (ROOT / program).stat().st_mode & 0o111
    assert ours
    assert all("timeout-minutes" in job for job in action["jobs"].values())
    assert action["permissions"] == {"contents": "read"}
