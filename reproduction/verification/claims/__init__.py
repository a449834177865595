"""The statements of the main paper's text, and whether they hold on the published and on the exact reading.

``evidence`` reads the trials that the statements are tested on, ``verdict_rules`` leads from numbers to a
verdict, ``privacy`` and ``utility`` hold the tests, ``registry`` reads claims.csv, ties each
statement to its test and writes the verdicts. The rules, and the numbers behind words such as "comparable",
are in data/published/README.md.
"""
