# All the Python of the workflow: the checked configuration, and the names of files.
import os
import re
import sys
from pathlib import Path

import yaml
from snakemake.exceptions import WorkflowError

HERE = Path(str(workflow.current_basedir)).parents[1]  # the project's folder, wherever the run is
sys.path.insert(0, str(HERE))

from tightshuffle.pipeline.configuration import config_error, file_error, results_folder
from tightshuffle.pipeline import run
from tightshuffle.pipeline.code import code_of, digest, run_code_of, source

for path in map(Path, workflow.configfiles):
    if problem := file_error(path.read_text(encoding="utf-8-sig"), path):
        raise WorkflowError(problem)

if problem := config_error(
    config, yaml.safe_load(Path(workflow.source_path("../schemas/config.schema.yaml")).read_text())
):
    raise WorkflowError(problem)

OVERLAYS = [
    os.path.relpath(path)  # a moved folder is the same folder
    for path in workflow.configfiles
    if Path(path).resolve() != HERE / "config/config.yaml"
]
try:
    run_code_of(HERE)
    FOLDER = results_folder(config, OVERLAYS)
except ValueError as error:
    raise WorkflowError(str(error))


pathvars:
    results=FOLDER,


def _in_the_papers_order(datasets):
    """By figure number, then by name: overlays change the order in which the config lists them."""
    return dict(
        sorted(datasets.items(), key=lambda item: (item[1].get("figures", {}).get("tv", "~"), item[0]))
    )


DATASETS = _in_the_papers_order(config["datasets"])
GOWALLA = [name for name, dataset in DATASETS.items() if dataset["kind"] == "gowalla"]
NORMAL = [name for name, dataset in DATASETS.items() if dataset["kind"] == "normal"]
COUNTS = [name for name, dataset in DATASETS.items() if dataset["kind"] == "counts"]

for name in COUNTS:
    if not Path(DATASETS[name]["file"]).is_file():
        raise WorkflowError(
            f"datasets.{name}.file: no file {DATASETS[name]['file']!r}; expected a CSV file with cell,count"
        )


# What the papers print.
VALUES, CLAIMS, PARAMETERS = (f"data/published/{name}.csv" for name in ("values", "claims", "parameters"))


wildcard_constraints:
    dataset="|".join(DATASETS),
    part="eps0-[0-9.e-]+_eps-[0-9.e-]+|grid-[0-9]+",
    prefix="(fig[0-9]+_)?",


def label(**numbers):
    """The parameters of a file in its name: for readers, nothing reads them back. 4 and 4.0 are the same."""
    return "_".join(f"{name}-{repr(float(value)).removesuffix('.0')}" for name, value in numbers.items())


def _points(experiment, budgets, plan):
    return [
        dict(experiment=experiment, eps0=float(eps0), eps=float(eps), n=n, repetitions=plan["repetitions"])
        for eps0, eps in budgets
        for n in plan["n"]
    ]


def _trials():
    """(dataset, part) -> its points; a part is one budget, or a run of consecutive points of the grid.

    A grid has every n at every eps up to eps0, beyond which delta is 0.
    """
    found = {}
    for dataset, plans in DATASETS.items():
        for experiment in ("tv", "individual"):
            plan = plans.get(experiment, {"budgets": []})
            for eps0, eps in [(budget["eps0"], budget["eps"]) for budget in plan["budgets"]]:
                points = found.setdefault((dataset, label(eps0=eps0, eps=eps)), [])
                points += _points(experiment, [(eps0, eps)], plan)
        if plan := plans.get("grid"):
            budgets = [(eps0, eps) for eps0 in plan["eps0"] for eps in plan["eps"] if eps <= eps0]
            points, size = _points("grid", budgets, plan), plan.get("points_per_job", len(plan["n"]))
            for number, start in enumerate(range(0, len(points), size), start=1):
                found[dataset, f"grid-{number}"] = points[start : start + size]
    return found


TRIALS = _trials()


def trial_points(wildcards):
    """The points of one file of trials."""
    dataset, part = wildcards.dataset, wildcards.part
    if (dataset, part) not in TRIALS:
        parts = ", ".join(part for name, part in TRIALS if name == dataset) or "none"
        raise WorkflowError(f"{dataset}_{part}: no such trials in the config; those of {dataset}: {parts}")
    return TRIALS[dataset, part]


def trial_files(*experiments, datasets=DATASETS):
    """The files with the trials of these experiments (tv, individual, grid)."""
    return [
        f"<results>/trials/{dataset}_{part}.parquet"
        for (dataset, part), points in TRIALS.items()
        if dataset in datasets and any(point["experiment"] in experiments for point in points)
    ]


def plan_of(dataset, experiment):
    """The config's section on one experiment of a dataset."""
    if experiment not in DATASETS[dataset]:
        raise WorkflowError(f"datasets.{dataset}: the config has no section {experiment!r} to run")
    return DATASETS[dataset][experiment]


INDIVIDUAL_DATASETS = [name for name, dataset in DATASETS.items() if "individual" in dataset]
ESTIMATE_DATASETS = [name for name, dataset in DATASETS.items() if "estimates" in dataset]

PARITY = config["parity"]
PARITY_DATASETS = [name for name, dataset in DATASETS.items() if "tv" in dataset]


