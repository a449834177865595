"""What every job does around its work: a log, one readable line on failure, whole files only, a record."""

import contextlib
import errno
import logging
import os
import sys
import traceback
from pathlib import Path

from _records import part_of, recorded, run_at_work

EXPECTED = (ValueError, OSError)  # errors whose message is written for the user
ADVICE = {
    errno.ENOSPC: "the disk is full: make room and run again",
    errno.EDQUOT: "your share of the disk is full: make room and run again",
    errno.EROFS: "the disk is read-only: allow writing there and run again",
    errno.EACCES: "no permission: allow it and run again",
}

_started_by = []  # the run that started this job, as `run_at_work` names it


@contextlib.contextmanager
def job(snakemake):
    """Log to the rule's log file; record what came out; an error is one line on stderr and exit code 1.

    The traceback of an error that no message was written for goes to the log file.
    """
    log = Path(snakemake.log[0])
    logging.raiseExceptions = False  # a log on a full disk is no reason for a traceback
    _started_by[:] = [run_at_work()]
    try:
        logging.basicConfig(
            filename=log, filemode="w", level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s"
        )
        with recorded(snakemake.input, snakemake.output):
            yield
    except EXPECTED as error:
        _fail(f"{snakemake.rule}: {_in_words(error)}", log)
    except MemoryError as error:
        _fail(f"{snakemake.rule}: out of memory ({error}): take fewer repetitions, cells or steps", log)
    except Exception as error:
        logging.error(traceback.format_exc())
        _fail(f"{snakemake.rule}: {type(error).__name__}: {error} (traceback: {log})", log)
    finally:
        _started_by.clear()


def _in_words(error):
    """One line; for the errors of disks, also what to do."""
    advice = ADVICE.get(getattr(error, "errno", None))
    text = " ".join(str(error).split())
    return f"{error.filename or text}: {advice}" if advice else text


def _fail(message, log):
    logging.error(message)
    print(f"error: {message}", file=sys.stderr)
    sys.exit(1)


@contextlib.contextmanager
def whole_file(path):
    """A temporary path beside ``path``, renamed to it when the block ends without an error.

    OSError in a job whose run was killed and followed by another one, perhaps with other settings.
    """
    path = Path(path)
    temporary = part_of(path)
    try:
        yield temporary
        if _started_by and _started_by != [run_at_work()]:
            raise OSError(
                "the run that started this job has ended and another one is at work: nothing written"
            )
        os.replace(temporary, path)
    except OSError as error:
        if error.errno in ADVICE:  # libraries do not say which file it was
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def write_csv(frame, path):
    """Write a data frame as CSV: whole or not at all, floats with all their digits, LF line ends."""
    with whole_file(path) as temporary:
        frame.to_csv(temporary, index=False, lineterminator="\n")
