"""Reading the conf folder through Hydra's compose API: YAML in, plain dicts out.

A group (algo, pool, exec) is a folder, an option is one YAML file in it. Any number of options are composed
at once, each in a package of its own (``+algo@algo.omkc_dd=omkc_dd``): one composition costs some 40 ms and
every further option 5 ms. What is read is data only: interpolations and ``_target_`` are refused.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from omkl import plain_yaml
from omkl.errors import UserError, suggest
from omkl.paths import conf_folder

_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_cache: dict[Path, tuple[tuple, dict[str, dict]]] = {}


def options(group: str) -> list[str]:
    """Return the names of a group's options, sorted; files that start with ``_`` are shared parts, none.

    Raises UserError for a file whose name is not a plain word.
    """
    names = []
    for path in sorted((conf_folder() / group).glob("*.yaml")):
        if path.name.startswith((".", "_")):
            continue
        if not _NAME.fullmatch(path.stem):
            raise UserError(f"{path}: the name must be letters, digits and '_', and start with a letter")
        names.append(path.stem)
    return names


def known_option(group: str, name: str, what: str) -> str:
    """Return the name if the group has it, else raise UserError with the nearest one."""
    known = options(group)
    if name in known:
        return name
    hint = suggest(name, known) or f"; known: {', '.join(known) or 'none'}"
    raise UserError(f"{shown(f'{group}={name}')}: unknown {what}{hint}")


def file(group: str, name: str) -> Path:
    """Return the file of a group's option."""
    return conf_folder() / group / f"{name}.yaml"


def read(group: str, names: Iterable[str]) -> dict[str, dict]:
    """Return the content of these options of a group, by name.

    What has been read is kept until a file of the group changes. Raises UserError, naming the file, for YAML
    that is malformed or more than data.
    """
    names = tuple(dict.fromkeys(names))
    known = _kept(group)
    if missing := [name for name in names if name not in known]:
        _check(group, missing)
        composed = _compose(None, [f"+{group}@{group}.{name}={name}" for name in missing])
        for name in missing:
            known[name] = _plain_data(composed.get(group, {}).get(name), file(group, name))
    return {name: known[name] for name in names}


def read_config() -> dict:
    """Return the content of conf/config.yaml; keeps and raises as ``read`` does."""
    known = _kept("")
    if "config" not in known:
        _check("", ["config"])
        known["config"] = _plain_data(_compose("config", []), config_file())
    return known["config"]


def config_file() -> Path:
    """Return the file with what is run when nothing else is said."""
    return conf_folder() / "config.yaml"


def _kept(group: str) -> dict[str, dict]:
    """Return what has been read from a folder, nothing if a file in it has changed since."""
    folder = conf_folder() / group
    stamp = tuple(sorted((path.name, path.stat().st_mtime_ns) for path in folder.glob("*.yaml")))
    if folder not in _cache or _cache[folder][0] != stamp:
        _cache[folder] = (stamp, {})
    return _cache[folder][1]


def _check(folder: str, names: list[str]) -> None:
    """Refuse files, or shared parts of theirs, that are more than plain data, before Hydra reads any."""
    seen: set[Path] = set()
    waiting = [conf_folder() / folder / f"{name}.yaml" for name in names]
    while waiting:
        path = waiting.pop()
        if path not in seen and path.is_file():
            seen.add(path)
            waiting += [path.with_name(f"{part}.yaml") for part in plain_yaml.check(path)]


def _compose(name: str | None, overrides: list[str]) -> dict[str, Any]:
    from hydra import compose
    from omegaconf import OmegaConf

    folder = conf_folder()
    with _faults_told(folder), _initialised(folder):
        content = OmegaConf.to_container(compose(name, overrides=overrides), resolve=False)
    return cast("dict[str, Any]", content)


@contextmanager
def _faults_told(folder: Path) -> Iterator[None]:
    """Turn what Hydra and OmegaConf throw at a file into a UserError of one line."""
    import yaml
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{mark.name}:{mark.line + 1}" if mark else folder
        raise UserError(f"{place}: malformed YAML: {error.problem or error.context}") from error
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, OSError, ValueError) as error:
        raise UserError(f"{folder}: cannot be composed: {one_line(error)}") from error


def one_line(error: object) -> str:
    """Return an exception's text as one line without the tail of advice that Hydra appends."""
    lines = [
        line.strip() for line in str(error).splitlines() if line.strip() and not line.startswith("See http")
    ]
    return " ".join(lines)[:300]


def shown(word: str) -> str:
    """Return a word of the command for a message: printable, on one line, not endless."""
    text = word if word.isprintable() else repr(word)
    return text if len(text) <= 100 else text[:97] + "..."


@contextmanager
def _initialised(folder: Path) -> Iterator[None]:
    """Initialise Hydra on a conf folder, whether or not a program around us has initialised its own."""
    import hydra
    from hydra.core.global_hydra import GlobalHydra

    outer = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()
    below_1_4 = tuple(int(part) for part in re.findall(r"\d+", hydra.__version__)[:2]) < (1, 4)
    arguments = {"version_base": "1.3"} if below_1_4 else {}
    try:
        with hydra.initialize_config_dir(str(folder), job_name="omkl", **arguments):
            yield
    finally:
        GlobalHydra.instance().hydra = outer


def _plain_data(content: Any, path: Path) -> dict:
    if not isinstance(content, dict):
        raise UserError(f"{path}: must be a mapping of keys to values, got {type(content).__name__}")
    for key, value in _leaves(content):
        if not isinstance(key, str):
            raise UserError(f"{path}: the key {key!r} must be a word, got {type(key).__name__}")
        if key == "_target_" or (isinstance(value, str) and "${" in value):
            raise UserError(f"{path}: '{key}' asks for code or an interpolation; a conf file is plain data")
    return content


def _leaves(value: Any, key: Any = "") -> Iterator[tuple[Any, Any]]:
    """Yield every key with its value, at any depth; the items of a list under the list's key."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name, inner
            yield from _leaves(inner, name)
    elif isinstance(value, list):
        for inner in value:
            yield key, inner
            yield from _leaves(inner, key)
