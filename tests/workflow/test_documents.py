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

from docs.pictures import gallery
from scripts.beyond.study.write_designs import LINES, designs_page
from scripts.shared.verify import other_findings, sums_of
from tests import ROOT
from tests.quotes import filled
from tests.workflow.conftest import Project
from tightshuffle.cli import main as cli

LIBRARY = ROOT / "library"
PATHS = [
    *(ROOT / "README.md", ROOT / "results/README.md", LIBRARY / "README.md"),
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(LIBRARY.glob("docs/*.md")),
]
# Document, such as library/docs/theory.md -> its text.
DOCUMENTS = {str(path.relative_to(ROOT)): path.read_text() for path in PATHS}
# In a block of commands: each command, with its here-document if it has one, and the output behind it.
EXAMPLE = re.compile(
    r"^\$ ([^\n]*<<'(\w+)'\n.*?^\2$|[^\n]*)\n(.*?)(?=^\$ |\Z)", re.MULTILINE | re.DOTALL
)


def slow(test):
    """The test with the marks of those that need a full run."""
    return pytest.mark.slow(pytest.mark.pipeline(test))


def house_of(name):
    """The folder from which on a file, named from the project's folder, names others."""
    return LIBRARY if name.startswith("library/") else ROOT


def path_in(document, name):
    """The path of a file that a document names. All results are the reproduction's."""
    return (ROOT if name.startswith("results/") else house_of(document)) / name


def fenced(language, text):
    """The blocks of a text that stand in fences with the name of this language."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def examples(document):
    """(command, output) of every command in a document's fenced ``console`` blocks."""
    blocks = fenced("console", DOCUMENTS[document])
    return [
        (found[1], found[3].rstrip("\n")) for block in blocks for found in EXAMPLE.finditer(block)
    ]


@pytest.fixture(scope="module")
def results():
    """The folder of the results of `make` in this checkout: only what it lacks is made here."""
    Project(ROOT, arguments=[]).make()
    return ROOT / "results"


REFERENCE = ROOT / "data/reference"


@slow
def test_the_results_have_the_findings_of_the_reference_run(results):
    assert other_findings(results / "findings.json", REFERENCE / "findings.json") == []


@slow
def test_the_reference_run_made_the_files_that_a_run_makes(results):
    assert sums_of(REFERENCE / "SHA256SUMS").keys() == sums_of(results / "SHA256SUMS").keys()


def test_documents_have_their_quotes_with_the_numbers_of_the_reference_run():
    """docs/quotes.yaml has the texts, and `filled` puts in the numbers of findings.json."""
    findings = (REFERENCE / "findings.json").read_text()
    quotes = yaml.safe_load((ROOT / "docs/quotes.yaml").read_text())
    for document, texts in quotes.items():
        said = " ".join(DOCUMENTS[document].replace("**", "").split())
        assert [text for text in texts if filled(text, findings) not in said] == [], document


def rows_to_evaluate():
    """The rows of the table of docs/evaluate.md: name -> (command, files, expected)."""
    lines = re.findall(r"^\| ([^|]*) \| [^|]* \| `([^|]*)` \| ([^|]*) \| ([^|]*) \|$",
                       DOCUMENTS["docs/evaluate.md"], re.MULTILINE)  # fmt: skip
    return {
        name: (command, re.findall(r"`([^`]+)`", files), expected)
        for name, command, files, expected in lines
    }


def test_each_row_to_evaluate_has_a_target_of_make_and_files_of_the_reference_run():
    makefile = (ROOT / "Makefile").read_text()
    targets = re.search(r"^TARGETS := (.*)", makefile, re.MULTILINE)[1].split()
    made = sums_of(REFERENCE / "SHA256SUMS")
    rows = rows_to_evaluate()
    assert {f"Figure {number}" for number in range(1, 8)} <= rows.keys()
    assert {
        "Table 1 (FPS)",
        *(f"Table {number}" for number in ("II", "III", "IV", "V", "VI")),
    } <= rows.keys()
    for name, (command, files, _) in rows.items():
        assert command.removeprefix("make").strip() in ["", *targets], name
        assert files, name
        assert [file for file in files if f"results/{file}" not in made] == [], name


@slow
def test_captions_have_what_is_expected_of_the_figures(results):
    for name, (_, files, expected) in rows_to_evaluate().items():
        if re.fullmatch(r"Figure \d", name):
            caption = (results / files[0]).with_suffix(".txt").read_text()
            assert [part for part in expected.split("; ") if part not in caption] == [], name


@slow
def test_the_gallery_has_the_captions_of_the_run(results):
    assert gallery(results / "figures") == DOCUMENTS["docs/gallery.md"]


@slow
def test_page_of_designs_has_every_part_that_is_made_from_the_results_of_the_study(results):
    page = designs_page(pd.read_csv(results / "study/study.csv"), LINES)
    parts = page.removeprefix("# ").strip().split("\n\n")  # "## " in library/docs/designs.md
    assert [part for part in parts if part not in DOCUMENTS["library/docs/designs.md"]] == []


