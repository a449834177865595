# Biswas, Jung, Palamidessi: every figure and table, from check-ins to the reproduction report.
from snakemake.utils import min_version

min_version("9.27")


configfile: f"{workflow.current_basedir}/config/config.yaml"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/study.smk"
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
    article,
    parity,
    study,
    trials,


rule all:
    "Everything: every figure, every table, the verdicts and the report."
    default_target: True
    input:
        EVERYTHING,


rule figures:
    "All figures."
    input:
        figure_files(),


rule tables:
    "All tables."
    input:
        rules.write_tables.output,


rule report:
    "The reproduction report and the verdicts behind it."
    input:
        "<results>/report/index.html",
        "<results>/report/calculator.html",
        "<results>/report/verdicts.csv",
        "<results>/numbers.csv",
        "<results>/benchmarks/run.html",
        "<results>/report/claims.csv",


rule article:
    "The reproduction as an article, a PDF."
    input:
        rules.write_article.output,


rule parity:
    "The comparison at equal privacy: errors, ratios, plans and their figures."
    input:
        PARITY_FILES,


rule study:
    "Which randomizer to use: all of them at equal privacy, with figures and simulation."
    input:
        STUDY_FILES,


rule trials:
    "Every trial point of the configuration, grids included (config/scale.yaml)."
    input:
        trial_files("tv", "individual", "grid"),


for number in range(1, 8):

    if figure_files(f"fig{number}_"):  # of other datasets than the papers' there may be none

        rule:
            "The paper's figure of this number, and the same at equal privacy."
            name:
                f"fig{number}"
            input:
                figure_files(f"fig{number}_"),
            localrule: True


try:
    run.check_at_work()
    PLANNED = code.workflow_of(config)
except ValueError as error:
    run.report(str(error))
    raise WorkflowError(str(error))


onstart:
    try:
        if workflow.executor_plugin.name == "slurm":
            cluster_check.reach_slurm()
        if workflow.executor_plugin.name == "cluster-generic":
            cluster_check.find(workflow.executor_settings.submit_cmd)
        name = run.begin(locked_by_snakemake=workflow.execution_settings.lock)
        run.take(FOLDER, OVERLAYS, SETTINGS if FOLDER.endswith("custom") else [])
        code.compile_by_contents()
        patience = workflow.execution_settings.latency_wait if workflow.non_local_exec else 0
        elsewhere.tell(run=name, workflow=PLANNED, code=code.planned, patience=patience)
        workflow.register_envvars(elsewhere.VARIABLE)
    except (ValueError, OSError) as error:
        raise WorkflowError(str(error))


onsuccess:
    run.end_with_files(workflow.dag.jobs, workflow.dag_settings.targets)


onerror:
    run.end_with_errors(log)
