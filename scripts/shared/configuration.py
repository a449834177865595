"""The settings of a run: merge the files, check them, and compare them with the paper's.

This checks files before Snakemake reads them: `python -m scripts.shared.configuration config/mine.yaml`
prints the folder of their results, or one line that names the key, what it may be, and what it is.
"""

import csv
import json
import os
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from scripts.shared.job import StrPath
from scripts.shared.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
PAPERS_FILE = ROOT / "config/config.yaml"  # the configuration of the paper's experiments
# The paper's settings as it states them, and our choices where it is silent.
STATED_FILE = ROOT / "data/published/settings.csv"
TAKEN = {  # the folders in results/
    "attack", "bench", "bounds", "companions", "data", "delta", "figures", "logs", "parity", "report", "site",
    "statements", "study", "tables", "trials", "values",
}  # fmt: skip
Datasets = Mapping[str, Mapping[str, Any]]  # by name


def check(config: Mapping[str, Any]) -> None:
    """Raise ValueError, with a message of one line, if a configuration is wrong.

    Of several mistakes the message explains the outermost one, which is in the fewest nested sections: the
    other mistakes may only follow from it. A configuration is also wrong if it has none of the datasets of
    config/config.yaml, which are the paper's.
    """
    try:
        Settings.model_validate(config)
    except ValidationError as problem:
        # `loc` has the keys that lead to a mistake, from the outermost section to the value.
        outermost = min(problem.errors(), key=lambda error: len(error["loc"]))
        raise ValueError(f"config: {_mistake_in_words(outermost)}") from None
    if not papers_datasets(config["datasets"]):
        raise ValueError(
            "config: keep at least one of the paper's datasets; synthetic needs no file"
        )


def check_files(config: Mapping[str, Any]) -> None:
    """Raise ValueError if a data file that the configuration names is a folder, a pipe or the like.

    These are the files of counts, and the file of check-ins if the cities have one. A folder has no bytes,
    and a pipe may have no end. Whether a file is there at all, Snakemake checks.
    """
    datasets = config["datasets"]
    files = [datasets[name]["file"] for name in names_of_kind(datasets, "counts")]
    if config["gowalla"]["source"] == "file":
        files.append(config["gowalla"]["file"])
    for file in files:
        if Path(file).exists() and not Path(file).is_file():
            raise ValueError(f"{file}: not a regular file")


def canonical(part: Any) -> Any:
    """A part of a configuration in the one form of all its spellings: 2.0 as 2, keys in alphabetical order.

    So another spelling of the same settings reruns nothing, and gives the same results.
    """
    if isinstance(part, dict):
        return {key: canonical(part[key]) for key in sorted(part)}
    if isinstance(part, list):
        return [canonical(item) for item in part]
    if isinstance(part, float) and part.is_integer() and abs(part) <= 2**53:
        return int(part)
    return part


