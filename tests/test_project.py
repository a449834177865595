"""The project itself: pins, the wheel, what is committed, and what the Makefile refuses."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest
import yaml
from flit_core import buildapi

from tests import ROOT

LIBRARY = ROOT / "library"
# Group of dependencies, such as pipeline -> requirements.
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
PROJECT = tomllib.loads((LIBRARY / "pyproject.toml").read_text())["project"]
# Extra of the library, such as yaml -> requirements.
EXTRAS = PROJECT["optional-dependencies"]
# Group -> its lock file, which has the exact version and the hashes of each package.
LOCKS = {
    "pipeline": "requirements.lock",
    "test": "requirements-test.lock",
    "dev": "requirements-dev.lock",
    "cluster": "requirements-cluster.lock",
}


def locked_versions(name):
    """Package -> version of every line "package==version" in the file."""
    text = (ROOT / name).read_text()
    return dict(re.findall(r"^[\s\"-]*([A-Za-z0-9._-]+)==([^\s\"\\]+)", text, flags=re.MULTILINE))


def packages_of(requirements):
    """The packages of requirements such as "numpy>=2", in the form that lock files use."""
    return {re.match(r"[A-Za-z0-9_-]+", line)[0].lower().replace("_", "-") for line in requirements}


@pytest.mark.parametrize("environment", ["environment.yml", "workflow/envs/rules.yml"])
def test_conda_has_the_versions_of_the_lock(environment):
    assert locked_versions(environment) == locked_versions("requirements.lock")


@pytest.mark.parametrize("group", GROUPS)
def test_lock_has_a_hash_for_every_package_and_no_address(group):
    lock = (ROOT / LOCKS[group]).read_text().strip()
    packages = re.split(r"\n(?=[a-z])", lock)  # a name at the start of a line, then the hashes
    assert [lines for lines in packages if "--hash=sha256:" not in lines] == []
    assert not re.search(r"index-url|find-links|https?://|file:", lock)


@pytest.mark.parametrize("group", GROUPS)
def test_lock_has_every_dependency_of_its_group(group):
    """The locks of pipeline and test are installed alone, so they also have the library's dependencies."""
    needed = packages_of(GROUPS[group])
    if group in ("pipeline", "test"):
        needed |= packages_of(PROJECT["dependencies"])
    assert needed <= locked_versions(LOCKS[group]).keys()


def test_test_lock_has_the_versions_of_the_pipeline_lock():
    pipeline = locked_versions("requirements.lock")
    test = locked_versions("requirements-test.lock")
    shared = pipeline.keys() & test.keys()
    assert [name for name in shared if test[name] != pipeline[name]] == []


@pytest.mark.parametrize("group", ["dev", "cluster"])
def test_lock_that_is_installed_beside_the_pipeline_lock_repeats_no_package_of_it(group):
    lock = locked_versions(LOCKS[group])
    assert not lock.keys() & locked_versions("requirements.lock").keys()


@pytest.mark.parametrize("extra", EXTRAS)
def test_every_extra_is_tested(extra):
    """The locks from which the tests' environment is installed have the packages of the library's extra."""
    locked = locked_versions("requirements.lock") | locked_versions("requirements-test.lock")
    assert packages_of(EXTRAS[extra]) <= locked.keys()


def test_ci_tests_every_python_that_the_library_names():
    classifiers = "\n".join(PROJECT["classifiers"])
    named = re.findall(r"^Programming Language :: Python :: (\d\.\d+)$", classifiers, re.MULTILINE)
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert jobs["check"]["strategy"]["matrix"]["python"] == named
    assert PROJECT["requires-python"] == f">={named[0]}"


def test_citation_has_the_version_and_date_of_the_newest_release():
    """The first heading of CHANGELOG.md is such as "## [1.2.0] - 2026-01-31"."""
    changelog = (LIBRARY / "CHANGELOG.md").read_text()
    version, date = re.search(r"^## \[(\d.*?)\] - (.+)", changelog, flags=re.MULTILINE).groups()
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == version == importlib.metadata.version("tightshuffle")
    # Before a release the heading says "Unreleased", and CITATION.cff has no date.
    assert str(citation.get("date-released", "Unreleased")) == date


@pytest.fixture
def project_files():
    """The paths of the files that git has or would add. Without a git checkout, the test is skipped."""
    command = "git ls-files -co --exclude-standard -z"
    listed = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout: the project's files cannot be told from made ones")
    paths = [ROOT / name for name in listed.stdout.split("\0")]
    return [path for path in paths if path.is_file()]


