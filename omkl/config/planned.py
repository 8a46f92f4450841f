"""The rows of a plan: what is to be averaged, and under which keys the store has it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from omkl.config.words import Setting

if TYPE_CHECKING:
    from omkl.data import DataRef


class Group(NamedTuple):
    """What rows share that compete: a data set's name and hash, order, rounds, hash of what is held out.

    rounds: of each repetition, as ``0:5000``, empty for all; with what is held out, as ``test=0.2``
    """

    data: str
    content: str
    order: str
    rounds: str
    held_out: str


@dataclass(frozen=True)
class PlannedRow:
    """A setting of a plan on one of its data sets, and the keys of its repetitions.

    asked: repetitions, as many as keys; without keys where these depend on a size that is not known yet
    """

    group: Group
    ref: "DataRef"
    setting: Setting
    is_yardstick: bool
    keys: tuple[str, ...]
    asked: int


def rounds_text(part: object, test: object = None) -> str:
    """Return a part of the stream as ``0:5000``, empty for all of it; with what is held out, where it is."""
    rounds = ":".join(map(str, part)) if isinstance(part, list | tuple) else ""
    return " ".join(filter(None, (rounds, f"test={test}" if isinstance(test, str) else "")))
