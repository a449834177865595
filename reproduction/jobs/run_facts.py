"""Facts that the main process hands to its jobs, on any machine, through one environment variable.

A job on a cluster may start much later, and see files with a delay. The job reads the Snakefile again, and
compares its settings and code with these facts.
"""

import json
import os
import time
from collections.abc import Callable
from typing import Any

VARIABLE = "TIGHTSHUFFLE_RUN"  # of the environment, which schedulers pass on


def tell(**facts: Any) -> None:
    """Hand ``facts`` to the jobs of this run; without any, clear those of another run."""
    os.environ[VARIABLE] = json.dumps(facts, sort_keys=True)


def told(name: str, otherwise: Any) -> Any:
    """The fact with this name; ``otherwise`` if this process is not a job of a run."""
    return json.loads(os.environ.get(VARIABLE, "{}")).get(name, otherwise)


def patience() -> float:
    """Seconds for which this machine may not see another machine's new file; 0 in a run on one machine."""
    return float(told("patience", 0))


def settled(problem: Callable[[], str | None]) -> str | None:
    """Wait until ``problem`` returns None; after `patience` seconds, return the problem that remains."""
    end = time.monotonic() + patience()
    while (wrong := problem()) and time.monotonic() < end:
        time.sleep(1)
    return wrong