def test_project_is_small(project_files):
    sizes = [path.stat().st_size for path in project_files]
    # Limits in bytes, of our own choice; the largest file is requirements.lock.
    assert max(sizes) < 300_000
    assert sum(sizes) < 4_500_000


def test_no_file_has_a_row_of_checkins(project_files):
    """SNAP's file of check-ins has data of persons. Code of Python is not searched: tests make up rows."""
    # User, time, latitude, longitude, location, tab separated.
    row = re.compile(rb"^\d+\t\d{4}-\d\d-\d\dT[^\t]+\t-?\d+\.\d+\t-?\d+\.\d+\t", re.MULTILINE)
    searched = [path for path in project_files if path.suffix != ".py"]
    assert [path for path in searched if row.search(path.read_bytes())] == []


def test_a_clone_has_the_line_ends_of_linux_whatever_git_is_told(tmp_path):
    """Else a shell script cannot start, where git was told core.autocrlf=true, as under WSL."""
    files = [".gitattributes", "profiles/cluster-generic/status", "docs/images/fig3_checkins.png"]
    for file in files:
        (tmp_path / "made" / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, tmp_path / "made" / file)
    author = ["-c", "user.name=me", "-c", "user.email=me@here"]
    for words in (
        ["init", "--quiet", "made"],
        ["-C", "made", "add", "--all"],
        ["-C", "made", *author, "commit", "--quiet", "--message", "all"],
        ["clone", "--quiet", "--config", "core.autocrlf=true", "made", "cloned"],
    ):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    for file in files:
        assert (tmp_path / "cloned" / file).read_bytes() == (ROOT / file).read_bytes()


def test_the_wheel_holds_the_library_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(LIBRARY)
    with zipfile.ZipFile(tmp_path / buildapi.build_wheel(str(tmp_path))) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    modules = {str(path.relative_to(LIBRARY)) for path in LIBRARY.glob("tightshuffle/**/*.py")}
    assert held == modules | {"tightshuffle/py.typed"}


def test_library_tests_import_the_library_and_test_tools_only():
    """So they can run on an installed library, without the rest of the project."""
    modules = (LIBRARY / "tests").rglob("*.py")
    code = "\n".join(path.read_text(encoding="utf-8") for path in modules)
    imports = r"^ *(?:import|from(?=.* import )) (\w+)"  # the first word: "numpy" of numpy.random
    imported = set(re.findall(imports, code, re.MULTILINE))
    requirements = [*PROJECT["dependencies"], *GROUPS["test"]]
    tools = {name.replace("-", "_") for name in packages_of(requirements)}
    # The package pytest-xdist has the module xdist.
    assert imported <= {"tightshuffle", "tests", "xdist"} | tools | sys.stdlib_module_names


def copy_makefile(folder):
    """Copy the Makefile, and the files that its targets depend on, into a folder."""
    (folder / "library").mkdir()
    for name in (
        *("Makefile", "requirements.lock", "requirements-cluster.lock"),
        "library/pyproject.toml",
    ):
        shutil.copy2(ROOT / name, folder / name)


def make(folder, *arguments, **environment):
    """Run make in the folder, with these variables besides the usual ones: the completed process."""
    # A make around the tests would print the directory.
    command = ["make", "--no-print-directory", *arguments]
    how = {"cwd": folder, "env": {**os.environ, **environment}}
    return subprocess.run(command, **how, capture_output=True, text=True)


def error_of_install_with_old_python(folder):
    """What `make install` prints in a new folder before it installs anything.

    The program false stands for an old Python, since it fails when make asks whether it is new enough.
    """
    folder.mkdir()
    copy_makefile(folder)
    error = make(folder, "install", "PYTHON=false").stderr
    assert not (folder / ".venv").exists()
    return error


@pytest.mark.parametrize("name", ["mit Leerzeichen", "a{b}"])
def test_make_install_refuses_a_folder_with_a_space_or_a_brace_in_its_name(tmp_path, name):
    error = error_of_install_with_old_python(tmp_path / name)
    assert error.startswith("error: Snakemake does not work in a folder with a space or a brace: ")


def test_make_install_refuses_an_old_python(tmp_path):
    error = error_of_install_with_old_python(tmp_path / "Büro-1_x.y")
    told = "error: tight-shuffle needs Python >= 3.11. Name one: make PYTHON=python3.12"
    assert error.startswith(told)


