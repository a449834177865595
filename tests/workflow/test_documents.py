"""README.md and docs/: numbers are true, and commands print what is shown (links: `make docs`)."""

import ast
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import yaml

from scripts.beyond.study.write_designs import LINES, designs_page
from tests import ROOT
from tests.quotes import filled
from tests.workflow.conftest import Project
from tightshuffle.cli import main as cli

NAMES = [
    "README.md",
    "results/README.md",
    *(f"docs/{path.name}" for path in sorted(ROOT.glob("docs/*.md"))),
]
# Document -> its text; in a text, the blocks of commands, the blocks of Python, and in a block of commands
# each command (with its here-document, if it has one) and the output behind it.
TEXTS = {name: (ROOT / name).read_text(encoding="utf-8") for name in NAMES}
FENCE = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(
    r"^\$ ([^\n]*<<'(\w+)'\n.*?^\2$|[^\n]*)\n(.*?)(?=^\$ |\Z)", re.MULTILINE | re.DOTALL
)


def slow(test):
    """The test with the marks of those that need a full run."""
    return pytest.mark.slow(pytest.mark.pipeline(test))


def examples(name):
    """(command, output) of every command in a document's fenced ``console`` blocks."""
    blocks = FENCE.findall(TEXTS[name])
    return [
        (found[1], found[3].rstrip("\n")) for block in blocks for found in EXAMPLE.finditer(block)
    ]


@pytest.fixture(scope="module")
def project_with_results():
    """This checkout, with the results of `make`: only what they lack is made here."""
    project = Project(ROOT, config=[], results="results", exists=True)
    project.make()
    return project


@slow
def test_documents_state_what_comes_out(project_with_results):
    """After a full run on the paper's settings, in this checkout (``project_with_results``):

    1. Each document has its texts of docs/quotes.yaml, in which `filled` puts numbers of findings.json.
    2. docs/designs.md has each part (between empty lines) of the page that is made from the study's results.
    3. Each path that stands between backquotes in a document exists.

    `TEXTS` has the documents: file -> text.
    """
    found = (project_with_results.folder / "results/findings.json").read_text(encoding="utf-8")
    quotes = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text(encoding="utf-8"))
    for name, texts in quotes.items():  # file of a document -> texts with placeholders
        said = " ".join(TEXTS[name].replace("**", "").split())
        assert [text for text in texts if filled(text, found) not in said] == [], name

    study = pd.read_csv(project_with_results.folder / "results/study/study.csv")
    page = designs_page(study, LINES).removeprefix("# ")  # a section there, with a longer "## "
    parts = page.strip().split("\n\n")
    assert [part for part in parts if part not in TEXTS["docs/designs.md"]] == []

    path_in_text = r"`((?:results|tightshuffle|scripts|tests|data|docs)/[\w./-]+\w)`"
    for name, text in TEXTS.items():
        for path in re.findall(path_in_text, text):
            folder = project_with_results.folder if path.startswith("results") else ROOT
            # These are made by commands that not everybody runs: on a cluster, for the site, a download.
            some_commands_fill = path.startswith(("results/logs", "results/site", "data/raw"))
            assert some_commands_fill or (folder / path).exists(), f"{name}: {path}"


def test_a_target_stands_behind_two_dashes_where_a_file_of_settings_stands_before_it():
    """Else Snakemake takes the target for a second file of settings."""
    commands = re.findall(r"snakemake [^`\n#]*--configfile [^`\n#]*", "\n".join(TEXTS.values()))
    assert len(commands) >= 4
    for command in commands:
        words = command.split()
        behind = words[words.index("--configfile") + 2 :]
        assert behind == [] or behind[0].startswith("--"), command


@pytest.mark.slow
def test_python_of_the_documents():
    """Every block of Python in a document runs. If a comment ends its last line, this line has that value.

    Such a comment is "# 0.0123": the value is compared after rounding to as many decimals. `TEXTS` has the
    documents (file -> text), and the pattern `PYTHON` finds the blocks.
    """
    compared = 0
    for text in TEXTS.values():
        for block in PYTHON.findall(text):
            *before, last = ast.parse(block).body  # statements; the last one is an expression
            names: dict[str, object] = {}
            exec(compile(ast.Module(before, []), "document", "exec"), names)
            value = eval(ast.unparse(last), names)
            if number := re.search(r"# (\d+\.(\d+))", block.splitlines()[-1]):
                assert round(value, len(number[2])) == float(number[1])
                compared += 1
    assert compared  # else no number was found


def test_code_and_theory_point_at_each_other():
    """1. Each page of docs/ that code or settings name exists, and so does a section named behind the page.

    They write docs/theory.md, "Sums only" for a heading that begins with these words. `TEXTS` has the text of
    each page.

    2. The modules that docs/theory.md names between backquotes exist, in tightshuffle/ or in this project.
    """
    named_sections = 0
    for folder in ("tightshuffle", "scripts", "tests", "workflow", "config"):
        for path in sorted(ROOT.joinpath(folder).rglob("*.*")):
            if path.suffix in (".py", ".smk", ".yaml", ".j2", ".typ"):
                # In one line, as a name may go on in the next line of a comment.
                text = re.sub(r"\s+(# +)?", " ", path.read_text(encoding="utf-8"))
                for page, section in re.findall(r'\b(docs/\w+\.md)\b(?:, "([^"]+)")?', text):
                    headings = re.findall(r"^#+ (.*)", TEXTS.get(page, ""), re.MULTILINE)
                    exists = any(heading.startswith(section) for heading in headings)
                    assert exists, f"{path}: {page}, {section}"
                    named_sections += bool(section)
    modules = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", TEXTS["docs/theory.md"])
    for name in modules:
        assert (ROOT / "tightshuffle" / name).exists() or (ROOT / name).exists(), name
    # Else they were not found: there are 20 sections and 17 modules.
    assert min(named_sections, len(modules)) > 10


@slow
@pytest.mark.parametrize("name", [name for name in NAMES if examples(name)])
def test_examples_print_what_is_shown(name, project_with_results, capsys, monkeypatch, tmp_path):
    """Each command of the document ``name`` prints the output that stands behind it there, and no error.

    `examples` has the pairs (command, output) of the document. The commands run one after the other in a new
    folder, with links to the files of this checkout after a full run (``project_with_results``). So what a
    command writes does not stay.
    """
    for path in project_with_results.folder.glob("[!.]*"):
        (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)  # where examples find results, and write their files
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    for command, output in examples(name):
        # Our own command, without pipes and quotes, runs in this process: it saves forty starts of Python.
        if re.fullmatch(r"tightshuffle [\w. -]+", command):
            assert cli.main(shlex.split(command)[1:]) == 0, command
            stdout, stderr = capsys.readouterr()
        else:
            done = subprocess.run(
                ["bash", "-c", command], capture_output=True, text=True, env=environment
            )
            stdout, stderr = done.stdout, done.stderr
        assert (stderr, stdout.rstrip("\n")) == ("", output), command
