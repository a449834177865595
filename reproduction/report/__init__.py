"""What the page and the article say."""

from tightshuffle.arguments import check_installed

check_installed("pipeline", "jinja2", "latex2mathml", "markdown_it", "mdit_py_plugins", "pandas", "typst")
