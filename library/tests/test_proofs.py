"""docs/theory.md proves functions. Whoever changes one of them reads its section again.

A section says `<!-- proves module.function: digest -->` for each function that it proves. The digest is that
of the function's code without layout, comments and docstrings.
"""

import ast
import hashlib
import re
from pathlib import Path

import pytest

import tightshuffle
from tests import ROOT

THEORY = (ROOT / "docs/theory.md").read_text(encoding="utf-8")
PACKAGE = Path(tightshuffle.__file__).parent  # as installed: the tests may run without the sources
PROVED = re.findall(r"<!-- proves ([\w.]+): ([0-9a-f]*) -->", THEORY)


def digest_of_code(name):
    """Eight hexadecimal digits for a function or class of the library, ``name`` without "tightshuffle.".

    They depend on what the code does and on its names, not on layout, comments and docstrings.
    """
    module, _, function = name.rpartition(".")
    text = (PACKAGE / (module.replace(".", "/") + ".py")).read_text(encoding="utf-8")
    [definition] = [
        node for node in ast.parse(text).body if getattr(node, "name", None) == function
    ]
    return hashlib.sha256(repr(syntax(definition)).encode()).hexdigest()[:8]


def syntax(node):
    """A syntax tree as nested lists, [type of node, [[field, content], ...]], without docstrings.

    ``node`` is a node of `ast`, or the content of a field: a list, or a name or number, returned as it is.
    Empty fields are left out, because versions of Python differ in them.
    """
    if isinstance(node, list):
        return [syntax(item) for item in node]
    if not isinstance(node, ast.AST):
        return node
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) is not None:
        fields["body"] = node.body[1:]
    named = [[name, syntax(field)] for name, field in fields.items() if field not in (None, [])]
    return [type(node).__name__, named]


@pytest.mark.parametrize(("name", "digest"), PROVED)
def test_a_function_is_as_it_was_proved(name, digest):
    now = digest_of_code(name)
    assert now == digest, (
        f"{name} changed: read its section of docs/theory.md, then write {now} there"
    )


def test_every_module_that_a_section_names_has_a_proved_function():
    named = set(re.findall(r"`((?:bounds|collection|dummies|literature)/\w+)\.py`", THEORY))
    assert named <= {name.rpartition(".")[0].replace(".", "/") for name, _ in PROVED}
