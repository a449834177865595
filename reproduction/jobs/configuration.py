"""The settings of a run: merge the files, check them, and compare them with the paper's.

This command checks a file before Snakemake reads it, and prints the folder of its results:

    python -m reproduction.jobs.configuration config/mine.yaml

Snakemake runs code in a configuration file; this module never does. Every mistake gives one line that names
the key and its allowed values.
"""

import csv
import difflib
import functools
import hashlib
import json
import os
import re
import reprlib
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from reproduction.jobs.code import ROOT
from reproduction.jobs.settings import City, Counts, Settings, above

PAPERS = ROOT / "config/config.yaml"
TAKEN = {  # the folders in results/
    "article", "audit", "bench", "benchmarks", "checkins", "estimates", "figures", "histograms", "logs",
    "parity", "privacy", "report", "site", "study", "tables", "trials",
}  # fmt: skip
JUDGED = (
    "gowalla",
    "datasets",
    "protocol",
    "parity",
    "delta_surface",
)  # the verdicts depend on these,
UNJUDGED = {  # except for these keys
    "source", "bad_rows_at_most", "download", "title", "figures", "bootstrap", "confidence", "plan",
}  # fmt: skip
DELIVERED = "206d6c5cd3fd2c1d"  # `fingerprint` of what is `judged` in config/config.yaml
T = TypeVar("T")


def checked(config: Mapping[str, Any], files: Iterable[str | os.PathLike[str]] = ()) -> Settings:
    """The settings of a run as attributes; a ValueError of one line for the first mistake.

    Parameters: ``config``, the merged settings; ``files``, the files that they come from; `read` checks them.
    """
    for path in files:
        read(path)
    settings = settings_of(config)
    if problem := _missing_file(settings):
        raise ValueError(problem)
    return settings


def settings_of(config: Mapping[str, Any]) -> Settings:
    """As `checked`, but without reading any file."""
    try:
        settings = Settings.model_validate(config)
    except ValidationError as problem:
        # A mistake in a dataset's name comes before mistakes inside the dataset; then the outermost mistake.
        error = min(problem.errors(), key=lambda error: ("[key]" not in error["loc"], len(error["loc"])))
        raise ValueError(_one_line(f"config: {_explain(error)}")) from None
    if not of_the_papers(settings.datasets):
        raise ValueError("config: keep at least one of the paper's datasets; synthetic needs no file")
    return settings


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The settings of a configuration file (YAML or JSON). Nothing in it is run.

    Raises ValueError, one line with the file and the line number, in three cases. The file is not plain YAML.
    A key occurs twice (YAML would keep the last one without a warning). The file is a template: it has the
    key ``__use_yte__``, so Snakemake would run the Python in it.
    """
    try:
        settings = yaml.load(Path(path).read_text(encoding="utf-8-sig"), _Strict)
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", "no text")
        if not isinstance(error, _Refused):
            problem = f"not valid YAML: {problem}"
        raise ValueError(_one_line(f"{path}{where}: {problem}")) from None
    if not isinstance(settings, dict | None):
        raise ValueError(f"{path}: expected a mapping (key: value) at the top level")
    return settings or {}


class _Refused(yaml.MarkedYAMLError):  # type: ignore[misc]  # PyYAML has no type hints
    pass


# Every start of Snakemake reads several files. libyaml is five times as fast, but not always installed.
_Reader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Strict(yaml.composer.Composer, _Reader):  # type: ignore[misc]
    def __init__(self, text: str) -> None:
        _Reader.__init__(self, text)
        yaml.composer.Composer.__init__(self)

    def compose_mapping_node(self, anchor: str | None) -> yaml.MappingNode:
        node = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key in [key for key, _ in node.value if isinstance(key, yaml.ScalarNode)]:
            problem = None
            if key.value == "__use_yte__":
                problem = "the key '__use_yte__' makes the configuration a program; remove the key"
            if key.value in lines:
                problem = f"the key {key.value!r} is in line {lines[key.value]} already; keep one of them"
            if problem:
                raise _Refused(problem=problem, problem_mark=key.start_mark)
            lines[key.value] = key.start_mark.line + 1
        return node


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
        papers = read(PAPERS)["datasets"]
        left_out = [name for name in papers if name in datasets and datasets[name] is None]
        for name in left_out:
            del datasets[name]


def overlays(files: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files over config/config.yaml, as paths relative to this folder, which may be moved.

    A copy of config/config.yaml is none of them: Snakemake's catalog puts one beside another workflow.
    """
    papers = PAPERS.read_bytes()
    return [os.path.relpath(path) for path in files if Path(path).read_bytes() != papers]


