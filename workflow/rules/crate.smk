# The run as an RO-Crate, for a repository such as Zenodo. `make` does not make it; `make crate` does.
# With these files and the code of the jobs, the unpacked crate can run again.
CRATED = ["CITATION.cff", "LICENSE", "requirements.lock", "Snakefile", "profiles/default/config.yaml"]
CRATED += [path.relative_to(HERE).as_posix() for path in sorted(HERE.glob("config/*.yaml"))]
CRATED += [*code.files_of_rules(), *sorted(code.planned), "scripts/write_crate.py"]
CRATED += ["workflow/envs/rules.yml"]
CRATED += [path.relative_to(HERE).as_posix() for path in sorted(HERE.glob("workflow/report/*.rst"))]


rule write_crate:
    "All files of the run, their sums, and which job made which file from which: a zip file."
    input:
        EVERYTHING,
    output:
        "<results>/crate.zip",
    log:
        "<results>/logs/write_crate.log",
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_crate.py", *CRATED),
        project=CRATED,
        settings=config,
        addresses={DOWNLOADED: SETTINGS.gowalla.download.url} if SOURCE == "snap" else {},
    script:
        "../../scripts/write_crate.py"
