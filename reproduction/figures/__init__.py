"""The figures, one module each: `read` files of a results folder, `draw` the tables, say it in a `caption`.

`draw` also takes your own tables with the same columns. The figures share `style`, `wording`, `calibration`,
`tables` and `grids`.
"""
