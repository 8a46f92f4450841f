"""The sections of a paper: its answer, its tables with the published values, its figures and claims."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from omkl.config.parameters import word_text
from omkl.errors import OmklError, UserError, counted
from omkl.pages.documents import Filed, Page, Section
from omkl.pages.runs import origin_sections
from omkl.publications.claims import UNKNOWN, YES, claims_of
from omkl.publications.compare import AGREES, DIFFERS, Compared, compare_rows
from omkl.publications.data_sizes import sizes
from omkl.publications.digest import digest
from omkl.publications.paper import FEW, Item, Paper, Run, as_list, enumerated
from omkl.publications.paper import KINDS as OF_ITEMS
from omkl.publications.paper_figures import paper_figure, selected
from omkl.publications.paper_tables import KINDS, best_warnings, comparison_warnings
from omkl.publications.selection import PaperPlans, Selection, plans_of
from omkl.publications.tuned import older, tuned_runs, tuning_rule
from omkl.reports.captions import some
from omkl.reports.pairwise import comparison
from omkl.reports.results_table import INCOMPLETE
from omkl.runs.runner import stored_plans
from omkl.runs.tuning import MANY, MORE_TRIALS, TRIALS

if TYPE_CHECKING:
    from omkl.store.outcome import Outcome


TABLES = tuple(OF_ITEMS["tables"])


def _work(paper: Paper, selection: Selection) -> PaperPlans:
    every = [*paper.tables.values(), *paper.figures.values(), *paper.claims.values()]
    return plans_of(paper, [item for item in every if item.kind != "sizes"], selection)


def run_paper(paper: Paper, selection: Selection, **how: Any) -> "Outcome":
    """Run the missing cells of all that a paper's page shows; how: of ``PaperPlans.run``.

    Raises OmklError where one failed, and KeyboardInterrupt; the store keeps the rest.
    """
    outcome = _work(paper, selection).run(**how)
    if outcome.interrupted:
        raise KeyboardInterrupt
    if outcome.failed:
        first = outcome.failed[0]
        where = f"{first.get('algo')} on {first.get('data')}: {first.get('error')}"
        raise OmklError(f"{paper.name}: {counted(len(outcome.failed), 'cell')} failed, first {where}")
    return outcome


def paper_page(paper: Paper, selection: Selection, command: str, outcome: "Outcome | None" = None) -> Page:
    """Return the page of a paper, or of a selection of it.

    command: as typed    outcome: of `run_paper`; None takes what the store holds
    Raises UserError where the store holds no cell of it, or none of its data are available.
    """
    work = _work(paper, selection)
    warnings: list[str] = []
    if not work.plans:
        raise UserError(f"{paper.name}: none of its data sets is available")
    lenient = outcome is None or bool(work.pending)
    if outcome is None:
        outcome, warnings = stored_plans(work.plans)
    if outcome.cells.empty:
        verb = "table" if any(item.kind != "sizes" for item in paper.tables.values()) else "figure"
        items = paper.tables if verb == "table" else paper.figures
        first = next(item for item in items.values() if item.kind != "sizes")
        some = f"`{selection.command(verb, first.name, first)}` computes some of them"
        raise UserError(f"the store {work.plans[0].store} holds none of the cells of {paper.name}; {some}")
    page = _Parts(paper, selection, work, outcome)
    sections = page.tables("digest")
    rule, exceptions = tuning_text(paper) if tuned_runs(paper) else ([], [])
    sections += [Section("The rule", texts=rule, numbered=True)] * bool(rule)
    sections += page.tables(*(kind for kind in TABLES if kind not in ("digest", "best")))
    sections += [page.figure(item) for item in paper.figures.values()]
    if paper.claims:
        sections.append(page.claims(lenient))
    if paper.deviations and not rule:
        sections.append(Section("Deviations from the paper", texts=paper.deviations, numbered=True))
    sections += [replace(section, rest=True) for section in page.tables("best")]
    if exceptions:
        sections.append(Section("Exceptions from the rule", texts=exceptions, numbered=True, origin=True))
    sections += origin_sections(outcome.cells, work.plans)
    return Page(
        paper.name,
        paper.title,
        sections,
        [paper.cite],
        command,
        [*warnings, *page.warnings],
        paper_answer(paper, page.verdicts, page.claimed),
        list(dict.fromkeys(command for part in work.parts for command in part.run.commands)),
    )


def _stem(item: Item) -> str:
    return f"table-{item.number or item.paper}"


class _Parts:
    """The sections of a paper, made of the cells of an outcome; gathers their warnings and verdicts.

    verdicts: of the published values (compare)    claimed: the claims, each with its verdict
    """

    def __init__(self, paper: Paper, selection: Selection, work: PaperPlans, outcome: "Outcome") -> None:
        self.paper, self.selection, self.work, self.outcome = paper, selection, work, outcome
        self.verdicts: list[str] = []
        self.claimed: list[dict[str, Any]] = []
        self._titles: dict[str, list[str]] = {}
        self._lacking: dict[str, str] = {}  # the command that completes it, by title

    def tables(self, *kinds: str) -> list[Section]:
        """Return the sections of the tables of some kinds."""
        return [self.table(item) for item in self.paper.tables.values() if item.kind in kinds]

    def table(self, item: Item) -> Section:
        """Return the section of a table; one that cannot be made says why."""
        command = self.selection.command("table", item.name, item)
        if item.kind == "sizes":
            listed = sizes(self.paper, item, self.selection)
            return Section(listed.title, [Filed(_stem(item), listed.table)])
        if item.kind == "digest":
            answers = digest(self.paper, item, self.selection, stored=True)
            self._warn(answers.title, answers.table.warnings, f"omkl tune {self.paper.name}")
            return Section(answers.title, [Filed(_stem(item), replace(answers.table, warnings=()))])
        return self._compared_table(item, command)

    def _compared_table(self, item: Item, command: str) -> Section:
        """Return the section of a table whose rows may be compared with published ones."""
        try:
            compared = self._compared(item, command)
        except UserError as error:  # nothing of it is tuned yet
            return Section(item.titled(), texts=[f"Not made: {error}."])
        if item.kind in ("best", "matrix") and compared.summary.empty:
            return Section(compared.title, texts=["Not made: none of its learners is tuned yet."])
        try:
            table = KINDS[item.kind](compared)
        except UserError as error:  # the learner that all are compared with has not finished
            return Section(compared.title, texts=[f"Not shown: {error}."])
        is_best = item.kind in ("best", "matrix")
        warnings = best_warnings(compared) if is_best else comparison_warnings(compared)
        self._warn(compared.title, warnings, f"omkl tune {self.paper.name}" if is_best else command)
        self.verdicts += compared.verdicts
        return Section(compared.title, [Filed(_stem(item), replace(table, warnings=()))])

    def figure(self, item: Item) -> Section:
        name = f"{self.paper.name}-figure-{item.number}"
        command = self.selection.command("figure", item.name, item)
        try:
            drawn = paper_figure(selected(self._compared(item, command)), name)
        except UserError as error:  # nothing has finished, or there are too few data sets for ranks
            return Section(item.titled(), texts=[f"Not drawn: {error}."])
        comparisons = [comparison(drawn.ranks)] if drawn.ranks else []
        if drawn.instead:
            return Section(drawn.title, comparisons, [drawn.instead])
        return Section(drawn.title, [Filed(f"figure-{item.number}", drawn), *comparisons])

    def claims(self, lenient: bool) -> Section:
        checked = claims_of(self.paper, self.selection, self.work, self.outcome, lenient)
        records: Any = checked.table.records
        self.claimed = records
        command = self.selection.command("claims", self.paper.name, *self.paper.claims.values())
        for line, warnings in zip(checked.table.rows, checked.warnings, strict=True):
            self._warn(f"claim {line.cells[0]}", warnings, command)
        return Section("Claims", [Filed("claims", checked.table)])

    def _compared(self, item: Item, command: str) -> Compared:
        return compare_rows(self.paper, item, self.work, self.outcome, command)

    def _warn(self, title: str, warnings: Sequence[str], command: str) -> None:
        for warning in warnings:
            if warning.startswith(INCOMPLETE):
                self._lacking[title] = command
            else:
                self._titles.setdefault(warning, []).append(title)

    @property
    def warnings(self) -> list[str]:
        """Each warning once, with the titles of its tables and claims where they are few.

        That repetitions are missing is one, whatever they are missing in.
        """
        of = {w: "" if len(titles) > 3 else f"{'; '.join(titles)}: " for w, titles in self._titles.items()}
        warnings = [f"{titles}{warning}" for warning, titles in of.items()]
        if self._lacking:
            commands = [f"`{command}`" for command in dict.fromkeys(self._lacking.values())]
            run = f"{enumerated(commands)} run{'s' * (len(commands) == 1)} them"
            titles = some(list(self._lacking), "; ", 4)
            warnings.append(f"{INCOMPLETE}: repetitions are missing in {titles}. {run}")
        return warnings


# ------------------------------------------------------------------ what a paper's page says of its numbers

RULE = (
    "Each learner has {trials} on each data set: its default in each size of its ranges, all of them with "
    "features as they come, scaled online and as ranks, and settings from the ranges in its file in "
    "conf/algo (`search`). Half of them are drawn from all of the ranges, the others near the best so far. "
    "Widths of kernels are multiples of the median distance of the rows so far; a learner with a pool takes "
    "one among its usual one and {pools}. For numbers the scaling of the targets is searched, too.",
    "The first half races on {rungs} prefixes of the stream, each {eta} times as long as the one before, "
    "none shorter than {least} examples, the last the whole stream: one trial in {eta} goes on. The others "
    "run on the whole stream.{cost}{longest} On streams of at most {small} examples all trials run on one "
    "half of the rows, and the tables are about the other half.",
    "The default, in its sizes and scalings, and one trial in {most} are judged by their mean error over "
    "{permutations} that no table shows; on such streams all trials are, over four. So is the best of them "
    "in each other size. In time order the trials "
    "see the first third of the stream, and the tables are about the rest. So tuning costs labelled rows "
    "beside those that the tables count: as many again on short streams, half as many in time order, and "
    "elsewhere the same rows in other orders.",
)
COST = " A setting that costs more than {cost:g} times as much as `auto` on the same rows does not go on."
LONGEST = " A setting whose pass would take more than {longest:g} s does not go on."
ROUNDS = "the first {rounds} examples of each permutation are run"
REPS = "{reps} passes are reported"
FEWER = " (fewer, but at least {fewest}, where together they take a tuned learner more than {seconds:g} s)"
EXCEPTIONS = "The exceptions are at the end of the page."
OTHER = "Other rules hold for {learners} on {data}: {changes}."
OLDER = (
    "The ranges of these learners in conf/algo have changed since they were tuned: {learners}. "
    "`omkl tune {paper} --fresh` tunes all again."
)


# -------------------------------------------------------------------- what a reader takes home


# So begin the titles of claims that are counted apart: of another reading, of other kernels, of ours.
APART_FROM = ("as printed", "with cosine-normalised kernels", "beyond the paper")
_COUNTS = ("no reason", "one reason", "two reasons", "three reasons", "four reasons", "five reasons")


def paper_answer(paper: Paper, verdicts: Sequence[str], claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a line on how much of a paper is reproduced, and the points of its ``answer``.

    verdicts: of the published values (compare)    claims: as their table holds them
    """
    counts: list[str] = []
    if verdicts:
        near, agreeing = len(verdicts) - verdicts.count(DIFFERS), verdicts.count(AGREES)
        counts.append(
            f"{near} of {len(verdicts)} published values (mistakes and #SV) lie within two published "
            f"standard deviations ({agreeing} agree by Welch's t-test, 5 %, not corrected)"
        )
    begins = [claim["text"].partition(": ")[0] for claim in claims]
    groups = [begin if begin in APART_FROM else "claims hold" for begin in begins]
    for name in ("claims hold", *APART_FROM):
        answers = [claim["verdict"] for claim, group in zip(claims, groups, strict=True) if group == name]
        doubtful = f" ({answers.count(UNKNOWN)} undecided)" if UNKNOWN in answers else ""
        counts += [f"{answers.count(YES)} of {len(answers)} {name}{doubtful}"] if answers else []
    lines = [f"{', '.join(counts)}."] if counts else []
    lines += [paper.instead] if paper.instead else []
    if verdicts and paper.answer:
        lines.append(f"The values further away have {_COUNTS[len(paper.answer)]}:")
    return [" ".join(lines), *paper.answer] if lines else list(paper.answer)


