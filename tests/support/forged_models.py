"""Saved models of every kind of state, and forged ones whose hash fits."""

import copy
import hashlib
import json
import math
import traceback
import zlib
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from omkl.config import learner_spec
from omkl.engine.lookup import WORTH
from omkl.engine.stream import part
from omkl.errors import OmklError
from omkl.models import model_file
from omkl.models.asked import score
from omkl.passes import Learner
from omkl.rounds.record import Progress
from omkl.stacks.new_learner import new_learner
from support.engine_cases import case_stream, clouds, dataset, pool_for

START = len(model_file.MAGIC) + 65
# One or more of each kind of resource, and each that divides by what it has learnt in a way of its own.
LEARNERS = (
    *("omkc_ss", "omklo_sua", "omklp_da1", "alma", "adamkl", "om2", "bomkc_spa"),  # Expansions
    *("bomkc_rbp", "bomkc_forgetron", "bomkc_nogd", "bomkc_projectronpp", "ahpatron", "norma"),  # Budgets
    *("avp_ogs", "krls_ald", "lasvm"),  # dictionaries
    *("raker", "omkl_gf", "adaraker_authors", "ridge_features", "iegp", "dualsgd"),  # features
    *("arow", "majority"),
)
VALUES: tuple[Any, ...] = (
    *(0, 1, -1, 2, 7, 64, 1000, 65536, 10**6, 2**24, 2**31, 2**40, 2**62, 2**63, 10**30),
    *(0.0, -0.0, 0.5, 5e-324, 1e-300, 1e300, math.inf, -math.inf, math.nan),
    *(None, True, "", "x", [], {}, [[]], [1, 1], {"a": 1}, "\x1b[31m", ["a", "a"]),
)
NUMBERS = (0.0, -0.0, 1.0, -1.0, 5e-324, 1e-300, 1e100, 1.7e308, -1e300, 3.0, math.inf, -math.inf, math.nan)
WHOLE = (0, 1, -1, 2, 7, 63, 64, 2**31 - 1, -(2**31), 2**40, 2**62, -(2**62), 2**63 - 1, -(2**63))


