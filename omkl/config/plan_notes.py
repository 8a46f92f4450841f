"""Notes on plans (`omkl.config.Plan`): rare classes, equal repetitions, what is left out or held out."""

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from omkl.config.learners import learner_spec
from omkl.config.members import MOST_BYTES, members_of
from omkl.data import registry
from omkl.data.dataset import Dataset
from omkl.data.held_out import Test, held_out_stream, other_data
from omkl.data.orders import order
from omkl.errors import counted, shortlist
from omkl.state.resource import FEW

if TYPE_CHECKING:
    from omkl.data import DataRef

MOST_NAMED = 5  # learners in a note
RARE = 0.1  # share of a class below which the mean error misleads


def rare_class(ref: "DataRef") -> tuple[str, float] | None:
    """Return the rarer of two classes and its share of the examples, None where that is RARE or more."""
    share = ref.known.positive_share if ref.task == "classification" and ref.n_classes == 2 else None
    if share is None or not 0.0 < min(share, 1.0 - share) < RARE:
        return None
    return (ref.classes or ("-1", "+1"))[int(share < RARE)], min(share, 1.0 - share)


def note_on_rare(ref: "DataRef") -> str:
    """Return a note on a data set one of whose two classes is rare, "" for another."""
    if (found := rare_class(ref)) is None:
        return ""
    name, share = found
    says = f"{100 * share:.2g} % are {name}, so the mean error says little"
    return f"{ref.name}: {says}; see balanced %, or compare by another measure (by=auc)"


def notes_on_learners(plans: Sequence[Any]) -> list[str]:
    """Return notes on the learners of plans: repetitions that would be equal, matrices that are too large."""
    return [*_equal_repetitions(plans), *_diagonals(plans), *_left_out(plans), *_passing(plans)]


def _passing(plans: Iterable[Any]) -> list[str]:
    """Return a note on learners whose cells the store does not keep."""
    settings = [setting for plan in plans for setting in plan.settings]
    settings += [member for each in settings for member in members_of(each.spec, each.params)]
    specs = [setting.spec for setting in settings]
    if not (names := dict.fromkeys(spec.name for spec in specs if not getattr(spec, "is_kept", True))):
        return []
    return [
        f"{shortlist(list(names))}: computed anew in each call and not kept, as code of a notebook, a script "
        "or a function may change; cells of a class in a module of its own are kept"
    ]


def _diagonals(plans: Iterable[Any]) -> list[str]:
    """Return notes on the learners that keep only the diagonal of a matrix on a data set."""
    names: dict[tuple[str, int], dict[str, None]] = {}
    for plan in plans:
        for ref in plan.data if any(ref.d > FEW for ref in plan.data) else ():
            for setting in (*plan.settings, *plan.yardsticks):
                spec = learner_spec(setting.learner)
                fits = ref.d > FEW and setting.fits(ref.task, ref.name) and ref.task in spec.tasks
                if fits and setting.params.get("full", True) and spec.has_matrix_of_features:
                    names.setdefault((ref.name, ref.d), {})[spec.label] = None
    return [
        f"{data} has {d} features, more than {FEW}: {' and '.join(labels)} "
        f"keep{'s' * (len(labels) == 1)} the diagonal of the matrix alone"
        for (data, d), labels in names.items()
    ]


def _left_out(plans: Iterable[Any]) -> list[str]:
    """Return notes on stacks that leave out members whose arrays would be too large on a data set."""
    notes: dict[str, None] = {}
    for plan in plans:
        for setting in (setting for setting in plan.settings if setting.spec.is_stack):
            for ref in (ref for ref in plan.data if ref.task in setting.spec.tasks):
                members = members_of(setting.spec, setting.params)
                left = len(members) - len(members_of(setting.spec, setting.params, ref.d, ref.n_classes))
                if left:
                    notes[
                        f"{ref.name} has {ref.d} features: {setting.spec.label} leaves out {left} of its "
                        f"{len(members)} members, which may take more than {MOST_BYTES >> 20} MB each"
                    ] = None
    return list(notes)


def _equal_repetitions(plans: Iterable[Any]) -> list[str]:
    """Return notes on the learners of plans of which one repetition stands for all."""
    by_reps: dict[int, dict[str, None]] = {}
    for plan in plans:
        by_reps.setdefault(plan.reps, {}).update(dict.fromkeys(plan.repeated_once))
    notes = []
    for reps, names in ((reps, list(names)) for reps, names in by_reps.items() if names):
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        draw, their = ("draws", "its") if len(names) == 1 else ("draw", "their")
        notes.append(
            f"order=file: {', '.join(names[:MOST_NAMED])}{more} {draw} nothing, so {their} {reps} "
            "repetitions would be equal: 1 is run"
        )
    return notes


def held_out_notes(test: Test, data: "DataRef", rounds: str | None, kind: str, seed: int) -> list[str]:
    """Return notes on what is held out: what of it is new, and how many of its rows are learnt as well.

    rounds, kind, seed: those of a plan, and its order; a share is counted in the first repetition
    """
    if test is None or data.task == "novelty" or (data.is_registered and not isinstance(test, str)):
        return []
    rows, notes, of_which = list(_rows(data.load())), list[str](), ""
    if isinstance(test, str):
        other = other_data(test, data).load()
        learnt, held_out = set(rows), list(_rows(other))
        notes += [] if registry.is_name(test) else list(other.notes)
    else:
        with warnings.catch_warnings(action="ignore"):  # the run warns of the order itself
            places = order(data, kind, seed, 0)[0].tolist()
        stream, of_which = held_out_stream(data, rounds, test), " of the first repetition"
        assert stream.rounds is not None
        assert stream.test is not None
        learnt = {rows[place] for place in places[slice(*stream.rounds)]}
        held_out = [rows[place] for place in places[slice(*(stream.test.rows or ()))]]
    if count := sum(row in learnt for row in held_out):
        are = "is a row" if count == 1 else "are rows"
        of = f"{count} of {counted(len(held_out), 'test row')}{of_which} {are} of the data"
        notes.append(f"{data.name}: {of}, so learnt before the test")
    return notes


def _rows(dataset: Dataset) -> Iterator[bytes]:
    """Yield the features and the label of each row, as bytes."""
    indices, values = np.ascontiguousarray(dataset.indices), np.ascontiguousarray(dataset.values)
    for start, stop, y in zip(
        dataset.indptr[:-1].tolist(), dataset.indptr[1:].tolist(), dataset.y, strict=True
    ):
        yield indices[start:stop].tobytes() + values[start:stop].tobytes() + y.tobytes()
