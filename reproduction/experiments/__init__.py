"""What is run: the published protocol, the comparison at equal privacy, the privacy game, the plan."""