@slow
@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_path_between_backquotes_exists(document, results):
    """After a full run, which fills the folder ``results``."""
    path = r"`((?:results|library|tightshuffle|scripts|tests|data|docs)/[\w./-]+\w)`"
    # Filled by commands that not everybody runs: on a cluster, for the site, a download.
    by_some = ("results/logs", "results/site", "data/raw")
    named = re.findall(path, DOCUMENTS[document])
    checked = [name for name in named if not name.startswith(by_some)]
    assert [name for name in checked if not path_in(document, name).exists()] == []


def test_a_target_stands_behind_two_dashes_where_a_file_of_settings_stands_before_it():
    """Else Snakemake takes the target for a second file of settings."""
    text = "\n".join(DOCUMENTS.values())
    behind_option = re.findall(r"snakemake [^`\n#]*--configfile ([^`\n#]*)", text)
    assert len(behind_option) >= 4
    for words in behind_option:
        _settings, *others = words.split()
        assert others == [] or others[0].startswith("--"), words


def value_printed_by(code, house):
    """What Python prints for the last line of code, an expression, if it runs in the folder ``house``."""
    *before, last = ast.parse(code).body
    lines = [*map(ast.unparse, before), f"print({ast.unparse(last)})"]
    return subprocess.check_output([sys.executable, "-c", "\n".join(lines)], cwd=house, text=True)


@pytest.mark.slow
def test_python_of_the_documents_runs_and_has_the_values_in_its_comments():
    """Such as "# 0.0123" at the end of a block's last line: the value of this line, rounded."""
    compared = 0
    for document, text in DOCUMENTS.items():
        for block in fenced("python", text):
            value = value_printed_by(block, house_of(document))
            if comment := re.search(r"# (\d+\.(\d+))", block.splitlines()[-1]):
                stated, decimals = comment.groups()
                assert round(float(value), len(decimals)) == float(stated)
                compared += 1
    assert compared  # else no number was found


def pages_named_in(path):
    """(page, section) for every page of documents that a file names; the section may be "".

    library/docs/theory.md, "Sums only" stands for a heading that begins with these words.
    """
    # In one line, as a name may go on in the next line of a comment.
    text = re.sub(r"\s+(# +)?", " ", path.read_text())
    return re.findall(r'\b((?:library/)?docs/\w+\.md)\b(?:, "([^"]+)")?', text)


def test_code_and_settings_name_pages_and_sections_that_exist():
    named_sections = 0
    for folder in ("library", "scripts", "tests", "workflow", "config"):
        for path in sorted(ROOT.joinpath(folder).rglob("*.*")):
            if path.suffix in (".py", ".smk", ".yaml", ".j2"):
                house = house_of(str(path.relative_to(ROOT)))
                for page, section in pages_named_in(path):
                    document = str((house / page).relative_to(ROOT))
                    headings = re.findall(r"^#+ (.*)", DOCUMENTS.get(document, ""), re.MULTILINE)
                    exists = any(heading.startswith(section) for heading in headings)
                    assert exists, f"{path}: {page}, {section}"
                    named_sections += bool(section)
    assert named_sections > 10  # else they were not found: there are 20


def test_theory_names_modules_that_exist():
    """In the library, with or without "tightshuffle/"."""
    modules = re.findall(r"`([a-z_]+/[a-z_/]+(?:\.py)?)`", DOCUMENTS["library/docs/theory.md"])
    assert len(modules) > 10  # else they were not found: there are 17
    for name in modules:
        assert (LIBRARY / "tightshuffle" / name).exists() or (LIBRARY / name).exists(), name


@pytest.fixture
def working_folder(document, results, tmp_path, monkeypatch):
    """A new working folder with links to the files of the document's house, and then of this checkout.

    What commands write does not stay.
    """
    house = house_of(document)
    for path in [*house.glob("[!.]*"), *ROOT.glob("[!.]*")]:
        if not (tmp_path / path.name).exists():
            (tmp_path / path.name).symlink_to(path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, [house, ROOT, LIBRARY])))


def run_example(command, capsys):
    """Run a command of a document: what it prints as output, and as errors."""
    # Our own command, without pipes and quotes, runs in this process: it saves forty starts of Python.
    if re.fullmatch(r"tightshuffle [\w. -]+", command):
        assert cli.main(shlex.split(command)[1:]) == 0, command
        return capsys.readouterr()
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    return done.stdout, done.stderr


@slow
@pytest.mark.parametrize("document", [name for name in DOCUMENTS if examples(name)])
def test_commands_in_documents_print_the_output_behind_them(document, working_folder, capsys):
    """And no error. They run one after the other in the ``working_folder``."""
    for command, shown in examples(document):
        output, errors = run_example(command, capsys)
        assert (errors, output.rstrip("\n")) == ("", shown), command