# -------------------------------------------------------------------- what is said of the numbers


def tuning_text(paper: Paper) -> tuple[list[str], list[str]]:
    """Return the rule by which a page's learners are tuned, in a few points, and the exceptions from it."""
    runs = [run for run in tuned_runs(paper) if tuning_rule(run)[0].trials != 1]  # which have no race
    by_rule = [(vars(rule), runs_alike) for rule, runs_alike in _alike(runs, lambda run: tuning_rule(run)[0])]
    usual = by_rule[0][0]
    points, exceptions = _points(usual), []
    for rule, runs_alike in by_rule:
        changes = [word_text(key, value) for key, value in rule.items() if value != usual[key]]
        if changes:
            names = list(dict.fromkeys(name for run in runs_alike for name in as_list(run.words["algo"])))
            learners = enumerated(names) if len(names) <= FEW else f"{len(names)} learners"
            exceptions.append(
                OTHER.format(learners=learners, data=_sets(runs_alike), changes=", ".join(changes))
            )
    cuts = []
    for text, groups in ((ROUNDS, _alike(runs, _rounds)), (REPS, _alike(runs, _reps))):
        for place, (values, runs_alike) in enumerate(groups):
            said = text.format(**values)
            if text == REPS and values["seconds"] and values["reps"] > values["fewest"]:
                said += FEWER.format(**values)
            if place:
                exceptions.append(f"{said[:1].upper()}{said[1:]} on {_sets(runs_alike)}.")
            else:
                cuts.append(said)
    if changed := [f"{learner} on {data}" for run in runs for data, learner in older(run)]:
        exceptions.append(OLDER.format(learners=", ".join(changed), paper=paper.name))
    exceptions = [*dict.fromkeys(exceptions), *paper.deviations]
    said = ", and ".join(cuts)
    points.append(f"{said[:1].upper()}{said[1:]}.")
    return points + [EXCEPTIONS] * bool(exceptions), exceptions


