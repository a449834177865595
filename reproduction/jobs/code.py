"""The code behind a result: a script and every module of this project that it imports."""

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

BLOCKS = {"body", "orelse", "finalbody", "handlers", "cases"}  # parts of a statement that contain statements
ROOT = Path(__file__).resolve().parents[2]  # the project's folder: this process runs its code
planned: dict[str, str] = {}  # results of `code_of`


def check_root(folder: str | os.PathLike[str]) -> None:
    """ValueError if this process imports the package from another folder than ``folder``, the workflow's.

    A copied or shared environment can cause this. The results would then come from another folder's code.
    """
    if Path(folder).resolve() != ROOT:
        raise ValueError(
            f"the workflow is in {Path(folder).resolve()}, but Python imports tightshuffle from {ROOT}: "
            "run make in the workflow's folder, or unset PYTHONPATH"
        )


def run_code_of(folder: str | os.PathLike[str]) -> None:
    """Make jobs import this folder's code, whatever is installed; errors as `check_root`."""
    check_root(folder)
    os.environ["PYTHONPATH"] = str(ROOT)


def compile_by_contents() -> None:
    """Compile so that Python compares byte code with the contents of its source, not with size and date.

    A read-only folder stays as it is.
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

    Snakemake compares parameters by value. So an edit reruns the jobs that import the edited file, and a new
    date alone reruns nothing. Paths are relative to `ROOT`. A job on another machine has the digests from
    when its run was planned.
    """
    known = told("code", {})
    code = {path: known.get(path) or _digest_of_all(path) for path in paths}
    planned.update(code)
    return code


def workflow_of(config: Mapping[str, Any]) -> str:
    """Digest of all that decides which jobs exist: settings, rules, and the modules that the rules import.

    ValueError in a job whose run was planned with another digest.
    """
    files = [ROOT / path for path in files_of_rules()]
    parts = [json.dumps(config, sort_keys=True, default=str), *map(digest, sorted(files))]
    found = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    if told("workflow", found) != found:
        raise ValueError("the settings or the rules were edited since this run began: run again")
    return found


def files_of_rules() -> list[str]:
    """The rules, and the modules that they import, relative to `ROOT`."""
    patterns = (
        "workflow/Snakefile",
        "workflow/rules/*.smk",
        "reproduction/jobs/*.py",
        "reproduction/figures/catalogue.py",
        "reproduction/experiments/curves/tables.py",
    )
    return [path.relative_to(ROOT).as_posix() for each in patterns for path in sorted(ROOT.glob(each))]


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


# Parsing is slow. A start of Snakemake needs the same files a hundred times, and a job needs its files twice.
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
        # Imports are statements: expressions, most of a file, need not be searched.
        unread += [inner for part in node._fields if part in BLOCKS for inner in getattr(node, part)]
    return modules


@functools.cache
def _files_of_module(module: str, root: Path) -> list[str]:
    """Files of a module of this project, with the packages around it; none for other libraries."""
    parts = module.split(".")
    candidates = [Path(*parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    candidates.append(Path(*parts).with_suffix(".py"))
    return [path.as_posix() for path in candidates if (root / path).is_file()]
