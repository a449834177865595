# The paper's six tables.
PARAMETERS = "data/published/parameters.csv"
TABLES = {  # table: its number in both versions of the paper, and what it shows
    "table_II": ("Table II", "delta beside three bounds of the literature"),
    "table_1": ("Table 1", "delta beside four bounds of the literature"),
    "table_III": ("Table III / 2", "parameters of the synthetic experiments"),
    "table_IV": ("Table IV / 3", "tight delta as eps0, n and k vary"),
    "table_V": ("Table V / 4", "errors of one value, synthetic data"),
    "table_VI": ("Table VI / 5", "errors of one value, check-ins"),
}


localrules:
    write_tables,


rule write_tables:
    "The paper's tables: printed, reproduced and exact values; the parameters."
    input:
        verdicts="<results>/values/verdicts.csv",
        parameters=source(PARAMETERS),
    output:
        **{name: shown(f"<results>/tables/{name}.csv", *TABLES[name]) for name in TABLES},
    log:
        "<results>/logs/write_tables.log",
    conda:
        "../../envs/rules.yml"
    params:
        *code_of("scripts/paper/tables/write_tables.py"),
        *settings(
            contents=digests([source(PARAMETERS)]),
            surface=config["delta_surface"],
            synthetic=config["datasets"].get("synthetic", {}),
        ),
    script:
        "../../../scripts/paper/tables/write_tables.py"


rule tables:
    "All tables of the paper."
    input:
        rules.write_tables.output,
