"""README.md and docs/: numbers are computed, commands print what is shown, links lead somewhere."""

import csv
import os
import re
import shlex
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.pipeline import documents
from tightshuffle.cli import main as cli

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
NAMES = [str(path.relative_to(ROOT)) for path in DOCUMENTS]
EXEMPT = {  # sections whose numbers are no results of the pipeline: document, heading, why
    ("README.md", "How fast"): "times of one machine, from `make bench`; the section says so",
}
ELSEWHERE = {  # documents whose numbers something else stands behind
    "docs/parity.md": "test_readme.py compares every one with results/, in the words around it",
    "docs/scaling.md": "times of one machine, from `make bench`; the document says so",
}
WITH_NUMBERS = [name for name in NAMES if name not in ELSEWHERE]

PLACES = ("results/bench", "results/logs", "data/raw")  # that only some commands fill
READERS_OWN = {"config/mine.yaml"}  # files that a document tells its reader to make


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def headings(name):
    return {heading for document, heading in EXEMPT if document == name}


@pytest.fixture(scope="module")
def stated(full):
    """The texts of results/numbers.csv by document."""
    texts = {}
    with open(full.folder / "results/numbers.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            texts.setdefault(row["name"].split(".")[0], {})[row["name"]] = row["text"]
    return texts


# --- the documents -----------------------------------------------------------------------------------------


@pytest.mark.pipeline
@pytest.mark.parametrize("name", WITH_NUMBERS)
def test_every_number_is_computed(name, stated):
    stem = Path(name).stem.lower()
    known = set(stated.get(stem, {}).values())
    wrong = [found for found in documents.results(read(name), headings(name)) if found.text not in known]
    lines = "\n".join(f"  {name}:{found.line}: {found.text}" for found in wrong)
    assert not wrong, (
        f"\n{lines}\nare no texts of results/numbers.csv under a name that begins with '{stem}.'. If such a "
        "number is a result, correct it, or state it in scripts/state_numbers.py; if it is a parameter, "
        "write it as code (`0.25`) or behind its name (eps0 = 0.25). tests/workflow/documents.py says what "
        "counts as a result."
    )


@pytest.mark.pipeline
@pytest.mark.parametrize("name", NAMES)
def test_every_computed_number_is_quoted(name, stated):
    words = documents.words(read(name))
    pattern = r"(?<![\w.,]){}(?![\w])"
    rows = stated.get(Path(name).stem.lower(), {}).items()
    missing = [
        f"{row}: {text}" for row, text in rows if not re.search(pattern.format(re.escape(text)), words)
    ]
    assert not missing, f"{name} does not say (any more): {missing}; correct it, or take the row out"


@pytest.mark.pipeline
def test_numbers_belong_to_documents(stated):
    assert set(stated) <= {path.stem.lower() for path in DOCUMENTS}


@pytest.mark.pipeline
@pytest.mark.parametrize("name", NAMES)
def test_commands_print_what_is_shown(name, full, capsys):
    for example in documents.examples(read(name)):
        printed = run(example.command, full.folder, capsys)
        assert printed == example.output, f"{name}:{example.line}: `{example.command}` prints\n{printed}"


def run(command, folder, capsys):
    """What a command prints: ours in this process, all others by bash in the folder."""
    if command.startswith("tightshuffle "):
        assert cli.main(shlex.split(command)[1:]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return printed.out.rstrip("\n")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    environment["PYTHONPATH"] = str(ROOT)
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.rstrip("\n")


@pytest.mark.parametrize("name", NAMES)
def test_commands_without_output_work(name, capsys):
    shown = {example.line for example in documents.examples(read(name))}
    for found in documents.commands(read(name)):
        if found.line not in shown:
            assert cli.main(shlex.split(found.text)[1:]) == 0, (
                f"{name}:{found.line}: {capsys.readouterr().err}"
            )


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    for line, target in documents.links(read(name)):
        path, _, anchor = target.partition("#")
        file = (ROOT / name).parent / path if path else ROOT / name
        assert file.exists(), f"{name}:{line}: no file {target}"
        if anchor:
            assert anchor in documents.anchors(file.read_text(encoding="utf-8")), (
                f"{name}:{line}: no heading #{anchor}"
            )


@pytest.mark.pipeline
@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_named_exist(name, full):
    for path in re.findall(
        r"`((?:results|tightshuffle|scripts|tests|config|data|docs)/[\w./-]+\w)`", read(name)
    ):
        if path not in READERS_OWN and not path.startswith(PLACES):
            where = full.folder if path.startswith("results") else ROOT
            assert (where / path).exists(), f"{name}: no file {path}"


def test_documents_with_other_checks_exist():
    assert set(ELSEWHERE) <= set(NAMES)


@pytest.mark.parametrize("document_and_heading", EXEMPT)
def test_exemptions_are_needed(document_and_heading):
    name, heading = document_and_heading
    everything = documents.results(read(name))
    assert len(documents.results(read(name), {heading})) < len(everything)


# --- the rule itself ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("delta is 2.48e-15, printed as 5E-3", ["2.48e-15", "5E-3"]),
        ("at delta = 1e-6 and 1E-30", []),
        ("an error of 0.0129 and 20.75", ["0.0129", "20.75"]),
        ("eps 0.1, eps0 = 0.49, $\\epsilon_0 = 0.25$, at 0.95 eps0", []),
        ("eps = 1.4003 is a result, eps = 1.4 and 0.35 are not", ["1.4003"]),
        ("n = 1,000, 2,500 or 12,345 users", []),
        ("for 10,260 check-ins among 100,000 users", ["10,260"]),
        ("only 3 % or 0.5% of it", ["3 %", "0.5 %"]),
        ("172 of the 185 values; 3 of 4", ["172 of 185", "3 of 4"]),
        ("by 20.8 orders of magnitude, 82 times", ["20.8 orders", "82 times"]),
        ("run `--eps 0.25` or see [0.77](0.88)", ["0.77"]),
        ("| 0.1 | 6.15e-03 |", ["6.15e-03"]),
        ("arXiv 2205.08858, Table 4, section 3.2, Python >= 3.11", []),
    ],
)
def test_what_counts_as_a_result(line, expected):
    assert [found.text for found in documents.results(line)] == expected


DOCUMENT = textwrap.dedent("""\
    # One

    Text with 0.25 and [a link](#two).

        $ tightshuffle methods
        0.33

    ```console
    $ tightshuffle delta x
    0.44

    0.45
    $ python - <<'END'
    $ = 1
    END
    1
    ```

    ## Two: `code` & more

    Late: 0.55, and <https://example.org/0.66>.
    """)


def test_code_is_not_prose():
    assert documents.results(DOCUMENT) == [(3, "0.25"), (21, "0.55")]
    assert documents.results(DOCUMENT, {"One"}) == [(21, "0.55")]


def test_examples_are_read_with_their_output():
    first, second = documents.examples(DOCUMENT)
    assert first == (9, "tightshuffle delta x", "0.44\n\n0.45")
    assert second == (13, "python - <<'END'\n$ = 1\nEND", "1")
    assert [found.text for found in documents.commands(DOCUMENT)] == [
        "tightshuffle methods",
        "tightshuffle delta x",
    ]


def test_links_and_anchors():
    assert documents.links(DOCUMENT) == [(3, "#two")]
    assert documents.anchors(DOCUMENT) == {"one", "two-code--more"}
