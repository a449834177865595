# Biswas, Jung, Palamidessi: every figure and table, from check-ins to the reproduction report.
from snakemake.utils import min_version

min_version("9.27")


configfile: f"{workflow.current_basedir}/config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/privacy.smk"
include: "workflow/rules/judgement.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/report.smk"


localrules:
    all,
    figures,
    tables,
    report,
    parity,
    trials,
    fig1,
    fig2,
    fig3,
    fig4,
    fig5,
    fig6,
    fig7,


rule all:
    "Everything: every figure, every table, the verdicts and the report."
    default_target: True
    input:
        everything(),


rule figures:
    "All figures."
    input:
        figure_files(),


rule tables:
    "All tables."
    input:
        expand("<results>/tables/{name}.{kind}", name=TABLES, kind=["csv", "md"]),


rule report:
    "The reproduction report and the verdicts behind it."
    input:
        "<results>/report/index.html",
        "<results>/report/verdicts.csv",
        "<results>/numbers.csv",
        "<results>/benchmarks/run.html",
        "<results>/report/claims.csv",


rule parity:
    "The comparison at equal privacy: errors, ratios, plans and their figures."
    input:
        parity_files(),


rule trials:
    "Every trial point of the configuration, grids included (config/scale.yaml)."
    input:
        trial_files("tv", "individual", "grid"),


rule fig1:
    "Figure 1: delta over eps and eps0."
    input:
        figures_numbered("fig1"),


rule fig2:
    "Figure 2: total variation distance, synthetic data."
    input:
        figures_numbered("fig2"),


rule fig3:
    "Figure 3: the check-ins of both cities."
    input:
        figures_numbered("fig3"),


rule fig4:
    "Figure 4: estimates of San Francisco."
    input:
        figures_numbered("fig4"),


rule fig5:
    "Figure 5: estimates of Paris."
    input:
        figures_numbered("fig5"),


rule fig6:
    "Figure 6: total variation distance, San Francisco."
    input:
        figures_numbered("fig6"),


rule fig7:
    "Figure 7: total variation distance, Paris."
    input:
        figures_numbered("fig7"),


onstart:
    begin_run()


onerror:
    run.end_with_errors()
