"""The light core: with numpy and scipy alone the command and every accountant work."""

import json
import math
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

import tightshuffle
from tightshuffle.cli.layout import delta_text
from tightshuffle.numerics.side import Side


@pytest.fixture(scope="module")
def folder_of_light_core(tmp_path_factory):
    """A folder with three packages: numpy, scipy and tightshuffle."""
    folder = tmp_path_factory.mktemp("site")
    for name in ("numpy", "scipy"):
        package = Path(find_spec(name).origin).parent
        # Beside a package, a folder may have the compiled libraries that it uses.
        for part in (package, package.with_name(f"{name}.libs")):
            if part.exists():
                (folder / part.name).symlink_to(part)
    (folder / "tightshuffle").symlink_to(Path(tightshuffle.__file__).parent)
    return folder


@pytest.fixture
def run_with_light_core(folder_of_light_core):
    """A function of a program's text that runs it in a new Python, and returns the ended process.

    This Python has no packages but numpy, scipy and tightshuffle. It has already imported `sys`, and `main`,
    which runs the command.
    """

    def run_program(program):
        start = (
            f"import sys; sys.path.append({str(folder_of_light_core)!r}); "
            "from tightshuffle.cli.main import main; "
        )
        # -I and -S: no installed packages, no current folder.
        command = [sys.executable, "-I", "-S", "-c", start + program]
        return subprocess.run(command, capture_output=True, text=True)

    return run_program


OF_ALL_METHODS = "delta all --n 200 --k 8 --eps0 0.45 --eps 0.2 --count 30 --json"


@pytest.mark.parametrize(
    "lines",
    [
        [OF_ALL_METHODS, f"{OF_ALL_METHODS} --rounds 2", "methods --json"],
        ["epsilon clones --n 200 --k 8 --eps0 0.45 --delta 1e-3 --rounds 2 --json"],
        ["plan --data counts.csv --eps 0.5 --delta 1e-6 --json"],
        ["compare --n 200 --k 8 --eps0 0.45 --eps 0.1:0.4:4 --json"],
    ],
    ids=["delta and methods", "epsilon", "plan", "compare"],
)
def test_every_command_answers_without_an_error_or_a_warning(
    run_with_light_core, tmp_path, monkeypatch, lines
):
    monkeypatch.chdir(tmp_path)
    Path("counts.csv").write_text("cell,count\n1,500\n2,300\n3,200\n")
    calls = ", ".join(f"main({line.split()})" for line in lines)
    done = run_with_light_core(f"sys.exit(max([{calls}]))")
    assert (done.returncode, done.stderr) == (0, "")
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(answers) == len(lines)
    assert all(answers)


def test_a_picture_needs_matplotlib_and_says_how_to_install_it(run_with_light_core, tmp_path):
    path = tmp_path / "a.png"
    lines = ["compare --n 200 --k 8 --eps0 0.45", "design --n 200 --k 8 --eps 1 --delta 1e-3"]
    calls = ", ".join(f"main({[*line.split(), '--plot', str(path)]})" for line in lines)
    done = run_with_light_core(f"print({calls})")
    assert (done.stdout, path.exists()) == ("2 2\n", False)
    errors = done.stderr.splitlines()
    assert len(errors) == 2
    for error in errors:
        assert error.startswith("tightshuffle: this needs matplotlib: ")
        assert error.endswith("pip install '.[plot]'")


def test_delta_upper_imports_no_slow_module_that_it_does_not_need(run_with_light_core):
    line = "delta upper --eps 0.2 --n 100000 --k 408 --eps0 4 --randomizer"
    calls = "".join(f"main({[*line.split(), name]}); " for name in ("grr", "oue"))
    done = run_with_light_core(f"{calls}print(*sys.modules)")
    imported = set(done.stdout.splitlines()[-1].split())
    assert "tightshuffle.bounds.privacy_blanket" in imported
    slow = {"scipy.special", "scipy.optimize", "scipy.fft", "numpy.random", "numpy.ma"}
    assert not imported & slow


def test_the_package_itself_imports_nothing(run_with_light_core):
    done = run_with_light_core(
        "[sys.modules.pop(name) for name in list(sys.modules) if name.startswith('tightshuffle')]\n"
        "before = set(sys.modules); import tightshuffle; print(*(set(sys.modules) - before))"
    )
    assert done.stdout.split() == ["tightshuffle"]


def test_a_delta_next_to_1_is_not_written_as_1():
    assert delta_text(math.log10(0.999999)) == "0.999999"
    assert (delta_text(-6.0), delta_text(-1e-9, side=Side.UPPER)) == ("1.000e-06", "1")
