"""Which files a rule's code is, and that its digest changes with their bytes alone."""

import os
import re
import sys

import pytest

from scripts.shared import code
from tests import ROOT

# A small project, file -> text: s.py is the script, and what it imports when it runs is `USED`.
TEXTS = {
    "scripts/__init__.py": "",
    "scripts/stage/__init__.py": "",
    "scripts/stage/s.py": "import numpy\nfrom tightshuffle.inner.a import f\n",
    "tightshuffle/__init__.py": "def public():\n    from tightshuffle import unused\n",
    "tightshuffle/inner/__init__.py": "from tightshuffle.started import x\n",
    "tightshuffle/inner/a.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    import tightshuffle.typed\n"
    "def f():\n    from tightshuffle import b\n",
    "tightshuffle/b.py": "",
    "tightshuffle/started.py": "x = 1\n",
    "scripts/stage/other.py": "",
    "tightshuffle/typed.py": "",
    "tightshuffle/unused.py": "",
}
UNUSED = ["scripts/stage/other.py", "tightshuffle/typed.py", "tightshuffle/unused.py"]
USED = sorted(set(TEXTS) - set(UNUSED))


def clear_caches():
    """Empty the caches of the module, whose answers are for another folder or an older text."""
    for function in vars(code).values():
        if hasattr(function, "cache_clear"):
            function.cache_clear()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """The folder of a small project, whose files are `TEXTS` (file -> text), in the place of the real one.

    The module ``code`` looks for files there. The small project has packages of the same names as the real
    one, tightshuffle and scripts. So the real ones are forgotten for the test, and Python looks for modules
    in this folder first.
    """
    for name, text in TEXTS.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in list(sys.modules):
        if name.partition(".")[0] in ("tightshuffle", "scripts"):
            monkeypatch.delitem(sys.modules, name)
    # What ``code`` remembers is of another folder, before and after the test.
    clear_caches()
    yield tmp_path
    clear_caches()


def test_the_whole_package_is_used_where_its_public_functions_are(project):
    """In whatever order: a module of the package is imported first here."""
    text = "import tightshuffle\nfrom tightshuffle.inner.a import f\n"
    for lines in (text, "\n".join(reversed(text.splitlines())) + "\n"):
        (project / "scripts/stage/s.py").write_text(lines)
        clear_caches()
        assert "tightshuffle/unused.py" in code.files_of("scripts/stage/s.py")


def test_files_are_the_script_and_what_is_imported_when_it_runs(project):
    """Also what the packages around a module import; not what their functions or type checkers would."""
    assert code.files_of("scripts/stage/s.py") == USED


@pytest.mark.parametrize("name", TEXTS)
def test_an_edit_is_seen_whatever_its_date_and_a_date_alone_is_not(project, name):
    """`code_of` gives pairs (file, digest), one for each file that a script imports, directly or not.

    `TEXTS` is file -> text of the small ``project``. `USED` are those of its files that the script imports.
    1. Another date alone, in 1970, changes no digest. 2. A new text with this date changes the file's digest,
    and that of no other file. The caches are emptied, as in the process of a later run.
    """
    script = "scripts/stage/s.py"
    before = code.code_of(script)
    os.utime(project / name, (1, 1))
    clear_caches()
    assert code.code_of(script) == before

    (project / name).write_text(TEXTS[name] + "edited = 1\n")
    os.utime(project / name, (1, 1))
    clear_caches()
    # A pair that is there before or after, but not both times, has another digest.
    changed_files = {file for file, _ in set(code.code_of(script)) ^ set(before)}
    assert changed_files == ({name} if name in USED else set())


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
        (project / "tightshuffle/b.py").write_text(text)
        clear_caches()
        digests.append(code.code_digest("tightshuffle/b.py"))
    assert (digests[0] != digests[1]) == is_other_code


def test_no_code_reads_a_docstring():
    """Else an edit of a docstring could change a result, and would rerun nothing.

    `points.door` reads docstrings to write them: with the meanings of the arguments, for `help`.
    """
    files = [
        path for folder in ("scripts", "tightshuffle") for path in (ROOT / folder).rglob("*.py")
    ]
    reads = re.compile(r"__doc__|\bgetdoc\b|\bget_docstring\b|\bdocstring_parser\b")
    reading = [path for path in files if reads.search(path.read_text(encoding="utf-8"))]
    assert reading == [ROOT / "tightshuffle/points.py"]


def test_the_attack_loads_the_bounds_alone():
    """Not `import tightshuffle`, whose public functions use the whole package."""
    assert "tightshuffle/collection/bounds.py" not in code.files_of(
        "scripts/beyond/attack/collect_audit.py"
    )
