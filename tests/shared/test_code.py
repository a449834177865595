"""Which files a rule's code is, and that its digest changes with their bytes alone."""

import os
import sys

import pytest

from scripts.shared import code

TEXTS = {
    "scripts/s.py": "import numpy\nfrom tightshuffle.inner.a import f\n",
    "tightshuffle/__init__.py": "def public():\n    from tightshuffle import unused\n",
    "tightshuffle/inner/__init__.py": "from tightshuffle.started import x\n",
    "tightshuffle/inner/a.py": "from typing import TYPE_CHECKING\n"
    "if TYPE_CHECKING:\n    import tightshuffle.typed\n"
    "def f():\n    from tightshuffle import b\n",
    "tightshuffle/b.py": "",
    "tightshuffle/started.py": "x = 1\n",
    "tightshuffle/typed.py": "",
    "tightshuffle/unused.py": "",
    "reproduction/__init__.py": "",
    "style.txt": "red",
}
UNUSED = ["tightshuffle/typed.py", "tightshuffle/unused.py", "reproduction/__init__.py"]
USED = sorted(set(TEXTS) - set(UNUSED))


def forget():
    for cached in (code._graph, code._imported_by, code._digest_of):
        cached.cache_clear()


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project in which a script imports a module of a package, which imports another one in a function."""
    for name, text in TEXTS.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(text)
    monkeypatch.setattr(code, "ROOT", tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("tightshuffle", "reproduction")]:
        monkeypatch.delitem(sys.modules, name)
    forget()
    yield tmp_path
    forget()


def test_files_are_the_script_and_what_is_imported_when_it_runs(project):
    """Also what the packages around a module import; not what their functions or type checkers would."""
    assert code.files_of("scripts/s.py", "style.txt") == USED


@pytest.mark.parametrize("name", [*USED, *UNUSED])
def test_an_edit_is_seen_whatever_its_date_and_a_date_alone_is_not(project, name):
    before = code.code_of("scripts/s.py", "style.txt")
    os.utime(project / name, (1, 1))
    forget()
    assert code.code_of("scripts/s.py", "style.txt") == before
    (project / name).write_text(TEXTS[name] + "#")
    os.utime(project / name, (1, 1))
    forget()
    assert (code.code_of("scripts/s.py", "style.txt") != before) == (name in USED)
