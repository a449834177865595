"""What jobs and rules share: the code behind a result, whole files, records, one run at a time."""
