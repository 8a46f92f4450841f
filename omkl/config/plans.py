"""From the words of a command to a `Plan`, and to the configuration that `omkl show` prints (`resolved`)."""

import itertools
import math
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from omkl import conf
from omkl.config import kernel_kinds
from omkl.config.learners import (
    IN_OBJECT,
    LearnerSpec,
    hyperparameters,
    learner_names,
    learner_spec,
    learner_specs,
)
from omkl.config.parameters import SCALING, parameters, texts
from omkl.config.plan_notes import note_on_rare, notes_on_learners
from omkl.config.request import ONLINE, Request, chosen_data, distinct_data
from omkl.config.unscaled import notes_on_offsets, unlike_features
from omkl.config.words import Override, Setting
from omkl.data import distinct_reps
from omkl.data.held_out import RepetitionStream, held_out_stream
from omkl.data.preparing.notes import is_of_order, is_warning
from omkl.errors import UserError, counted, outside, shown, suggest, without_controls
from omkl.paths import store_folder
from omkl.tasks import by_task, for_task, least_scores

if TYPE_CHECKING:
    from omkl.data import DataRef

MOST_SETTINGS = 100_000


def settings(
    request: Request, specs: list[LearnerSpec], data: "Sequence[DataRef]"
) -> tuple[tuple[Setting, ...], list[str]]:
    """Return the settings of these learners on these data sets, and which keys take several values.

    A key with the learner's name goes before the learner's own settings, these before a plain key.
    """
    by_name = {spec.name: spec for spec in specs}
    for_learners = request.parts_of_learners(by_name)
    plain = {name: word for name, word in request.parts("algo").items() if word not in for_learners.values()}
    pools, swept = _pools(request, specs)
    axes: dict[str, dict[str, list[Any]]] = {spec.name: {} for spec in specs}
    for (learner, name), word in {
        **{("", name): word for name, word in plain.items()},
        **for_learners,
    }.items():
        found = _axis(name, word, [by_name[learner]] if learner else specs)
        swept += [word.key] if max(map(len, found.values())) > 1 else []
        for key, values in found.items():
            axes[key][name] = values
    named = {ref.name: ref.word for ref in data}
    entries = [
        Entry(by_name[one.learner], one, sets)
        for one in request.settings(named)
        if one.learner in by_name
        and (sets := tuple(name for name, word in named.items() if one.is_for(name, word)))
    ]
    _check_effect(request, plain, entries, named)
    tasks = list(dict.fromkeys(ref.task for ref in data))
    distinct: dict[tuple, Setting] = {}
    for setting in _grid(entries, axes, for_learners, pools, tasks):
        known_one = distinct.setdefault((setting.identity, setting.task, setting.label), setting)
        if known_one is not setting:  # the same settings, of another data set
            sets = (*known_one.data, *setting.data) if known_one.data and setting.data else ()
            more = replace(known_one, data=tuple(dict.fromkeys(sets)))
            distinct[setting.identity, setting.task, setting.label] = more
    return tuple(distinct.values()), swept


class Entry(NamedTuple):
    """A learner of a plan with its own settings, and the names of the data sets that they are for."""

    spec: LearnerSpec
    own: Setting
    data: tuple[str, ...]


def _grid(
    entries: list[Entry],
    axes: Mapping[str, Mapping[str, list[Any]]],
    for_learners: Mapping[tuple[str, str], Override],
    pools: Mapping[str, list[dict]],
    tasks: list[str],
) -> Iterator[Setting]:
    """Yield of each entry its pools (for a learner that uses one) × the values of its hyperparameters.

    axes: values by learner and hyperparameter    for_learners: the words about one learner
    """
    grids = []
    for spec, one, _ in entries:
        fixed = {name: [value] for name, value in one.params.items() if (spec.name, name) not in for_learners}
        used = [one.pool] if one.pool else pools.get(spec.name, [None])
        grids.append((used, {**axes[spec.name], **fixed}))
    total = sum(len(used) * math.prod(map(len, values.values())) for used, values in grids)
    if total > MOST_SETTINGS:
        raise UserError(f"the grid has {total} settings; at most {MOST_SETTINGS} are possible")
    for entry, (used, values) in zip(entries, grids, strict=True):
        spec, one, sets = entry
        alone = not any(
            other is not entry and other.spec is spec and {*other.data} & {*sets} for other in entries
        )
        more: dict[str, Any] = {"label": one.label, "data": sets if one.data else ()}
        more["per_data"] = (*one.params, *one.scaling) if one.data and alone else ()
        more["scaling"] = one.scaling
        for pool in used:
            if pool:
                spec.check_pool(pool)
            for choice in itertools.product(*values.values()):
                params = {**spec.defaults, **dict(zip(values, choice, strict=True))}
                for setting in _by_task(spec, params, pool, tasks):
                    spec.check_together(setting.params)
                    yield replace(setting, **more)


