"""How Sphinx builds the site: `make docs` writes docs/_build/html, which needs no network to read."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import omkl

project = "omkl"
author = project_copyright = "the omkl authors"
release = version = omkl.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx_external_toc",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # reads numpydoc
    "hooks.pages",
    "hooks.names",
    "hooks.docstrings",
    "hooks.formulas",
    "hooks.checks",
]
exclude_patterns = ["_build", "hooks"]
nitpicky = True
# Types of other packages have their own documentation, which the build does not fetch.
nitpick_ignore_regex = [(r"py:.*", r"(?!omkl\b).*")]

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"  # browsers draw it without a script or a font to load (hooks/formulas.py)

autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_rtype = False
autodoc_member_order = "groupwise"
add_module_names = False

html_theme = "furo"
html_title = f"omkl {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"
pygments_style = "friendly"


def setup(app: Sphinx) -> None:
    """Show console blocks as they are: they are tables, in which the lexer of shells sees errors."""
    app.add_lexer("console", TextLexer)
