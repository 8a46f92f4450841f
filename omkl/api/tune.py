"""Tuned learners: the best settings of each on each data set, what they are worth, and how to run them."""

import json
import shlex
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from omkl.api.call import Call
from omkl.api.own import ChosenLearner
from omkl.api.results import Results, Shown, run_call
from omkl.config import Plan, Setting, learner_spec, pool_names
from omkl.config.parameters import params_text, word_text
from omkl.config.request import settings_yaml
from omkl.config.words import SCALES, Override
from omkl.errors import UserError, counted, quoted
from omkl.files import write_text
from omkl.paths import extensions
from omkl.reports.results_table import digits_of, spread
from omkl.reports.table import Table
from omkl.reports.table_cells import MISSING, Column, Spread
from omkl.runs.runner import run_plans
from omkl.runs.search import axes
from omkl.runs.tuning import Race, Rule, Tuned, assumed, races, rule_keys, rule_of, run_races
from omkl.tasks import MEASURES, TASK_ERROR, judging

if TYPE_CHECKING:
    import pandas as pd

_APART = ("algo", "data", "settings", "rounds", "store", "exec")  # keys that a settings file has no words of
RULE = (
    "rule: {trials}; one in {eta} goes on to a prefix {eta} times as long, {rungs} in all; "
    "{passes} of one in {most} decide"
)


@dataclass(frozen=True)
class Study:
    """What is to be tuned: the races of a call, before anything runs."""

    call: Call
    plan: Plan
    rule: Rule
    races: tuple[Race, ...]
    fixed: tuple[str, ...]

    @classmethod
    def of(cls, call: Call) -> "Study":
        """Return the races of a call. Raises UserError for what is not right, before any work."""
        call.check_options(rule_keys())
        line = call.line("tune")
        typed = {word.partition("=")[0] for word in call.words}
        of_rule = {key: value for key, value in call.values.items() if key in rule_keys()}
        beside = [word_text(key, value) for key, value in of_rule.items() if key not in typed]
        rule, words = rule_of([*beside, *call.words])
        values = {key: value for key, value in call.values.items() if key not in of_rule}
        call = replace(call, words=words, values=values, typed=line).searching()
        fixed = _fixed(call.request(True, rule_keys()).given)
        plan = call.plan()
        plan.warn_of_data()
        return cls(call, plan, rule, tuple(races(plan, rule, fixed)), tuple(fixed))

    @property
    def plans(self) -> list[Plan]:
        """The plans of all that runs, where the first trials win."""
        trials = assumed(list(self.races), reported=2)
        return trials + [self._held(races, ()) for races in self._by_data()]

    def _by_data(self) -> list[list[Race]]:
        """Return the races of each data set."""
        groups = ([race for race in self.races if race.held.data == (data,)] for data in self.plan.data)
        return [races for races in groups if races]

    def _held(self, races: Sequence[Race], settings: Iterable[Setting]) -> Plan:
        """Return the plan of settings and yardsticks on what is reported of a data set."""
        reported = races[0].held
        return replace(reported, settings=tuple(settings), yardsticks=self.plan.yardsticks)

    def run(self, **how: Any) -> "Tuning":
        """Run the races and what is reported, data set by data set; how: jobs, fresh, progress."""
        ends: list[Tuned] = []
        results: list[tuple[Results, Results]] = []
        broken: list[dict[str, Any]] = []
        interrupted = False
        for races_of_set in self._by_data():
            try:
                race_ends, lines = run_races(races_of_set, **how)
            except KeyboardInterrupt:
                interrupted = True
                break
            name = races_of_set[0].held.data[0].name
            best = [self._best(end, name) for end in race_ends]
            plans = [self._held(races_of_set, best)]
            plans += [replace(plans[0], settings=tuple(race.first for race in races_of_set), yardsticks=())]
            outcome = run_plans(plans, **how)
            broken += [*lines, *outcome.failed]
            ends += race_ends
            by = self.rule.by or ""
            tuned, first = (Results.stored(plan, self.call.line("tune")).by(by) for plan in plans)
            results.append((tuned, first))
            if interrupted := outcome.interrupted:
                break
        return Tuning(self, tuple(ends), tuple(results), tuple(broken), interrupted)

    def _best(self, end: Tuned, data: str) -> Setting:
        names = [axis.name for axis in axes(learner_spec(end.setting.learner), end.task, self.fixed)]
        names += _searched(end)
        return replace(end.setting, data=(data,), per_data=tuple(dict.fromkeys(names)))


