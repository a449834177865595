"""Facts that the main process hands to its jobs, on any machine, through one environment variable.

A job on a cluster may start much later, and see files with a delay. It reads the Snakefile again, and
compares what it finds with these facts.
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
    """The fact with this name; ``otherwise`` outside of a run's jobs."""
    return json.loads(os.environ.get(VARIABLE, "{}")).get(name, otherwise)


def patience() -> float:
    """Seconds for which a file of another machine may be missing or old here; 0 in a run on one machine."""
    return float(told("patience", 0))


def settled(problem: Callable[[], str | None]) -> str | None:
    """None as soon as ``problem`` returns None; else what it returns after `patience`."""
    end = time.monotonic() + patience()
    while (wrong := problem()) and time.monotonic() < end:
        time.sleep(1)
    return wrong
