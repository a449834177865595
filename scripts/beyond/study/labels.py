"""The randomizers of the study and their names in texts. The rules import this, so it imports no library."""

LABELS = {  # by the key of their name, in the order of the study's tables: that of `randomizers.BY_KEY`
    "grr": "k-RR",
    "subset": "subset selection",
    "oue": "OUE",
    "hash": "local hashing",
    "rappor": "RAPPOR",
    "hadamard": "Hadamard",
}
