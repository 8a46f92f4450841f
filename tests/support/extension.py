"""A folder that extends omkl: a small compiled learner with its twin, and estimators of other packages."""

from pathlib import Path

from support import ROOT, TESTS, script

SMALL = {
    name: (TESTS / "golden" / "own" / name).read_text(encoding="utf-8")
    for name in ("algorithms/small.py", "conf/algo/tiny.yaml", "tests/reference/small.py")
}
TINY, YAML, TWIN = SMALL.values()


def estimator(target: str, task: str = "classification", **arguments: str) -> str:
    """The YAML of an estimator; arguments: value and domain by name."""
    blocks = [f'{name}: {{{block}, help: "an argument"}}' for name, block in arguments.items()]
    about = f"about: {{label: '{target}', cite: x, task: {task}, revision: 1, estimator: '{target}'}}"
    return "\n".join([*blocks, about, ""])


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder, which is returned."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def tiny(folder: Path, source: str = TINY, **more: str) -> Path:
    """Make a folder with the small learner and its twin."""
    return write(folder, SMALL | {"algorithms/small.py": source} | more)


def page_examples(page: str) -> dict[str, str]:
    """The files of a page's worked example, by their places in its folder."""
    readme = script("check_readme")
    files = readme.example_files((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8"))
    return {name.removeprefix("mylearners/"): text for name, text in files.items()}
