"""Print a conda environment with the versions of a lock: python environment_of_lock.py LOCK [OPTION ...]."""

import re
import sys
from pathlib import Path

USERS = "For conda users: the versions of requirements.lock, and the library with its command."
# Snakemake copies the file of a rule elsewhere before conda reads it: there, ./library does not exist.
RULES = "For `snakemake --software-deployment-method conda`: the versions of requirements.lock."
HEAD = """\
# {}
# Made by `make lock`.
name: tight-shuffle
channels:
  - conda-forge
dependencies:
  - python>=3.11,<3.15
  - pip
  - pip:
"""


def environment(lock, *options):
    """A conda environment, as text: the versions of a lock file, given as text, then ``options`` of pip."""
    pins = re.findall(
        r"^([A-Za-z0-9._-]+==[^\s\\]+(?: ; [^\\\n]+?)?) *\\$", lock, flags=re.MULTILINE
    )
    head = HEAD.format(USERS if options else RULES)
    return head + "".join(f'      - "{line}"\n' for line in [*pins, *options])


if __name__ == "__main__":
    print(environment(Path(sys.argv[1]).read_text(), *sys.argv[2:]), end="")
