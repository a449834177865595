"""The project itself: pins, the wheel, what is committed, and what the Makefile refuses."""

import itertools
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile

import pytest
import yaml
from flit_core import buildapi

import tightshuffle
from tests import ROOT

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# pyproject.toml's section "project", and group of dependencies (pipeline, test, dev) -> requirements.
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
# Group -> its lock file, which has the exact version and the hashes of each package.
LOCKS = {
    group: f"requirements{'' if group == 'pipeline' else f'-{group}'}.lock" for group in GROUPS
}


def locked_versions(name):
    """Package -> version of every line "package==version" in the file."""
    text = (ROOT / name).read_text()
    return dict(re.findall(r"^[\s\"-]*([A-Za-z0-9._-]+)==([^\s\"\\]+)", text, flags=re.MULTILINE))


def names_of(requirements):
    """The packages of requirements such as "numpy>=2", in the form that lock files use."""
    return {re.match(r"[A-Za-z0-9_-]+", line)[0].lower().replace("_", "-") for line in requirements}


@pytest.mark.parametrize("environment", ["environment.yml", "workflow/envs/rules.yml"])
def test_conda_has_the_versions_of_the_lock(environment):
    assert locked_versions(environment) == locked_versions("requirements.lock")


@pytest.mark.parametrize("group", LOCKS)
def test_lock_has_every_dependency_of_its_group_with_hashes_and_no_index(group):
    """`LOCKS` has the lock file of each group of dependencies: pipeline, test, dev and cluster. For the ``group``:

    1. The file names no index or address, and each of its entries (from a package's name to the next) has a
    hash.
    2. It has every dependency that pyproject.toml gives to the group (`GROUPS`). The locks of pipeline and
    test are installed alone, so they also have the dependencies of the library (in `PROJECT`).
    3. A package has the same version as in the pipeline's lock. The lock of dev is installed beside that of
    pipeline, so these two have no package in common.
    """
    text = (ROOT / LOCKS[group]).read_text()
    assert not re.search(r"index-url|find-links|https?://|file:", text)
    assert all("--hash=sha256:" in entry for entry in re.split(r"\n(?=[a-z])", text.strip()))

    # Package -> version.
    lock, pipeline = locked_versions(LOCKS[group]), locked_versions(LOCKS["pipeline"])
    stands_alone = group in ("pipeline", "test")
    library = PROJECT["dependencies"] if stands_alone else []
    assert names_of([*GROUPS[group], *library]) <= lock.keys()
    both = lock.keys() & pipeline.keys()
    assert {name: lock[name] for name in both} == {name: pipeline[name] for name in both}
    assert stands_alone or not both


def test_every_extra_is_tested():
    extras = names_of(itertools.chain(*PROJECT["optional-dependencies"].values()))
    assert (
        extras <= locked_versions(LOCKS["pipeline"]).keys() | locked_versions(LOCKS["test"]).keys()
    )


def test_the_citation_and_the_changelog_have_the_version_and_its_date():
    """CITATION.cff has the version and the date of the newest heading of CHANGELOG.md.

    A heading is such as "## [1.2.0] - 2026-01-31". The version is also that of the package. Before a release
    the heading has "Unreleased" instead of a date, and CITATION.cff has no date.
    """
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    headings = re.findall(
        r"^## \[(\d.*?)\] - (.+)", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE
    )
    newest_version, newest_date = headings[0]
    date_in_citation = str(citation.get("date-released", "Unreleased"))
    assert citation["version"] == newest_version == tightshuffle.__version__
    assert date_in_citation == newest_date


