"""How time and memory are measured, and on what machine."""

import os
import platform
import resource
import statistics
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from contextlib import suppress
from importlib import metadata
from multiprocessing import get_context
from pathlib import Path

LIBRARIES = ("numpy", "scipy", "mpmath", "dp-accounting")
_STATUS = Path("/proc/self/status")  # Linux


def timed(function, *, least=3, most=200, seconds=0.3):
    """The median core-seconds of ``function()``, which other work disturbs least, and its value.

    It is called at least ``least`` times, then until ``seconds`` have passed or it was called ``most`` times.
    """
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or (len(times) < most and time.perf_counter() < end):
        start = time.process_time()
        value = function()
        times.append(time.process_time() - start)
    return statistics.median(times), value


def peak_memory(function):
    """How far, in MB, ``function()`` raises the peak of the resident memory above what is resident now.

    Where the system cannot reset the peak (outside of Linux), how far the peak of the process' life rises.
    """
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    before = _resident("VmRSS")
    function()
    return max(0.0, (_resident("VmHWM") - before) / 1e6)


def _resident(name):
    """Bytes: VmRSS, what is resident now; VmHWM, at most."""
    if _STATUS.exists():
        line = next(line for line in _STATUS.read_text().splitlines() if line.startswith(name))
        return 1024 * int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def fresh_processes(modules):
    """An executor that runs every task in a process of its own, in which ``modules`` are imported already.

    So no task sees the memory, caches or settings that another one left behind.
    """
    context = get_context("forkserver")
    context.set_forkserver_preload(list(modules))
    return ProcessPoolExecutor(1, mp_context=context, max_tasks_per_child=1)


def machine():
    """What the numbers depend on: processor, cores, BLAS threads, versions."""
    versions = {name.replace("-", "_"): metadata.version(name) for name in LIBRARIES}
    return {
        "cpu": _processor(),
        "cores": os.cpu_count(),
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "default"),
        "python": platform.python_version(),
        **versions,
    }


def _processor():
    with suppress(OSError, StopIteration):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return platform.processor() or platform.machine()
