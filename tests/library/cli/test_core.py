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
from tightshuffle.side import Side

# The packages are found in {site} only, and `main` runs the command.
START_OF_PROGRAM = "import sys; sys.path.append({site!r}); from tightshuffle.cli.main import main; "
WORDS_OF_SETTING = ["--n", "200", "--k", "8", "--eps0", "0.45"]


@pytest.fixture(scope="module")
def run_with_light_core(tmp_path_factory):
    """A function that runs a program's text in a Python with few packages, and returns the ended process.

    This Python has the standard library, numpy, scipy and tightshuffle. START_OF_PROGRAM, which is put before
    the text, imports `sys`, and `main`, which runs the command.
    """
    site = tmp_path_factory.mktemp("site")
    for name in ("numpy", "scipy"):
        package = Path(find_spec(name).origin).parent
        # Beside a package, a folder may have the compiled libraries that it uses.
        for folder in (package, package.with_name(f"{name}.libs")):
            if folder.exists():
                (site / folder.name).symlink_to(folder)
    (site / "tightshuffle").symlink_to(Path(tightshuffle.__file__).parent)

    def run_program(program):
        start = START_OF_PROGRAM.format(site=str(site))
        # -I and -S: no installed packages, no current folder.
        command = [sys.executable, "-I", "-S", "-c", start + program]
        return subprocess.run(command, capture_output=True, text=True)

    return run_program


def test_every_command_and_method(run_with_light_core, tmp_path):
    """With no other packages than numpy and scipy, each command gives JSON, without an error or a warning.

    ``run_with_light_core`` runs a program's text in such a Python, where ``main`` is the command. "all" is
    for all methods, of which some need ``--count``, how many users hold a value. WORDS_OF_SETTING gives n, k
    and eps0.
    """
    (tmp_path / "counts.csv").write_text("cell,count\n1,500\n2,300\n3,200\n")
    commands = [
        ["delta", "all", *WORDS_OF_SETTING, "--eps", "0.2", "--count", "30"],
        ["delta", "all", *WORDS_OF_SETTING, "--eps", "0.2", "--count", "30", "--rounds", "2"],
        ["epsilon", "clones", *WORDS_OF_SETTING, "--delta", "1e-3", "--rounds", "2"],
        ["methods"],
        ["plan", "--data", str(tmp_path / "counts.csv"), "--eps", "0.5", "--delta", "1e-6"],
        ["compare", *WORDS_OF_SETTING],
    ]
    for words in commands:
        done = run_with_light_core(f"sys.exit(main({[*words, '--json']!r}))")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(done.stdout)


def test_each_call_imports_only_what_it_uses(run_with_light_core):
    """`delta upper` does not import the parts of scipy and numpy that it does not need, which take long.

    ``run_with_light_core`` runs a program's text in a new Python, in which ``main`` is the command. The
    program runs the command for k-RR and for OUE, then prints the names of all imported modules.
    """
    words = ["delta", "upper", "--eps", "0.2", "--n", "100000", "--k", "408", "--eps0", "4"]
    calls = [words, [*words, "--randomizer", "oue"]]
    done = run_with_light_core(f"[main(words) for words in {calls!r}]; print(*sys.modules)")
    imported = set(done.stdout.splitlines()[-1].split())
    assert "tightshuffle.bounds.privacy_blanket" in imported
    assert not imported & {
        "scipy.special",
        "scipy.optimize",
        "scipy.fft",
        "numpy.random",
        "numpy.ma",
    }


def test_the_package_itself_imports_nothing(run_with_light_core):
    done = run_with_light_core(
        "[sys.modules.pop(name) for name in list(sys.modules) if name.startswith('tightshuffle')]\n"
        "before = set(sys.modules); import tightshuffle; print(*(set(sys.modules) - before))"
    )
    assert done.stdout.split() == ["tightshuffle"]


def test_a_delta_next_to_1_is_not_written_as_1():
    assert delta_text(math.log10(0.999999)) == "0.999999"
    assert (delta_text(-6.0), delta_text(-1e-9, side=Side.UPPER)) == ("1.000e-06", "1")
