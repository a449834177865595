TABLES = {  # table: its number in both versions of the paper, and what it shows
    "table_II": ("Table II", "delta beside three bounds of the literature"),
    "table_1": ("Table 1", "delta beside four bounds of the literature"),
    "table_III": ("Table III / 2", "parameters of the synthetic experiments"),
    "table_IV": ("Table IV / 3", "tight delta as eps0, n and k vary"),
    "table_V": ("Table V / 4", "errors of one value, synthetic data"),
    "table_VI": ("Table VI / 5", "errors of one value, check-ins"),
}


def in_report(name):
    title, shows = TABLES[name]
    return report(
        f"<results>/tables/{name}.csv",
        caption="../report/table.rst",
        category="Tables",
        labels={"table": title, "shows": shows},
    )


rule write_tables:
    "The papers' tables: printed, reproduced and exact values; the parameters."
    input:
        verdicts="<results>/report/verdicts.csv",
        parameters=source(PARAMETERS),
    output:
        **{f"{name}_csv": in_report(name) for name in TABLES},
        **{f"{name}_md": f"<results>/tables/{name}.md" for name in TABLES},
    log:
        "<results>/logs/write_tables.log",
    benchmark:
        "<results>/benchmarks/write_tables.tsv"
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_tables.py", PARAMETERS),
        surface=config["delta_surface"],
        synthetic=config["datasets"].get("synthetic", {}),
    script:
        "../../scripts/write_tables.py"


EVERYTHING += rules.write_tables.output