def _check_effect(
    request: Request, plain: Mapping[str, Override], entries: list[Entry], named: Mapping[str, str]
) -> None:
    """Raise UserError for a plain key that no learner takes, and for a data set that has no learner."""
    if bare := [word for name, word in named.items() if not any(name in entry.data for entry in entries)]:
        source = f"settings={request.file.path}" if request.file else request.given["algo"].text
        raise UserError(f"{source}: no settings for data={','.join(bare)}; add learners with algo=NAME,...")
    for name, word in plain.items():
        able = [entry for entry in entries if name in entry.spec.hyperparameters]
        if able and all(name in entry.own.params for entry in able):
            raise UserError(
                f"{word.text}: no effect, since each learner has its own {name}; "
                f"algo.{able[0].spec.name}.{name}=VALUE sets that of one"
            )


def yardsticks(request: Request, settings: tuple[Setting, ...], tasks: list[str]) -> tuple[Setting, ...]:
    """Return the yardsticks with their defaults, without those that are among the settings already.

    The last label says nothing of rows that are permuted: such a yardstick must be named to be there.
    """
    learners = learner_names()
    names = request.names("yardsticks", learners)
    specs = learner_specs(name for name in names if name in learners)
    if "yardsticks" not in request.given and request.value("order") != "file":
        specs = {name: spec for name, spec in specs.items() if not spec.in_order}
    for name in names:
        if name not in learners or not learner_spec(name).yardstick:
            fit = [yardstick_name for yardstick_name, other in learner_specs().items() if other.yardstick]
            near = suggest(name, fit) or f"; yardsticks are {', '.join(fit)}"
            given = shown(f"yardsticks={name}")
            raise UserError(f"{given} is not a yardstick{near}; yardsticks=[] means none")
    taken = {(setting.identity, setting.task) for setting in settings if not setting.data}
    candidates = (
        setting for spec in specs.values() for setting in _by_task(spec, spec.defaults, None, tasks)
    )
    return tuple(setting for setting in candidates if (setting.identity, setting.task) not in taken)


def _axis(name: str, override: Override, specs: list[LearnerSpec]) -> dict[str, list[Any]]:
    """Return a hyperparameter's values for each learner that has it, by learner."""
    axis = {}
    for spec in specs:
        if parameter := spec.hyperparameters.get(name):
            axis[spec.name] = override.checked(spec.check_of(name), f" ({spec.name}: {parameter.help})")
    if not axis:
        ours = [spec for spec in specs if not spec.is_object]
        chosen, names = ",".join(spec.name for spec in ours), hyperparameters(ours)
        if len(ours) < len(specs):
            absent = f"algo={chosen} has no hyperparameter '{name}', and " if ours else ""
            raise UserError(f"{override.text}: {absent}{IN_OBJECT}")
        others = [other.name for other in learner_specs().values() if name in other.defaults]
        hint = f"; {', '.join(others)} can take it" if others else suggest(f"algo.{name}", names)
        hint = hint or f"; it has {', '.join(names) or 'none'}"
        raise UserError(f"{override.text}: algo={chosen} has no hyperparameter '{name}'{hint}")
    return axis