def content(raw: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the arrays' bytes of a model."""
    length = int.from_bytes(raw[START : START + 8], "little")
    return json.loads(raw[START + 8 : START + 8 + length]), zlib.decompress(raw[START + 8 + length :])


def forged(header: dict[str, Any], arrays: bytes) -> bytes:
    """A model with a hash that fits."""
    text = json.dumps(header).encode()
    rest = len(text).to_bytes(8, "little") + text + zlib.compress(arrays, 1)
    return model_file.MAGIC + hashlib.sha256(rest).hexdigest().encode() + b"\n" + rest


def trained(name: str, rounds: int = 60) -> tuple[Learner, Any, int]:
    """A learner in the middle of a stream, the stream, and how many of its rounds were learnt."""
    spec, data = learner_spec(name), clouds(160)
    params = spec.usual(spec.tasks[0])
    params |= {"budget": 8} if "budget" in params else {}
    params |= {"tau": 10} if "tau" in params else {}
    params |= {"D": 6} if "D" in params else {}
    given = pool_for(spec, params, spec.usual_pool or "paper16_cosine")
    return new_learner(spec, params, given, data.d, 3, rounds=data.T), case_stream(data), rounds


def of_whole_numbers() -> tuple[Learner, Any]:
    """A learner with so many vectors of 0 and 1 that kernel values are looked up, and its stream."""
    rng = np.random.default_rng(0)
    data = dataset((rng.random((640, 10)) < 0.4).astype(float), rng.choice([-1.0, 1.0], 640))
    spec, stream = learner_spec("omkc_dd"), case_stream(data)
    params = spec.usual("classification")
    learner = Learner(spec, params, pool_for(spec, params, "paper16"), data.d, 1)
    learner.run(stream)
    assert learner.state["E"].n_sv_union[0] > WORTH
    return learner, stream


def about_of(learner: Learner) -> dict[str, Any]:
    """What `omkl fit` says of a model."""
    about: dict[str, Any] = {"task": learner.spec.tasks[0], "features": list("abcdefghij")[: learner.d]}
    if about["task"] == "classification":
        about["classes"] = ["-1", "+1"]
    return about | {"progress": Progress(about["task"]).to_json()}


class Models:
    """Saved models with a hash that fits: other numbers in the header and in the arrays, other shapes."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "input.omkl"
        self.seeds = self.valid()

    def valid(self) -> list[bytes]:
        made = []
        for name in LEARNERS:
            learner, stream, rounds = trained(name)
            learner.run(part(stream, 0, rounds))
            model_file.write_model(self.path, learner, about_of(learner))
            made.append(self.path.read_bytes())
        learner, whole = of_whole_numbers()
        model_file.write_model(self.path, learner, about_of(learner))
        self.rows = [part(stream, 100, 110), part(whole, 0, 10)]
        return [*made, self.path.read_bytes()]

    def make(self, rng: Random) -> bytes:
        """Return a model after one or two changes."""
        header, arrays = content(rng.choice(self.seeds))
        header = copy.deepcopy(header)
        for _ in range(rng.choice((1, 1, 2))):
            changed = rng.choice((_in_header, _in_table, _in_length, _in_arrays, _in_arrays))(
                rng, header, arrays
            )
            arrays = arrays if changed is None else changed
        return forged(header, arrays)

    def finding(self, data: bytes) -> str | None:
        """Try a model; return how it was refused, if not in one line of an OmklError."""
        try:
            self.attempt(data)
        except OmklError as error:
            return str(error) if "\n" in str(error) else None
        except Exception:
            return traceback.format_exc()
        return None

    def attempt(self, data: bytes) -> None:
        """Load a model; where it is accepted, it predicts and learns."""
        from omkl.models import saved_models

        self.path.write_bytes(data)
        learner = saved_models.load_saved(Path(self.path)).learner
        for rows in self.rows:
            if rows.indices.max() >= learner.d:
                continue
            if learner.classes > 2:
                rows = rows._replace(label=np.zeros(rows.T, np.int64))
            assert not np.isnan(score(learner, rows.indptr, rows.indices, rows.values)).any()
            learner.run(rows)


def _in_header(rng: Random, header: dict[str, Any], arrays: bytes) -> None:
    """Put another value somewhere in the header, or take one away, or double a list."""
    place: Any = header[rng.choice(("model", "model", "about"))]
    while isinstance(place, dict | list) and place:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = rng.choice(list(keys))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or rng.random() < 0.3:
            if isinstance(inner, list) and rng.random() < 0.5:
                inner *= rng.choice((2, 10, 3000))
            elif isinstance(place, dict) and rng.random() < 0.1:
                del place[key]
            else:
                place[key] = rng.choice(VALUES)
            return
        place = inner


def _spans(header: dict[str, Any]) -> list[tuple[str, list[int], int, int]]:
    """Type, shape, first byte and bytes of each array."""
    spans, start = [], 0
    for _, kind, shape in header["arrays"]:
        if kind not in ("<f8", "<i8", "<i4", "<u8") or not all(type(n) is int and n >= 0 for n in shape):
            break  # changed already
        size = math.prod(shape) * int(kind[-1])
        spans.append((kind, shape, start, size))
        start += size
    return spans


def _in_table(rng: Random, header: dict[str, Any], arrays: bytes) -> None:
    """Change a line of the table of arrays."""
    if not (table := header["arrays"]):
        return
    entry = rng.choice(table)
    kind = rng.randrange(5)
    if kind == 0 and entry[2]:
        entry[2][rng.randrange(len(entry[2]))] = rng.choice(VALUES)
    elif kind == 1:
        entry[1] = rng.choice(("<f8", "<i8", "<i4", "<u8", "|O", None))
    elif kind == 2:
        entry[0] = rng.choice((*(name for name, _, _ in table), "rng.x", "E.open", ""))
    elif kind == 3:
        entry[2] = entry[2][::-1]
    else:
        table.remove(entry) if rng.random() < 0.5 else table.append(copy.deepcopy(entry))


def _in_length(rng: Random, header: dict[str, Any], arrays: bytes) -> bytes | None:
    """Make an array longer or shorter, its shape and its bytes together."""
    spans = _spans(header)
    number = rng.randrange(len(spans) or 1)
    if not spans or not spans[number][1] or spans[number][2] + spans[number][3] > len(arrays):
        return None
    kind, shape, start, size = spans[number]
    array = np.frombuffer(arrays[start : start + size], kind).reshape(shape)
    axis = rng.randrange(len(shape))
    wanted = np.arange(2 * shape[axis] if rng.random() < 0.5 else max(0, shape[axis] - 1))
    made = np.take(array, wanted % max(shape[axis], 1), axis) if array.size else array
    header["arrays"][number][2] = list(made.shape)
    return arrays[:start] + made.tobytes() + arrays[start + size :]


def _in_arrays(rng: Random, header: dict[str, Any], arrays: bytes) -> bytes | None:
    """Put another number into an array, once or everywhere, or shuffle it."""
    spans = [span for span in _spans(header) if span[3] and span[2] + span[3] <= len(arrays)]
    if not spans:
        return None
    kind, _, start, size = rng.choice(spans)
    array = np.frombuffer(arrays[start : start + size], kind).copy()
    if kind == "<f8":
        value: Any = rng.choice(NUMBERS)
    else:
        value = np.array(rng.choice(WHOLE) & (2**64 - 1), "<u8").astype(kind)
    way = rng.randrange(5)
    if way == 0:
        array[:] = value
    elif way == 1:
        array = array[rng.sample(range(array.size), array.size)]
    else:
        array[rng.randrange(array.size)] = value
    return arrays[:start] + array.tobytes() + arrays[start + size :]
