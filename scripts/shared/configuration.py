"""The settings of a run: merge the files, check them, and compare them with the paper's.

This checks files before Snakemake reads them: `python -m scripts.shared.configuration config/mine.yaml`
prints the folder of their results, or one line that names the key, what it may be, and what it is.
"""

import csv
import functools
import json
import os
import re
import reprlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from scripts.shared.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "config/config.yaml"
STATED = ROOT / "data/published/settings.csv"  # the paper's settings, and our choices where it is silent
TAKEN = {  # the folders in results/
    "attack", "bench", "bounds", "companions", "data", "delta", "figures", "logs", "parity", "report", "site",
    "statements", "study", "tables",
    "trials", "verdicts",
}  # fmt: skip


def check(config: Mapping[str, Any]) -> None:
    """A ValueError of one line for the outermost mistake of a configuration."""
    try:
        Settings.model_validate(config)
    except ValidationError as problem:
        error = min(problem.errors(), key=lambda error: len(error["loc"]))
        text = "config: " + _explain(error).removeprefix(": ")
        # A user's text cannot break or forge lines.
        raise ValueError(re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda found: repr(found[0])[1:-1], text)) from None
    if not of_the_papers(config["datasets"]):
        raise ValueError("config: keep at least one of the paper's datasets; synthetic needs no file")