def _pools(request: Request, specs: list[LearnerSpec]) -> tuple[dict[str, list[dict]], list[str]]:
    """Return each learner's pools, with the request's changes, and which ``pool.*`` keys take several values.

    These are the pools of the request; where it names none, a learner's usual one, else that of config.yaml.
    """
    given, of_pool = request.given.get("pool"), request.parts("pool")
    users = [spec for spec in specs if spec.kernels == "pool"]
    if not users:
        for override in [*([given] if given else []), *of_pool.values()]:
            names = ",".join(spec.name for spec in specs)
            hint = "; its kernel is algo.kernel" if any(spec.kernels == "own" for spec in specs) else ""
            raise UserError(f"{override.text}: algo={names} uses no kernel pool{hint}")
        return {}, []
    requested = request.names("pool", kernel_kinds.pool_names())
    changes = {part: override.checked(kernel_kinds.PARTS[part]) for part, override in of_pool.items()}
    choices = [dict(zip(changes, values, strict=True)) for values in itertools.product(*changes.values())]
    named = kernel_kinds.kernel_pools(kernel_kinds.pool_names()) if changes else []
    chosen = {}
    for spec in users:
        usual = [spec.usual_pool] if spec.usual_pool and not given else requested
        bases = kernel_kinds.kernel_pools(usual)
        chosen[spec.name] = [
            kernel_kinds.changed(base, choice, named) for base in bases for choice in choices
        ]
    return chosen, [f"pool.{part}" for part, values in changes.items() if len(values) > 1]


def _by_task(spec: LearnerSpec, params: dict, pool: dict | None, tasks: list[str]) -> Iterator[Setting]:
    """Yield the settings that these hyperparameters, some of them by task, are on data of these tasks."""
    fit = [task for task in tasks if task in spec.tasks] or spec.tasks[:1]
    several = len(fit) > 1 and any(map(by_task, params.values()))
    for task in fit if several else fit[:1]:
        yield Setting(spec.name, for_task(params, task), pool, task=task if several else None)


# ------------------------------------------------------------------ plans


class Scaled:
    """How a request scales the streams of its settings.

    Without ``scale=`` the features of the user's own tables are scaled online, unless the learner scales them
    itself or its kernels know the rows as they are. Without ``target=`` the targets of data that are not
    registered are scaled online for a learner that is not equivariant: one with a fixed step, noise, or
    predictions that begin at 0. An estimator of another package gets both as its package would.
    """

    def __init__(self, request: Request, refs: "Sequence[DataRef]") -> None:
        try:
            self.target = request.value("target")
        except UserError as error:
            raise UserError(f"{error}; the column of the targets is label=NAME") from None
        self.scale = request.value("scale")
        self.delay = {"delay": delay} if (delay := request.value("delay")) > 1 else {}
        self.calibration, self.interval = request.value("calibration"), request.value("interval")
        self.refs = refs
        self.own = not any(ref.is_registered for ref in refs if ref.task == "regression")
        self.by_default: dict[str, None] = {}  # the tables that are scaled without being asked for
        tasks = {ref.task for ref in refs}
        for word, is_asked in (
            ("target", self.target not in ("auto", "none")),
            ("interval", self.interval is not None),
        ):
            if "regression" not in tasks and is_asked:
                names = ",".join(map(str, refs))
                raise UserError(
                    f"{request.given[word].text}: data={names} has no targets; {word}= is for them"
                )

    def of(self, settings: tuple[Setting, ...]) -> tuple[Setting, ...]:
        """Return the settings with their scaling; one that differs between tasks or data is one for each."""
        resolved: dict[str, Setting] = {}
        for setting in settings:
            fitting = [ref for ref in self.refs if setting.fits(ref.task, ref.name)] or [self.refs[0]]
            scaling_of = {ref.name: self._words(setting, ref) for ref in fitting}
            for task in dict.fromkeys(ref.task for ref in fitting):
                sets = [ref for ref in fitting if ref.task == task]
                for scaling in {repr(scaling_of[ref.name]): scaling_of[ref.name] for ref in sets}.values():
                    names = tuple(ref.name for ref in sets if scaling_of[ref.name] == scaling)
                    resolved_setting = replace(setting, scaling=scaling)
                    if any(scaling_of[ref.name] != scaling for ref in fitting if ref.task != task):
                        resolved_setting = replace(resolved_setting, task=task)
                    if len(names) < len(sets):
                        resolved_setting = replace(resolved_setting, data=names)
                    resolved.setdefault(repr(resolved_setting), resolved_setting)
        return tuple(resolved.values())

    def _words(self, setting: Setting, ref: "DataRef") -> dict[str, Any]:
        """Return the scaling of a setting on a data set: its own words go before those of the request."""
        spec, target, scale = setting.spec, self.target, self.scale
        if target == "auto":
            as_given = spec.estimator or spec.equivariant or not self.own
            target = "none" if as_given else "online"
        if scale == "auto":
            is_scaled = ref.is_table and _is_to_be_scaled(setting)
            scale = ONLINE if is_scaled else "none"
            if is_scaled and "scale" not in setting.scaling:
                self.by_default[ref.name] = None
        scaling = {"scale": scale, "target": target} | setting.scaling | self.delay
        scaling = {key: scaling[key] for key in SCALING if scaling.get(key, "none") != "none"}
        if ref.task != "regression":
            scaling.pop("target", None)
        if self.calibration != "none" and ref.task == "classification" and not spec.probabilities:
            scaling["calibration"] = self.calibration
        if self.interval is not None and ref.task == "regression":
            scaling["interval"] = self.interval
        for word in scaling.keys() & spec.hyperparameters.keys():
            raise UserError(
                f"{word}={scaling[word]}: {spec.name} has a hyperparameter of this name; rename it in "
                f"{conf.file('algo', spec.name)}"
            )
        return scaling


