"""A run as an RO-Crate: its files with their sums, and which job made which file from which.

The crate has the profile Provenance Run Crate 0.5 (https://w3id.org/ro/wfrun/provenance/0.5) on RO-Crate 1.1.
It states what Snakemake and `checksums` recorded, and no other date. So the same run gives the same bytes.
"""

import ast
import base64
import contextlib
import hashlib
import importlib.metadata
import json
import mimetypes
import os
import re
import zipfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

import yaml

from reproduction.jobs import checksums
from reproduction.jobs.code import ROOT, check_unchanged, files_of, source

RECORDS = Path(".snakemake/metadata")
METADATA, WORKFLOW, CITATION = "ro-crate-metadata.json", "workflow/Snakefile", "CITATION.cff"
SNAKEMAKE = "https://snakemake.github.io"
RO_CRATE = "https://w3id.org/ro/crate/1.1"
WORKFLOW_RO_CRATE = "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
TERMS = "https://w3id.org/ro/terms/workflow-run/context"
PROFILES = {  # the last profile requires the first ones
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    WORKFLOW_RO_CRATE: "Workflow RO-Crate",
    "https://w3id.org/ro/wfrun/provenance/0.5": "Provenance Run Crate",
}
DESCRIPTION = (
    "The workflow, its input data and every file that it made. Each job states what it read and wrote, "
    "and when. The version of a script is the start of a SHA-256 sum over the script and all that it imports."
)
FORMATS = {".parquet": "application/vnd.apache.parquet", ".md": "text/markdown"}
KNOWN_FORMATS = mimetypes.MimeTypes()  # those of Python; other functions read more from the system's files
CODE = re.compile(r"\{'[^']+': '[0-9a-f]{16}'.*\}")  # how Snakemake records the parameter `code` of a rule
CHUNK = 1 << 20  # bytes
Entity = dict[str, Any]


class Job(NamedTuple):
    """What Snakemake recorded of one job."""

    name: str  # its log file without folder and suffix, such as draw_figure/audit
    rule: str
    script: str
    code: dict[str, str]  # as `code.code_of`
    parameters: list[str]  # the other parameters of the rule, as Python writes them
    inputs: list[str]
    outputs: list[str]
    start: float  # seconds since 1970
    end: float


class Run(NamedTuple):
    """Results, all jobs behind them in the order of their start, and the files that no job made."""

    results: list[str]
    jobs: list[Job]
    inputs: list[str]


def run_of(results: Iterable[str]) -> Run:
    """The `Run` behind these results. ValueError: Snakemake has no record of the job behind a result."""
    records = {_recorded_path(file): file for file in RECORDS.rglob("*") if file.is_file()}
    results = sorted(map(str, results))
    jobs: dict[tuple[str, str], Job] = {}
    inputs, seen, unread = [], set(), list(results)
    while unread:
        path = unread.pop()
        if path in seen:
            continue
        seen.add(path)
        if path in records:
            record = json.loads(records[path].read_text("utf-8"))
            job = jobs.setdefault((record["rule"], record["log"][0]), _job(record))
            job.outputs.append(path)
            unread += job.inputs
        elif checksums.is_result(path):
            raise ValueError(f"{path}: Snakemake has no record of its job. Remove it and run again")
        else:
            inputs.append(path)
    for job in jobs.values():
        job.outputs.sort()
    return Run(results, sorted(jobs.values(), key=lambda job: (job.start, job.name)), sorted(inputs))


def _recorded_path(record: Path) -> str:
    """The file that a record is about: Snakemake encodes its path, and cuts a long one into folders."""
    parts = record.relative_to(RECORDS).parts
    return base64.urlsafe_b64decode("".join(part.removeprefix("@") for part in parts)).decode()


def _job(record: Mapping[str, Any]) -> Job:
    code = [text for text in record["params"] if CODE.fullmatch(text)]
    (script,) = re.findall(r"scripts/\w+\.py", record["code"])
    return Job(
        name=record["log"][0].partition("logs/")[2].removesuffix(".log"),
        rule=record["rule"],
        script=script,
        code=ast.literal_eval(code[0]) if code else {},
        parameters=[text for text in record["params"] if text not in code],
        inputs=sorted(record["input"]),
        outputs=[],
        start=record["starttime"],
        end=record["endtime"],
    )


