PAGE = "reproduction/report/page"
RUN_PARTS = [f"{PAGE}/run.html.j2", f"{PAGE}/style.css"]
PARTS = sorted(
    path.relative_to(HERE).as_posix()
    for path in HERE.joinpath(PAGE).iterdir()
    if path.suffix in (".j2", ".css", ".js") and path.name != "run.html.j2"
)

# All input data: the paper's printed values, check-ins or their counts, histograms of your own.
DATA = [source(path.relative_to(HERE)) for path in sorted(HERE.glob("data/published/*.csv"))]
CITY_FILES = expand(map(source, SUB_CELLS.values()), dataset=GOWALLA) if SOURCE == "bundled" else [CHECKINS]
DATA += CITY_FILES if GOWALLA else []
DATA += [DATASETS[name].file for name in COUNTS]

# The data of the findings; the report reads them, too.
TABLES = {
    "verdicts": "<results>/report/verdicts.csv",
    "claim_verdicts": "<results>/report/claim_verdicts.csv",
    "audit": "<results>/audit.csv",
    "joint_tests": "<results>/report/joint_tests.csv",
    "grids": "<results>/report/grids.csv",
    "totals": "<results>/checkins/totals.csv",
}
if PARITY_DATASETS:
    TABLES["parity_ratio"] = "<results>/parity_ratio.csv"

CHANGED = configuration.differences(config)  # listed first in the report and in the article

ARTICLE_PARTS = [
    f"reproduction/report/article/{name}" for name in ("article.typ", "style.typ", "references.bib")
]
ARTICLE_TEXT = HERE.joinpath(ARTICLE_PARTS[0]).read_text(encoding="utf-8")
ARTICLE_FIGURES = [name for name in FIGURES if f'drawn("{name}"' in ARTICLE_TEXT]


rule state_findings:
    "Every number that the report, the article or docs/ state."
    input:
        **TABLES,
    output:
        "<results>/findings.json",
    log:
        "<results>/logs/state_findings.log",
    benchmark:
        "<results>/benchmarks/state_findings.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/state_findings.py"),
        titles={name: dataset.title for name, dataset in PAPERS.items()},
    script:
        "../../scripts/state_findings.py"


rule write_report:
    "The report: every printed value with ours, and every figure."
    input:
        **TABLES,
        parity="<results>/parity.csv" if PARITY_DATASETS else [],
        findings="<results>/findings.json",
        parity_plan="<results>/parity_plan.csv",
        parameters="<results>/tables/table_III.csv",
        tables=rules.write_tables.output,
        figures=figure_files(),
        vectors=figure_files(kind="svg"),
        captions=figure_files(kind="txt"),
        papers=figure_files(kind="pdf"),
        data=DATA,
        errata=source("docs/errata.md"),
        parts=map(source, PARTS),
    output:
        "<results>/report/index.html",
    log:
        "<results>/logs/write_report.log",
    benchmark:
        "<results>/benchmarks/write_report.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_report.py", *PARTS),
        results=lambda wildcards, output: str(Path(output[0]).parents[1]),
        configfiles=OVERLAYS,
        source=SETTINGS.gowalla.source,
        grid=SETTINGS.gowalla.grid,
        seed=SETTINGS.seed,
        protocol=SETTINGS.protocol.plain(),
        datasets=config["datasets"],
        changed=CHANGED,
        figures=[figure._asdict() for figure in FIGURES.values()],
    script:
        "../../scripts/write_report.py"


rule write_article:
    "The reproduction as an article, with this run's numbers, tables and figures."
    input:
        findings="<results>/findings.json",
        study="<results>/study/study.csv",
        figures=expand("<results>/figures/{name}.svg", name=ARTICLE_FIGURES),
        captions=expand("<results>/figures/{name}.txt", name=ARTICLE_FIGURES),
        parts=map(source, ARTICLE_PARTS),
    output:
        "<results>/article/article.pdf",
    log:
        "<results>/logs/write_article.log",
    benchmark:
        "<results>/benchmarks/write_article.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_article.py", *ARTICLE_PARTS),
        changed=CHANGED,
    script:
        "../../scripts/write_article.py"


# Runs last, because it reads the run times. Only files in results/benchmarks differ from run to run.
rule summarise_run:
    "Machine, date and run times. They differ from run to run, so they are not in the report."
    input:
        page="<results>/report/index.html",
        article="<results>/article/article.pdf",
        parts=map(source, RUN_PARTS),
    output:
        "<results>/benchmarks/run.html",
    log:
        "<results>/logs/summarise_run.log",
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/summarise_run.py", *RUN_PARTS),
        folder=lambda wildcards, output: Path(output[0]).parent,
    script:
        "../../scripts/summarise_run.py"


EVERYTHING += [*rules.write_report.output, *rules.write_article.output]
EVERYTHING += [*rules.state_findings.output, *rules.summarise_run.output]
