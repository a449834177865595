"""What the report's page says."""

from tightshuffle.arguments import check_installed

check_installed("pipeline", "jinja2", "latex2mathml", "markdown_it", "mdit_py_plugins", "pandas")