def write(
    path: str | os.PathLike[str],
    run: Run,
    *,
    project: Iterable[str],
    settings: Mapping[str, Any],
    addresses: Mapping[str, str],
) -> None:
    """Write the crate of a run, a zip file with all files of the run, to ``path``.

    Parameters: ``project``, files of the checkout, with `WORKFLOW` and `CITATION`; the crate gets them and
    all that they and the scripts of the jobs import. ``settings``, values by their top-level keys.
    ``addresses``, of inputs that the crate does not contain: path -> URL.
    ValueError: a result changed since its job wrote it, or its code was edited since.
    """
    for job in run.jobs:
        check_unchanged(job.code)
    code = files_of(*project, *{file for job in run.jobs for file in (job.script, *job.code)})
    made = [output for job in run.jobs for output in job.outputs]
    names = sorted({*made, *run.inputs, *map(source, code)})
    with zipfile.ZipFile(path, "w") as archive:
        files = {}
        for file in names:
            if checksums.is_result(file) and (wrong := checksums.problem(file)):
                raise ValueError(wrong)
            files[file] = _add(archive, file, addresses.get(file))
        text = json.dumps(_document(run, files, settings), indent=1, ensure_ascii=False) + "\n"
        archive.writestr(_entry(METADATA, len(text)), text)


def _add(archive: zipfile.ZipFile, path: str, address: str | None) -> Entity:
    """Copy a file into the archive, unless it has an address; the entity has the sum of the copied bytes."""
    full = Path(os.path.abspath(path))
    homes = [folder for folder in (Path.cwd(), ROOT) if full.is_relative_to(folder)]
    name = full.relative_to(homes[0]).as_posix() if homes else f"inputs/{full.name}"
    if name in archive.namelist():
        raise ValueError(f"{path}: the crate has another file {name}. Rename one of them and run again")
    sha256, size = hashlib.sha256(), full.stat().st_size
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(full.open("rb"))
        kept = None if address else stack.enter_context(archive.open(_entry(name, size), "w"))
        while part := file.read(CHUNK):
            sha256.update(part)
            if kept:
                kept.write(part)
    kind = FORMATS.get(full.suffix) or KNOWN_FORMATS.guess_type(name)[0] or "text/plain"
    facts = {"sha256": sha256.hexdigest(), "contentSize": str(size), "encodingFormat": kind}
    return _entity(address or quote(name), "File", name=name, **facts)


def _entry(name: str, size: int) -> zipfile.ZipInfo:
    """An entry of the archive with a fixed date, so that the archive has the same bytes on every day."""
    entry = zipfile.ZipInfo(name)
    entry.compress_type, entry.external_attr, entry.file_size = zipfile.ZIP_DEFLATED, 0o644 << 16, size
    return entry