def datasets_of(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The datasets by the numbers of their figures, then by name; an overlay may change the order."""

    def place(item: tuple[str, Mapping[str, Any]]) -> tuple[str, str]:
        return item[1].get("figures", {}).get("tv") or "~", item[0]

    return dict(sorted(config["datasets"].items(), key=place))


def of_kind(datasets: Mapping[str, Mapping[str, Any]], kind: str) -> list[str]:
    """The names of the datasets of a kind (gowalla, normal, counts)."""
    return [name for name, dataset in datasets.items() if dataset["kind"] == kind]


def own_files(config: Mapping[str, Any]) -> list[str]:
    """The data files that a configuration names."""
    datasets = config["datasets"]
    counts = [datasets[name]["file"] for name in of_kind(datasets, "counts")]
    return counts + [config["gowalla"]["file"]] * (config["gowalla"]["source"] == "file")


def having(section: str, datasets: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The names of the datasets whose configuration has a section (tv, individual, estimates, grid)."""
    return [name for name, dataset in datasets.items() if dataset.get(section)]


def label(**numbers: float) -> str:
    """Parameters as part of a file name, for readers only: no code reads them. 4 and 4.0 are the same."""
    return "_".join(f"{name}-{repr(float(value)).removesuffix('.0')}" for name, value in numbers.items())


_SHORT = reprlib.Repr()  # a mistake may be megabytes long
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80
_SHORT.maxlevel = 1


def _explain(error: ErrorDetails) -> str:
    path = list(error["loc"])
    if path[:1] == ["datasets"]:
        del path[2:3]  # the dataset's kind
    key = ".".join(map(str, path))
    if error["type"] == "missing":
        return f"the key {key!r} is missing"
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    message = re.sub(r"0\.0{9,}\d+", lambda found: f"{float(found[0]):g}", message)
    if error["type"] == "value_error" and isinstance(error["input"], dict):
        return f"{key or 'the file'} {message}" if message.startswith("has no key") else f"{key}: {message}"
    hint = ""
    if error["type"] in ("float_type", "int_type") and isinstance(error["input"], str):
        hint = " (it is text: write it without quotes, 1e-30 as 1.0e-30, and in a file, not in --config)"
    if error["loc"][-1:] == ("[key]",) and isinstance(error["input"], bool):
        hint = " (YAML reads no, off, yes and on as false and true: write this name in quotes)"
    return f"{key}: {message}; got {_SHORT.repr(error['input'])}{hint}"


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads YAML as PyYAML does, but refuses a key that a mapping has twice: PyYAML keeps the last one."""

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            name = key.tag, str(key.value)
            if name in seen:
                problem = f"the key {key.value!r} occurs twice"
                raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
            seen.add(name)
        return node


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings of a YAML or JSON file; ValueError, one line with file and line, if it is none."""
    try:
        settings = yaml.load(Path(path).read_text(encoding="utf-8-sig"), _Loader)
    except (yaml.reader.ReaderError, UnicodeDecodeError):
        raise ValueError(f"{path}: not valid YAML: expected text in UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise ValueError(f"{path}{where}: not valid YAML: {getattr(error, 'problem', error)}") from None
    except RecursionError:
        raise ValueError(f"{path}: not valid YAML: brackets or lists are nested too deeply") from None
    except ValueError as error:  # of Python: a number with thousands of digits, or the 30th of February
        raise ValueError(f"{path}: a value cannot be read: {str(error).partition(';')[0]}") from None
    if not isinstance(settings, dict | None):
        raise ValueError(f"{path}: expected a mapping (key: value) at the top level")
    return settings or {}


def merge(config: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """``config`` with ``overlay`` over it, as Snakemake merges: mappings by key, other values replaced."""
    merged = dict(config)
    for key, value in overlay.items():
        nested = isinstance(value, dict) and isinstance(config.get(key), dict)
        merged[key] = merge(config[key], value) if nested else value
    return merged


def merged(files: Iterable[str | os.PathLike[str]]) -> dict[str, Any]:
    """The settings of several files, the later ones over the earlier ones; errors as `read`."""
    config: dict[str, Any] = functools.reduce(merge, [read(path) for path in files], {})
    leave_out(config)
    return config


def leave_out(config: dict[str, Any]) -> None:
    """Remove, in place, the paper's datasets that an overlay sets to null (``paris: null``)."""
    if isinstance(datasets := config.get("datasets"), dict):
        for name in [name for name in read(PAPERS)["datasets"] if datasets.get(name, "") is None]:
            del datasets[name]


def overlays(files: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files over config/config.yaml, as relative paths; not copies of it, as Snakemake's catalog adds."""
    papers = PAPERS.read_bytes()
    return [os.path.relpath(path) for path in files if Path(path).read_bytes() != papers]


def of_the_papers(datasets: Mapping[str, Any]) -> dict[str, Any]:
    """Those of ``datasets`` that config/config.yaml has, too: the paper's datasets."""
    papers = read(PAPERS)["datasets"]
    return {name: dataset for name, dataset in datasets.items() if name in papers}


def differences(config: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The settings that are not the paper's, so that no verdict is: (key, value in settings.csv, ours)."""
    with STATED.open(encoding="utf-8", newline="") as file:
        rows = [(row["key"], json.loads(row["value"])) for row in csv.DictReader(file)]

    def value(settings: Any, name: str) -> Any:
        return settings.get(name) if isinstance(settings, Mapping) else None

    found = ((key, stated, functools.reduce(value, key.split("."), config)) for key, stated in rows)
    return [(key, _plain(stated), _plain(ours)) for key, stated, ours in found if stated != ours]


def papers_eps0(config: Mapping[str, Any]) -> dict[str, list[float]]:
    """The paper's datasets that are exactly the paper's -> the eps0s of their figures of errors.

    Left out is a dataset of which any setting is not the value of settings.csv (`differences`), whether its
    grid, its numbers of users, its population or a budget; and both cities if the choice of the grid or of
    the file of check-ins differs, which they share.
    """
    changed = [key for key, _, _ in differences(config)]
    cities = of_kind(read(PAPERS)["datasets"], "gowalla")

    def is_the_papers(name: str) -> bool:
        prefixes = (f"datasets.{name}.", *(["gowalla."] if name in cities else []))
        return not any(key.startswith(prefixes) for key in changed)

    datasets = of_the_papers(config["datasets"])
    kept = {name: dataset for name, dataset in datasets.items() if is_the_papers(name)}
    return {name: [pair["eps0"] for pair in dataset["tv"]["budgets"]] for name, dataset in kept.items()}


def _plain(value: Any) -> str:
    return "left out" if value is None else json.dumps(value, ensure_ascii=False).replace('"', "")


def results_folder(over: Iterable[str | os.PathLike[str]]) -> str:
    """``results``; with files over config/config.yaml ``results/NAMES``. ValueError for a name in use."""
    name = "_".join(re.sub(r"[^\w.-]", "_", Path(path).stem) for path in over)
    if name in TAKEN:
        raise ValueError(f"results/{name} is in use: give the file {name}.yaml another name")
    return f"results/{name}" if name else "results"


if __name__ == "__main__":
    try:
        check(merged([PAPERS, *sys.argv[1:]]))
        print(results_folder(overlays(sys.argv[1:])))
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"error: {error}")
