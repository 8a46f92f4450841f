"""Reading the conf folder through Hydra's compose API: YAML in, plain dicts out.

A group (algo, pool, exec) is a folder, and an option is one YAML file in it. A file with nothing to compose
(none of ours has a defaults list) is read directly, see `schema.load`, and Hydra is not imported. Of the
others any number are composed at once, each in a package of its own (``+algo@algo.omkc_dd=omkc_dd``). Files
hold data only: interpolations and ``_target_`` are refused.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from omkl import schema
from omkl.errors import UserError, shown, suggest
from omkl.paths import conf_folder, extensions, listed

MOST_LISTED = 12  # names that a message lists; of more it names the command that does
_LISTS = {"algo": "algos", "pool": "pools", "data": "data"}  # what `omkl list` calls a group
EXTENDED = ("algo", "data", "kernel", "pool", "paper")  # what a folder of OMKL_PATH may add to
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)
_names: dict[str, tuple[list[tuple[Path, ...]], list[str]]] = {}  # by group: its files, its options' names
_cache: dict[Path, tuple[dict[Path, Any], dict]] = {}  # by file: states of it and of its parts, what was read


def options(group: str) -> list[str]:
    """Return the names of a group's options, sorted. A file whose name starts with ``_`` is a shared part.

    Raises UserError for a file whose name is not a plain word.
    """
    homes = [listed(home, "*.yaml") for home in folders(group)]
    known = _names.get(group)
    if known is None or list(map(id, known[0])) != list(map(id, homes)):
        known = _names[group] = homes, _names_of(path for home in homes for path in home)
    return list(known[1])


def _names_of(paths: Iterable[Path]) -> list[str]:
    own = [path for path in paths if path.name[0] not in "._"]
    for path in own:
        if not is_plain(path.stem):
            raise UserError(f"{path}: the name must be letters, digits and '_', and start with a letter")
    return sorted(path.stem for path in own)


def folders(group: str) -> list[Path]:
    """Return the folders of a group's files: ours, and those of the folders that extend omkl."""
    extended = [folder / "conf" / group for folder in extensions()] if group in EXTENDED else []
    return [conf_folder() / group, *extended]


def of_omkl(group: str, name: str) -> bool:
    """Whether a group's option is one of ours, not one of a folder that extends omkl."""
    return file(group, name).is_relative_to(conf_folder())


def is_plain(name: str) -> bool:
    """Whether a name is letters, digits and ``_``, and starts with a letter."""
    return _NAME.fullmatch(name) is not None


def known_option(group: str, name: str, what: str) -> str:
    """Return the name if the group has it, else raise UserError with the nearest one."""
    known = options(group)
    if name in known:
        return name
    own = "; one of your own needs its folder: --with DIR" if group in EXTENDED and not extensions() else ""
    few = len(known) <= MOST_LISTED or group not in _LISTS
    names = f"known: {', '.join(known) or 'none'}" if few else f"`omkl list {_LISTS[group]}` lists them"
    hint = suggest(name, known, most=3 if group == "algo" else 1) or f"; {names}{own}"
    raise UserError(f"{shown(f'{group}={name}')}: unknown {what}{hint}")


def file(group: str, name: str) -> Path:
    """Return the file of a group's option; the group "" is the conf folder itself."""
    paths = [folder / f"{name}.yaml" for folder in folders(group)]
    return next((path for path in paths if path.is_file()), paths[0])


def read_config(group: str, names: Iterable[str]) -> dict[str, dict]:
    """Return the content of these options of a group, by name; of the group "", conf/config.yaml.

    Contents are kept until the file, or a shared part, changes. Raises UserError, naming the file, for YAML
    that is malformed or more than data.
    """
    names = list(dict.fromkeys(names))
    homes = {name: file(group, name).parent for name in names}
    known: dict[str, dict] = {}
    for folder in dict.fromkeys(homes.values()):
        known |= _read(group, folder, [name for name in names if homes[name] == folder])
    return {name: known[name] for name in names}


