# The run as an RO-Crate, for a repository such as Zenodo. `make` does not make it; `make crate` does.
# With these files and the code of the jobs, the unpacked crate can run again.
PROJECT = ["CITATION.cff", "LICENSE", "requirements.lock", "Snakefile", "profiles/default/config.yaml"]
PROJECT += [path.relative_to(HERE).as_posix() for path in sorted(HERE.glob("config/*.yaml"))]
PROJECT += [*code.files_of_rules(), *sorted(code.planned), "scripts/write_crate.py"]
PROJECT += ["workflow/envs/rules.yml"]
PROJECT += [path.relative_to(HERE).as_posix() for path in sorted(HERE.glob("workflow/report/*.rst"))]


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
        code=code_of("scripts/write_crate.py", *PROJECT),
        project=PROJECT,
        settings=config,
        addresses={DOWNLOADED: SETTINGS.gowalla.download.url} if SOURCE == "snap" else {},
    script:
        "../../scripts/write_crate.py"
