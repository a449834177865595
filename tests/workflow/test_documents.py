"""README.md and docs/: numbers are true, commands print what is shown, links lead somewhere."""

import math
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy import stats

import tightshuffle
from reproduction.report.quotes import read_findings, untrue
from tests import ROOT
from tests.library.bounds.enumeration import enumerate_worst_case
from tightshuffle.cli import main as cli
from tightshuffle.randomizers.krr import lie_probability, truth_probability

NAMES = [
    "README.md",
    "results/README.md",
    *(
        str(path.relative_to(ROOT))
        for folder in ("docs", "docs/letters")
        for path in sorted((ROOT / folder).glob("*.md"))
    ),
]
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
COMMAND = re.compile(r"^ *\$ (tightshuffle .*)$", re.MULTILINE)
FENCE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^\$ ([^\n]*<<'(\w+)'\n.*?^\2$|[^\n]*)\n(.*?)(?=^\$ |\Z)", re.MULTILINE | re.DOTALL)


@pytest.mark.slow
@pytest.mark.pipeline
def test_documents_state_what_comes_out(full):
    found = read_findings((full.folder / "results/findings.json").read_text(encoding="utf-8"))
    quotes = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text(encoding="utf-8"))
    assert list(untrue(quotes, TEXTS, found)) == []


def examples(text):
    """(command, output) of every command in a document's fenced ``console`` blocks."""
    return [
        (found[1], found[3].rstrip("\n"))
        for block in FENCE.findall(text)
        for found in EXAMPLE.finditer(block)
    ]


def run_examples(name, folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)  # where examples write their files
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    for command, output in examples(TEXTS[name]):
        if re.fullmatch(r"tightshuffle [\w. -]+", command):  # needs no shell: forty starts are half a minute
            assert cli.main(shlex.split(command)[1:]) == 0, command
            stdout, stderr = capsys.readouterr()
        else:
            done = subprocess.run(
                ["bash", "-c", command], cwd=folder, capture_output=True, text=True, env=environment
            )
            stdout, stderr = done.stdout, done.stderr
        assert (stderr, stdout.rstrip("\n")) == ("", output), command


WITH_EXAMPLES = [name for name in NAMES if examples(TEXTS[name])]
LETTERS = [name for name in WITH_EXAMPLES if name.startswith("docs/letters/")]


@pytest.mark.slow
@pytest.mark.pipeline
@pytest.mark.parametrize("name", [name for name in WITH_EXAMPLES if name not in LETTERS])
def test_examples_print_what_is_shown(name, full, capsys, monkeypatch):
    run_examples(name, full.folder, capsys, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("name", LETTERS)
def test_letters_print_what_is_shown_without_any_results(name, tmp_path, capsys, monkeypatch):
    """Whoever gets a letter has no run of this project."""
    run_examples(name, tmp_path, capsys, monkeypatch)


def test_every_letter_is_in_the_index_and_has_a_sender():
    for name in (name for name in NAMES if name.startswith("docs/letters/")):
        assert f"]({name.removeprefix('docs/')})" in TEXTS["docs/upstream.md"]
        assert "\n**To**: " in TEXTS[name]
        assert "\n**Send it**: " in TEXTS[name]


@pytest.mark.parametrize("name", NAMES)
def test_commands_without_output_work(name, capsys):
    shown = {command for command, _ in examples(TEXTS[name])}
    for command in set(COMMAND.findall(TEXTS[name])) - shown:
        assert cli.main(shlex.split(command)[1:]) == 0, f"{command}: {capsys.readouterr().err}"


def anchors(text):
    """The names under which GitHub links to a document's headings."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```", "", text, flags=re.M | re.S), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    for target in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", TEXTS[name])):
        path, _, anchor = target.partition("#")
        path = re.sub(r"^../../actions/(workflows/\w+\.yml).*", r".github/\1", path)  # a badge, on GitHub
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), target
        assert not anchor or anchor in anchors(file.read_text(encoding="utf-8")), target


def two_counts(eps, n, k, eps0):
    """delta of the counts of x0 and x1 only, if all remaining users hold a third value."""
    p, q = truth_probability(eps0, k), lie_probability(eps0, k)
    a, b = np.indices((n + 1, n + 1))

    def distribution(a, b):
        remaining = stats.multinomial(n - 1, [q, q, 1 - 2 * q])
        return remaining.pmf(np.stack([a, b, n - 1 - a - b], axis=-1))

    same = (1 - p - q) * distribution(a, b)
    first = p * distribution(a - 1, b) + q * distribution(a, b - 1) + same
    second = q * distribution(a - 1, b) + p * distribution(a, b - 1) + same
    return float(np.maximum(first - math.exp(eps) * second, 0).sum())


def test_the_letter_on_variation_ratio_is_right_for_two_and_three_values():
    setting = {"n": 8, "k": 3, "eps0": 1.0}
    pair, dataset = two_counts(0.8, **setting), enumerate_worst_case(0.8, **setting)[7, 0, 0]
    text = TEXTS["docs/letters/variation_ratio.md"]
    assert f"the pair has {pair:.5f}." in text
    assert f"hold $x_0$ has {dataset:.5f}." in text
    two = {"n": 8, "k": 2, "eps0": 1.0}
    for eps in (0.2, 0.5, 0.8):
        worst = max(enumerate_worst_case(eps, **two).values())
        assert 0 < worst <= two_counts(eps, **two) * (1 + 1e-12)


def test_the_entry_for_the_registry_has_our_numbers():
    (entry,) = re.findall(r"^```yaml\n(.*?)^```", TEXTS["docs/letters/registry.md"], re.MULTILINE | re.DOTALL)
    loss = yaml.safe_load(entry)["deployment"]["privacy_loss"]
    said = re.findall(r"([\d.]+) for (?:n = )?([\d,]+\d)", loss["privacy_parameters_details"])
    assert len(said) == 3
    for eps, n in said:
        setting = {"n": int(n.replace(",", "")), "k": 2, "eps0": loss["privacy_parameters"]["epsilon"]}
        assert 0 <= float(eps) - tightshuffle.epsilon(1e-6, method="clones", **setting) < 0.002


@pytest.mark.slow
@pytest.mark.pipeline
@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_named_exist(name, full):
    for path in re.findall(r"`((?:results|tightshuffle|scripts|tests|data|docs)/[\w./-]+\w)`", TEXTS[name]):
        if not path.startswith(
            ("results/bench", "results/logs", "data/raw")
        ):  # only some commands fill these
            assert ((full.folder if path.startswith("results") else ROOT) / path).exists(), path


@pytest.mark.slow
@pytest.mark.pipeline
def test_pictures_are_those_that_come_out(full):
    """Equal but for what another version of the drawing library might change."""
    from matplotlib import image

    for name in re.findall(r"\((?:docs/)?images/(\w+)\.png\)", "".join(TEXTS.values())):
        shown = image.imread(ROOT / f"docs/images/{name}.png")
        drawn = image.imread(full.folder / f"results/figures/{name}.png")
        assert shown.shape == drawn.shape, f"{name}: run `make pictures`"
        assert abs(shown - drawn).mean() < 0.01, f"{name}: run `make pictures`"
