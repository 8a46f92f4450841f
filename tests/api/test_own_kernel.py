"""`omkl.kernel`: a Python function as a kernel, its text, and what it may use."""

import importlib
import json
import math
import os
import sys

import numpy as np
import pytest
from numba import njit

import omkl
from omkl.api.kernel_text import module_text
from omkl.cli import main
from omkl.engine.called_kernels import next_pair
from omkl.errors import UserError
from omkl.paths import EXTENSIONS

SHIFT = 1.0
FAR = """def far(product, norm2, other_norm2):
    return norm2 + other_norm2 - 2.0 * product
"""


def cauchy(product, norm2, other_norm2, sigma):
    """1 / (1 + r^2 / sigma^2)."""
    return SHIFT / (1.0 + max(norm2 + other_norm2 - 2.0 * product, 0.0) / sigma**2)


def first(indices, values, other_indices, other_values):
    _, x, z, _, _ = next_pair(indices, values, other_indices, other_values, 0, 0)
    return math.exp(x * z)


def njit_in_a_function(power):
    @njit
    def first(x):  # not the one above
        return x**power

    return first


def check(kernel):
    return omkl.learner("perceptron", kernel=dict(kernel))


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def nothing_extended(monkeypatch):
    """Give OMKL_PATH back as it was."""
    monkeypatch.setenv(EXTENSIONS, "")


def test_the_text_is_a_module_of_its_own():
    space = {}
    exec(module_text(cauchy), space)
    assert space["cauchy"](2.0, 3.0, 4.0, 0.5) == cauchy(2.0, 3.0, 4.0, 0.5)
    exec(module_text(first), space)
    row = np.array([2], np.int32), np.array([0.5])
    assert space["first"](*row, *row) == first(*row, *row) == math.exp(0.25)


def test_a_function_that_uses_what_cannot_be_written(monkeypatch):
    table = np.ones(3)

    def looked_up(product, norm2, other_norm2):
        return table[0] * product

    with pytest.raises(UserError, match="looked_up uses table, a ndarray"):
        module_text(looked_up)
    made = njit_in_a_function(2.0)  # of a module, which does not have it

    def calls(product, norm2, other_norm2):
        return made(product)

    with pytest.raises(UserError, match="calls uses made, a CPUDispatcher: a kernel may use"):
        module_text(calls)
    with pytest.raises(UserError, match="written with def"):
        module_text(lambda product, norm2, other_norm2: product)
    with pytest.raises(UserError, match="written with def"):
        module_text(math.exp)


def test_a_kernel_of_a_function_runs_as_its_formula_s_file(place):
    own = omkl.kernel(cauchy, sigma=1.0, domains={"sigma": "(0, inf)"})
    assert own["kind"] == "cauchy"
    assert own(sigma=3)["sigma"] == 3.0
    assert own(sigma=3)["source"] == own["source"]
    with pytest.raises(UserError, match="sigma of a cauchy kernel must be a number > 0, got -1"):
        own(sigma=-1)
    with pytest.raises(UserError, match="no 'width'"):
        own(width=1)
    words = {"reps": 2, "yardsticks": [], "store": "one", "progress": False}
    found = omkl.run(algo=omkl.learner("perceptron", kernel=own(sigma=100)), data="wdbc", **words)
    rational = "rational_quadratic(sigma=70.71067811865476, alpha=1)"  # the same kernel, of the engine
    other = omkl.run(algo=omkl.learner("perceptron", kernel=rational), data="wdbc", **words)
    assert found.cells["mistakes"].tolist() == other.cells["mistakes"].tolist()


def test_a_pool_of_kernels_is_one_value_and_a_list_of_pools_several(place):
    own = omkl.kernel(cauchy, sigma=1.0)
    words = {"data": "wdbc", "reps": 1, "yardsticks": [], "store": "one", "progress": False}
    pool = [own(sigma=10), {"kind": "gaussian", "sigma": 64}]
    found = omkl.run(algo="omkc_dd", **words, **{"pool.kernels": pool})
    assert found.cells["m"].tolist() == [2]
    both = omkl.sweep(algo="omkc_dd", **words, **{"pool.kernels": [pool, [own]]})
    assert sorted(both.cells["m"]) == [1, 2]
    with pytest.raises(UserError, match=r"pool\.kernels has 2 values"):
        omkl.run(algo="omkc_dd", **words, **{"pool.kernels": [pool, [own]]})


