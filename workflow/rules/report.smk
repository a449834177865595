# The numbers that texts state, the paper's tables, the page and the article.
ERRATA = "docs/errata.md"
PAGE = sorted(
    path.relative_to(PROJECT).as_posix() for path in PROJECT.glob("scripts/report/page/*.*")
)
ARTICLE = [
    f"scripts/report/article/{name}" for name in ("article.typ", "style.typ", "references.bib")
]
ARTICLE_FIGURES = [
    name for name in FIGURES if f'drawn("{name}"' in (PROJECT / ARTICLE[0]).read_text("utf-8")
]
OF_DELTA_HAT = [name for name in DELTA_HAT if name in PAPERS]
MADE_BY_SOME = {}  # tables behind the findings that only some configurations make
if PARITY:
    MADE_BY_SOME["parity_ratio"] = "<results>/parity/parity_ratio.csv"
    MADE_BY_SOME["unequal_privacy"] = "<results>/parity/unequal_privacy.csv"
if TV:
    MADE_BY_SOME["constants"] = "<results>/trials/constants.csv"
if OF_DELTA_HAT:
    MADE_BY_SOME["delta_hat"] = expand(rules.compute_delta_hat.output, dataset=OF_DELTA_HAT)
    MADE_BY_SOME["delta_hat_trials"] = expand(
        rules.run_delta_hat_trials.output, dataset=OF_DELTA_HAT
    )
CHANGED = configuration.differences(config)  # listed first in the report and in the article


localrules:
    state_findings,
    write_report,
    write_article,


rule state_findings:
    "Every number that the page, the article or docs/ state."
    input:
        **MADE_BY_SOME,
        verdicts="<results>/values/verdicts.csv",
        claim_verdicts="<results>/statements/claim_verdicts.csv",
        printed_deltas="<results>/delta/printed_deltas.csv",
        gaussian_scale="<results>/trials/gaussian_scale.csv",
        cited_bounds="<results>/bounds/cited_bounds.csv",
        corollary_1="<results>/bounds/corollary_1.csv",
        stated_deltas="<results>/bounds/stated_deltas.csv",
        designs="<results>/study/designs.csv",
        audit="<results>/attack/audit.csv",
        joint_tests="<results>/statements/joint_tests.csv",
        grids="<results>/statements/grids.csv",
        noise_scale="<results>/statements/noise_scale.csv",
        totals="<results>/data/checkins/totals.csv",
    output:
        "<results>/findings.json",
    log:
        "<results>/logs/state_findings.log",
    conda:
        "../envs/rules.yml"
    params:
        *code_of("scripts/report/state_findings.py"),
        **named(
            titles={name: dataset["title"] for name, dataset in PAPERS.items()},
            papers=configuration.papers_eps0(config),
        ),
    script:
        "../../scripts/report/state_findings.py"


rule write_report:
    "The report's pages: every printed value with ours and every figure, statements, companion papers, errata."
    input:
        verdicts="<results>/values/verdicts.csv",
        claim_verdicts="<results>/statements/claim_verdicts.csv",
        parameters="<results>/tables/table_III.csv",
        cited_bounds="<results>/bounds/cited_bounds.csv",
        findings="<results>/findings.json",
        captions=expand("<results>/figures/{figure}.txt", figure=FIGURES),
        parts=[source(part) for part in PAGE],
        errata=source(ERRATA),
        shown=expand(
            "<results>/figures/{figure}.{kind}", figure=FIGURES, kind=["png", "svg", "pdf"]
        ),
        tables=rules.write_tables.output,
        linked=["<results>/attack/audit.csv", "<results>/statements/grids.csv"],
    output:
        "<results>/report/index.html",
        "<results>/report/statements.html",
        "<results>/report/companions.html",
        "<results>/report/errata.html",
    log:
        "<results>/logs/write_report.log",
    conda:
        "../envs/rules.yml"
    params:
        *code_of("scripts/report/write_report.py"),
        **named(
            contents=digests(map(source, [*PAGE, ERRATA])),
            configfiles=OVERLAYS,
            protocol=config["protocol"],
            titles={name: dataset["title"] for name, dataset in DATASETS.items()},
            changed=CHANGED,
            figures=[figure._asdict() for figure in FIGURES.values()],
        ),
    script:
        "../../scripts/report/write_report.py"


rule write_article:
    "The reproduction as an article, with this run's numbers, tables and figures."
    input:
        findings="<results>/findings.json",
        study="<results>/study/study.csv",
        verdicts="<results>/values/verdicts.csv",
        claim_verdicts="<results>/statements/claim_verdicts.csv",
        cited_bounds="<results>/bounds/cited_bounds.csv",
        parameters="<results>/tables/table_III.csv",
        histograms=expand("<results>/data/histograms/{dataset}.csv", dataset=PAPERS),
        figures=expand("<results>/figures/{name}.svg", name=ARTICLE_FIGURES),
        captions=expand("<results>/figures/{name}.txt", name=ARTICLE_FIGURES),
        parts=[source(part) for part in ARTICLE],
    output:
        "<results>/report/article.pdf",
    log:
        "<results>/logs/write_article.log",
    conda:
        "../envs/rules.yml"
    params:
        *code_of("scripts/report/write_article.py"),
        **named(
            contents=digests(map(source, ARTICLE)),
            changed=CHANGED,
            datasets=PAPERS,
            protocol=config["protocol"],
            parity=config["parity"],
            seed=config["seed"],
        ),
    script:
        "../../scripts/report/write_article.py"


rule report:
    "The page and the article, with the tables and the numbers that they state."
    input:
        rules.write_report.output,
        rules.write_article.output,
        rules.write_tables.output,
        rules.state_findings.output,
