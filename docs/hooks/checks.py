"""Checks the finished pages: links inside the site have targets, and nothing is loaded from elsewhere."""

from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and values.get("href"):
            self.links.append(values["href"])
        if (name := _LOADS.get(tag, "")) in values:
            self.loaded.append(values[name])


def faults(folder: Path) -> list[str]:
    """Return what is wrong with the links of a built site, one line each, apart from downloads."""
    own = [
        path for path in sorted(folder.rglob("*.html")) if path.relative_to(folder).parts[0] != "_downloads"
    ]
    pages = {path: _Page(path.read_text(encoding="utf-8")) for path in own}
    wrong = []
    for path, page in pages.items():
        where = path.relative_to(folder).as_posix()
        for target in [*page.links, *page.loaded]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loaded and parts.scheme != "data":
                    wrong.append(f"{where}: loads {target} from the network")
                continue
            aim = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not aim.is_file():
                wrong.append(f"{where}: {target} has no file")
            elif parts.fragment and aim in pages and unquote(parts.fragment) not in pages[aim].anchors:
                wrong.append(f"{where}: {target} has no such anchor")
    return list(dict.fromkeys(wrong))


def _check(app: "Sphinx", exception: Exception | None) -> None:
    from sphinx.errors import SphinxError  # not needed by the tests of `faults`

    if exception is None and app.builder.name == "html" and (wrong := faults(Path(app.outdir).resolve())):
        raise SphinxError("\n".join([f"{len(wrong)} links are wrong:", *wrong]))


def setup(app: "Sphinx") -> dict[str, bool]:
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