def _is_to_be_scaled(setting: Setting) -> bool:
    """Whether a learner sees the scale of features, and computes with rows that may change their scale."""
    spec = setting.spec
    of_numbers = spec.sees_scale and not spec.estimator
    return of_numbers and not kernel_kinds.needs_stored_rows(setting.kernels)


UNLIKE, UNLIKE_REGISTERED = 10.0, 100.0  # times the median deviation: a feature that hides the others
LEAST_SPREAD = 0.1  # of targets that need no scaling, and most of all 1 / that
MOST_LATE = 50  # 1 / the share of rounds before the first label from which on a note says so
MOST_CELLS = 1_000_000  # each takes some kB of memory before the first one runs
REPS = {"permuted": 20, "halves": 20, "authors": 20, "file": 1}  # where reps is null


@dataclass(frozen=True)
class Plan:
    """All that a run depends on: settings × data × repetitions 0..reps-1, and the yardsticks.

    order: file, permuted, halves or authors    seed: base of the permutation seeds    store: of the results
    exec: ``{"name", ...options}``    swept: the keys given several values, such as ("algo.beta",)
    rounds: those of each repetition that are run, as ``START:STOP``, None for all
    block: examples that the engine computes at once, None for its own choice
    test: the share of each repetition that is held out, or a data set's name or file, None for nothing
    scaled_by_default: the user's tables whose features are scaled online although no word says so
    """

    settings: tuple[Setting, ...]
    data: "tuple[DataRef, ...]"
    reps: int
    seed: int
    order: str
    store: Path
    exec: dict[str, Any]
    yardsticks: tuple[Setting, ...]
    swept: tuple[str, ...]
    block: int | None
    rounds: str | None = None
    test: float | str | None = None
    scaled_by_default: tuple[str, ...] = ()

    def stream_of(self, data: "DataRef") -> RepetitionStream:
        """Return which rounds of a data set are learnt, and what is held out."""
        return held_out_stream(data, self.rounds, self.test)

    @property
    def has_choice(self) -> bool:
        """Whether a learner has several settings on some data set, of which one is the best."""
        return any(
            len(fitting) > len({setting.learner for setting in fitting})
            for ref in self.data
            if (fitting := [setting for setting in self.settings if setting.fits(ref.task, ref.name)])
        )

    def reps_of(self, spec: LearnerSpec, ref: "DataRef") -> int:
        """Return how many repetitions of a learner there are on a data set: 1 where all would be equal."""
        return distinct_reps(self.reps, self.order, spec.draws, ref.name, ref.content_hash)

    @property
    def repeated_once(self) -> list[str]:
        """The learners of which one repetition is run where several are asked for, see `reps_of`."""
        names = []
        for setting in (*self.settings, *self.yardsticks):
            spec = learner_spec(setting.learner)
            fitting = [r for r in self.data if setting.fits(r.task, r.name) and r.task in spec.tasks]
            names += [spec.name for ref in fitting if self.reps_of(spec, ref) < self.reps]
        return list(dict.fromkeys(names))

    def _unscaled(self, ref: "DataRef") -> list[str]:
        """Return notes where the user's own targets, or features, need scaling, and nothing scales them."""
        fitting = [(s, learner_spec(s.learner)) for s in self.settings if s.fits(ref.task, ref.name)]
        notes, numbers = [], ref.task == "regression"
        raw = [
            s.learner for s, spec in fitting if numbers and "target" not in s.scaling and not spec.equivariant
        ]
        raw = [] if ref.is_registered else raw
        spread = float(ref.load().y.std()) if raw else 1.0
        if not LEAST_SPREAD <= spread <= 1 / LEAST_SPREAD:
            notes.append(
                f"the targets have a standard deviation of {spread:.3g}, and nothing scales them for "
                f"{', '.join(dict.fromkeys(raw))}; target=online does"
            )
        raw = [s.learner for s, _ in fitting if "scale" not in s.scaling and s.kernels]
        times = UNLIKE_REGISTERED if ref.is_registered else UNLIKE
        is_here = getattr(ref, "state", "") != "missing"
        if raw and is_here and (unlike := unlike_features(ref.load(), times)):
            notes.append(
                f"the features have standard deviations from {unlike[0]:.3g} to {unlike[1]:.3g}, and nothing "
                f"scales them for {', '.join(dict.fromkeys(raw))}; scale=online does"
            )
        return notes

    @property
    def about_data(self) -> tuple[str, ...]:
        """What is to be known of the user's own data: which label is +1, how a table was scaled.

        And which sets have fewer examples than ``rounds`` asks for.
        """
        notes = [note for ref in self.data if not ref.is_registered for note in self.notes_on(ref)]
        notes = [note for note in notes if not is_warning(note)]
        notes += [note for ref in self.data if (note := note_on_rare(ref))]
        notes += [f"{ref.name}: {note}" for ref in self.data for note in self._unscaled(ref)]
        most = int((self.rounds or "").partition(":")[2] or 0)
        few = f"fewer than rounds={self.rounds} asks for"
        notes += [f"{ref.name} has {counted(ref.T, 'example')}, {few}" for ref in self.data if most > ref.T]
        notes += [note for ref in self.data if (note := self._late(ref))]
        notes += [note for ref in self.data for note in self._without_interval(ref)]
        return (*notes, *notes_on_learners([self]))

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """What is likely to be wrong in the user's own data: a warning, where ``about_data`` are notes."""
        of_user = [ref for ref in self.data if not ref.is_registered]
        notes = [note for ref in of_user for note in self.notes_on(ref) if is_warning(note)]
        raw = [setting for setting in self.settings if "scale" not in setting.scaling]
        kernels = [kernel for setting in raw for kernel in setting.kernels]
        return (*notes, *(note for ref in of_user for note in notes_on_offsets(ref.load(), kernels)))

    def warn_of_data(self) -> None:
        """Warn of what is likely to be wrong in the user's own data."""
        for doubt in self.doubts:
            warnings.warn(without_controls(doubt), stacklevel=outside())

    def notes_on(self, ref: "DataRef") -> list[str]:
        """Return the notes on a data set: those of its own, and whether it is scaled without being asked."""
        notes = [note for note in ref.notes if self.order != "file" or not is_of_order(note)]
        if ref.name in self.scaled_by_default:
            usual = "scale=online, the default for tables of your own; scale=none leaves them as they are"
            notes.append(f"features are scaled with the rows seen so far ({usual})")
        return [f"{ref.name}: {note}" for note in notes]

    def _without_interval(self, ref: "DataRef") -> list[str]:
        """Return a note for each level of intervals that the rounds of a data set are too few for."""
        levels = dict.fromkeys(s.scaling["interval"] for s in self.settings if s.scaling.get("interval"))
        T = self.stream_of(ref).T if levels else 0
        return [
            f"{ref.name}: interval={level} needs the errors of {least} rounds before its first interval, "
            f"and there are {counted(T, 'round')}: none is measured"
            for level in levels
            if (least := least_scores(float(level))) >= T
        ]

    def _late(self, ref: "DataRef") -> str:
        """Return a note where many rounds are predicted before the first label arrives, else no text."""
        fitting = [setting for setting in self.settings if setting.fits(ref.task, ref.name)]
        delay = max((int(setting.scaling.get("delay", 1)) for setting in fitting), default=1)
        T = self.stream_of(ref).T
        if delay >= T and delay > 1:
            fault = f"no label arrives within the {T} rounds, so nothing is learnt before a prediction"
            return f"{ref.name}: delay={delay}: {fault}"
        if delay == 1 or MOST_LATE * delay <= T:
            return ""
        first = f"the first {delay} of {T} rounds ({100 * delay / T:.2g} %)"
        return (
            f"{ref.name}: delay={delay}: {first} are predicted before a label arrives, and count as others do"
        )


