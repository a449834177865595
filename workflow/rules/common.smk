# All the Python of the workflow: the checked configuration, and the names of files.
import ast
import math
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

from tightshuffle.configuration import config_error

if problem := config_error(
    config, yaml.safe_load(Path(workflow.source_path("../schemas/config.schema.yaml")).read_text())
):
    raise WorkflowError(problem)


def _in_the_papers_order(datasets):
    """By figure number, then by name: overlays change the order in which the config lists them."""
    return dict(
        sorted(datasets.items(), key=lambda item: (item[1].get("figures", {}).get("tv", "~"), item[0]))
    )


DATASETS = _in_the_papers_order(config["datasets"])
GOWALLA = [name for name, dataset in DATASETS.items() if dataset["kind"] == "gowalla"]
NORMAL = [name for name, dataset in DATASETS.items() if dataset["kind"] == "normal"]
COUNTS = [name for name, dataset in DATASETS.items() if dataset["kind"] == "counts"]


wildcard_constraints:
    dataset="|".join(DATASETS),
    eps0=r"[0-9.e+-]+",
    eps=r"[0-9.e+-]+",
    n="[0-9]+|all",
    repetitions="[0-9]+",
    prefix="(fig[0-9]+_)?",


SNAKEMAKE_MB = 500  # a cluster's job is two Snakemake processes around the script, 130 to 245 MB each


def memory(peak):
    """mem_mb of a rule whose script was measured at ``peak`` MB (max_rss in results/benchmarks).

    Half as much again and Snakemake's own, doubled on every further attempt.
    """
    return lambda wildcards, attempt: math.ceil(1.5 * peak + SNAKEMAKE_MB) * 2 ** (attempt - 1)


def minutes(seconds):
    """runtime of a rule that was measured at ``seconds`` on one core (cpu_time in results/benchmarks).

    Ten times that and a minute to start, doubled on every further attempt.
    """
    return lambda wildcards, attempt: (1 + math.ceil(10 * seconds / 60)) * 2 ** (attempt - 1)


def code_of(script):
    """The script and every module of this project that it imports, directly or not.

    As inputs they rerun exactly the stages that an edit concerns; Snakemake's own code trigger sees
    neither the modules nor that a touched file is unchanged.
    """
    found, open_ends = set(), [Path(script)]
    while open_ends:
        path = open_ends.pop()
        if path in found:
            continue
        found.add(path)
        for node in ast.walk(ast.parse(path.read_text(), str(path))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module] + [f"{node.module}.{alias.name}" for alias in node.names]
            open_ends += [file for name in names for file in _files_of(name)]
    return sorted(str(path) for path in found)


def _files_of(module):
    """Files of a local module, with the packages around it; nothing for other libraries."""
    parts = module.split(".")
    candidates = [Path("scripts", *parts).with_suffix(".py"), Path(*parts).with_suffix(".py")]
    candidates += [Path(*parts[:depth], "__init__.py") for depth in range(1, len(parts) + 1)]
    return [path for path in candidates if path.is_file()]


def trial_file(dataset, budget, n, repetitions):
    return (
        f"results/trials/{dataset}/eps0~{budget['eps0']}_eps~{budget['eps']}_n~{n}"
        f"_repetitions~{repetitions}.parquet"
    )


def _trials(dataset, experiment):
    plan = DATASETS[dataset].get(experiment)
    if not plan:
        return []
    return [
        trial_file(dataset, budget, n, plan["repetitions"]) for budget in plan["budgets"] for n in plan["n"]
    ]


def tv_trials(dataset):
    """The trials behind a dataset's boxplots."""
    return _trials(dataset, "tv")


def individual_trials():
    """The trials behind Tables V and VI and the total variation distances in the text."""
    return [file for dataset in DATASETS for file in _trials(dataset, "individual")]


def estimate_files(dataset):
    """The single runs behind a dataset's heatmaps."""
    plan = DATASETS[dataset].get("estimates")
    if not plan:
        return []
    return [
        f"results/estimates/{dataset}/eps0~{budget['eps0']}_eps~{budget['eps']}_n~{plan['n']}.csv"
        for budget in plan["budgets"]
    ]


def individual_cells(dataset):
    return DATASETS[dataset].get("individual", {}).get("cells", [])


def figure_names():
    """The names of all figures, in the paper's order; a dataset that the paper does not know comes last."""
    names = ["fig1_delta_surface"] + (["fig3_checkins"] if GOWALLA else [])
    for dataset, plan in DATASETS.items():
        for form in ("tv", "estimates"):
            if form in plan:
                number = plan.get("figures", {}).get(form)
                names.append(f"{number}_{form}_{dataset}" if number else f"{form}_{dataset}")
    names += [
        "blanket_regions",
        "delta_bounds",
        "gaussian_scale",
        "girgis_rdp",
        "koskela_fig1a",
        "koskela_fig1b",
    ]
    return sorted(names, key=lambda name: (not name.startswith("fig"), name))


def figures_numbered(number):
    return [f"results/figures/{name}.png" for name in figure_names() if name.startswith(f"{number}_")]


def figure_files():
    return [f"results/figures/{name}.png" for name in figure_names()]


TABLES = ["table_II", "table_1", "table_III", "table_IV", "table_V", "table_VI"]
