"""The literature of docs/references.yaml, and which of it a learner's `cite` means."""

from pathlib import Path

import yaml

FILE = Path(__file__).parents[1] / "references.yaml"


def references() -> dict[str, dict]:
    """Return the entries by key."""
    return yaml.safe_load(FILE.read_text(encoding="utf-8"))


def cited(cite: str) -> list[dict]:
    """Return the entries that a learner's `cite` names; its parts are divided by semicolons."""
    entries = references()
    ways = {way: key for key, entry in entries.items() for way in [key, *entry.get("also", [])]}
    hits = [
        max((w for w in ways if part.strip().startswith(w)), key=len, default="") for part in cite.split(";")
    ]
    return [entries[ways[hit]] for hit in hits if hit]


def line(entry: dict) -> str:
    """Return one entry as Markdown."""
    link = f"https://doi.org/{entry['doi']}" if "doi" in entry else entry.get("url")
    shown = f"[doi:{entry['doi']}]({link})" if "doi" in entry else f"<{link}>" if link else ""
    return f"{entry['authors']}: *{entry['title']}*. {entry['where']}. {shown}".rstrip()


def page() -> str:
    """Return the page of all references, sorted by author as they are cited."""
    listed = [f"* {line(entry)}" for _, entry in sorted(references().items())]
    return "\n".join(["# References", "", "The papers that define the learners.", "", *listed, ""])
