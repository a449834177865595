"""The figures, one module each: `read` files of a results folder, `draw` the tables, and their `caption`.

`catalogue` says which files and settings each one is drawn from. `draw` also takes your own tables with the
same columns.
"""
