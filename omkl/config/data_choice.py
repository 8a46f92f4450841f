"""Which data sets a request names, and how those of the user are prepared."""

import contextlib
import re
import shlex
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from omkl.config.request import Request
from omkl.data.preparation import Preparation
from omkl.errors import UserError

if TYPE_CHECKING:
    from omkl.data import DataRef

PREPARATION = tuple(own.name for own in fields(Preparation))  # keys of config.yaml
ONLINE = ("online", "online_minmax")  # scale= while the stream runs; the others are of a file as a whole


def prepared_words(text: str) -> list[str]:
    """Return the words of a preparation that cells hold as one types them, without the shell's quotes.

    Cells of older versions have none, although a column's name may hold blanks.
    """
    with contextlib.suppress(ValueError):  # a quote that is not closed
        words = shlex.split(text)
        if all(word.partition("=")[0] in PREPARATION for word in words):
            return words
    return [*filter(None, re.split(rf" (?=(?:{'|'.join(PREPARATION)})=)", text))]


def files(
    words: list[str], values: Mapping[str, Any] | None = None, data: "Sequence[DataRef | str]" = ()
) -> "list[DataRef]":
    """Return the data sets of ``data=``, or those given, with their preparation, read when first needed."""
    return chosen_data(Request(words, False, values), data)


def chosen_data(request: Request, data: "Sequence[DataRef | str]") -> "list[DataRef]":
    """Return the data sets of a request, each once; its settings go before those that a table has already.

    Raises UserError for settings that none can have, and for different data sets of one name in memory.
    """
    from omkl.data import find, registry
    from omkl.data.ref import Frame, Parsed, UserFile

    given: dict[str, Any] = {key: request.value(key) for key in PREPARATION}
    given |= {key: tuple(value) for key, value in given.items() if isinstance(value, list)}
    given |= {"scale": "none"} if given["scale"] in ONLINE else {}
    preparation = Preparation(**given)
    task = request.value("task")

    def prepared(one: "DataRef | str") -> "DataRef":
        if isinstance(one, str):
            return find(one, task=task, preparation=preparation)
        if not isinstance(one, UserFile | Frame):
            return one
        own = replace(one.preparation, **{key: given[key] for key in PREPARATION if key in request.given})
        return replace(one, task=task if "task" in request.given else one.task, preparation=own)

    refs = [prepared(one) for one in data or request.names("data", registry.names())]
    for ref in refs:
        if ref.is_registered and "task" in request.given and ref.task != task:
            raise UserError(
                f"{request.given['task'].text}: data={ref.name} is registered for {ref.task};"
                " task=... is for files of your own"
            )
    if all(ref.is_registered or isinstance(ref, Parsed) for ref in refs):
        names = ",".join(dict.fromkeys(map(str, refs)))
        is_so = "is registered" if refs[0].is_registered else "holds numbers"
        for key in (key for key in PREPARATION if key in request.given):
            if key != "scale" or request.value(key) not in (*ONLINE, "none"):
                rest = f"; {' and '.join(f'scale={own}' for own in ONLINE)} are for all data" * (
                    key == "scale"
                )
                text = request.given[key].text
                raise UserError(f"{text}: data={names} {is_so}; {key} is for your own table{rest}")
    chosen: dict[tuple[str, str], DataRef] = {}
    for ref in refs:
        known = chosen.setdefault((ref.name, ref.word), ref)
        if known is ref or (known.is_registered and ref.is_registered):
            continue
        if (known.content_hash, known.task) != (ref.content_hash, ref.task):
            how = "data={'one': ..., 'two': ...}"
            raise UserError(f"two data sets are called '{ref.name}'; name them, as in {how}")
    return list(chosen.values())


def distinct(refs: "Sequence[DataRef]") -> "tuple[DataRef, ...]":
    """Return the data sets, of those with the same examples the first; a note names the others.

    The key of a cell has the examples, not the name: two names would have the same cells.
    """
    if len(refs) == 1:
        return tuple(refs)
    distinct: dict[tuple[str, str], DataRef] = {}
    for ref in refs:
        first = distinct.setdefault((ref.content_hash, ref.task), ref)
        if first is not ref:
            names = (ref.name, first.name) if ref.word == first.word else (ref, first)
            warnings.warn(
                "{} is left out, because it has the same examples as {}".format(*names), stacklevel=3
            )
    return tuple(distinct.values())
