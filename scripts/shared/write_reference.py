"""Keep what a run on the paper's settings made: its sums and findings, and where it ran (`make reference`).

`python -m scripts.shared.write_reference results data/reference` writes SHA256SUMS, findings.json and
run.json, with the processor and the versions that may round last digits in another way.
"""

import json
import platform
import re
import shutil
import sys
from importlib import metadata
from pathlib import Path

from scripts.shared.verify import FINDINGS, SUMS

PACKAGES = ("numpy", "scipy", "pandas", "pyarrow", "matplotlib", "diffprivlib")


def processor() -> str:
    """The processor's name, as Linux knows it."""
    described = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    names = re.findall(r"^model name\s*: (.+)$", described, re.MULTILINE)
    return names[0] if names else platform.machine()


def write_reference(results: Path, reference: Path) -> None:
    """Copy the sums and findings of ``results`` to ``reference``, and describe this machine there."""
    for name in (SUMS, FINDINGS):
        shutil.copyfile(results / name, reference / name)
    run = {
        "processor": processor(),
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in PACKAGES},
    }
    (reference / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_reference(Path(sys.argv[1]), Path(sys.argv[2]))
