"""A learner's state as conf/algo declares it under ``about.state``: one form for each resource.

{shape: [m, 2D], fill: 1/m, dtype: int, diagonal: 1/lam, grows: now, classes: true}   an array
{expansion: true, copies: levels, unless: tau}   an Expansion: all stored vectors; copies: of each kernel
{expansion: true, signs: true}                   one of whose outputs only the signs are used
{slots: budget}                                  a Budget: at most that many vectors per kernel
{slots: all}                                     a dictionary: a Budget without a limit
{features: D, kind: features}                    random Fourier features, D frequencies per kernel
rounds                                           the number of rounds of the pass

Sides of a shape: a number, ``m`` kernels, ``d`` features, a whole-number hyperparameter, or a product of them
such as ``2D`` or ``levels m``; or a dictionary's name, for as many as it has slots: ``G: {shape: [B, B]}`` is
its Gram matrix, whose room grows with it. ``domain: "(0, 1]"`` says which numbers the array may hold, and
``gram: B`` that it holds the factored Gram matrices of a Budget or dictionary: a saved model that breaks
this, so that the learner would divide by 0, is refused. A fill or diagonal (of the last two sides): a number,
a hyperparameter, 1 over one or over m or d. ``grows``: the last side, a hyperparameter that may be null, gets
its room as rounds come; they are counted in the array named. A ``kind`` is a hyperparameter, how the
frequencies are drawn, or what a hyperparameter's values stand for: ``{variant: {standard: iid, ...}}``. A
resource is None where ``unless`` is given, or ``slots`` is null. ``classes``: on data of C > 2 classes there
is such an array for each, (C, m, 2D). ``made_with: [eta, lam]``: hyperparameters whose values the learner has
put into the array, so that they cannot change in mid-stream; those that a form names cannot anyway.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from omkl.config import domains
from omkl.errors import suggest

ALL = "all"  # slots of a dictionary
DRAWN = ("orthogonal", "iid", "authors", "squared")  # how frequencies are drawn, see omkl/engine/features.py
_FACTOR = re.compile(r"(\d*)([A-Za-z_]\w*)")


@dataclass(frozen=True)
class ArrayForm:
    """An array of this shape: full of ``fill``, with ``diagonal`` on its diagonal.

    classes: with more than two classes there is one for each, side by side: (C, *shape). domain: of its
    numbers, as omkl/config/domains.py has it. gram: the Budget whose factored Gram matrices it holds.
    made_with: hyperparameters whose values it holds once something has been learnt.
    """

    shape: tuple[int | str, ...]
    fill: float | str = 0
    dtype: str = "float"
    diagonal: float | str | None = None
    grows: str | None = None
    classes: bool = False
    domain: str | None = None
    gram: str | None = None
    made_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExpansionForm:
    """An Expansion; copies: how often it holds every kernel; unless: None where this is not null; signs: the
    learner uses no more of an output than its sign.
    """

    expansion: bool
    copies: str | None = None
    unless: str | None = None
    signs: bool = False


@dataclass(frozen=True)
class SlotsForm:
    """A Budget of this many slots per kernel, None where that is null; ALL: without a limit."""

    slots: str


@dataclass(frozen=True)
class FeaturesForm:
    """Random features: their number, and how they are drawn: a hyperparameter, or the kind itself, or
    ``{hyperparameter: {value: kind}}``.
    """

    features: str
    kind: str | dict[str, dict[str, str]]

    def drawn(self, params: Mapping[str, Any]) -> str:
        """Return how these hyperparameters draw the frequencies, one of DRAWN."""
        if isinstance(self.kind, str):
            return params.get(self.kind, self.kind)
        ((name, kinds),) = self.kind.items()
        return kinds[params[name]]


@dataclass(frozen=True)
class RoundsForm:
    """The number of rounds of the pass, in an array (1,)."""


Form = ArrayForm | ExpansionForm | SlotsForm | FeaturesForm | RoundsForm
_KINDS: dict[str, type[Form]] = {
    "shape": ArrayForm,
    "expansion": ExpansionForm,
    "slots": SlotsForm,
    "features": FeaturesForm,
}


def parse(state: Any, defaults: Mapping[str, Any]) -> dict[str, Form]:
    """Return the form of each resource. Raises ValueError that names the resource and says what is wrong.

    defaults: of the learner's hyperparameters, whose names the forms may use.
    """
    if not isinstance(state, Mapping):
        raise ValueError("must be a mapping of names to forms such as {shape: [m], fill: 1/m}")
    forms = {}
    for name, written in state.items():
        try:
            forms[name] = _form(written, defaults, state)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    return forms


def factors(side: str) -> list[tuple[int, str]]:
    """Return the factors of a side: ``levels m`` is [(1, "levels"), (1, "m")], ``2D`` is [(2, "D")].

    Raises ValueError where it is not a product of names.
    """
    matches = [_FACTOR.fullmatch(word) for word in side.split()]
    if not matches or None in matches:
        raise ValueError(f"{side!r} is not a length such as m, 2D or 'levels m'")
    return [(int(match[1] or 1), match[2]) for match in matches if match]


def dictionaries(state: Mapping[str, Any]) -> list[str]:
    """Return the names of the dictionaries among the resources, as parsed or as written."""
    return [
        name
        for name, form in state.items()
        if form == SlotsForm(ALL) or (isinstance(form, Mapping) and form.get("slots") == ALL)
    ]


def follows(form: Form, state: Mapping[str, Form]) -> bool:
    """Whether a resource is an array with as many rows or columns as a dictionary has slots."""
    return isinstance(form, ArrayForm) and bool(set(form.shape) & set(dictionaries(state)))


def may_share(state: Mapping[str, Form]) -> bool:
    """Whether several threads can share a pass: where a learner stores vectors without a limit."""
    return any(isinstance(form, ExpansionForm) for form in state.values())


def names(form: Form) -> list[str]:
    """Return the names of all hyperparameters and lengths that decide how large a resource is."""
    match form:
        case ArrayForm():
            return [name for side in form.shape if isinstance(side, str) for _, name in factors(side)]
        case ExpansionForm():
            return [form.copies] if form.copies else []
        case SlotsForm():
            return [form.slots] if form.slots != ALL else []
        case FeaturesForm():
            return [form.features]
    return []


def deciding(form: Form, params: Mapping[str, Any]) -> set[str]:
    """Return the hyperparameters without whose values a resource would not be what it is in mid-stream."""
    decide = set(names(form))
    match form:
        case ArrayForm():
            fills = [value for value in (form.fill, form.diagonal) if isinstance(value, str)]
            decide |= {value.removeprefix("1/") for value in fills}
            if all(params.get(name, 1) is not None for name in names(form)):  # else it has no room
                decide |= set(form.made_with)
        case ExpansionForm():
            decide |= {form.unless} if form.unless else set()
        case FeaturesForm():
            decide |= {form.kind} if isinstance(form.kind, str) else set(form.kind)
    return decide & params.keys()


def _form(written: Any, defaults: Mapping[str, Any], state: Mapping[str, Any]) -> Form:
    if written == "rounds":
        return RoundsForm()
    kinds = [kind for kind in _KINDS if isinstance(written, Mapping) and kind in written]
    if len(kinds) != 1:
        raise ValueError(f"must be 'rounds' or have exactly one of the keys {', '.join(_KINDS)}")
    form = _KINDS[kinds[0]]
    keys = [field.name for field in fields(form)]
    for key in written.keys() - set(keys):
        raise ValueError(f"unknown key {key!r}{suggest(str(key), keys)}")
    for key in ("classes", "signs"):
        if not isinstance(written.get(key, False), bool):
            raise ValueError(f"{key} must be true or false, got {written[key]!r}")
    if form is FeaturesForm and "kind" not in written:
        raise ValueError("kind is missing: a hyperparameter, or how the frequencies are drawn")
    if form is ArrayForm:
        _check_array(written, defaults, state)
        lists = {key: tuple(written.get(key, ())) for key in ("shape", "made_with")}
        return ArrayForm(**{**written, **lists})
    for key in written.keys() - {"expansion", "signs"}:
        if key == "kind" and isinstance(written[key], Mapping):
            _check_kinds(written[key], defaults)
        else:
            more = {"kind": DRAWN, "slots": (ALL,)}.get(key, ())
            _check_name(written[key], [*defaults, *more])
    return form(**written)


def _check_kinds(kinds: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
    if len(kinds) != 1 or not all(isinstance(named, Mapping) for named in kinds.values()):
        raise ValueError("kind must be a word or {hyperparameter: {value: kind}}")
    for name, named in kinds.items():
        _check_name(name, defaults)
        for kind in named.values():
            _check_name(kind, DRAWN)


def _check_array(written: Mapping[str, Any], defaults: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    known = [*defaults, "m", "d", *dictionaries(state)]
    shape, dtype, grows = written["shape"], written.get("dtype", "float"), written.get("grows")
    if not isinstance(shape, list) or not shape:
        raise ValueError("shape must be a list of lengths such as [m, 2D]")
    for side in shape:
        if isinstance(side, str):
            for _, name in factors(side):
                _check_name(name, known)
        elif not isinstance(side, int) or side < 0:
            raise ValueError(f"shape: {side!r} is not a length")
    for key in ("fill", "diagonal"):
        value = written.get(key, 0)
        if isinstance(value, str):
            _check_name(value.removeprefix("1/"), known)
        elif not isinstance(value, int | float):
            raise ValueError(f"{key} must be a number, a hyperparameter, or 1 over one of these")
    if dtype not in ("float", "int"):
        raise ValueError(f"dtype must be float or int, got {dtype!r}")
    made_with = written.get("made_with", [])
    if not isinstance(made_with, list):
        raise ValueError("made_with must be a list of hyperparameters")
    for name in made_with:
        _check_name(name, defaults)
    if grows is not None and grows not in list(state):  # which may not be a word
        raise ValueError(f"grows: there is no array {grows!r} that counts the rounds")
    if (domain := written.get("domain")) is not None:
        domains.interval(domain)
    budgets = [name for name, form in state.items() if isinstance(form, Mapping) and "slots" in form]
    if (budget := written.get("gram")) is not None and budget not in budgets:
        raise ValueError(f"gram: there are no slots {budget!r}")


def _check_name(name: Any, known: Iterable[str]) -> None:
    known = list(known)
    if name not in known:
        raise ValueError(f"{name!r} is not a hyperparameter{suggest(str(name), known)}")
