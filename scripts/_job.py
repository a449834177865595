"""What every job does around its work: a log, one readable line on failure, whole files only."""

import contextlib
import logging
import os
import sys
import traceback
from pathlib import Path

EXPECTED = (ValueError, OSError)  # errors whose message is written for the user


@contextlib.contextmanager
def job(snakemake):
    """Log to the rule's log file; turn an error into one line on stderr and exit code 1.

    The traceback of an error that no message was written for goes to the log file.
    """
    log = Path(snakemake.log[0])
    logging.basicConfig(
        filename=log, filemode="w", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
    )
    try:
        yield
    except EXPECTED as error:
        _fail(f"{snakemake.rule}: {error}", log)
    except Exception as error:
        logging.error(traceback.format_exc())
        _fail(f"{snakemake.rule}: {type(error).__name__}: {error} (traceback: {log})", log)


def _fail(message, log):
    logging.error(message)
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)


@contextlib.contextmanager
def whole_file(path):
    """A temporary path beside ``path``, renamed to it when the block ends without an error."""
    path = Path(path)
    temporary = path.with_name(f".{path.stem}.part{path.suffix}")
    try:
        yield temporary
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_csv(frame, path):
    """Write a data frame as CSV: whole or not at all, floats with all their digits, LF line ends."""
    with whole_file(path) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")
