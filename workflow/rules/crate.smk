# The run as an RO-Crate, for a repository such as Zenodo. `make` does not make it; `make crate` does.
PROJECT = [  # what the crate has of the checkout, beside the code of the jobs
    *("CITATION.cff", "LICENSE", "Snakefile", "requirements.lock"),
    *(
        path.relative_to(HERE).as_posix()
        for pattern in ("config/*.yaml", "workflow/Snakefile", "workflow/rules/*.smk")
        for path in sorted(HERE.glob(pattern))
    ),
]


rule write_crate:
    "All files of the run, their sums, and which job made which file from which: a zip file."
    input:
        results=EVERYTHING,
        project=map(source, PROJECT),
    output:
        "<results>/crate.zip",
    log:
        "<results>/logs/write_crate.log",
    localrule: True
    conda:
        "../envs/rules.yml"
    params:
        code=code_of("scripts/write_crate.py"),
        project=PROJECT,
        settings=config,
        addresses={DOWNLOADED: SETTINGS.gowalla.download.url} if SOURCE == "snap" else {},
    script:
        "../../scripts/write_crate.py"
