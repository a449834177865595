rule write_report:
    "The page that shows every printed value and every figure beside ours."
    input:
        verdicts="results/report/verdicts.csv",
        totals="results/checkins/totals.csv",
        parameters="results/tables/table_III.csv",
        tables=expand("results/tables/{name}.{kind}", name=TABLES, kind=["csv", "md"]),
        figures=figure_files(),
        captions=[str(Path(file).with_suffix(".txt")) for file in figure_files()],
        papers=[str(Path(file).with_suffix(".pdf")) for file in figure_files()],
        template="workflow/report/index.html.j2",
        style="workflow/report/style.css",
        code=code_of("scripts/write_report.py"),
    output:
        "results/report/index.html",
    log:
        "results/logs/write_report.log",
    benchmark:
        "results/benchmarks/write_report.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(60),
        runtime=minutes(1),
    params:
        source=config["gowalla"]["source"],
        grid=config["gowalla"]["grid"],
        seed=config["seed"],
        protocol=config["protocol"],
        datasets=config["datasets"],
    script:
        "../../scripts/write_report.py"


rule state_numbers:
    "Every number that README.md and docs/ quote as a result, and where it comes from."
    input:
        verdicts="results/report/verdicts.csv",
        totals="results/checkins/totals.csv",
        code=code_of("scripts/state_numbers.py"),
    output:
        "results/numbers.csv",
    log:
        "results/logs/state_numbers.log",
    benchmark:
        "results/benchmarks/state_numbers.tsv"
    localrule: True
    conda:
        "../../environment.yml"
    resources:
        mem_mb=memory(210),
        runtime=minutes(7),
    script:
        "../../scripts/state_numbers.py"