def _read(group: str, folder: Path, names: list[str]) -> dict[str, dict]:
    """Return the content of options of a group that are in one folder."""
    paths = {name: folder / f"{name}.yaml" for name in names}
    if missing := [name for name in names if not _is_known(paths[name])]:
        states = {name: _states(paths[name]) for name in missing}
        composed = {name: schema.load_plain(paths[name]) for name in missing}
        if left := [name for name in missing if composed[name] is None]:
            composed |= _composed(group, folder, left)
        for name in missing:
            _cache[paths[name]] = states[name], _plain_data(composed.get(name), paths[name])
    return {name: _cache[paths[name]][1] for name in names}


def _is_known(path: Path) -> bool:
    return path in _cache and all(_state(part) == state for part, state in _cache[path][0].items())


def _state(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _composed(group: str, folder: Path, names: list[str]) -> dict[str, Any]:
    """Return the content of options of a group as Hydra composes it."""
    paths = [folder / f"{name}.yaml" for name in names]
    if not group:
        return {name: _compose(folder, name, [], path) for name, path in zip(names, paths, strict=True)}
    words = [f"+{group}@{group}.{name}={name}" for name in names]
    try:
        where = paths[0] if len(paths) == 1 else folder
        return cast("dict[str, Any]", _compose(folder.parent, None, words, where).get(group, {}))
    except UserError:
        if len(names) == 1:
            raise
    return {name: _composed(group, folder, [name])[name] for name in names}  # which file is at fault


def _states(path: Path) -> dict[Path, Any]:
    """Return the states of a file and its shared parts; what is more than data is refused."""
    states: dict[Path, Any] = {}
    waiting = [path]
    while waiting:
        path = waiting.pop()
        if path not in states:
            states[path] = _state(path)
            if path.is_file():
                waiting += [path.with_name(f"{part}.yaml") for part in schema.check_file(path)]
    return states


def _compose(folder: Path, name: str | None, overrides: list[str], where: Path) -> dict[str, Any]:
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from omegaconf import OmegaConf

    outer = GlobalHydra.instance().hydra
    GlobalHydra.instance().clear()  # a program around us may have initialised its own
    below_1_4 = tuple(map(int, hydra.__version__.split(".")[:2])) < (1, 4)
    arguments = {"version_base": "1.3"} if below_1_4 else {}
    try:
        with (
            _faults_as_user_errors(where),
            hydra.initialize_config_dir(str(folder), job_name="omkl", **arguments),
        ):
            content = OmegaConf.to_container(hydra.compose(name, overrides=overrides), resolve=False)
            return cast("dict[str, Any]", content)
    finally:
        GlobalHydra.instance().hydra = outer


@contextmanager
def _faults_as_user_errors(where: Path) -> Iterator[None]:
    """Turn the exceptions of Hydra and OmegaConf for a file into a UserError of one line."""
    import yaml
    from hydra.errors import HydraException
    from omegaconf.errors import OmegaConfBaseException

    try:
        yield
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise schema.malformed(mark.name if mark else where, error) from error
    except (HydraException, OmegaConfBaseException, yaml.YAMLError, OSError, ValueError) as error:
        text = one_line(error) or type(error).__name__
        raise UserError(f"{where}: cannot be composed: {text}") from error


def one_line(error: object) -> str:
    """Return an exception's text as one line, without the advice that Hydra appends."""
    lines = (line.strip() for line in str(error).splitlines())
    return " ".join(line for line in lines if line and not line.startswith("See http"))[:300]


def _plain_data(content: Any, path: Path) -> dict:
    if not isinstance(content, dict):
        raise UserError(f"{path}: must be a mapping of keys to values, got {type(content).__name__}")
    _check_plain("", content, path)
    return content


def _check_plain(key: Any, value: Any, path: Path) -> None:
    """Raise UserError for a key that is no word and for text that Hydra would evaluate, at any depth."""
    if not isinstance(key, str):
        raise UserError(f"{path}: the key {key!r} must be a word, got {type(key).__name__}")
    if key == "_target_" or (isinstance(value, str) and "${" in value):
        raise UserError(f"{path}: '{key}' asks for code or an interpolation; a conf file is plain data")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check_plain(name, inner, path)
    elif isinstance(value, list):
        for inner in value:
            _check_plain(key, inner, path)
