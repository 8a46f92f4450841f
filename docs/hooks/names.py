"""Links of the site to the pages that a build makes, which the checkout does not have.

A learner's name in code links to its page, a command such as `omkl list data` to the page of what it lists. A
link to a file from which a page is made, such as ../results/NAME.md, leads to that page.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

from omkl.config import learner_names

_RESULTS = re.compile(r"\]\((?:\.\./)+results/(\w+)\.md(#[\w-]+)?\)")
_ROW = re.compile(r"^\|.*\|$", re.M)
_ROOT = re.compile(r"\]\((?:\.\./)+(CHANGELOG|CONTRIBUTING)\.md\)")
_MADE_FROM = {
    "notebook.ipynb": "notebook",
    "references.yaml": "references",
    "../omkl/store/fields.py": "fields",
}
_LISTED = {
    "omkl list algos": "learners/index",
    "omkl list data": "datasets",
    "omkl list measures": "measures",
    "omkl list papers": "coverage",
}


def _to_site(app: Sphinx, docname: str, source: list[str]) -> None:
    text = _RESULTS.sub(r"](/papers/\1.md\2)", source[0])
    text = _ROOT.sub(lambda match: f"](/{match[1].lower()}.md)", text)
    for file, page in _MADE_FROM.items():
        text = text.replace(f"]({file})", f"](/{page}.md)")
    # a mean and its standard deviation stay on one line
    source[0] = _ROW.sub(lambda row: row[0].replace(" ± ", "\u00a0±\u00a0"), text)


def _link_names(app: Sphinx, doctree: nodes.document) -> None:
    names = {name: f"learners/{name}" for name in learner_names()} | _LISTED
    for node in list(doctree.findall(nodes.literal)):
        page = names.get(node.astext())
        inside = node.parent
        while inside is not None and not isinstance(
            inside, nodes.reference | nodes.title | addnodes.pending_xref
        ):
            inside = inside.parent
        if page is None or inside is not None or app.env.docname == page:
            continue
        link = addnodes.pending_xref(
            "", refdomain="std", reftype="doc", reftarget=f"/{page}", refexplicit=True, refdoc=app.env.docname
        )
        node.replace_self(link)
        link += node


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", _to_site)
    app.connect("doctree-read", _link_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