def datasets_of(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The config's datasets, name -> section, sorted by the number of their figure, and then by their names.

    The figure is that of the total variation error, such as "fig6". Their order in ``config`` is not fixed,
    since a file over config/config.yaml may change it.
    """

    def place(name: str) -> tuple[str, str]:
        figure = datasets[name].get("figures", {}).get("tv")
        return figure or "none", name  # as text, "none" is behind "fig7", the last one

    datasets = config["datasets"]
    return {name: datasets[name] for name in sorted(datasets, key=place)}


def names_of_kind(datasets: Datasets, kind: str) -> list[str]:
    """The names of the datasets of a kind (gowalla, normal, counts)."""
    return [name for name, dataset in datasets.items() if dataset["kind"] == kind]


def having(section: str, datasets: Datasets) -> list[str]:
    """The names of the datasets with an experiment: "tv", "individual", "estimates", "delta_hat" or "grid".

    ``section`` is the experiment's name, which is that of the section of its settings.
    """
    return [name for name, dataset in datasets.items() if dataset.get(section)]


def label(**numbers: float) -> str:
    """Parameters as part of a file name, such as 'eps0-4_eps-2.5'; 4 and 4.0 are written alike.

    They are for readers only: no code reads them from the name.
    """
    texts = {name: repr(float(value)).removesuffix(".0") for name, value in numbers.items()}
    return "_".join(f"{name}-{text}" for name, text in texts.items())


def _mistake_in_words(error: ErrorDetails) -> str:
    """A mistake of a configuration in one line: its key, what the value may be, and the value, if it helps.

    ``error`` is pydantic's. Its loc has the keys that lead to the mistake, from the outermost one on, its
    type is the kind of mistake, its msg a message, and its input the wrong value. A long value is shortened.
    """
    path = list(error["loc"])
    if path[:1] == ["datasets"]:
        # path is datasets, the dataset's name, its kind, key, ... pydantic adds the kind: no key of the file.
        del path[2:3]
    key = ".".join(map(str, path))
    value = error["input"]

    if error["type"] == "missing":
        return f"the key {key!r} is missing"

    # pydantic's first words say nothing to a user. It writes 1e-30 with all its zeros.
    message = error["msg"].removeprefix("Value error, ").removeprefix("Input ")
    message = re.sub(r"0\.0{9,}\d+", lambda number: f"{float(number[0]):g}", message)

    # These mistakes are of a whole section: a key that it cannot have, or values that do not fit together.
    # The value is the section, a dict, which is too long to be shown.
    if message.startswith("has no key"):
        return f"{key or 'the file'} {message}"
    if error["type"] == "value_error" and isinstance(value, dict):
        return f"{key}: {message}" if key else message

    hint = ""
    if error["type"] in ("float_type", "int_type") and isinstance(value, str):
        hint = " (it is text: write it without quotes, 1e-30 as 1.0e-30, and in a file, not in --config)"
    # The name of a dataset is a key that is itself checked, which pydantic calls [key].
    if error["loc"][-1:] == ("[key]",) and isinstance(value, bool):
        hint = " (YAML reads no, off, yes and on as false and true: write this name in quotes)"
    return f"{key}: {message}; got {_shortened(repr(value))}{hint}"


def _shortened(text: str) -> str:
    """The text, or its first 100 characters and three dots if it is longer: it may be megabytes long."""
    return text if len(text) <= 100 else f"{text[:100]}..."


class _Loader(yaml.SafeLoader):  # type: ignore[misc]
    """Reads YAML as PyYAML does, but refuses a key that a mapping has twice: PyYAML keeps the last one."""

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        """The parsed mapping that begins here. Raises ComposerError, with the line, if a key occurs twice.

        PyYAML calls this method for every mapping of a file. A key is its type (the tag) and its text.
        """
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            name = key.tag, str(key.value)
            if name in seen:
                problem = f"the key {key.value!r} occurs twice"
                raise yaml.composer.ComposerError(None, None, problem, key.start_mark)
            seen.add(name)
        return node


def read(path: StrPath) -> dict[str, Any]:
    """The settings of a YAML or JSON file: key -> value. An empty file has none.

    Raises ValueError if the text is not valid YAML or JSON, if a key occurs twice in a mapping, or if the
    text is not a mapping of keys to values. The message is one line, with the file's name and, where it is
    known, the number of the line. Raises OSError if the file cannot be read.
    """
    try:
        settings = yaml.load(Path(path).read_text(encoding="utf-8-sig"), _Loader)
    except (yaml.reader.ReaderError, UnicodeDecodeError):
        raise ValueError(f"{path}: not valid YAML: expected text in UTF-8") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise ValueError(
            f"{path}{where}: not valid YAML: {getattr(error, 'problem', error)}"
        ) from None
    except RecursionError:
        raise ValueError(
            f"{path}: not valid YAML: brackets or lists are nested too deeply"
        ) from None
    # An error of Python for a value, such as a number with thousands of digits or the 30th of February. Its
    # message goes on behind a semicolon with advice for programmers.
    except ValueError as error:
        raise ValueError(
            f"{path}: a value cannot be read: {str(error).partition(';')[0]}"
        ) from None
    if not isinstance(settings, dict | None):
        raise ValueError(f"{path}: expected a mapping (key: value) at the top level")
    return settings or {}


def merge(config: Mapping[str, Any], overlay: Mapping[str, Any]) -> dict[str, Any]:
    """``config`` with the settings of ``overlay`` over it, as Snakemake merges them.

    Where both have a mapping, it is merged key by key. Any other value of the overlay replaces the config's.
    """
    merged = dict(config)
    for key, value in overlay.items():
        if isinstance(value, dict) and isinstance(config.get(key), dict):
            merged[key] = merge(config[key], value)
        else:
            merged[key] = value
    return merged


def merged(files: Iterable[StrPath]) -> dict[str, Any]:
    """The settings of several files as one mapping, where those of a later file replace those of an earlier.

    The paper's datasets that a file sets to null are left out. Raises ValueError or OSError as `read` does.
    """
    config: dict[str, Any] = {}
    for path in files:
        config = merge(config, read(path))
    leave_out(config)
    return config


def leave_out(config: dict[str, Any]) -> None:
    """Remove, in place, what is the paper's and does not fit: datasets, and cells of another grid.

    A dataset goes if an overlay sets it to null (``paris: null``). The section individual goes, with the
    tables of single cells, if it is the paper's and an overlay's grid has fewer cells.
    """
    datasets = config.get("datasets")
    if isinstance(datasets, dict):
        for name, papers in read(PAPERS_FILE)["datasets"].items():
            if name in datasets and datasets[name] is None:
                del datasets[name]
            elif name in datasets and _lacks_papers_cells(datasets[name], papers):
                datasets[name]["individual"] = None


def _lacks_papers_cells(dataset: Any, papers: Mapping[str, Any]) -> bool:
    """Whether a dataset has the section individual of the paper's (``papers``), but not its cells.

    False for values of a wrong type, which `check` refuses.
    """
    try:
        if dataset["kind"] == "normal":
            cells = dataset["cells"]
        else:
            cells = dataset["uniform"]["columns"] * dataset["uniform"]["rows"]
        individual = papers["individual"]
        return bool(dataset["individual"] == individual and max(individual["cells"]) > cells)
    except (KeyError, TypeError):
        return False


def overlays(files: Iterable[StrPath]) -> list[str]:
    """The files of your own settings: ``files`` without the project's config/config.yaml, relative paths.

    A copy of it, which a workflow has that was deployed elsewhere, is none either.
    """
    papers = PAPERS_FILE.read_bytes()
    return [os.path.relpath(path) for path in files if Path(path).read_bytes() != papers]


def papers_datasets(datasets: Datasets) -> dict[str, Any]:
    """Those of ``datasets`` that config/config.yaml has, too: the paper's datasets."""
    papers = read(PAPERS_FILE)["datasets"]
    return {name: dataset for name, dataset in datasets.items() if name in papers}


def differences(config: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The settings of ``config`` that are not the paper's, each as (key, the paper's value, ours) in words.

    A key is a path such as datasets.paris.tv.n. The paper's values are those of data/published/settings.csv,
    in whose order the result is. If a setting differs, our results say nothing about the paper's numbers.
    """
    with STATED_FILE.open(encoding="utf-8", newline="") as file:
        stated_values = {row["key"]: json.loads(row["value"]) for row in csv.DictReader(file)}

    differing = []
    for key, stated in stated_values.items():
        ours = _value_at(config, key)
        if ours != stated:
            differing.append((key, _value_in_words(stated), _value_in_words(ours)))
    return differing


def papers_eps0(config: Mapping[str, Any]) -> dict[str, list[float]]:
    """The paper's datasets whose settings are all the paper's: dataset -> its eps0s in the figures of errors.

    These eps0s are those of the dataset's section tv, the trials of the total variation error. A dataset is
    left out if one of its settings is not the paper's. Both cities are left out if a setting of the section
    gowalla is not the paper's: there the file of check-ins and the grid are chosen for both.
    """
    changed = [key for key, _, _ in differences(config)]  # such as datasets.paris.tv.n
    cities = names_of_kind(read(PAPERS_FILE)["datasets"], "gowalla")
    eps0s = {}
    for name, dataset in papers_datasets(config["datasets"]).items():
        # The sections with settings that the dataset depends on.
        sections = [f"datasets.{name}."]
        if name in cities:
            sections.append("gowalla.")
        if not any(key.startswith(tuple(sections)) for key in changed):
            eps0s[name] = [pair["eps0"] for pair in dataset["tv"]["budgets"]]
    return eps0s


def _value_at(settings: Any, path: str) -> Any:
    """The value at a path of keys such as parity.eps0; None if the settings have no such key."""
    for name in path.split("."):
        if not isinstance(settings, Mapping):
            return None
        settings = settings.get(name)
    return settings


def _value_in_words(value: Any) -> str:
    """A value of a setting as text, without quotes; 'left out' for None."""
    if value is None:
        return "left out"
    return json.dumps(value, ensure_ascii=False).replace('"', "")


def results_folder(files: Iterable[StrPath]) -> str:
    """The folder for the results of a run: ``results``, or ``results/NAMES`` with ``files`` of your own.

    NAMES are the names of these files without their endings. Raises ValueError if results/NAMES is a folder
    that the results themselves use.
    """
    name = "_".join(re.sub(r"[^\w.-]", "_", Path(path).stem) for path in files)
    if not name:
        return "results"
    if name in TAKEN:
        raise ValueError(f"results/{name} is in use: give the file {name}.yaml another name")
    return f"results/{name}"


if __name__ == "__main__":
    try:
        check(merged([PAPERS_FILE, *sys.argv[1:]]))
        print(results_folder(overlays(sys.argv[1:])))
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"error: {error}")
