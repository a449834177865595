"""Download SNAP's file of Gowalla check-ins."""

from reproduction.data.download import download
from reproduction.jobs.job import job

with job(snakemake):
    source = snakemake.config["gowalla"]["download"]  # not params: another address is no reason to run again
    download(
        source["url"],
        snakemake.output[0],
        size=snakemake.params.bytes,
        md5=snakemake.params.md5,
        retries=source["retries"],
        timeout_s=source["timeout_s"],
    )
