"""The code behind a result: a script and every module of this project that it imports."""

import ast
import functools
import hashlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import grimp

ROOT = Path(__file__).resolve().parents[2]  # the project's folder: this process runs its code
LIBRARY = "tightshuffle"  # the package in the folder library/
# Its __init__.py imports modules in functions only: to import the package runs none of them.
LAZY_PACKAGE = LIBRARY


def source(path: str | os.PathLike[str]) -> str:
    """A file of this project as rules name it: relative where the run is in the project's folder."""
    return str(path if Path.cwd() == ROOT else ROOT / path)


def code_of(script: str) -> list[tuple[str, str]]:
    """The code of a rule as parameters: each of the script's `files_of` with its `code_digest`.

    Snakemake compares parameters by value, and its reason for a job shows those that differ. So an edit,
    whatever its date, reruns the jobs that import the edited file and names this file, and a new date alone
    reruns nothing.
    """
    return [(file, code_digest(file)) for file in files_of(script)]


def files_of(script: str) -> list[str]:
    """The script and every file of this project that it imports, directly or through other files.

    Paths are sorted and relative to the project's folder, as ``script`` is: scripts/paper/data/grid.py.
    """
    imports = _import_graph()
    # Modules whose imports are still to be looked up.
    waiting = [script.removesuffix(".py").replace("/", ".")]
    modules = set()
    not_followed = set()
    while waiting:
        module = waiting.pop()
        if module in modules:
            continue
        modules.add(module)
        waiting.extend(imports.find_modules_directly_imported_by(module))

        # To import a.b, Python also runs a/__init__.py. That of the package tightshuffle is one of the files,
        # but its imports are not followed: they are in functions, which an import does not run.
        package = module.rpartition(".")[0]
        if package == LAZY_PACKAGE:
            not_followed.add(package)
        elif package:
            waiting.append(package)
    return sorted(_file_of(module) for module in modules | not_followed)


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digests(paths: Iterable[str]) -> dict[str, str]:
    """The `digest` of each file, by its path."""
    return {path: digest(path) for path in paths}


@functools.cache
def code_digest(file: str) -> str:
    """Sixteen hexadecimal digits for what a module of this project does; ``file`` is relative to `ROOT`.

    They come from its syntax tree, so comments, layout and docstrings do not count. They are the same under
    Python 3.11, 3.12 and 3.13. Raises SyntaxError.
    """
    content = (ROOT / file).read_bytes()
    _sums[file] = hashlib.sha256(content).hexdigest()
    return hashlib.sha256(repr(_bare(ast.parse(content, file))).encode()).hexdigest()[:16]


_sums: dict[str, str] = {}  # file -> SHA-256 of the bytes behind its code_digest


def sums_of_digested_code() -> dict[str, str]:
    """The SHA-256 of each file whose `code_digest` this process has asked for, at that time, by its path."""
    return dict(_sums)


def _bare(part: Any) -> Any:
    """A part of a syntax tree as nested tuples, without docstrings and without what is empty.

    No code of the project reads a docstring. What is empty differs between versions of Python: 3.12 has new
    fields, and an empty text at the end of some formats (f"{x:{y}}").
    """
    if isinstance(part, list):
        return tuple(_bare(item) for item in part if not _is_docstring(item))
    if not isinstance(part, ast.AST):
        return repr(part)
    if isinstance(part, ast.JoinedStr):
        part.values = [value for value in part.values if getattr(value, "value", None) != ""]
    fields = [(name, _bare(value)) for name, value in ast.iter_fields(part)]
    return type(part).__name__, *(field for field in fields if field[1] not in ("None", ()))


def _is_docstring(part: Any) -> bool:
    """Whether a part of a syntax tree is a statement that is a text and nothing else."""
    return isinstance(part, ast.Expr) and isinstance(getattr(part.value, "value", None), str)


@functools.cache
def _import_graph() -> "grimp.ImportGraph":
    """Which module of this project imports which other one. Imports for type checking alone are left out."""
    import grimp

    return grimp.build_graph(LIBRARY, "scripts", exclude_type_checking_imports=True, cache_dir=None)


def _file_of(module: str) -> str:
    """The path of a module, or of a package's __init__.py, relative to the project's folder."""
    parts = module.split(".")
    house = "library" if parts[0] == LIBRARY else ""
    path = Path(house, *parts)
    package = path / "__init__.py"
    return (package if (ROOT / package).is_file() else path.with_suffix(".py")).as_posix()
