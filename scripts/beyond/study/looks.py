"""The names of randomizers in texts."""

LABELS = {  # by the key of their name
    "grr": "k-RR",
    "subset": "subset selection",
    "oue": "OUE",
    "hash": "local hashing",
    "rappor": "RAPPOR",
    "hadamard": "Hadamard",
}
