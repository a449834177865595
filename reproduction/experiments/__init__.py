"""The comparison at equal privacy, the study of randomizers, and the curves of the figures."""
