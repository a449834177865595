"""Functions that jobs and rules share: configuration, code, checksums, complete files, one run at a time."""
