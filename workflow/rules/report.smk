PARTS = sorted(
    path.relative_to(HERE).as_posix()
    for path in HERE.joinpath("reproduction/report/page").iterdir()
    if path.suffix in (".j2", ".css")
)


CHANGED = configuration.differences(config)  # listed first in the report and in the article

ARTICLE_PARTS = [
    f"reproduction/report/article/{name}" for name in ("article.typ", "style.typ", "references.bib")
]
ARTICLE_TEXT = HERE.joinpath(ARTICLE_PARTS[0]).read_text(encoding="utf-8")
ARTICLE_FIGURES = [name for name in FIGURES if f'drawn("{name}"' in ARTICLE_TEXT]


rule state_findings:
    "Every number that the report, the article or docs/ state."
    input:
        **({"parity_ratio": "<results>/parity_ratio.csv"} if PARITY_DATASETS else {}),
        verdicts="<results>/report/verdicts.csv",
        claim_verdicts="<results>/report/claim_verdicts.csv",
        audit="<results>/audit.csv",
        joint_tests="<results>/report/joint_tests.csv",
        grids="<results>/report/grids.csv",
        totals="<results>/checkins/totals.csv",
    output:
        "<results>/findings.json",
    log:
        "<results>/logs/state_findings.log",
    localrule: True
    params:
        code=code_of("scripts/state_findings.py"),
        titles={name: dataset.title for name, dataset in PAPERS.items()},
    script:
        "../../scripts/state_findings.py"


rule write_report:
    "The report: every printed value with ours, and every figure."
    input:
        verdicts="<results>/report/verdicts.csv",
        claim_verdicts="<results>/report/claim_verdicts.csv",
        parameters="<results>/tables/table_III.csv",
        findings="<results>/findings.json",
        captions=figure_files(kind="txt"),
        parts=map(source, PARTS),
        shown=[figure_files(), figure_files(kind="pdf"), rules.write_tables.output],
        linked=["<results>/audit.csv", "<results>/report/grids.csv"],
    output:
        "<results>/report/index.html",
    log:
        "<results>/logs/write_report.log",
    localrule: True
    params:
        code=code_of("scripts/write_report.py", *PARTS),
        results=lambda wildcards, output: str(Path(output[0]).parents[1]),
        configfiles=OVERLAYS,
        protocol=SETTINGS.protocol.plain(),
        titles={name: dataset.title for name, dataset in DATASETS.items()},
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
    localrule: True
    params:
        code=code_of("scripts/write_article.py", *ARTICLE_PARTS),
        changed=CHANGED,
    script:
        "../../scripts/write_article.py"


EVERYTHING += [*rules.write_report.output, *rules.write_article.output, *rules.state_findings.output]


# Snakemake does not notice a result that was changed after its job wrote it: `make verify` does.
rule write_sums:
    "The SHA-256 sums of all results, for `sha256sum --check`."
    input:
        EVERYTHING,
    output:
        "<results>/SHA256SUMS",
    log:
        "<results>/logs/write_sums.log",
    localrule: True
    shell:
        "sha256sum {input:q} > {output:q} 2> {log:q}"
