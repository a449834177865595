"""Download SNAP's file of Gowalla check-ins."""

from reproduction.data.download import download
from reproduction.jobs.job import job

with job(snakemake):
    url = snakemake.config["gowalla"]["download"]["url"]  # not params: another one is no reason to run again
    download(url, snakemake.output[0], md5=snakemake.params.md5)