def test_make_clean_empties_no_folder_but_the_results(tmp_path):
    copy_makefile(tmp_path)
    for folder in ("results/a/b", "mine/a"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "results/README.md").touch()
    assert make(tmp_path, "clean").returncode == 0
    assert list((tmp_path / "results").iterdir()) == [tmp_path / "results/README.md"]
    assert (tmp_path / "mine/a").exists()


# Besides what is recorded: make asks python for the folder of the results, snakemake locks the folder for a
# while, as it does, and pip reads its standard input.
FAKE_PROGRAMS = {
    "python": "echo results",
    "snakemake": "mkdir locked && sleep 0.2 && rmdir locked",
    "pip": "true",
}


@pytest.fixture
def fake_installation(tmp_path):
    """A folder with the Makefile and a fake environment, which make takes for an installed one.

    `FAKE_PROGRAMS` stand in for python, snakemake and pip: name -> what the shell does in place of it. Each
    adds its command line to the file ``called``.
    """
    copy_makefile(tmp_path)
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    for name, action in FAKE_PROGRAMS.items():
        program = programs / name
        program.write_text(f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/called"\n{action}\n')
        program.chmod(0o755)
    # make looks here for which folder the environment was made in.
    (tmp_path / ".venv/installed").write_text(f"{tmp_path}\n")
    return tmp_path


def calls(folder, beginning):
    """The command lines with this beginning that the fake programs in the folder have recorded."""
    lines = (folder / "called").read_text().splitlines()
    return [line for line in lines if line.startswith(beginning)]


@pytest.mark.parametrize(
    ("target", "told"),
    [("fig7", " -- fig7"), pytest.param("all", "", id="all: Snakemake is told no target")],
)
def test_make_passes_profile_and_settings_to_snakemake(fake_installation, target, told):
    make(fake_installation, target, "CONFIG=config/mine.yaml", "PROFILE=profiles/slurm")
    options = "--workflow-profile profiles/slurm --configfile config/mine.yaml"
    assert calls(fake_installation, "snakemake") == [f"snakemake {options}{told}"]


@pytest.mark.parametrize(
    ("targets", "runs"),
    [
        (["fig4", "fig5", "data"], [" -- fig4 fig5 data"]),
        (["all", "unlock", "fig4"], ["", " --unlock", " -- fig4"]),
    ],
)
def test_one_run_of_snakemake_at_a_time_makes_the_named_targets(fake_installation, targets, runs):
    """Though MAKEFLAGS, which some people export, asks for several at once."""
    (fake_installation / "results/figures").mkdir(parents=True)
    for number in (4, 5):
        (fake_installation / f"results/figures/fig{number}_a.png").touch()
    done = make(fake_installation, *targets, MAKEFLAGS="-j4")
    assert (done.returncode, done.stderr) == (0, "")
    expected = [f"snakemake --quiet rules reason host{run}" for run in runs]
    assert calls(fake_installation, "snakemake") == expected


def test_settings_for_other_projects_reach_no_program_that_make_starts(fake_installation):
    theirs = {
        "PYTHONPATH": "/theirs",
        "PIP_USER": "1",
        "SNAKEMAKE_PROFILE": "theirs",
        "MPLBACKEND": "module://theirs",
    }
    program = fake_installation / ".venv/bin/snakemake"
    program.write_text(f'#!/bin/sh\nenv >"{fake_installation}/environment"\n')
    make(fake_installation, "paper", **theirs)
    lines = (fake_installation / "environment").read_text().splitlines()
    seen = dict(line.split("=", 1) for line in lines if line.split("=")[0] in theirs)
    assert seen == {"PYTHONPATH": "", "PIP_USER": "0"}


def test_make_cluster_check_takes_the_profile_for_slurm_and_no_settings(fake_installation):
    make(fake_installation, "cluster-check")
    options = "--workflow-profile profiles/slurm --retries 0 --forcerun check_cluster"
    assert calls(fake_installation, "snakemake") == [f"snakemake {options} -- check_cluster"]


def test_plugins_of_a_profile_are_installed_once(fake_installation):
    make(fake_installation, "fig7", "PROFILE=profiles/slurm")
    assert len(calls(fake_installation, "pip install")) == 1
    make(fake_installation, "cluster-check")
    assert len(calls(fake_installation, "pip install")) == 1


def test_an_environment_that_was_moved_with_its_folder_is_made_anew(fake_installation):
    """It would run the code of the folder that it was made in."""
    assert "Installing" not in make(fake_installation, "verify").stdout
    moved = fake_installation.rename(fake_installation.with_name("moved"))
    assert "Installing" in make(moved, "verify", "PYTHON=true").stdout
