rule write_delta_tables:
    "Tables II, 1, III and IV: printed, published and exact deltas, and the parameters."
    input:
        verdicts="<results>/report/verdicts.csv",
        parameters=source(PARAMETERS),
    output:
        table_II_csv=report(
            "<results>/tables/table_II.csv",
            caption="../report/table_II.rst",
            category="Tables",
            labels={"table": "Table II", "shows": "delta beside three bounds of the literature"},
        ),
        table_II_md="<results>/tables/table_II.md",
        table_1_csv=report(
            "<results>/tables/table_1.csv",
            caption="../report/table_1.rst",
            category="Tables",
            labels={"table": "Table 1", "shows": "delta beside four bounds of the literature"},
        ),
        table_1_md="<results>/tables/table_1.md",
        table_III_csv=report(
            "<results>/tables/table_III.csv",
            caption="../report/table_III.rst",
            category="Tables",
            labels={"table": "Table III / 2", "shows": "parameters of the synthetic experiments"},
        ),
        table_III_md="<results>/tables/table_III.md",
        table_IV_csv=report(
            "<results>/tables/table_IV.csv",
            caption="../report/table_IV.rst",
            category="Tables",
            labels={"table": "Table IV / 3", "shows": "tight delta as eps0, n and k vary"},
        ),
        table_IV_md="<results>/tables/table_IV.md",
    log:
        "<results>/logs/write_delta_tables.log",
    benchmark:
        "<results>/benchmarks/write_delta_tables.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_delta_tables.py", PARAMETERS),
        surface=config["delta_surface"],
        synthetic=config["datasets"].get("synthetic", {}),
    script:
        "../../scripts/write_delta_tables.py"


rule write_error_tables:
    "Tables V and VI: printed individual-specific errors beside the distribution of ours."
    input:
        verdicts="<results>/report/verdicts.csv",
    output:
        table_V_csv=report(
            "<results>/tables/table_V.csv",
            caption="../report/table_V.rst",
            category="Tables",
            labels={"table": "Table V / 4", "shows": "errors of one value, synthetic data"},
        ),
        table_V_md="<results>/tables/table_V.md",
        table_VI_csv=report(
            "<results>/tables/table_VI.csv",
            caption="../report/table_VI.rst",
            category="Tables",
            labels={"table": "Table VI / 5", "shows": "errors of one value, check-ins"},
        ),
        table_VI_md="<results>/tables/table_VI.md",
    log:
        "<results>/logs/write_error_tables.log",
    benchmark:
        "<results>/benchmarks/write_error_tables.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_error_tables.py"),
    script:
        "../../scripts/write_error_tables.py"


EVERYTHING += [*rules.write_delta_tables.output, *rules.write_error_tables.output]