def parity_sizes(dataset):
    """The n of a dataset's boxplots, and the bounds that give eps there.

    At the first and the last n also ``lower``, which takes the longest.
    """
    sizes = plan_of(dataset, "tv")["n"]
    ends = (sizes[0], sizes[-1])
    return [{"n": n, "bounds": ["upper", "lower"] if n in ends else ["upper"]} for n in sizes]


def parity_estimates(dataset):
    """One run's settings for a dataset's heatmaps at equal privacy: their eps0 and n, the first delta."""
    plan = plan_of(dataset, "estimates")
    budgets = sorted({budget["eps0"] for budget in plan["budgets"]})
    return {"eps0": budgets, "n": plan["n"], "delta": PARITY["delta"][0]}


AUDITS = {
    label(**{name: setting[name] for name in ("n", "k", "eps0", "count")}): setting
    for setting in config["audit"]["settings"]
}


def individual_cells(dataset):
    return DATASETS[dataset].get("individual", {}).get("cells", [])


PARITY_FORMS = {"tv": "parity", "estimates": "parity_estimates"}  # the same figures at equal privacy


def figure_names():
    """The names of all figures, in the paper's order; a dataset that the paper does not know comes last."""
    names = ["fig1_delta_surface"] + (["fig3_checkins"] if GOWALLA else [])
    for dataset, plan in DATASETS.items():
        for form in ("tv", "estimates"):
            if form in plan:
                number = plan.get("figures", {}).get(form)
                prefix = f"{number}_" if number else ""
                names += [f"{prefix}{form}_{dataset}", f"{prefix}{PARITY_FORMS[form]}_{dataset}"]
    names += [
        "audit",
        "blanket_regions",
        "delta_bounds",
        "gaussian_scale",
        "girgis_rdp",
        "koskela_fig1a",
        "koskela_fig1b",
        *(["parity_ratio"] if PARITY_DATASETS else []),
    ]
    return sorted(names, key=lambda name: (not name.startswith("fig"), name))


def figures_numbered(number):
    return [f"<results>/figures/{name}.png" for name in figure_names() if name.startswith(f"{number}_")]


def figure_files():
    return [f"<results>/figures/{name}.png" for name in figure_names()]


def parity_files():
    """What the comparison at equal privacy makes."""
    tables = [f"<results>/{name}" for name in ("parity.csv", "parity_ratio.csv", "parity_plan.csv")]
    tables.append("<results>/parity_plan.md")
    return tables + [file for file in figure_files() if "parity" in file]


TABLES = ["table_II", "table_1", "table_III", "table_IV", "table_V", "table_VI"]


def data_files():
    """Everything that comes from outside: what the papers print, check-ins or their counts, own histograms."""
    printed = sorted(source(path.relative_to(HERE)) for path in HERE.glob("data/published/*.csv"))
    checkins = expand(CELLS, dataset=GOWALLA, grid=GRIDS) if SOURCE == "bundled" else [CHECKINS]
    return printed + (checkins if GOWALLA else []) + [DATASETS[name]["file"] for name in COUNTS]


def page_inputs():
    """The results that a section of the page needs which only some configurations have: input -> file."""
    found = {
        "audit": "<results>/audit.csv",
        "claims": "<results>/report/claims.csv",
        "plan": "<results>/parity_plan.csv",
    }
    if PARITY_DATASETS:
        found |= {"parity": "<results>/parity.csv", "ratios": "<results>/parity_ratio.csv"}
    return found


def everything():
    """Every file that the default run makes, so that whatever is removed comes back."""
    privacy = ["delta_surface", "delta_bounds", "blanket_regions", "blanket_tightness", "gaussian_scale"]
    privacy += ["girgis_rdp", "girgis_composed", "koskela_fig1a", "koskela_fig1b", "printed_deltas"]
    checkins = ["{dataset}.parquet"]
    if SOURCE != "bundled":
        checkins += ["{dataset}_published.csv", "{dataset}_stepped.csv", "crop_summary.csv"]
    pages = ["report/index.html", "report/verdicts.csv", "report/claims.csv", "benchmarks/run.html"]
    return [
        *(str(Path(file).with_suffix(kind)) for file in figure_files() for kind in (".png", ".pdf", ".txt")),
        *expand("<results>/tables/{name}.{kind}", name=TABLES, kind=["csv", "md"]),
        *expand("<results>/{name}", name=[*pages, "tables/claims.md", "numbers.csv", "audit.csv"]),
        *parity_files(),
        *expand("<results>/privacy/{name}.csv", name=privacy),
        *expand("<results>/histograms/{dataset}.csv", dataset=DATASETS),
        *expand([f"<results>/checkins/{name}" for name in [*checkins, "totals.csv"]], dataset=GOWALLA),
        *trial_files("tv", "individual"),
        *expand("<results>/audit/{setting}.parquet", setting=AUDITS),
        *expand("<results>/estimates/{dataset}.csv", dataset=ESTIMATE_DATASETS),
        *expand("<results>/parity/{dataset}_estimates.csv", dataset=ESTIMATE_DATASETS),
        *expand("<results>/parity/{dataset}.parquet", dataset=PARITY_DATASETS),
    ]


def begin_run():
    """What a run does before its first job."""
    try:
        run.begin(locked_by_snakemake=workflow.execution_settings.lock)
    except (ValueError, OSError) as error:
        raise WorkflowError(str(error))
