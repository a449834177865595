"""The SHA-256 sums of all results, as the command sha256sum writes and checks them."""

from scripts.shared.code import digest
from scripts.shared.job import job, write_bytes

if __name__ == "__main__":
    with job() as snakemake:
        lines = [f"{digest(file)}  {file}\n" for file in sorted(set(snakemake.input))]
        write_bytes("".join(lines).encode(), snakemake.output[0])
