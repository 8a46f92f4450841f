"""The conf folders: their YAML files, and what Hydra composes of them.

conf/config.yaml has the keys of every command, and a defaults list: the usual learner, data set, pool and
executor. What a command runs is composed with it at once (`compose`), each option in a package of its own
(``+algo@algo.slow=slow``). Lists and completion only read (`read`): of a file that has nothing to compose, no
defaults list and no interpolation, Hydra makes what it holds, in 10 ms. The folders of OMKL_PATH are on
Hydra's search path.
"""

import os
import re
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from omkl.errors import UserError, show, shown, suggest
from omkl.paths import conf_folder, extensions, files_in
from omkl.settings import RUN, TUNE, Key
from omkl.yaml_files import content_of, text_of

CONFIG = "config"  # the file of the settings, and of the usual options
GROUPS = ("algo", "data", "pool", "exec")  # of what a command names
EXTENDED = ("algo", "data", "kernel", "pool", "paper")  # what a folder of OMKL_PATH may add to
MOST_LISTED = 12  # names that a message lists; of more it names the command that does
_LISTS = {"algo": "algos", "pool": "pools", "data": "data"}  # what `omkl list` calls a group
_NAME = re.compile(r"[A-Za-z]\w*", re.ASCII)


def folders(group: str) -> list[Path]:
    """Return the folders of a group's files: ours, and those of the folders that extend omkl."""
    extended = [folder / "conf" / group for folder in extensions()] if group in EXTENDED else []
    return [conf_folder() / group, *extended]


_names: dict[str, tuple[list[tuple[Path, ...]], list[str]]] = {}  # by group: its files, its options' names


def options(group: str) -> list[str]:
    """Return the names of a group's options, sorted. A file whose name starts with ``_`` is a shared part.

    Raises UserError for a file whose name is not a plain word.
    """
    homes = [files_in(home, "*.yaml") for home in folders(group)]
    cached = _names.get(group)
    if cached is None or list(map(id, cached[0])) != list(map(id, homes)):
        paths = [path for home in homes for path in home if path.name[0] not in "._"]
        for path in paths:
            if not is_plain(path.stem):
                raise UserError(f"{path}: the name must be letters, digits and '_', and start with a letter")
        cached = _names[group] = homes, sorted(path.stem for path in paths)
    return list(cached[1])


def is_plain(name: str) -> bool:
    """Whether a name is letters, digits and ``_``, and starts with a letter."""
    return _NAME.fullmatch(name) is not None


def file(group: str, name: str) -> Path:
    """Return the file of a group's option; the group "" is the conf folder itself."""
    paths = [folder / f"{name}.yaml" for folder in folders(group)]
    return next((path for path in paths if path.is_file()), paths[0])


def of_omkl(group: str, name: str) -> bool:
    """Whether a group's option is one of ours, not one of a folder that extends omkl."""
    return file(group, name).is_relative_to(conf_folder())


def known_option(group: str, name: str, what: str) -> str:
    """Return the name if the group has it, else raise UserError with the nearest one."""
    all_names = options(group)
    if name in all_names:
        return name
    remedy = (
        "; one of your own needs its folder (--with DIR, or OMKL_PATH)"
        if group in EXTENDED and not extensions()
        else ""
    )
    few = len(all_names) <= MOST_LISTED or group not in _LISTS
    names = f"known: {', '.join(all_names) or 'none'}" if few else f"`omkl list {_LISTS[group]}` lists them"
    hint = suggest(name, all_names, most=3 if group == "algo" else 1) or f"; {names}{remedy}"
    raise UserError(f"{shown(f'{group}={name}')}: unknown {what}{hint}")


_State = tuple[int, int] | None


class _Read(NamedTuple):
    """The content of an option, the states of the files that it is made of, and whether Hydra has made it.

    environment: the variables, to which what refers to something may refer    None: it is what its file holds
    """

    content: dict[str, Any]
    states: dict[Path, _State]
    composed: bool
    environment: dict[str, str] | None = None

    @property
    def is_current(self) -> bool:
        """Whether these files and variables are as they were."""
        if self.environment is not None and self.environment != os.environ:
            return False
        return all(_state(path) == state for path, state in self.states.items())


_read: dict[Path, _Read] = {}  # by file
_made: dict[tuple[str, str], tuple[dict[str, Any], list[Path], Any]] = {}  # of a content and folders


class _File(NamedTuple):
    """What a file holds: its state then, the mapping, and its head, where Hydra looks for a package."""

    state: _State
    content: dict[str, Any]
    head: str


