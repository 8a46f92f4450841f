"""What making a table comes to."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from omkl.run.runner import Outcome


@dataclass(frozen=True)
class Made:
    """A table or the like: its text in a format, its rows, what the run came to (None where nothing ran).

    title: with the data that are in it
    """

    text: Callable[[str], str]
    rows: "pd.DataFrame"
    outcome: "Outcome | None" = None
    title: str = ""
