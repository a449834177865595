rule write_tables:
    "The paper's tables: printed, reproduced and exact values; the parameters."
    input:
        verdicts="<results>/report/verdicts.csv",
        parameters=source(PARAMETERS),
    output:
        **{name: shown(f"<results>/tables/{name}.csv", *TABLES[name]) for name in TABLES},
    log:
        "<results>/logs/write_tables.log",
    localrule: True
    params:
        code=code_of("scripts/write_tables.py", PARAMETERS),
        surface=SETTINGS.delta_surface.plain(),
        synthetic=config["datasets"].get("synthetic", {}),
    script:
        "../../scripts/write_tables.py"


EVERYTHING += rules.write_tables.output
