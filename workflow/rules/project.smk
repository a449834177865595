from pathlib import Path
from tempfile import TemporaryDirectory

from snakemake.exceptions import WorkflowError


def project_folder(basedir):
    """The folder of this project: rules and jobs read many of its files.

    If another workflow names the Snakefile on a Git host, as Snakemake's catalog does, Snakemake fetches single
    files. Then the folder is a clone in .snakemake.
    """
    if not hasattr(basedir, "hosted_repo"):
        folder = Path(str(basedir)).parent
        if {"{", "}"} & set(str(folder)):  # Snakemake takes what is between braces for a wildcard
            raise WorkflowError(f"Snakemake does not work in a folder with a brace: {folder}")
        return folder
    repository = basedir.hosted_repo.repo
    commit = repository.commit(basedir.ref).hexsha
    folder = Path(".snakemake/tight-shuffle", commit).absolute()
    if not folder.exists():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(dir=folder.parent) as made:
            repository.clone(f"{made}/clone", no_checkout=True).git.checkout(commit)
            Path(made, "clone").rename(folder)
    return folder