def _points(rule: Mapping[str, Any]) -> list[str]:
    """Return the points of a rule, by the keys of conf/tune.yaml."""
    passes, longest, cost = rule["passes"], rule["longest"], rule["cost"]
    more = "" if rule["trials"] else f" ({MORE_TRIALS} where {MANY} or more numbers are searched)"
    values = {
        **rule,
        "trials": counted(rule["trials"] or TRIALS, "trial") + more,
        "pools": enumerated(list(rule["pools"])),
        "most": rule["eta"] ** 2,
        "permutations": "one permutation" if passes == 1 else f"{passes} permutations",
        "longest": "" if longest is None else LONGEST.format(longest=longest),
        "cost": "" if cost is None else COST.format(cost=cost),
    }
    return [text.format(**values) for text in RULE]


def _rounds(run: Run) -> dict[str, Any] | None:
    return {"rounds": run.words["rounds"]} if "rounds" in run.words else None


def _reps(run: Run) -> dict[str, Any]:
    cuts = tuning_rule(run)[1]
    return {"reps": int(run.words.get("reps", 1)), "seconds": cuts.seconds, "fewest": cuts.fewest}


def _alike(runs: Iterable[Run], value: Callable[[Run], Any]) -> list[tuple[Any, list[Run]]]:
    """Return the runs that share a value, those without one left out; first that with the most learners."""
    groups: list[tuple[Any, list[Run]]] = []
    for run in runs:
        if (key := value(run)) is None:
            continue
        same = next((members for other, members in groups if other == key), None)
        if same is None:
            groups.append((key, [run]))
        else:
            same.append(run)
    groups.sort(key=lambda pair: -max(len(as_list(run.words["algo"])) for run in pair[1]))
    return groups


def _sets(runs: Iterable[Run]) -> str:
    return enumerated(list(dict.fromkeys(name for run in runs for name in run.data)))