_files: dict[Path, _File] = {}


def _file(path: Path) -> _File:
    """Return what a file holds, for Hydra as for us: it is opened again only when it has changed."""
    state, cached = _state(path), _files.get(path)
    if cached is None or cached.state != state:
        content = content_of(text := text_of(path), path)
        if not isinstance(content, dict):
            raise UserError(f"{path}: must be a mapping of keys to values, got {show(content)}")
        _files[path] = cached = _File(state, content, text[:512])
    return cached


def read(group: str, name: str) -> dict[str, Any]:
    """Return the content of a group's option; of the group "", of a file such as conf/tune.yaml.

    It is what Hydra composes: of a file without a defaults list and interpolations that is what it holds, for
    which Hydra is not asked here. Contents are the same objects until a file changes. Raises UserError,
    naming the file, for a faulty one.
    """
    path = file(group, name)
    cached = _read.get(path)
    if cached is None or not cached.is_current:
        content = _file(path).content
        own = {key: value for key, value in content.items() if group or key != "defaults"}
        if not _has_references(own):
            _read[path] = cached = _Read(content, {path: _state(path)}, False)
        elif group:
            _compose([(group, name)])
        else:
            _compose([])
    return _read[path].content


def read_all(group: str) -> dict[str, dict[str, Any]]:
    """Return the content of all options of a group, by name, sorted."""
    return {name: read(group, name) for name in options(group)}


def made_of(group: str, name: str, make: Callable[[str, dict[str, Any]], Any]) -> Any:
    """Return what ``make`` makes of an option's name and content, once until a file or OMKL_PATH changes."""
    content, around, cached = read(group, name), extensions(), _made.get((group, name))
    if cached is None or cached[0] is not content or cached[1] != around:
        _made[group, name] = cached = content, list(around), make(name, content)
    return cached[2]


def usual() -> dict[str, str]:
    """Return the option of each group that the defaults list of conf/config.yaml names."""
    entries = _file(file("", CONFIG)).content["defaults"]
    return {group: name for entry in entries if isinstance(entry, dict) for group, name in entry.items()}


def keys(command: str = "") -> dict[str, Any]:
    """Return the block of each key of a command: value, domain and help; tune has more than the others."""
    values = {key: value for key, value in read("", CONFIG).items() if key != "defaults"}
    return _blocks(CONFIG, usual() | values, RUN) | (tune_keys() if command == "tune" else {})


def tune_keys() -> dict[str, Any]:
    """Return the blocks of the keys of `omkl tune` alone."""
    return _blocks("tune", read("", "tune"), TUNE)


def _blocks(name: str, values: dict[str, Any], table: Mapping[str, Key]) -> dict[str, Any]:
    for key in (values.keys() | table.keys()) - (values.keys() & table.keys()):
        fault = f"{key} is missing" if key in table else f"unknown key {show(key)}{suggest(key, table)}"
        raise UserError(f"{file('', name)}: {fault}")
    return {key: {"value": values[key], **declared._asdict()} for key, declared in table.items()}


def _state(path: Path) -> _State:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _has_references(value: Any) -> bool:
    """Whether there is something to compose: a defaults list, or at any depth an interpolation or a gap."""
    if isinstance(value, dict):
        return "defaults" in value or any(map(_has_references, value.values()))
    if isinstance(value, list):
        return any(map(_has_references, value))
    return isinstance(value, str) and ("${" in value or value == "???")


_lock = threading.RLock()  # Hydra's state is global
_loaded: dict[Path, _State] = {}  # the files of the last composition


def compose(choices: Mapping[str, Iterable[str]]) -> None:
    """Let Hydra compose options, by group, with conf/config.yaml in one configuration, which `read` returns.

    Those that it has composed before are left out until a file changes. Raises UserError for the first one
    that cannot be composed.
    """
    chosen = [(group, name) for group, names in choices.items() for name in dict.fromkeys(names)]
    before = {one: _read.get(file(*one)) for one in chosen}
    waiting = [
        one for one, cached in before.items() if not (cached and cached.composed and cached.is_current)
    ]
    if not waiting:
        return
    try:
        _compose(waiting)
    except UserError:
        for one in waiting:
            _compose([one])
        raise  # they cannot be composed with one another