def plan(
    overrides: list[str],
    *,
    sweep: bool = False,
    values: Mapping[str, Any] | None = None,
    data: "Sequence[DataRef | str]" = (),
    others: Iterable[str] = (),
) -> Plan:
    """Return the plan that the words of a command describe, every value checked.

    overrides: KEY=VALUE words. ``algo``, ``data``, ``pool`` and ``yardsticks`` take lists; a list of values
    for another key needs ``sweep``. values: plain values by key, in place of words; a word goes before them.
    data: in place of the word ``data=``. others: keys that are no settings, to suggest.
    A hyperparameter applies to those of the learners that have it; settings that come out equal are kept
    once. Raises UserError, one line, for whatever is not right.
    """
    request = Request(overrides, sweep, values, others)
    conf.compose(request.options(data))
    learner_specs(request.names("algo", learner_names()))  # so that an unknown one is named first
    refs = chosen_data(request, data)
    request.of_tasks(refs)
    specs = list(learner_specs(request.names("algo", learner_names())).values())
    tasks = list(dict.fromkeys(ref.task for ref in refs))
    if request.has_pattern():
        specs = _suitable(specs, tasks, refs, request)
    chosen, swept = settings(request, specs, refs)
    scaling = Scaled(request, refs)
    given, chosen = chosen, scaling.of(chosen)
    scaled_by_default = tuple(scaling.by_default)  # not those that are scaled for yardsticks alone
    beside = scaling.of(yardsticks(request, given, tasks))
    order = request.value("order")
    new_plan = Plan(
        settings=chosen,
        data=distinct_data(refs),
        reps=request.value("reps") or REPS[order],
        seed=request.value("seed"),
        order=order,
        store=store_folder(request.value("store")),
        exec=_exec(request),
        yardsticks=beside,
        swept=tuple(key for key in request.given if key in swept),
        block=request.value("block"),
        rounds=request.value("rounds"),
        test=request.value("test"),
        scaled_by_default=scaled_by_default,
    )
    for ref in new_plan.data if new_plan.test is not None else ():
        new_plan.stream_of(ref)  # which reads a test set, and says what is wrong with it
    per_repetition = sum(setting.fits(ref.task, ref.name) for setting in chosen for ref in new_plan.data)
    total = (per_repetition + len(new_plan.yardsticks) * len(new_plan.data)) * new_plan.reps
    if total > MOST_CELLS:
        raise UserError(f"reps={new_plan.reps}: that makes {total} cells; at most {MOST_CELLS} are possible")
    return new_plan