def of_other_names(a, b):
    return a * b


WRONG = [
    (lambda: omkl.kernel(3), "omkl.kernel takes a function that is written with def, got 3"),
    (
        lambda: omkl.kernel(of_other_names),
        "first arguments must be product, norm2, other_norm2 or .*, got a, b",
    ),
    (lambda: omkl.kernel(cauchy), "sigma has no usual value; give one, such as sigma=1.0"),
    (lambda: omkl.kernel(cauchy, sigma=1.0, sigmo=2), r"no parameter 'sigmo' \(did you mean 'sigma'"),
    (lambda: omkl.kernel(cauchy, sigma=1.0, domains={"tau": "(0, inf)"}), "no parameter 'tau'; it has sigma"),
    (lambda: omkl.kernel(cauchy, sigma=1.0, domains=["(0, inf)"]), "domains must be a mapping such as"),
    (
        lambda: omkl.kernel(cauchy, sigma=1.0, domains={"sigma": "wide"}),
        r"^omkl.kernel\(cauchy\): sigma: 'wide'",
    ),
    (
        lambda: omkl.kernel(cauchy, sigma=-1, domains={"sigma": "(0, inf)"}),
        r"\(cauchy\): sigma: must be .* > 0",
    ),
    (lambda: omkl.kernel(cauchy, sigma=1.0, semidefinite=True), r"\(cauchy\): semidefinite: must be text"),
    (lambda: omkl.kernel(cauchy, sigma=1.0, negative="no"), "negative: must be true or false, got 'no'"),
]


@pytest.mark.parametrize(("call", "said"), WRONG)
def test_a_kernel_s_arguments_are_checked_at_once(call, said, place):
    with pytest.raises(UserError, match=said):
        call()
    assert os.environ[EXTENSIONS] == ""  # later calls do not meet the mistake again
    assert len(omkl.learners())


def test_another_function_of_the_name_takes_its_place(place):
    first = omkl.kernel(cauchy, sigma=1.0)

    def other():
        def cauchy(product, norm2, other_norm2, sigma):
            return product / sigma

        return cauchy

    second = omkl.kernel(other(), sigma=1.0)
    assert second["source"] != first["source"]
    with pytest.raises(UserError, match=r"kernels/cauchy.py has changed since"):
        check(first)
    assert os.environ[EXTENSIONS].count("cauchy-") == 1
    assert omkl.kernel(cauchy, sigma=2.0)["source"] == first["source"]