def _compose(chosen: list[tuple[str, str]]) -> None:
    """Put what Hydra composes of these options in `_read`, and the settings of conf/config.yaml."""
    contents, settings, states = _composed(chosen)
    config = file("", CONFIG)
    settings["defaults"] = _file(config).content["defaults"]
    for path, content in [*zip((file(*one) for one in chosen), contents, strict=True), (config, settings)]:
        state, written, _ = _file(path)
        if (before := _read.get(path)) is not None and before.content == content:
            content = before.content
        of_itself = content == written
        of_others = _Read(content, states, True, dict(os.environ))
        _read[path] = _Read(content, {path: state}, True) if of_itself else of_others


def _composed(
    chosen: list[tuple[str, str]],
) -> tuple[list[dict[str, Any]], dict[str, Any], dict[Path, _State]]:
    """Return options and settings as Hydra composes them, and the states of the files that it read.

    Raises UserError that names the file.
    """
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    _register()
    words = [f"~{group}" for group in usual()]
    words += [f'+{group}@{group}.{name}="{name}"' for group, name in chosen]
    paths = [file(group, name) for group, name in chosen]
    with _lock:
        outer = GlobalHydra.instance().hydra
        GlobalHydra.instance().clear()  # a program around us may have initialised its own
        _loaded.clear()
        try:
            with warnings.catch_warnings():
                # Hydra 1.4 warns of it, 1.3 where it is absent
                warnings.filterwarnings("ignore", "The version_base parameter")
                init = hydra.initialize_config_dir(str(conf_folder()), version_base="1.3")
            with init:
                composed: Any = OmegaConf.to_container(
                    hydra.compose(CONFIG, words), resolve=True, throw_on_missing=True
                )
        except (HydraException, OmegaConfBaseException, OSError, ValueError) as error:
            text = one_line(error.__cause__ or error) or type(error).__name__
            where = ", ".join(map(str, paths)) or file("", CONFIG)
            raise UserError(f"{where}: cannot be composed: {text}") from error
        finally:
            GlobalHydra.instance().hydra = outer
        parts = {group: composed.pop(group, {}) for group in {group for group, _ in chosen}}
        contents = [parts[group].get(name) for group, name in chosen]
        for path, content in zip(paths, contents, strict=True):
            if not isinstance(content, dict):
                raise UserError(f"{path}: must be a mapping of keys to values")
        return contents, composed, dict(_loaded)


@cache
def _register() -> None:
    """Put the folders of OMKL_PATH on Hydra's search path, and let it read files as `read_yaml` does."""
    from hydra.core.config_search_path import ConfigSearchPath
    from hydra.core.object_type import ObjectType
    from hydra.core.plugins import Plugins
    from hydra.plugins.config_source import ConfigResult, ConfigSource
    from hydra.plugins.search_path_plugin import SearchPathPlugin
    from omegaconf import OmegaConf

    class Folders(SearchPathPlugin):
        def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
            for element in search_path.get_path():
                if element.path == str(conf_folder()):  # not the search path of a program around us
                    element.path = f"omkl://{conf_folder()}"
                    for folder in extensions():
                        search_path.append("omkl", f"omkl://{folder / 'conf'}")
                    return

    class Files(ConfigSource):
        @staticmethod
        def scheme() -> str:
            return "omkl"

        def load_config(self, config_path: str) -> ConfigResult:
            path = self._file(config_path)
            _loaded[path], mapping, head = _file(path)
            header, content = self._get_header_dict(head), OmegaConf.create(mapping)
            return ConfigResult(config=content, path=self.full_path(), provider=self.provider, header=header)

        def available(self) -> bool:
            return self.is_group("")

        def is_group(self, config_path: str) -> bool:
            return (Path(self.path) / config_path).is_dir()

        def is_config(self, config_path: str) -> bool:
            return self._file(config_path).is_file()

        def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
            folder = Path(self.path) / config_path
            groups = (
                []
                if results_filter is ObjectType.CONFIG
                else [p.name for p in folder.iterdir() if p.is_dir()]
            )
            files = [] if results_filter is ObjectType.GROUP else [p.stem for p in files_in(folder, "*.yaml")]
            return sorted(groups + files)

        def _file(self, config_path: str) -> Path:
            return Path(self.path) / self._normalize_file_name(config_path)

    Plugins.instance().register(Folders)
    Plugins.instance().register(Files)


def one_line(error: object) -> str:
    """Return an exception's text as one line, without the advice that Hydra appends."""
    lines = (line.strip() for line in str(error).splitlines())
    return " ".join(line for line in lines if line and not line.startswith("See http"))[:300]
