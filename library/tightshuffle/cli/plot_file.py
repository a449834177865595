"""The file of ``--plot``: refused before anything is computed, and written whole or not at all."""

import os
import uuid
from pathlib import Path

from tightshuffle.arguments import check_installed

_FORMATS = ("png", "svg", "pdf")


def check_plot_file(path: str) -> None:
    """Refuse a file of another ending than .png, .svg and .pdf, or in a folder that is none: ValueError.

    ModuleNotFoundError, with the command to run, if matplotlib is not installed.
    """
    if format_of(path) not in _FORMATS:
        endings = ", ".join(f".{name}" for name in _FORMATS)
        raise ValueError(f"--plot must be a file that ends in one of {endings}; got {path!r}")
    if not Path(path).parent.is_dir():
        raise ValueError(f"{path}: its folder does not exist")
    if Path(path).is_dir():
        raise ValueError(f"{path}: this is a folder")
    check_installed("plot", "matplotlib")


def format_of(path: str) -> str:
    """The ending of a file's name in small letters, without its dot."""
    return Path(path).suffix.lower().removeprefix(".")


def write_plot_file(content: bytes, path: str) -> None:
    """Write a whole file or none. ValueError that names it if the disk does not take it."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{uuid.uuid4().hex}.part")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, target)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
