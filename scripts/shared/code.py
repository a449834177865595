"""The code behind a result: a script and every module of this project that it imports."""

import functools
import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import grimp

ROOT = Path(__file__).resolve().parents[2]  # the project's folder: this process runs its code
LAZY = "tightshuffle"  # this package's __init__ imports modules in functions only: importing it runs none


def source(path: str | os.PathLike[str]) -> str:
    """A file of this project as rules name it: relative where the run is in the project's folder."""
    return str(path if Path.cwd() == ROOT else ROOT / path)


def code_of(script: Path) -> str:
    """The code of a rule as a parameter: the script's path in the project, and a digest of its `files_of`.

    Snakemake compares parameters by value. So an edit, whatever its date, reruns the jobs that import the
    edited file, and a new date alone reruns nothing.
    """
    name = script.resolve().relative_to(ROOT).as_posix()
    lines = [f"{file} {_digest_of(file)}" for file in files_of(name)]
    return f"{name} {hashlib.sha256(chr(10).join(lines).encode()).hexdigest()[:16]}"


def files_of(script: str) -> list[str]:
    """The script and every file of this project that it imports, at any depth; sorted, relative to `ROOT`."""
    imports = _graph()
    waiting = [script.removesuffix(".py").replace("/", ".")]
    seen, not_followed = set(), set()
    while waiting:
        module = waiting.pop()
        if module not in seen:
            seen.add(module)
            waiting += imports.find_modules_directly_imported_by(module)
            around = module.rpartition(".")[0]  # Python runs the package around a module, too
            if around == LAZY:
                not_followed.add(around)
            elif around:
                waiting.append(around)
    return sorted(map(_file_of, seen | not_followed))


def digest(path: str | os.PathLike[str]) -> str:
    """SHA-256 of a file's bytes, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@functools.cache
def _graph() -> "grimp.ImportGraph":
    import grimp

    return grimp.build_graph("tightshuffle", "scripts", exclude_type_checking_imports=True, cache_dir=None)


@functools.cache
def _digest_of(path: str) -> str:
    return digest(ROOT / path)


def _file_of(module: str) -> str:
    path = Path(*module.split("."))
    package = path / "__init__.py"
    return (package if (ROOT / package).is_file() else path.with_suffix(".py")).as_posix()
