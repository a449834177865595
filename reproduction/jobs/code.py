"""Which code makes a result: a script and every module of this project that it imports."""

import ast
import compileall
import functools
import hashlib
import json
import os
import py_compile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reproduction.jobs.run_facts import told

BLOCKS = {"body", "orelse", "finalbody", "handlers", "cases"}  # the parts of a statement that hold statements
ROOT = Path(__file__).resolve().parents[2]  # the project's folder, whose code this very process runs
planned: dict[str, str] = {}  # all that `code_of` has answered


def check_root(folder: str | os.PathLike[str]) -> None:
    """ValueError if this process imports the package from another folder than ``folder``, the workflow's.

    A copied or shared environment may do so: its results would look like this folder's and would not be.
    """
    if Path(folder).resolve() != ROOT:
        raise ValueError(
            f"the workflow is in {Path(folder).resolve()}, but Python imports tightshuffle from {ROOT}: "
            "run make in the workflow's folder, or unset PYTHONPATH"
        )


def run_code_of(folder: str | os.PathLike[str]) -> None:
    """Let jobs import this folder's code, whatever else is installed; errors as `check_root`."""
    check_root(folder)
    os.environ["PYTHONPATH"] = str(ROOT)


def compile_by_contents() -> None:
    """Leave no byte code that Python takes for current by its source's size and date, as it does by default.

    A folder that nobody may write to stays as it is.
    """
    checked = py_compile.PycInvalidationMode.CHECKED_HASH
    for house in ("tightshuffle", "reproduction"):
        compileall.compile_dir(ROOT / house, quiet=2, force=True, invalidation_mode=checked)


def source(path: str | os.PathLike[str]) -> str:
    """A file of this project as rules name it: relative where the run is in the project's folder."""
    return str(path if Path.cwd() == ROOT else ROOT / path)


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(*paths: str) -> list[str]:
    """``paths`` and, of Python files, every file of this project that they import, directly or not; sorted.

    Paths are relative to `ROOT`.
    """
    return sorted(_texts_of(*paths))


def code_of(*paths: str) -> dict[str, str]:
    """The code of a rule as a parameter: path -> digest of all of its `files_of`.

    Snakemake compares parameters by value. So an edit reruns what imports the edited file, whatever the
    dates say, and a touched file reruns nothing. Paths are relative to `ROOT`. A job on another machine has
    the digests of the moment when its run was planned.
    """
    known = told("code", {})
    code = {path: known.get(path) or _digest_of_all(path) for path in paths}
    planned.update(code)
    return code


def workflow_of(config: Mapping[str, Any]) -> str:
    """Digest of what decides which jobs there are: the settings, the rules and the modules that they read.

    ValueError in a job of a run that was planned with another.
    """
    files = [
        ROOT / "workflow/Snakefile",
        *(ROOT / "workflow/rules").glob("*.smk"),
        *Path(__file__).parent.glob("*.py"),
        ROOT / "reproduction/figures/catalogue.py",
        ROOT / "reproduction/experiments/curves/tables.py",
    ]
    parts = [json.dumps(config, sort_keys=True, default=str), *map(digest, sorted(files))]
    found = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    if told("workflow", found) != found:
        raise ValueError("the settings or the rules were edited since this run began: run again")
    return found


def check_unchanged(code: dict[str, str]) -> None:
    """ValueError if a file behind ``code``, from `code_of`, was edited since."""
    _files_of_module.cache_clear()
    for path, before in code.items():
        if _digest_of_all(path) != before:
            raise ValueError(f"{path}, or a file that it imports, was edited since this run began: run again")


def _digest_of_all(path: str) -> str:
    texts = sorted(_texts_of(path).items())
    lines = [f"{file} {hashlib.sha256(text).hexdigest()}" for file, text in texts]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def _texts_of(*paths: str) -> dict[str, bytes]:
    """What is in each of the `files_of` the paths."""
    texts: dict[str, bytes] = {}
    unread = list(paths)
    while unread:
        path = unread.pop()
        if path not in texts:
            texts[path] = (ROOT / path).read_bytes()
            if path.endswith(".py"):
                modules = _imports(texts[path], path)
                unread += [file for module in modules for file in _files_of_module(module, ROOT)]
    return texts


# Parsing is slow, and a start of Snakemake asks for the same files a hundred times, a job for its own twice.
@functools.cache
def _imports(text: bytes, path: str) -> list[str]:
    """The modules, of this project or not, that a Python file with this text may import itself."""
    modules: list[str] = []
    unread: list[ast.AST] = [ast.parse(text, path)]
    while unread:
        node = unread.pop()
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            modules += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        # Imports are statements: what is inside of expressions, most of a file, needs no look.
        unread += [inner for part in node._fields if part in BLOCKS for inner in getattr(node, part)]
    return modules


@functools.cache
def _files_of_module(module: str, root: Path) -> list[str]:
    """Files of a module of this project, with the packages around it; none for other libraries."""
    parts = module.split(".")
    candidates = [Path(*parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    candidates.append(Path(*parts).with_suffix(".py"))
    return [path.as_posix() for path in candidates if (root / path).is_file()]