def test_nothing_large_and_no_checkin_rows():
    """No file that git has or would add is large or has a row of SNAP's file of check-ins (data of persons).

    Code of Python is not searched for such rows, as tests make some up.
    """
    command = "git ls-files -co --exclude-standard -z"
    listed = subprocess.run(command.split(), cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout: the project's files cannot be told from made ones")
    files = [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]
    sizes = [path.stat().st_size for path in files]
    # Limits in bytes, of our own choice; the largest file is the copy of the article.
    assert max(sizes) < 1_000_000
    assert sum(sizes) < 5_000_000
    # A row of check-ins: user, time, latitude, longitude, location, tab separated.
    row = re.compile(rb"^\d+\t\d{4}-\d\d-\d\dT[^\t]+\t-?\d+\.\d+\t-?\d+\.\d+\t", re.MULTILINE)
    assert [path for path in files if path.suffix != ".py" and row.search(path.read_bytes())] == []


def test_the_wheel_holds_the_library_and_nothing_else(tmp_path, monkeypatch):
    monkeypatch.chdir(ROOT)
    with zipfile.ZipFile(tmp_path / buildapi.build_wheel(str(tmp_path))) as wheel:
        held = {name for name in wheel.namelist() if ".dist-info/" not in name}
    library = {str(path.relative_to(ROOT)) for path in (ROOT / "tightshuffle").rglob("*.py")}
    assert held == library | {"tightshuffle/py.typed"}


def test_the_librarys_tests_import_the_library_and_the_test_tools_only():
    """The tests in tests/library can run on an installed library, without the rest of this project.

    They may import the library, its dependencies and those of its extra calculator (`PROJECT`, of
    pyproject.toml), the group test (`GROUPS`), Python's own modules, and of tests/ only tests/library and
    chi_square.py. The latter and conftest.py are held to this, too. A pattern finds the first word of what
    each line with "import" imports.
    """
    shared = (ROOT / "tests").glob("c*.py")  # conftest.py and chi_square.py
    files = [*(ROOT / "tests/library").rglob("*.py"), *shared]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    imported = set(re.findall(r"^ *(?:import|from(?=.* import )) (\w+)", text, re.MULTILINE))
    # The test of the calculator's picture needs an extra, and says so where it is missing.
    extras = PROJECT["optional-dependencies"]["calculator"]
    requirements = [*PROJECT["dependencies"], *GROUPS["test"], *extras]
    tools = {name.replace("-", "_") for name in names_of(requirements)}
    # The package pytest-xdist has the module xdist.
    assert imported <= {"tightshuffle", "tests", "xdist"} | tools | sys.stdlib_module_names
    assert set(re.findall(r"^ *from tests\.(\w+)", text, re.MULTILINE)) <= {"library", "chi_square"}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("mit Leerzeichen", "error: Snakemake does not work in a folder with a space: "),
        (
            "Büro-1_x.y",
            "error: tight-shuffle needs Python >= 3.11. Name one: make PYTHON=python3.12",
        ),
    ],
)
def test_a_folder_with_a_space_and_an_old_python_are_refused_before_the_installation(
    tmp_path, name, told
):
    """``name`` is that of a folder with a copy of the Makefile, ``told`` the beginning of the error there.

    `make install` is to use the program false as Python. It always fails, as an old Python does when the
    Makefile asks whether it is new enough. The first folder's name has a space, which is refused first. The
    second name is allowed, so there Python is refused.
    """
    folder = tmp_path / name
    folder.mkdir()
    for file in ("Makefile", "requirements.lock", "pyproject.toml"):
        shutil.copy2(ROOT / file, folder)
    command = ["make", "install", "PYTHON=false"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.stderr.startswith(told)
    assert not (folder / ".venv").exists()


def test_make_clean_empties_no_folder_but_the_results(tmp_path):
    shutil.copy2(ROOT / "Makefile", tmp_path)
    for name in ("results/README.md", "results/a/b.csv", "mine/a"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    subprocess.run(["make", "clean"], cwd=tmp_path, check=True, capture_output=True)
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*/*") if path.is_file()}
    assert left == {"results/README.md", "mine/a"}


@pytest.fixture
def installed(tmp_path):
    """A folder with the Makefile and a fake environment, which `make` takes for an installed one.

    Its programs python, snakemake and pip write their names and arguments into the file ``called``, a line
    for each call. Besides, python prints "results", the answer when the Makefile asks for the folder of the
    results. They do nothing else.
    """
    for name in ("Makefile", "requirements.lock", "requirements-cluster.lock", "pyproject.toml"):
        shutil.copy2(ROOT / name, tmp_path)
    (tmp_path / "profiles/slurm").mkdir(parents=True)
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    for name, action in (("python", "echo results"), ("snakemake", "true"), ("pip", "true")):
        script = f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/called"\n{action}\n'
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    (tmp_path / ".venv/pyvenv.cfg").touch()
    # make looks here for which folder the environment was made in.
    (tmp_path / ".venv/installed").write_text(f"{tmp_path}\n")
    return tmp_path


def make(folder, *arguments):
    """Run make in the folder: the completed process."""
    # A make around the tests would print the directory.
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_a_profile_works_for_every_target_and_brings_its_plugins(installed):
    """In ``installed`` make calls fake programs, which write their command lines into the file ``called``.

    1. With PROFILE, the targets fig7 and all run Snakemake with the profile and the file of settings, CONFIG.
    For all, Snakemake is told no target, as it then makes everything.
    2. The target cluster-check takes the profile for Slurm and no settings.
    3. pip installs the profile's plugins once, for all three runs. The expected lines are written by hand.
    """
    for target in ("fig7", "all"):
        make(installed, target, "CONFIG=config/mine.yaml", "PROFILE=profiles/slurm")
    make(installed, "cluster-check")
    called = (installed / "called").read_text().splitlines()
    options = "--workflow-profile profiles/slurm --configfile config/mine.yaml"
    assert [line for line in called if line.startswith("snakemake")] == [
        f"snakemake {options} -- fig7",
        f"snakemake {options}",
        "snakemake --workflow-profile profiles/slurm --retries 0 --forcerun check_cluster -- check_cluster",
    ]
    assert sum(line.startswith("pip install") for line in called) == 1


def test_an_environment_that_was_copied_with_its_folder_is_made_anew(installed, tmp_path_factory):
    """It would run the code of the folder that it was made in."""
    assert "Installing" not in make(installed, "verify").stdout
    copy = tmp_path_factory.mktemp("copy")
    shutil.copytree(installed, copy, dirs_exist_ok=True)
    assert "Installing" in make(copy, "verify", "PYTHON=true").stdout