def _document(run: Run, files: Mapping[str, Entity], settings: Mapping[str, Any]) -> Entity:
    """The metadata of the crate, JSON-LD. ``files``: path in this run -> entity."""
    citation = yaml.safe_load(Path(source(CITATION)).read_text("utf-8"))
    authors = [_entity(f"#{one['name']}", "Organization", name=one["name"]) for one in citation["authors"]]
    licence = _entity(
        f"https://spdx.org/licenses/{citation['license']}", "CreativeWork", name=citation["license"]
    )
    profiles = [
        _entity(url, "CreativeWork", name=name, version=url.rpartition("/")[2])
        for url, name in PROFILES.items()
    ]
    snakemake = {"name": "Snakemake", "url": SNAKEMAKE}
    language = _entity("#snakemake", "ComputerLanguage", identifier=SNAKEMAKE, **snakemake)
    version = importlib.metadata.version("snakemake")
    engine = _entity(SNAKEMAKE, "SoftwareApplication", softwareVersion=version, **snakemake)
    times = _times(min(job.start for job in run.jobs), max(job.end for job in run.jobs))

    workflow = files[source(WORKFLOW)]
    steps, actions, controls, parameters = _jobs(run, files)
    inputs = [
        _entity(f"#input/{key}", "FormalParameter", name=key, additionalType="Text") for key in settings
    ]
    values = []
    for parameter, value in zip(inputs, settings.values(), strict=True):
        text = json.dumps(value, ensure_ascii=False)
        key = parameter["name"]
        values.append(_entity(f"#{key}", "PropertyValue", name=key, value=text, exampleOfWork=parameter))
        parameter["workExample"] = _reference(values[-1])
    workflow |= _entity(
        workflow["@id"],
        ["File", "SoftwareSourceCode", "ComputationalWorkflow", "HowTo"],
        name=citation["title"],
        version=citation["version"],
        programmingLanguage=language,
        license=licence,
        creator=authors,
        hasPart=list({job.script: files[source(job.script)] for job in run.jobs}.values()),
        step=steps,
        input=inputs,
    )
    whole = _entity(
        "#run",
        "CreateAction",
        name="The run of the workflow",
        instrument=workflow,
        object=[*values, *(files[file] for file in run.inputs)],
        result=[files[file] for file in run.results],
        **times,
    )
    organized = _entity(
        "#organized",
        "OrganizeAction",
        name="Snakemake runs the jobs",
        instrument=engine,
        object=controls,
        result=whole,
        **times,
    )
    root = _entity(
        "./",
        "Dataset",
        name=f"A run of {citation['title']}",
        description=DESCRIPTION,
        datePublished=times["endTime"],
        license=licence,
        author=authors,
        keywords=citation["keywords"],
        conformsTo=profiles,
        mainEntity=workflow,
        hasPart=list(files.values()),
        mentions=[whole, organized, *actions],
    )
    conforms = [{"@id": RO_CRATE}, {"@id": WORKFLOW_RO_CRATE}]
    descriptor = _entity(METADATA, "CreativeWork", about=root, conformsTo=conforms)
    graph = [
        descriptor,
        root,
        *profiles,
        licence,
        *authors,
        language,
        engine,
        *inputs,
        *values,
        whole,
        organized,
    ]
    graph += [*steps, *controls, *actions, *parameters, *files.values()]
    return {"@context": [f"{RO_CRATE}/context", TERMS], "@graph": graph}


def _jobs(run: Run, files: Mapping[str, Entity]) -> tuple[list[Entity], ...]:
    """The steps of the workflow, one per rule; of each job, its action, its start and its parameters."""
    steps: dict[str, Entity] = {}
    actions, controls, parameters = [], [], []
    for job in run.jobs:
        script, name = files[source(job.script)], quote(job.name)
        script |= {
            "@type": ["File", "SoftwareSourceCode"],
            "version": job.code.get(job.script, script["sha256"]),
        }
        read = [files[file] for file in dict.fromkeys([*map(source, job.code), *job.inputs])]
        read = [file for file in read if file is not script]
        if job.parameters:
            values = _entity(f"#parameters/{name}", "PropertyValue", name="parameters", value=job.parameters)
            parameters.append(values)
            read.append(values)
        step = _entity(f"{WORKFLOW}#{job.rule}", "HowToStep", name=job.rule, workExample=script)
        action = _entity(
            f"#job/{name}",
            "CreateAction",
            name=f"Job {job.name}",
            instrument=script,
            object=read,
            result=[files[file] for file in job.outputs],
            **_times(job.start, job.end),
        )
        control = f"Start of job {job.name}"
        steps[job.rule] = step
        actions.append(action)
        controls.append(
            _entity(f"#start/{name}", "ControlAction", name=control, instrument=step, object=action)
        )
    return list(steps.values()), actions, controls, parameters


def _entity(identifier: str, kind: str | list[str], /, **properties: Any) -> Entity:
    """An entity with this ``@id`` and ``@type``; other entities among its properties become references.

    A list of one becomes its element, as RO-Crate recommends, and an empty list is left out.
    """
    entity: Entity = {"@id": quote(identifier, safe="/:#%?=&"), "@type": kind}
    for key, value in properties.items():
        values = [_reference(one) for one in value] if isinstance(value, list) else [_reference(value)]
        if values:
            entity[key] = values[0] if len(values) == 1 else values
    return entity


def _reference(value: Any) -> Any:
    return {"@id": value["@id"]} if isinstance(value, dict) else value


def _times(start: float, end: float) -> dict[str, str]:
    def text(seconds: float) -> str:
        return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")

    return {"startTime": text(start), "endTime": text(end)}
