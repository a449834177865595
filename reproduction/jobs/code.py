"""The code behind a result: a script and every module of this project that it imports."""

import ast
import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from reproduction.jobs.job import digest

if TYPE_CHECKING:
    import grimp

ROOT = Path(__file__).resolve().parents[2]  # the project's folder: this process runs its code


def source(path: str | os.PathLike[str]) -> str:
    """A file of this project as rules name it: relative where the run is in the project's folder."""
    return str(path if Path.cwd() == ROOT else ROOT / path)


def code_of(*paths: str) -> str:
    """The code of a rule as a parameter: one digest of all of its `files_of`, and ``paths``.

    Paths are relative to `ROOT`. Snakemake compares parameters by value. So an edit, whatever its date,
    reruns the jobs that import the edited file, and a new date alone reruns nothing.
    """
    lines = [f"{file} {_digest_of(file)}" for file in files_of(*paths)]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16] + " " + " ".join(paths)


def files_of(*paths: str) -> list[str]:
    """``paths`` and, of Python files, every file of this project that they import, at any depth; sorted."""
    imports, files = _graph(), set(paths)
    waiting = [module for path in paths if path.endswith(".py") for module in _imported_by(path)]
    for package in (
        each for path in paths for each in _packages_around(path.removesuffix(".py").replace("/", "."))
    ):
        if package in imports.modules:
            files.add(_file_of(package))
    seen: set[str] = set()
    while waiting:
        module = waiting.pop()
        if module in seen or module not in imports.modules:
            continue
        seen.add(module)
        waiting += imports.find_modules_directly_imported_by(module)
        files.add(_file_of(module))
        # Python runs the packages around a module, too. What their functions import is not imported thereby.
        for package in _packages_around(module):
            files.add(_file_of(package))
            waiting += _imported_by(_file_of(package), in_functions=False)
    return sorted(files)


@functools.cache
def _graph() -> "grimp.ImportGraph":
    import grimp

    return grimp.build_graph(
        "tightshuffle", "reproduction", exclude_type_checking_imports=True, cache_dir=None
    )


@functools.cache
def _imported_by(path: str, in_functions: bool = True) -> list[str]:
    """The modules that a Python file imports itself, whenever that is, or only when it is imported."""
    tree = ast.parse((ROOT / path).read_bytes(), path)
    nodes: Iterable[ast.AST] = ast.walk(tree) if in_functions else tree.body
    modules = []
    for node in nodes:
        if isinstance(node, ast.Import):
            modules += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            modules += [name if name in _graph().modules else node.module for name in names]
    return modules


@functools.cache
def _digest_of(path: str) -> str:
    return digest(ROOT / path)


def _packages_around(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[:depth]) for depth in range(1, len(parts))]


def _file_of(module: str) -> str:
    path = Path(*module.split("."))
    package = path / "__init__.py"
    return (package if (ROOT / package).is_file() else path.with_suffix(".py")).as_posix()
