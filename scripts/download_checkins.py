"""Get SNAP's file of Gowalla check-ins."""

import logging

from tightshuffle.pipeline.job import job


def main(snakemake):
    from tightshuffle.data import download

    def say(line):
        logging.info(line)
        download.print_line(line)

    source = snakemake.config["gowalla"][
        "download"
    ]  # not params: another address is no reason to get it again
    download.download(
        source["url"],
        snakemake.output[0],
        size=snakemake.params.bytes,
        md5=snakemake.params.md5,
        retries=source["retries"],
        timeout_s=source["timeout_s"],
        say=say,
    )


if __name__ == "__main__":
    with job(snakemake):
        main(snakemake)