def _fixed(given: Mapping[str, Override]) -> list[str]:
    """Return what words keep from being tuned. Raises UserError for several values of one key."""
    for key, override in given.items():
        if key.startswith(("algo.", "pool.")) and len(override.values) > 1:
            raise UserError(
                f"{override.text}: tune keeps one value of {key}; leave it out to tune {key}, "
                "or run a grid with `omkl sweep`"
            )
    fixed = [key.removeprefix("algo.") for key in given if key.startswith("algo.")]
    fixed += ["pool"] if any(key.partition(".")[0] == "pool" for key in given) else []
    fixed += [key for key in SCALES if key in given]
    if "algo" in given and "settings" not in given:
        settings = [value for value in given["algo"].values if isinstance(value, Setting)]
        for one in settings:
            searched = one.spec.hyperparameters if one.spec.is_object else ()
            names = [name for name in (*one.params, *one.scaling) if name not in searched]
            fixed += [f"{one.learner}.{name}" for name in names]
        fixed += [f"{one.learner}.pool" for one in settings if one.pool]
    return fixed


@dataclass(frozen=True, repr=False)
class Tuning(Shown):
    """The best settings of learners, and what they are worth on permutations that no trial has seen.

    In a terminal its text is the command's table, in a notebook its HTML.

    Attributes
    ----------
    table : pandas.DataFrame
        A row for each data set and learner: its best setting, its error and that of the first setting.
    settings : list
        The learners with their best settings, as `omkl.run(algo=...)` takes them.
    results : Results
        The learners with these settings, next to the yardsticks.
    """

    study: Study
    ends: tuple[Tuned, ...]
    parts: tuple[tuple[Results, Results], ...]
    failed: tuple[dict[str, Any], ...] = ()
    interrupted: bool = False
    inner = frozenset({"ends", "first", "interrupted", "parts", "rows", "study"})

    @cached_property
    def results(self) -> Results:
        return _sum(tuned for tuned, _ in self.parts)

    @cached_property
    def settings(self) -> list[ChosenLearner]:
        return [self._choice(end) for end in self.ends if end.found]

    @cached_property
    def table(self) -> "pd.DataFrame":
        import pandas as pd

        return pd.DataFrame(self.rows)

    @property
    def first(self) -> str:
        """What the first setting of each learner is called: ``given`` where words set some of it."""
        return "given" if self.study.fixed else "default"

    # ------------------------------------------------------------------ using the settings

    def run(self, **changes: Any) -> Results:
        """Run the learners with their best settings, next to the yardsticks.

        Parameters
        ----------
        changes
            As in `omkl.run`, such as ``reps=20`` or ``jobs=2``; the rest is as it was tuned.
        """
        by_part: dict[tuple[tuple[str, str], ...], list[Tuned]] = {}
        for end in self.ends:
            by_part.setdefault(tuple(self._part(end).items()), []).append(end)
        race_ends = []
        for part, ends in by_part.items():
            data = list({end.data.word: end.data for end in ends}.values())
            chosen = [self._choice(end) for end in ends if end.found]
            values = {**self._words(("store", "exec")), **dict(part), **changes}
            how = {key: values.pop(key) for key in ("jobs", "fresh", "progress") if key in values}
            call = Call.of("", data, algo=chosen, **values)
            race_ends.append(run_call(call, **how))
        return _sum(race_ends)

    def save(self, path: str | Path) -> Path:
        """Write the settings as a file that ``settings=FILE`` takes, and return its path."""
        target = Path(path)
        if target.suffix not in (".yaml", ".yml"):
            raise UserError(f"{target}: the name of a settings file must end in .yaml")
        if not self.settings:
            raise UserError(f"{target} is not written: {self._without_value() or 'nothing was tuned'}")
        halved = [end.data.word for end in self.ends if end.race.held.order == "halves"]
        if halved:
            few = ", ".join(dict.fromkeys(halved))
            why = f"the trials knew half of the rows of {few}; order=halves rounds=0.5: takes the other half"
            warnings.warn(f"{target} is for all rows: {why}", stacklevel=2)
        parts = [{} if end.race.held.order == "halves" else self._part(end) for end in self.ends]
        if any(part != parts[0] for part in parts):
            why = "the reported rounds differ between data sets"
            raise UserError(f"{target}: {why}; tune one data set at a time")
        words = self._words() | parts[0]
        chosen = [one for one in self.settings if not one.spec.is_object]
        if len(chosen) < len(self.settings):
            warnings.warn(
                f"{target} does not contain the estimators that were given as objects", stacklevel=2
            )
        write_text(target, settings_yaml(chosen, words, self.study.call.line("tune")))
        return target

    def _part(self, end: Tuned) -> dict[str, str]:
        """Return the words of what is reported of a race, where it is not the whole of the data."""
        held, given = end.race.held, "rounds" in self.study.call.request().given
        if held.order == "halves":
            return {"order": "halves", "rounds": "0.5:"}
        return {"rounds": str(held.rounds)} if given or held.order == "file" else {}

    def _words(self, also: Sequence[str] = ()) -> dict[str, Any]:
        """Return the further words of the call as plain values by key; also: keys of which they are, too."""
        given = self.study.call.request().given
        apart = [key for key in _APART if key not in also]
        if not any(key.startswith("pool.") for key in given):
            apart.append("pool")  # each learner names its own
        return {
            key: override.values[0] if len(override.values) == 1 else list(override.values)
            for key, override in given.items()
            if key.partition(".")[0] not in apart
        }

    @staticmethod
    def _scaling(end: Tuned) -> dict[str, Any]:
        """Return how the best setting scales its streams otherwise than the first, as words."""
        best, first = end.setting.scaling, end.race.first.scaling
        return {name: best.get(name, "none") for name in SCALES if best.get(name) != first.get(name)}

    def _choice(self, end: Tuned) -> ChosenLearner:
        setting, spec = end.setting, learner_spec(end.setting.learner)
        names = {axis.name for axis in axes(spec, end.task, self.study.fixed)}
        names |= spec.unusual(setting.params, end.task).keys()
        params = {name: value for name, value in setting.params.items() if name in names}
        pool = setting.pool if setting.pool and setting.pool["name"] in pool_names() else None
        scaling = {name: setting.scaling.get(name, "none") for name in _searched(end)}
        return ChosenLearner(spec.name, params, pool, setting.label, (end.data.word,), scaling=scaling)

    # ------------------------------------------------------------------ what they are worth

    @cached_property
    def rows(self) -> list[dict[str, Any]]:
        """Plain values of each data set and learner."""
        return [self._row(end) for end in self.ends]

    def _row(self, end: Tuned) -> dict[str, Any]:
        setting, spec = end.setting, learner_spec(end.setting.learner)
        summary = self._found(end, 0, setting) or self._found(end, 1, end.race.first)
        measure = MEASURES[summary["measure"]] if summary else TASK_ERROR[end.task]
        row = {
            "data": end.data.word,
            "algo": spec.name,
            "label": setting.label or spec.label,
            "pool": setting.pool and setting.pool["name"],
            "measure": measure.header,
            "by": measure.name,
            "params": setting.stored,
            "settings": params_text(spec.unusual(setting.params, end.task) | self._scaling(end)),
        }
        for name, at, chosen in (("default", 1, end.race.first), ("tuned", 0, setting)):
            found = self._found(end, at, chosen)
            for part in ("mean", "std"):
                value = found.get(f"{measure.name}_{part}")
                row[f"{name}_{part}"] = None if value is None or value != value else float(value)
        return row | {
            "reps": int(self._found(end, 0, setting).get("reps", 0)),
            "trials": end.trials,
            "failed": end.failed,
            "rounds": end.race.lengths[end.rung],
            "seconds": end.seconds,
            "command": self._command(end),
        }

    @cached_property
    def _summaries(self) -> dict[tuple, dict[str, Any]]:
        """The rows of the tables of the tuned (0) and of the first settings (1), by what they are of."""
        return {
            (which, row.group.content, row.setting.identity): record
            for pair in self.parts
            for which, results in enumerate(pair)
            for row, record in zip(results.rows, results.table.to_dict("records"), strict=True)
        }

    def _found(self, end: Tuned, which: int, setting: Setting) -> dict[str, Any]:
        return self._summaries.get((which, end.data.content_hash, setting.identity), {})

    def _command(self, end: Tuned) -> str:
        """Return the `omkl run` of the best setting on what is reported: its cells are in the store.

        There is none for an object.
        """
        setting, call = end.setting, self.study.call
        if learner_spec(setting.learner).is_object:
            return ""
        words = [f"algo={setting.learner}", f"data={end.data}"]
        unusual = learner_spec(setting.learner).unusual(setting.params, end.task)
        words += [word_text(f"algo.{name}", value) for name, value in unusual.items()]
        words += [word_text(name, word) for name, word in self._scaling(end).items()]
        if setting.pool and setting.pool != end.race.first.pool:
            words.append(f"pool={setting.pool['name']}")
        part = self._part(end)
        dropped = ("algo", "data", "rounds", "settings", *part, *(() if setting.pool else ("pool",)))
        given = {
            key: override
            for key, override in call.request().given.items()
            if key.partition(".")[0] not in dropped
        }
        typed = {word.partition("=")[0]: word for word in call.words}
        words += [typed.get(key) or word_text(key, override.values) for key, override in given.items()]
        words += [word_text(key, value) for key, value in part.items()]
        words += [word for folder in extensions() for word in ("--with", str(folder))]
        return shlex.join(["omkl", "run", *words])

    # ------------------------------------------------------------------ as a table

    def report_table(self) -> Table:
        """Return the table for readers: the tuned learners with the errors of their first settings."""
        results = self.results.report_table()
        columns, contents = zip(*self._columns(results), strict=True)
        lines = zip(*contents, strict=True)
        return replace(
            results,
            columns=columns,
            rows=[replace(row, cells=cells) for row, cells in zip(results.rows, lines, strict=True)],
            terms=[*results.terms, *self._terms()],
            findings=self._findings(),
            least=("n_sv_combined", "n_sv_union", "seconds", "tuning", "trials", "n_sv_sum"),
            records={"rule": asdict(self.study.rule), "tuned": self.table, **dict(results.records)},  # type: ignore[arg-type]
            flat=self._flat,
        )

    def _columns(self, results: Table) -> Iterator[tuple[Column, Sequence[str | Spread]]]:
        """Yield the columns of a table of the tuned learners, with those of their tuning.

        results: their table; settings, and errors of the first ones, go before the first error
        """
        tuned = self._tuned_rows()
        names = [column.name for column in results.columns]
        of_others = [
            row.cells[names.index("settings")] if "settings" in names else "" for row in results.rows
        ]
        first_error = next((at for at, column in enumerate(results.columns) if column.marks), None)
        for at, column in enumerate(results.columns):
            if at == first_error:
                best = [
                    (self._best_text(row) if row else "") or str(cell)
                    for row, cell in zip(tuned, of_others, strict=True)
                ]
                yield Column("settings", "best setting", "left", wraps=True), best
                yield Column(self.first, self.first), [_first(row) for row in tuned]
            if column.name != "settings":
                yield column, [row.cells[at] for row in results.rows]
        yield Column("trials", "trials"), [_trials(row) for row in tuned]
        yield Column("tuning", "tuning s"), [f"{row['seconds']:.3f}" if row else "" for row in tuned]

    def _tuned_rows(self) -> list[dict[str, Any] | None]:
        """Return for each row of the results the values of its tuning, None for a yardstick."""
        values = {(end.data.content_hash, end.setting.identity): row for end, row in self._pairs()}
        return [
            None if row.is_yardstick else values.get((row.group.content, row.setting.identity))
            for row in self.results.rows
        ]

    def _pairs(self) -> Iterable[tuple[Tuned, dict[str, Any]]]:
        return zip(self.ends, self.rows, strict=True)

    def _best_text(self, row: dict[str, Any]) -> str:
        return row["settings"] or ("the default" if self.first == "default" else "")

    def _terms(self) -> list[tuple[str, str]]:
        return [
            (self.first, f"the error with the {self.first} settings, on the same permutations"),
            ("trials", f"settings that were tried, the {self.first} one first"),
            ("tuning s", "learner time of all their passes"),
        ]

    def _findings(self) -> list[str]:
        """Return what is to be known of the races."""
        rows = self.rows
        lines = []
        if any(row["trials"] > 1 for row in rows):
            orders = {end.race.held.order for end in self.ends}
            apart = {
                "file": "on rounds after those of the trials",
                "halves": "on rows that no trial has seen",
            }
            places = [apart.get(order, "on permutations that no trial has seen") for order in sorted(orders)]
            lines = [*self._rules(), f"The errors are those {' or '.join(dict.fromkeys(places))}."]
        alone = list(dict.fromkeys(row["label"] for row in rows if row["trials"] == 1))
        lines += [f"nothing to tune for {', '.join(quoted(alone))}"] if alone else []
        return lines + [text for text in [self._without_value()] if text]

    def _without_value(self) -> str:
        """Return a sentence about the learners of which no trial could be judged, "" where there are none."""
        names = {f"{row['label']} on {row['data']}": end for end, row in self._pairs() if not end.found}
        if not names:
            return ""
        measure = judging(self.study.rule.by).word if self.study.rule.by else "error"
        return (
            f"no trial of {', '.join(quoted(names))} has a {measure}, so none was chosen; "
            "see `omkl status` for cells that failed, or compare by another measure (by=)"
        )

    def _rules(self) -> list[str]:
        """Return how the trials of these data sets raced."""
        rule, races = self.study.rule, [end.race for end in self.ends]
        cut = any(race.whole > race.looks for race in races)
        trials = counted(max(end.trials for end in self.ends), "trial")
        words = {"trials": trials, "passes": counted(rule.passes, "pass"), "most": rule.eta**2}
        lines = [RULE.format(**asdict(rule) | words)] if cut else []
        if whole := [race for race in races if race.whole == race.looks]:
            names = "" if not cut else f" on {', '.join(dict.fromkeys(r.held.data[0].name for r in whole))}"
            passes = max(race.rungs[-1].reps for race in whole)
            halves = any(race.held.order == "halves" for race in whole)
            how = f"{trials} of {counted(passes, 'pass')}"
            lines.append(f"rule{names}: {how} of {'one half of the rows' if halves else 'all rounds'}")
        return lines

    def _flat(self) -> list[dict[str, Any]]:
        return [{**row, "params": json.dumps(row["params"], sort_keys=True)} for row in self.rows]

    def render(self, fmt: str = "table") -> str:
        """Return the table as text, with the commands that run the best settings below it."""
        text = self.report_table().render(fmt) if self.parts else ""
        if fmt not in ("table", "markdown") or not self.rows:
            return text
        if self.study.call.data:  # in memory, where no command finds them
            return f"{text}\n.run(reps=20) runs the best settings, .save(FILE) keeps them\n"
        if not any(row["command"] for row in self.rows):  # of objects
            return f"{text}\n.run(reps=20) runs the best settings\n"
        lines = "".join(f"  {row['command']}\n" for row in self.rows if row["command"])
        code = ("```\n", "```\n") if fmt == "markdown" else ("", "")
        return f"{text}\nrun the best settings:\n{code[0]}{lines}{code[1]}"


def _searched(end: Tuned) -> list[str]:
    """Return which of ``scale`` and ``target`` the trials of a race differed in."""
    scalings = end.race.space.scalings
    return [name for name in SCALES if len({scaling.get(name) for scaling in scalings}) > 1]


def _sum(results: Iterable[Results]) -> Results:
    first, *others = results
    return sum(others, first)


def _first(row: dict[str, Any] | None) -> str | Spread:
    """Return the error of the first setting."""
    if row is None:
        return ""
    mean, std = row["default_mean"], row["default_std"]
    if mean is None:
        return MISSING
    return spread(mean, float("nan") if std is None else std, digits_of(MEASURES[row["by"]], mean))


def _trials(row: dict[str, Any] | None) -> str:
    if row is None:
        return ""
    return f"{row['trials']} ({row['failed']} failed)" if row["failed"] else str(row["trials"])
