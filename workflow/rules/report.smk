# The numbers that texts state, and the page.
ERRATA = "docs/errata.md"
PAGE = sorted(
    path.relative_to(PROJECT).as_posix() for path in PROJECT.glob("scripts/report/page/*.*")
)
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


localrules:
    state_findings,
    write_report,


rule state_findings:
    "Every number that the page or docs/ state."
    input:
        **MADE_BY_SOME,
        verdicts="<results>/values/verdicts.csv",
        claim_verdicts="<results>/statements/claim_verdicts.csv",
        gaussian_scale="<results>/trials/gaussian_scale.csv",
        cited_bounds="<results>/bounds/cited_bounds.csv",
        designs="<results>/study/designs.csv",
        audit="<results>/attack/audit.csv",
        joint_tests="<results>/statements/joint_tests.csv",
        grids="<results>/statements/grids.csv",
        noise_scale="<results>/statements/noise_scale.csv",
    output:
        "<results>/findings.json",
    log:
        "<results>/logs/state_findings.log",
    conda:
        "../envs/rules.yml"
    params:
        *code_of("scripts/report/state_findings.py"),
        *settings(
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
        *settings(
            contents=digests(map(source, [*PAGE, ERRATA])),
            configfiles=OVERLAYS,
            protocol=config["protocol"],
            titles={name: dataset["title"] for name, dataset in DATASETS.items()},
            changed=configuration.differences(config),
            figures=[figure._asdict() for figure in FIGURES.values()],
        ),
    script:
        "../../scripts/report/write_report.py"


rule report:
    "The page, with the tables and the numbers that it states."
    input:
        rules.write_report.output,
        rules.write_tables.output,
        rules.state_findings.output,