def test_omkl_check_finds_an_index_out_of_bounds_and_stops_there(place, capsys):
    """Compiled without bounds, the process may read any memory, or end without a word."""
    text = (
        "def far(indices, values, other_indices, other_values):\n    return values[other_values.size + 9]\n"
    )
    for name, own in {"kernels/far.py": text, "conf/kernel/far.yaml": "about: {formula: x}\n"}.items():
        (place / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "mine" / name).write_text(own)
    assert main(["check", "mine", "--format", "json"]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [(row["check"], row["result"]) for row in rows] == [
        ("compiles", "ok"),
        ("indices within bounds", "failed"),
    ]
    assert "index is out of bounds" in rows[1]["what differs first"]


@pytest.mark.slow
def test_omkl_check_of_a_kernel_that_is_not_semidefinite(place, capsys):
    files = {
        "kernels/far.py": FAR,
        "conf/kernel/far.yaml": 'about: {formula: "r²"}\n',
    }
    for name, text in files.items():
        (place / "mine" / name).parent.mkdir(parents=True, exist_ok=True)
        (place / "mine" / name).write_text(text)
    assert main(["check", "mine", "data=wdbc", "--format", "json"]) == 1
    rows = {row["check"]: row for row in json.loads(capsys.readouterr().out)}
    failed = [check for check, row in rows.items() if row["result"] == "failed"]
    assert "positive semidefinite: data=wdbc" in failed
    assert "not positive semidefinite" in rows["positive semidefinite: data=wdbc"]["what differs first"]
    assert all(check.startswith("positive semidefinite") for check in failed)
    assert {
        "twin of omkc_dd",
        "twin of bomkc_projectron",
        "sums, cosine",
        "compiled as written",
    } <= rows.keys()
    conf = place / "mine/conf/kernel/far.yaml"
    conf.write_text(conf.read_text().replace("}", ', semidefinite: "no"}'))
    assert main(["check", "mine", "--format", "json"]) == 0


HALF, FAR_AWAY, WHOLE = np.float64(0.5), math.inf, np.int64(2)


def _with_more(product, norm2, other_norm2, power=WHOLE, low: "float" = -FAR_AWAY):
    scale = [HALF * one for one in (1.0, 2.0)]
    shift = (lambda own: own + SHIFT)(product)
    return max(min(shift, FAR_AWAY), low) * scale[1] ** power


def test_what_a_kernel_may_use_from_outside():
    """Numbers of numpy, infinity, defaults, and names that a lambda or a comprehension inside uses."""
    space = {}
    exec(module_text(_with_more), space)
    assert space["_with_more"](2.0, 3.0, 4.0, 2, 0.0) == _with_more(2.0, 3.0, 4.0, 2, 0.0) == 0.75 * 4
    assert omkl.kernel(far_or_near)["scale"] == 2.0
    assert omkl.kernel(far_or_near, scale=3.0)["scale"] == 3.0


def far_or_near(product, norm2, other_norm2, scale=2.0 * HALF * WHOLE):
    return min(product / scale, FAR_AWAY)


BROKEN = """

def adds_words(product, norm2, other_norm2):
    # a comment, and an empty line

    return (
        "x" + product
    )


def asks(product, norm2, other_norm2):
    \"\"\"Nothing.\"\"\"
    twice = product * 2

    if twice > 0:
        return nowhere(twice)
    return 0.0


def refuses(product, norm2, other_norm2, gamma=1.0):
    if gamma < 0:
        raise ValueError("gamma must be positive")
    return product
"""


@pytest.fixture
def broken(place, monkeypatch):
    (place / "broken.py").write_text(BROKEN)
    monkeypatch.syspath_prepend(place)
    monkeypatch.delitem(sys.modules, "broken", raising=False)
    return importlib.import_module("broken")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("adds_words", r"broken\.py:7: adds_words cannot be compiled: No implementation of function"),
        ("asks", r"broken\.py:16: asks cannot be compiled: NameError: name 'nowhere' is not defined"),
    ],
)
def test_what_cannot_be_compiled_is_named_where_it_was_written(name, said, broken):
    kernel = omkl.kernel(getattr(broken, name))
    with pytest.raises(UserError, match=said) as caught:
        ran(kernel)
    assert "own-kernels" not in str(caught.value)


def test_what_a_kernel_raises_is_said(broken):
    kernel = omkl.kernel(broken.refuses, gamma=-1.0)
    with pytest.warns(UserWarning, match="ValueError: gamma must be positive"):
        assert [line["error"] for line in ran(kernel).failed] == ["ValueError: gamma must be positive"]


def ran(kernel):
    how = {"reps": 1, "yardsticks": [], "store": "s", "exec": "serial", "progress": False}
    X = np.arange(20.0)[:, None]
    return omkl.run(algo=omkl.learner("perceptron", kernel=kernel), data=X, y=X[:, 0] > 9, **how)


@pytest.mark.parametrize("within", ["helper", "deeper"])
def test_the_key_holds_the_source_of_what_a_kernel_calls(place, monkeypatch, within):
    monkeypatch.syspath_prepend(str(place))
    names = [f"{name}_{within}" for name in ("helper", "deeper")]
    inner = "from numba import njit\n\n\n@njit\ndef deep(s):\n    return {} + s\n"
    outer = (
        "from numba import njit\nfrom NAME import deep\n\n\n@njit\ndef shape(s):\n    return {} / deep(s)\n"
    )
    outer = outer.replace("NAME", names[1])
    texts = {names[0]: outer.format(1.0), names[1]: inner.format(1.0)}
    found = []
    for value in (1.0, 2.0, 1.0):
        changed = dict(zip(names, (outer, inner), strict=True))[f"{within}_{within}"].format(value)
        for name, text in (texts | {f"{within}_{within}": changed}).items():
            (place / f"{name}.py").write_text(text)
        module = importlib.import_module(names[0])
        study = "def study(product, norm2, other_norm2):\n    return shape(product)\n"
        (place / "study_file.py").write_text(study)
        space = {"shape": module.shape, "__name__": "__main__"}
        exec(compile(study, place / "study_file.py", "exec"), space)
        found.append(omkl.kernel(space["study"])["source"])
    assert found[0] == found[2] != found[1]
