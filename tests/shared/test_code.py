"""Which files a rule's code is, and that its digest changes with their bytes alone."""

import os
import re
import sys
import tomllib

import pytest

from scripts.shared import code
from tests import ROOT

# A small project, file -> text: s.py is the script, and what it imports when it runs is `USED`.
TEXTS = {
    "scripts/__init__.py": "",
    "scripts/stage/__init__.py": "",
    "scripts/stage/s.py": "import numpy\nfrom tightshuffle.inner.a import f\n",
    "library/tightshuffle/__init__.py": "def public():\n    from tightshuffle import unused\n",
    "library/tightshuffle/inner/__init__.py": "from tightshuffle.started import x\n",
    "library/tightshuffle/inner/a.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    import tightshuffle.typed\n"
    "def f():\n    from tightshuffle import b\n",
    "library/tightshuffle/b.py": "",
    "library/tightshuffle/started.py": "x = 1\n",
    "scripts/stage/other.py": "",
    "library/tightshuffle/typed.py": "",
    "library/tightshuffle/unused.py": "",
}
UNUSED = [
    "scripts/stage/other.py",
    "library/tightshuffle/typed.py",
    "library/tightshuffle/unused.py",
]
USED = sorted(set(TEXTS) - set(UNUSED))


SCRIPT = "scripts/stage/s.py"


def clear_caches():
    """Empty the caches of the module, whose answers are for another folder or an older text."""
    for function in vars(code).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


def write_in_1970(path, text):
    """Write the file, with one and the same date whatever the text is."""
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    os.utime(path, (1, 1))  # seconds after the beginning of 1970


def digests_in_a_new_run():
    """File -> digest, for `SCRIPT` and what it imports: computed anew, as in another process."""
    clear_caches()
    return dict(code.code_of(SCRIPT))


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The folder of a small project, with the files `TEXTS`: `code` and Python look for modules there."""
    for name, text in TEXTS.items():
        write_in_1970(tmp_path / name, text)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path / "library")
    monkeypatch.syspath_prepend(tmp_path)
    # The real packages of these names are not imported yet, as it were.
    for name in list(sys.modules):
        if name.split(".")[0] in ("tightshuffle", "scripts"):
            monkeypatch.delitem(sys.modules, name)
    clear_caches()
    yield tmp_path
    clear_caches()


def test_the_whole_package_is_used_where_its_public_functions_are(project):
    """In whatever order: a module of the package is imported first here."""
    whole = "import tightshuffle\n"
    module = "from tightshuffle.inner.a import f\n"
    for lines in (whole + module, module + whole):
        (project / SCRIPT).write_text(lines)
        assert "library/tightshuffle/unused.py" in digests_in_a_new_run()


def test_files_are_the_script_and_what_is_imported_when_it_runs(project):
    """Also what the packages around a module import; not what their functions or type checkers would."""
    assert list(digests_in_a_new_run()) == USED


@pytest.mark.parametrize("name", TEXTS)
def test_another_date_alone_changes_no_digest(project, name):
    before = digests_in_a_new_run()
    (project / name).touch()
    assert digests_in_a_new_run() == before


@pytest.mark.parametrize("edited", USED)
def test_an_edit_changes_the_digest_of_its_file_alone_whatever_the_date(project, edited):
    before = digests_in_a_new_run()
    write_in_1970(project / edited, TEXTS[edited] + "edited = 1\n")  # the date that it had
    after = digests_in_a_new_run()
    assert [file for file in USED if after[file] != before[file]] == [edited]


FUNCTION = 'class C:\n    def f(self):\n        return "text", b"bytes"\n'


@pytest.mark.parametrize(
    ("edited", "is_other_code"),
    [
        (f'"""About."""\n\n# Why.\n{FUNCTION}', False),
        (FUNCTION.replace("C:\n", 'C:\n    """About."""\n\n'), False),
        (FUNCTION.replace("self):\n", 'self):\n        """About."""\n'), False),
        (FUNCTION.replace(", ", ",  "), False),
        (FUNCTION.replace("text", "Text"), True),
        (FUNCTION.replace('b"', '"'), True),
        (FUNCTION + "x = 1\n", True),
        (FUNCTION.replace("return", "yield"), True),
    ],
)
def test_comments_docstrings_and_layout_are_no_code(project, edited, is_other_code):
    digests = []
    for text in (FUNCTION, edited):
        (project / "library/tightshuffle/b.py").write_text(text)
        clear_caches()
        digests.append(code.code_digest("library/tightshuffle/b.py"))
    assert (digests[0] != digests[1]) == is_other_code


# Syntax whose trees Python 3.11, 3.12 and 3.13 write in different ways.
UNEVEN = 'class C:\n    def f(self, x=()):\n        return f"{x:>{self.w}}", [*x], {}\n'


def test_the_digest_is_the_same_under_every_python(project):
    """This one was seen under 3.11, 3.12 and 3.13. Else an environment of conda would rerun everything."""
    (project / "library/tightshuffle/b.py").write_text(UNEVEN)
    assert code.code_digest("library/tightshuffle/b.py") == "b31dd44273276acc"


def test_no_code_reads_a_docstring():
    """Else an edit of a docstring could change a result, and would rerun nothing."""
    folders = (ROOT / "scripts", ROOT / "library/tightshuffle")
    files = [path for folder in folders for path in folder.rglob("*.py")]
    reads = re.compile(r"__doc__|\bgetdoc\b|\bget_docstring\b|\bdocstring_parser\b")
    reading = [path for path in files if reads.search(path.read_text(encoding="utf-8"))]
    assert reading == []


def test_the_attack_loads_the_bounds_alone():
    """Not `import tightshuffle`, whose public functions use the whole package."""
    assert "library/tightshuffle/collection/upper.py" not in code.files_of(
        "scripts/beyond/attack/collect_audit.py"
    )


def scripts_that_use(file):
    """The scripts of all rules that import a file, directly or through others: an edit reruns their jobs."""
    rules = [path.read_text(encoding="utf-8") for path in ROOT.glob("workflow/rules/**/*.smk")]
    scripts = re.findall(r'code_of\("(.+?)"\)', "".join(rules))
    assert len(scripts) > 40  # else they were not found; there are 52
    return [script for script in scripts if file in code.files_of(script)]


def test_an_edit_of_the_literatures_columns_reruns_the_table_of_printed_deltas_alone():
    """No trials: they use Theorem 1, which stands in another file."""
    users = scripts_that_use("scripts/paper/delta/literature_as_printed.py")
    assert users == ["scripts/paper/delta/compute_printed_deltas.py"]


def test_an_edit_of_a_proven_bound_reruns_no_job_of_the_paper():
    """So no trials."""
    users = scripts_that_use("library/tightshuffle/bounds/rounds.py")
    assert "scripts/beyond/bounds/compute_delta_hat_bound.py" in users
    assert [script for script in users if script.startswith("scripts/paper/")] == []


def test_the_contract_of_the_papers_stages_has_the_same_modules_in_both_lists():
    """import-linter does not look at what a module imports if only ``ignore_imports`` has it."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = pyproject["tool"]["importlinter"]["contracts"]
    [contract] = [each for each in contracts if "scripts.paper" in each.get("source_modules", [])]
    reached = [module for module in contract["source_modules"] if module != "scripts.paper"]
    assert contract["ignore_imports"] == [f"** -> {module}" for module in reached]
