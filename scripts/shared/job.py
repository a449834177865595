"""What every job does around its work: a log, one line on failure, complete files only."""

import contextlib
import errno
import glob
import json
import logging
import os
import sys
import traceback
import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from scripts.shared.notes import Notes, code_and_settings, first_notes, log_notes

StrPath = str | os.PathLike[str]
MOST_ROWS_OF_GROUP = 64 * 1024**2  # in one row group of a Parquet file: pyarrow allows no more
# A variable of the environment, with the SHA-256 of each file of code when Snakemake planned the run.
PLANNED = "TIGHT_SHUFFLE_CODE"
EDITED = "{} was edited while the run was on: run the same command again"
FOR_THE_USER = (ValueError, OSError)  # errors whose message says what the user can do: no traceback
ADVICE = {  # number of a disk error -> what the user can do
    errno.ENOSPC: "the disk is full: make room and run again",
    errno.EDQUOT: "your share of the disk is full: make room and run again",
    errno.EROFS: "the disk is read-only: allow writing there and run again",
    errno.EACCES: "no permission: allow it and run again",
}


@dataclass(frozen=True)
class Job:
    """What a script needs to know of its job."""

    input: Any
    output: Any
    params: SimpleNamespace  # the settings, by their names
    wildcards: Any
    config: Any


@contextlib.contextmanager
def job() -> Iterator[Job]:
    """A context for the work of a job: ``with job() as snakemake`` gives what Snakemake tells its script.

    What the block logs is written to the job's log file, and behind it the sums of what the job has read and
    written (`notes_of`). An error in the block ends the process with exit code 1 and one line that says what
    is wrong. An error that is no ValueError and no OSError is a fault of the program, and leaves its
    traceback in the log file, too (but running out of memory does not). If the code or an input was edited
    since Snakemake planned the run, the block does not begin.
    """
    import __main__  # Snakemake defines a name in the script that it runs

    snakemake = __main__.snakemake
    log = Path(snakemake.log[0])
    logging.raiseExceptions = False  # a log on a full disk is no reason for a traceback
    try:
        logging.basicConfig(
            filename=log,
            filemode="w",
            level=logging.INFO,
            format="%(asctime)s %(levelname)s %(message)s",
        )
        # Else fontTools lists every glyph of a PDF.
        logging.getLogger("fontTools").setLevel(logging.WARNING)
        trees, settings = code_and_settings(snakemake.params)
        notes = first_notes(trees, snakemake.input)
        _refuse_edited(notes, settings.get("contents", {}))
        yield Job(
            input=snakemake.input,
            output=snakemake.output,
            params=SimpleNamespace(**settings),
            wildcards=snakemake.wildcards,
            config=snakemake.config,
        )
        log_notes(notes, snakemake.output)
    except FOR_THE_USER as error:
        _fail(f"{snakemake.rule}: {_error_in_words(error)}")
    except MemoryError as error:
        _fail(f"{snakemake.rule}: out of memory ({error}): take fewer repetitions, cells or steps")
    except Exception as error:
        logging.error(traceback.format_exc())
        _fail(f"{snakemake.rule}: {type(error).__name__}: {error} (traceback: {log})")


@contextlib.contextmanager
def whole_file(path: StrPath) -> Iterator[Path]:
    """A temporary path for the block to write to. It becomes ``path`` when the block ends without an error.

    So ``path`` is a whole file or none. The temporary files of earlier jobs that were killed are removed.
    Raises OSError that names ``path`` for an error of the disk.
    """
    path = Path(path)
    for left_over in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        left_over.unlink(missing_ok=True)
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex}.part")
    try:
        yield temporary
        os.replace(temporary, path)
    except OSError as error:
        if error.errno in ADVICE:  # a full disk or the like: libraries do not say which file it was
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_csv(frame: Any, path: StrPath) -> None:
    """Write a data frame as CSV: whole or not at all, floats with all their digits, LF line ends."""
    with whole_file(path) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")


def write_parquet(frames: Iterable[Any], path: StrPath) -> None:
    """Write data frames as one Parquet file, whole or not at all, with one of them in memory at a time.

    Each of ``frames`` becomes one row group of the file, so that a reader can read it alone.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with whole_file(path) as temporary, contextlib.ExitStack() as stack:
        writer = None
        for frame in frames:
            table = pa.Table.from_pandas(frame, preserve_index=False)
            if writer is None:
                open_writer = pq.ParquetWriter(temporary, table.schema, write_page_checksum=True)
                writer = stack.enter_context(open_writer)
            writer.write_table(table, row_group_size=MOST_ROWS_OF_GROUP)


def write_bytes(content: bytes, path: StrPath) -> None:
    """Write a file: whole or not at all."""
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def _refuse_edited(notes: Notes, contents: Mapping[str, str]) -> None:
    """Raise ValueError if a file of the code, or an input, is no longer what Snakemake has planned with.

    Snakemake records what it has planned with. So a file that is edited during a run and put back later would
    leave a wrong result that no later run makes again. ``contents`` has the planned sums of those inputs that
    no job makes. Where the variable `PLANNED` does not reach a job, as on some clusters, `jobs_of_edits`
    finds the edit when the run ends.
    """
    edited = notes.edited(json.loads(os.environ.get(PLANNED, "{}")) | contents)
    if edited:
        raise ValueError(EDITED.format(edited[0]))


def _error_in_words(error: Exception) -> str:
    """The error as one line. For a full disk or the like, it is the file and what the user can do."""
    text = " ".join(str(error).split())
    if not isinstance(error, OSError) or error.errno not in ADVICE:
        return text
    return f"{error.filename or text}: {ADVICE[error.errno]}"


def _fail(message: str) -> None:
    """Log the message and end the process with it, and with exit code 1."""
    logging.error(message)
    sys.exit(f"error: {message}")
