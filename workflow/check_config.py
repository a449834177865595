"""Check configuration files before Snakemake reads them: it would run the code in a stranger's file.

    python workflow/check_config.py config/mine.yaml ...

Nothing in the files is run. One line and exit code 1 for the first mistake.
"""

import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))
from tightshuffle.pipeline.configuration import config_error, file_error, merge  # noqa: E402


def mistake(paths):
    config = {}
    for path in [ROOT / "config/config.yaml", *map(Path, paths)]:
        try:
            text = path.read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            return f"{path}: cannot be read: {error}"
        if problem := file_error(text, path):
            return problem
        config = merge(config, yaml.safe_load(text) or {})
    return config_error(config, yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text()))


if __name__ == "__main__":
    if problem := mistake(sys.argv[1:]):
        sys.exit(f"error: {problem}")
