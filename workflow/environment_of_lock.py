"""Print the conda environment with the versions of a lock file: python environment_of_lock.py LOCK."""

import re
import sys
from pathlib import Path

HEAD = """\
# For conda users: the versions of requirements.lock; made by `make lock`.
name: tight-shuffle
channels:
  - conda-forge
dependencies:
  - python>=3.11
  - pip
  - pip:
"""


def environment(lock):
    """The text of environment.yml for the text of a lock file in pip's format."""
    pins = re.findall(r"^([A-Za-z0-9._-]+==[^\s\\]+(?: ; [^\\\n]+?)?) *\\$", lock, flags=re.MULTILINE)
    return HEAD + "".join(f'      - "{pin}"\n' for pin in pins)


if __name__ == "__main__":
    print(environment(Path(sys.argv[1]).read_text()), end="")
