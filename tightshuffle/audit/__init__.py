"""The privacy game, and lower bounds on delta from playing it."""