def of_the_papers(datasets: Mapping[str, T]) -> dict[str, T]:
    """Those of ``datasets`` that config/config.yaml has, too: the paper's datasets."""
    papers = read(PAPERS)["datasets"]
    return {name: dataset for name, dataset in datasets.items() if name in papers}


def differences(config: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """The differences that make ``config`` another experiment than the paper's, without verdicts on it.

    Returns triples (key, value in config/config.yaml, value in ``config``) for the keys of `JUDGED`. Your own
    datasets, and further experiments on the paper's datasets, do not count. If config/config.yaml itself was
    edited, the file is the first key.
    """
    papers = judged(read(PAPERS))
    found = [] if fingerprint(papers) == DELIVERED else [("config/config.yaml", "as delivered", "edited")]
    return [*found, *_differences(papers, config, "")]


def judged(config: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that the verdicts on the paper depend on."""

    def part(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: part(inner) for name, inner in value.items() if name not in UNJUDGED}

    return {name: part(config[name]) for name in JUDGED}


def fingerprint(settings: Mapping[str, Any]) -> str:
    """A digest of the settings that does not depend on the order of their keys."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def _differences(papers: Any, ours: Any, key: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(papers, dict) and isinstance(ours, dict):
        for name in papers:
            yield from _differences(papers[name], ours.get(name), _join(key, name))
    elif papers != ours:
        yield key, _plain(papers), _plain(ours)


def _plain(value: Any) -> str:
    """A value as one line of text."""
    if value is None or isinstance(value, dict):
        return "there" if value else "left out"
    return json.dumps(value, ensure_ascii=False).replace('"', "")


def results_folder(config: Mapping[str, Any], over: Iterable[str | os.PathLike[str]]) -> str:
    """The results folder of a configuration. Every configuration has a different folder.

    ``results`` for config/config.yaml alone; ``results/quick`` with config/quick.yaml over it;
    ``results/custom`` with settings from the command line, ``results/quick_custom`` with both.

    Parameters: ``config``, the settings of the run; ``over``, the files over config/config.yaml.
    Raises ValueError if the folder is taken.
    """
    paths = [Path(path) for path in over]
    names = [re.sub(r"[^\w.-]", "_", path.stem) for path in paths]
    if merged([PAPERS, *paths]) != config:
        names.append("custom")
    name = "_".join(names)
    if name in TAKEN:
        raise ValueError(
            f"{paths[0]}: its results would go to results/{name}, a name in use: give the file another name"
        )
    return f"results/{name}" if name else "results"


def _one_line(text: str) -> str:
    """``text`` with control characters as escapes, so that a user's text cannot break or forge lines."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", lambda match: repr(match[0])[1:-1], text)


_MAPPING = "must be a mapping (key: value)"
_PROBLEMS = {  # pydantic's type of an error -> our message; braces are filled from its context
    "dict_type": _MAPPING,
    "finite_number": "must be a finite number",
    "float_type": "must be a number",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_type": "must be a whole number",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be one of: {expected}",
    "model_attributes_type": _MAPPING,
    "model_type": _MAPPING,
    "null": "must have a value; to leave it out, remove the key",
    "repeated": "must not name anything twice",
    "string_type": "must be text",
    "text": "must be {wanted}",
    "too_long": "must have at most {max_length} entries",
    "too_short": "must have at least {min_length} entries",
    "union_tag_invalid": "must be one of: {expected_tags}",
}
_SHORT = reprlib.Repr()  # a mistake may be megabytes long
_SHORT.maxstring = _SHORT.maxother = _SHORT.maxlong = 80


def _explain(error: ErrorDetails) -> str:
    path, value, kind, context = list(error["loc"]), error["input"], error["type"], error.get("ctx", {})
    name_of_dataset = path[-1:] == ["[key]"]
    if path[:1] == ["datasets"]:
        del path[2:3]  # the dataset's kind, or [key]
    key = _dotted(path[:1] if name_of_dataset else path)
    match kind:
        case "unknown":
            unknown, allowed = str(context["unknown"]), context["allowed"]
            near = difflib.get_close_matches(unknown, allowed, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            return f"unknown key {_join(key, unknown)!r}{hint} Allowed: {', '.join(allowed)}"
        case "missing":
            return f"the key {key!r} is missing"
        case "union_tag_not_found":
            return f"the key {_join(key, 'kind')!r} is missing"
        case "contradiction":
            return f"{key}{context['key']}{context['text']}".removeprefix(".")
        case "union_tag_invalid":
            key, value = _join(key, "kind"), value["kind"]
    if name_of_dataset:
        key = f"a name in {key}"
    told = {name: str(limit).removesuffix(".0") for name, limit in context.items()}
    for choices in told.keys() & {"expected", "expected_tags"}:  # 'a', 'b' or 'c'
        told[choices] = ", ".join(re.findall("'(.*?)'", told[choices]))
    problem = _PROBLEMS[kind].format(**told) if kind in _PROBLEMS else error["msg"]
    hint = ""
    if kind in ("float_type", "int_type") and isinstance(value, str) and _is_number(value):
        hint = " (it is text: write it without quotes, 1e-30 as 1.0e-30, and in a file, not in --config)"
    return f"{key or 'the file'} {problem}; got {_SHORT.repr(value)}{hint}"


def _missing_file(settings: Settings) -> str | None:
    """The error if a file is missing (the user's, or a city's bundled counts) or has fewer than n users."""
    gowalla = settings.gowalla
    if gowalla.source == "file" and not Path(gowalla.file).is_file():
        return f"gowalla.file: no file {gowalla.file!r}; expected check-ins in SNAP's format"
    for name, dataset in settings.datasets.items():
        if isinstance(dataset, Counts):
            path = Path(dataset.file)
            missing = f".file: no file {dataset.file!r}; expected a CSV file with cell,count"
        elif isinstance(dataset, City) and gowalla.source == "bundled":
            path = ROOT / f"data/gowalla/{name}_counts.csv"
            missing = ": no bundled counts; set gowalla.source to snap or file"
        else:
            continue
        if not path.is_file():
            return f"datasets.{name}{missing}"
        if (users := _users_in(path)) and (problem := above(dataset, users)):
            return f"datasets.{name}.{problem[1]} {problem[0]}"
    return None


def _users_in(path: Path) -> int:
    """The number of users in a file of counts; 0 for a bad file, which the job reports later."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            rows.fieldnames = [field.strip().lower() for field in rows.fieldnames or ()]
            return sum(int(row["count"]) for row in rows)
    except (OSError, ValueError, KeyError, TypeError, csv.Error):
        return 0


def _dotted(path: Iterable[str | int]) -> str:
    text = ""
    for part in path:
        text = f"{text}[{part}]" if isinstance(part, int) else _join(text, part)
    return text


def _join(key: str, name: str) -> str:
    return f"{key}.{name}" if key else str(name)


def _is_number(text: object) -> bool:
    try:
        float(str(text))
    except ValueError:
        return False
    return True


if __name__ == "__main__":
    try:
        settings = merged([PAPERS, *sys.argv[1:]])
        checked(settings)
        print(results_folder(settings, overlays(sys.argv[1:])))
    except IsADirectoryError as error:
        sys.exit(f"error: {error.filename}: a folder; name a file in it, such as config/quick.yaml")
    except OSError as error:
        sys.exit(f"error: {error.filename}: {error.strerror}")
    except ValueError as error:
        sys.exit(f"error: {error}")
