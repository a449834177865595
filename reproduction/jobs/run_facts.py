"""What a run tells its jobs, which may start on other machines, much later, and see files late.

Such a job reads the Snakefile again. What it then finds is compared with what the run began with.
"""

import json
import os
import time
from collections.abc import Callable
from typing import Any

VARIABLE = "TIGHTSHUFFLE_RUN"  # of the environment, which schedulers pass on


def tell(**facts: Any) -> None:
    """Let the jobs of this run know ``facts``; without any, forget what another run told."""
    os.environ[VARIABLE] = json.dumps(facts, sort_keys=True)


def told(name: str, otherwise: Any) -> Any:
    """The fact of this name; ``otherwise`` in what is no job of a run."""
    return json.loads(os.environ.get(VARIABLE, "{}")).get(name, otherwise)


def patience() -> float:
    """Seconds for which a file of another machine may be missing or old here; 0 in a run on one machine."""
    return float(told("patience", 0))


def settled(problem: Callable[[], str | None]) -> str | None:
    """What ``problem`` says in the end: None as soon as it does, else what is wrong after `patience`."""
    end = time.monotonic() + patience()
    while (wrong := problem()) and time.monotonic() < end:
        time.sleep(1)
    return wrong
