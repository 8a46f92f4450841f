"""Names of files and what is said of what a figure leaves out."""

import re
from collections.abc import Iterable, Sequence
from hashlib import sha256

from omkl.figures.style import MOST_PANELS


def safe_name(text: str, limit: int = 80) -> str:
    """Return a file name made from any text: letters, digits, dot, dash, underscore; no hidden file."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-._")
    if len(name) > limit:
        name = f"{name[:limit].rstrip('-._')}-{sha256(text.encode()).hexdigest()[:8]}"
    return name or "figure"


def file_stem(kind: str, learners: Iterable[str], data: Iterable[str], also: Iterable[str] = ()) -> str:
    """Return a name for a figure: its kind, learners and data sets; counts and a hash when they are many.

    also: what tells it from a figure of the same names: the content of the user's files, settings
    """
    stem = [kind]
    for names, word in ((learners, "learners"), (data, "sets")):
        names = list(dict.fromkeys(map(str, names)))
        few = "_".join(safe_name(name) for name in names)
        many = f"{len(names)}-{word}-{sha256(chr(0).join(names).encode()).hexdigest()[:6]}"
        stem.append(few if len(names) <= 3 else many)
    if also := sorted(set(also)):
        stem.append(sha256(chr(0).join(also).encode()).hexdigest()[:6])
    return "-".join(stem)


def first_panels(names: Sequence[str], word: str = "data sets") -> tuple[list[str], str]:
    """Return the names that a figure has panels for, and a sentence on the others, "" where all have one."""
    if len(names) <= MOST_PANELS:
        return list(names), ""
    rest = ", ".join(names[MOST_PANELS : MOST_PANELS + 5]) + (", ..." if len(names) > MOST_PANELS + 5 else "")
    text = f"the first {MOST_PANELS} of {len(names)} {word}; not drawn: {rest} (choose with data=)"
    return list(names[:MOST_PANELS]), text


def join_notes(*parts: str) -> str:
    """Return the note below a figure from its parts; empty ones are left out."""
    return "; ".join(filter(None, parts))