def resolved(overrides: list[str]) -> dict[str, Any]:
    """Return the configuration as plain data: what would run, and for each hyperparameter what it means."""
    resolved_plan = plan(overrides)
    shown: dict[str, Any] = {"data": [ref.word for ref in resolved_plan.data]}
    shown |= {
        key: getattr(resolved_plan, key)
        for key in ("order", "rounds", "test", "reps", "seed", "block", "exec")
    }
    if files := [ref.to_json() for ref in resolved_plan.data if not ref.is_registered]:
        shown |= {"task": files[0]["task"], **files[0]["preparation"]}
        shown |= {key: list(value) for key, value in shown.items() if isinstance(value, tuple)}
        shown["notes"] = list(resolved_plan.about_data)
    shown["store"] = str(resolved_plan.store)
    shown["yardsticks"] = [setting.learner for setting in resolved_plan.yardsticks]
    shown["pool"], shown["algo"] = {}, {}
    for setting in resolved_plan.settings:
        if setting.pool:
            shown["pool"][setting.pool["name"]] = {k: v for k, v in setting.pool.items() if k != "name"}
        shown |= {key: value for key, value in setting.scaling.items() if key != "target"}
        name = setting.label or setting.learner
        names = (name + f" {number}" * (number > 1) for number in itertools.count(1))
        shown["algo"][next(other for other in names if other not in shown["algo"])] = _described(setting)
    return shown


def _described(setting: Setting) -> dict[str, Any]:
    """Return a learner as `resolved` shows it."""
    spec, hyper = setting.spec, dict[str, dict[str, Any]]()
    for name, parameter in spec.hyperparameters.items():
        hyper[name] = {"value": setting.params[name]}
        if by_task(parameter.value):  # the default depends on the task
            if setting.task and setting.params[name] == parameter.value[setting.task]:
                hyper[name] = {"value": parameter.value}  # there are data of several tasks
            hyper[name]["default"] = parameter.value
        hyper[name] |= {"domain": parameter.domain, "help": parameter.help}
        if parameter.search:
            hyper[name]["search"] = texts(parameter.search)
    about = ("label", "cite", "estimator" if spec.estimator else "function", "tasks", "kernels", "revision")
    target = {name: word for name, word in setting.scaling.items() if name == "target"}
    return {**{key: getattr(spec, key) for key in about}, **target, "hyperparameters": hyper}


def _suitable(
    specs: list[LearnerSpec], tasks: list[str], data: "Sequence[DataRef]", request: Request
) -> list[LearnerSpec]:
    """Return those of many learners that suit these tasks, data and pools; a note names the others.

    A learner that is named itself stays: then it is a mistake.
    """
    most = max(data, key=lambda ref: ref.n_classes)
    named = request.named_learners()
    given = request.names("pool", kernel_kinds.pool_names()) if "pool" in request.given else []
    kinds = {kernel["kind"] for pool in kernel_kinds.kernel_pools(given) for kernel in pool["kernels"]}
    reasons: dict[str, list[LearnerSpec]] = {}
    for spec in specs:
        if spec.name not in named and not set(spec.tasks) & set(tasks):
            reasons.setdefault(f"not for {' and '.join(tasks)}", []).append(spec)
        elif spec.name not in named and not spec.takes(most.n_classes):
            reasons.setdefault(f"not for the {most.n_classes} classes of {most.name}", []).append(spec)
        elif spec.name not in named and spec.kernels == "pool" and not all(map(spec.fits, kinds)):
            reasons.setdefault(f"not for {request.given['pool'].text}", []).append(spec)
    left_out = [spec for left in reasons.values() for spec in left]
    if len(left_out) == len(specs):
        return specs  # the first one's own message says why
    for reason, left in reasons.items():
        names = ", ".join(spec.name for spec in left)
        warnings.warn(f"skipped ({reason}): {names}", stacklevel=2)
    return [spec for spec in specs if spec not in left_out]


def _exec(request: Request) -> dict[str, Any]:
    name = conf.known_option("exec", request.value("exec"), "executor")
    options = parameters(conf.read("exec", name), conf.file("exec", name))
    values = {"name": name, **{option: parameter.value for option, parameter in options.items()}}
    for option, override in request.parts("exec").items():
        if option not in options:
            hint = suggest(option, options) or f"; it has {', '.join(options) or 'none'}"
            raise UserError(f"{override.text}: exec={name} has no option '{option}'{hint}")
        values[option] = override.checked(options[option].check)[0]
    return values
