"""Regret of Raker and AdaRaker: the rounds that are run again, the best fixed functions, and the bounds."""

import inspect
import json
import math

import numpy as np
import pytest
from reference.features import Raker as Instance
from reference.kernels import pool_rows
from sklearn.datasets import load_breast_cancer

import omkl
from omkl.api.call import Call
from omkl.cli import main
from omkl.config import learner_spec, plan
from omkl.data import streams
from omkl.errors import UserError
from omkl.passes import scores
from omkl.runs.cells import expand
from omkl.theorems import regret as limits_of
from omkl.theorems.batch import Batch
from omkl.theorems.case import Case
from omkl.theorems.evaluation import bound_function
from omkl.theorems.rerun import Repetition

T = 150


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """Keep cells in an empty folder."""
    monkeypatch.setenv("OMKL_STORE", str(tmp_path / "store"))


def wdbc_numbers():
    """The cancers' features scaled to [0, 1], and 0 or 1/2 to be predicted as numbers."""
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    return X[:T, :6], 0.5 * y[:T]


def switching():
    examples, _ = streams.realised("switch_numbers", 1)
    rows = slice(1000 - T // 2, 1000 + T // 2)
    return examples.values.reshape(-1, 2)[rows], examples.labels[rows]


def adversary():
    """Rows that hardly differ, and targets that jump between 0 and 1/2."""
    rng = np.random.default_rng(0)
    return 0.05 * rng.random((T, 3)), 0.5 * (np.arange(T) // 7 % 2)


STREAMS = pytest.mark.parametrize("stream", [wdbc_numbers, switching, adversary])


def cells_of(X, y, algo, *words, reps=1):
    words = words if any("scale=" in word for word in words) else (*words, "scale=none")
    call = Call.of(f"algo={algo} reps={reps} yardsticks=[] {' '.join(words)}", X, y, task="regression")
    return expand(call.plan())


def case_of(X, y, algo, *words, reps=1):
    """The case of its repetitions, and the learner's bounds."""
    cells = cells_of(X, y, algo, *(words or ("target=none",)), reps=reps)
    case = Case(
        Batch(cells[0].data.load(), cells[0].kernel_pool), runs=tuple(Repetition(cell) for cell in cells)
    )
    bound_of = bound_function(learner_spec(algo))
    names = [name for name in inspect.signature(bound_of).parameters if name != "case"]
    return case, bound_of(case, **{name: cells[0].params[name] for name in names})


# ------------------------------------------------------------------ the rounds


@STREAMS
def test_rounds_of_adaraker_are_those_of_instances_on_their_intervals(stream):
    X, y = stream()
    case, _ = case_of(X, y, "adaraker", "target=none", "algo.eta0=3", "algo.D=8", "algo.lam=0.05")
    (run,) = case.runs
    rounds, seen = run.rounds, run.rounds.seen
    np.testing.assert_array_equal(rounds.score, run.scores)
    np.testing.assert_array_equal(seen.y, y[run.stream[1]])
    for level in range(T.bit_length()):
        n, eta = 2**level, min(0.5, 3 / math.sqrt(2**level))
        assert np.isnan(rounds.f[: n - 1, level]).all()
        for start in range(n - 1, T, n):
            one = Instance(3, 8, eta, 0.05, "squared")
            for t in range(start, min(start + n, T)):
                z, theta = seen.z[:, t], np.array(one.theta)
                assert rounds.f[t, level] == pytest.approx(one.predict(z), abs=1e-9)
                out = (theta * z).sum(axis=1)
                np.testing.assert_allclose(rounds.out[t, level], out, atol=1e-9)
                slope = 2 * np.abs(out - seen.y[t]) * np.linalg.norm(z, axis=1)
                np.testing.assert_allclose(rounds.slope[t, level], slope, atol=1e-9)
                one.update(z, seen.y[t])
                moved = np.linalg.norm(np.array(one.theta) - theta, axis=1) / eta
                np.testing.assert_allclose(rounds.step[t, level], moved, atol=1e-8)


def test_rounds_of_raker():
    X, y = switching()
    case, _ = case_of(X, y, "raker", "target=none", "algo.D=8", "algo.eta=0.3")
    (run,) = case.runs
    one = Instance(3, 8, 0.3, 0.01, "squared")
    for t in range(T):
        z = run.rounds.seen.z[:, t]
        assert run.rounds.score[t] == pytest.approx(one.predict(z), abs=1e-9)
        assert run.rounds.f[t, 0] == pytest.approx(one.predict(z), abs=1e-9)
        one.update(z, run.rounds.seen.y[t])


def test_features_have_the_length_1_and_targets_the_units_that_a_learner_reads():
    X, y = switching()
    case, _ = case_of(X, 10 * y - 3, "raker", "target=minmax")
    seen = case.runs[0].rounds.seen
    np.testing.assert_allclose(np.linalg.norm(seen.z, axis=2), 1.0)
    assert (seen.y.min(), seen.y.max()) == pytest.approx((0.0, 1.0))
    assert seen.width == pytest.approx(10 * (y.max() - y.min()))


@pytest.mark.parametrize("lam", [0.0, 0.01, 0.3])
def test_the_best_fixed_function_is_the_minimum(lam):
    X, y = switching()
    case, _ = case_of(X, y, "raker", "target=none", "algo.D=4", f"algo.lam={lam}")
    seen, rng = case.runs[0].rounds.seen, np.random.default_rng(1)
    for start, stop in ((0, None), (30, 90)):
        best, rows = seen.best(start, stop), slice(start, stop)
        n = len(seen.y[rows])
        ridge = lam * n / 2

        def objective(theta, i, rows=rows, ridge=ridge):
            return np.square(seen.y[rows] - seen.z[i, rows] @ theta).sum() + ridge * theta @ theta

        least = []
        for i in range(3):  # a step of Newton's method from 0 along every axis, until nothing moves
            z, theta = seen.z[i, rows], np.zeros(8)
            for _ in range(20_000):
                j = rng.integers(8)
                rest = seen.y[rows] - z @ theta + z[:, j] * theta[j]
                theta[j] = z[:, j] @ rest / (z[:, j] @ z[:, j] + ridge)
            least.append(objective(theta, i))
        assert best.objective == pytest.approx(min(least), rel=1e-4 if lam else 0.1)  # which is slow without
        assert best.objective <= min(least) * (1 + 1e-9)
        assert lam == 0.0 or best.kernel == int(np.argmin(least))
        assert best.objective == pytest.approx(best.losses.sum() + ridge * best.norm2)


# ------------------------------------------------------------------ the bounds hold


@STREAMS
@pytest.mark.parametrize(("eta", "lam"), [(0.5, 0.01), (0.05, 0.0), (0.1, 0.2)])
def test_raker_obeys_its_bounds(stream, eta, lam):
    X, y = stream()
    case, bounds = case_of(X, y, "raker", "target=none", f"algo.eta={eta}", f"algo.lam={lam}", reps=2)
    for bound in bounds:
        assert len(bound.values) == len(bound.observed) == 2
        assert all(seen <= most for seen, most in zip(bound.observed, bound.values, strict=True)), bound
    first, second = bounds
    for run, seen, most in zip(case.runs, first.observed, first.values, strict=True):
        rounds = run.rounds
        total = np.square(rounds.seen.y - run.scores).sum()
        best = rounds.seen.best()
        assert seen == pytest.approx(total - best.losses.sum())
        moved = rounds.step[:, 0, best.kernel].max()
        by_hand = math.log(3) / eta + best.norm2 / (2 * eta) + lam * T / 2 * best.norm2
        assert most == pytest.approx(by_hand + eta * moved**2 * T / 2 + eta * T)
        # what the proof bounds: gradient descent on one kernel, and Hedge
        own = np.square(rounds.seen.y - rounds.out[:, 0, best.kernel]).sum()
        descent = (1 / eta + lam * T) / 2 * best.norm2 + eta / 2 * np.square(rounds.step[:, 0]).sum(0)
        assert own - best.losses.sum() <= descent[best.kernel]
        assert total - own <= math.log(3) / eta + eta * T
    assert (first.printed is None) == (lam == 0.0)
    assert (second.printed is None) == (math.sqrt(np.square(X).sum(axis=1).max()) > 1)
    assert second.printed is None or second.printed >= (first.printed or first.value)


def test_the_best_function_of_a_kernels_space():
    X, y = switching()
    case, (_, bound) = case_of(X, y, "raker", "target=none", "algo.D=30", "algo.lam=0.1", "algo.eta=0.2")
    (run,) = case.runs
    seen, order = run.rounds.seen, run.stream[1]
    kernels = case.batch.kernels
    rows = pool_rows(X, kernels, "none")
    K = np.array([rows(t) for t in order])[:, :, order].transpose(1, 0, 2)  # in order of arrival
    found = []
    for i in range(3):
        alpha = np.linalg.inv(K[i] + 0.1 * T / 2 * np.eye(T)) @ seen.y
        f, approximate = K[i] @ alpha, seen.z[i] @ (seen.z[i].T @ alpha)
        losses = np.square(seen.y - f)
        objective = losses.sum() + 0.1 * T / 2 * alpha @ K[i] @ alpha
        error = np.abs(seen.z[i] @ seen.z[i].T - K[i]).max()
        slope = np.abs(2 * seen.y - f - approximate).max()
        found.append((objective, losses.sum(), np.abs(alpha).sum(), error, slope, i))
        assert np.abs(f - approximate).max() <= error * np.abs(alpha).sum()
    objective, loss, norm1, error, slope, i = min(found)
    assert bound.kernel == i
    assert bound.objective == pytest.approx(objective)
    assert bound.observed[0] == pytest.approx(np.square(seen.y - run.scores).sum() - loss)
    moved, steep = run.rounds.step[:, 0, i].max(), max(run.rounds.slope[:, 0, i].max(), slope)
    by_hand = math.log(3) / 0.2 + 0.2 * T + 0.2 * moved**2 * T / 2 + error * steep * T * norm1
    assert bound.value == pytest.approx(by_hand + (1 + error) * norm1**2 * (1 / 0.4 + 0.1 * T / 2))
    sigma2 = 1 / (2 * kernels[i]["gamma"])
    sure = limits_of.likely_error(30, 2, sigma2)
    assert 256 * 2 / sigma2 / sure**2 * math.exp(-30 * sure**2 / 16) == pytest.approx(0.05)
    printed = math.log(3) / 0.2 + 0.2 * T + 0.2 * steep**2 * T / 2 + sure * steep * T * norm1
    assert bound.printed == pytest.approx(printed + (1 + sure) * norm1**2 / 0.4)


def test_a_part_of_the_rows_makes_the_function():
    X, y = switching()
    cells = cells_of(X, y, "raker", "target=none")
    case = Case(Batch(cells[0].data.load(), cells[0].kernel_pool, 40), runs=(Repetition(cells[0]),))
    bound = limits_of.raker(case, 0.5, "constant", 0.01, "squared", 50)[1]
    assert "f from 40 of 150 examples (--rows)" in bound.notes
    assert bound.observed[0] <= bound.value


def test_intervals_cover_each_round_once():
    for first in range(1, 40):
        for last in range(first, 40):
            covered = []
            for start, level in limits_of.covering(first, last):
                assert start % 2**level == 0
                covered += range(start, start + 2**level)
            assert covered == list(range(first, last + 1))
            assert len(limits_of.covering(first, last)) <= 2 * (last - first + 1).bit_length()


@STREAMS
@pytest.mark.parametrize("eta0", [0.3, 10.0])
def test_adaraker_obeys_its_bounds_on_every_interval(stream, eta0):
    X, y = stream()
    case, bounds = case_of(X, y, "adaraker", "target=none", f"algo.eta0={eta0}", reps=2)
    rng = np.random.default_rng(2)
    for run in case.runs:
        rounds = run.rounds
        limits = limits_of.Limits(rounds, 3, eta0, 0.01)
        for _ in range(60):
            start, stop = sorted(map(int, rng.choice(T + 1, 2, replace=False)))
            limit, regret, *_ = limits.regret(start, stop)
            best = rounds.seen.best(start, stop)
            assert regret == pytest.approx(rounds.losses[start:stop].sum() - best.losses.sum())
            assert regret <= limit
        # the votes: an instance on its interval
        for level in range(T.bit_length()):
            n, eta = 2**level, min(0.5, eta0 / math.sqrt(2**level))
            for first in range(n, T - n + 2, n):
                on = slice(first - 1, first + n - 1)
                instance = np.square(rounds.seen.y[on] - rounds.f[on, level]).sum()
                begun = sum((first + n - 1) // 2**j for j in range((first + n - 1).bit_length()))
                assert rounds.losses[on].sum() - instance <= 1 + math.log(begun) / eta
    whole, quarter, sixteenth, path = bounds
    for bound in (whole, quarter, sixteenth):
        assert all(seen <= most for seen, most in zip(bound.observed, bound.values, strict=True)), bound
    assert whole.values == pytest.approx(
        [limits_of.Limits(run.rounds, 3, eta0, 0.01).regret(0, T)[0] for run in case.runs]
    )
    assert path.value is None
    assert "drift_numbers" in path.notes[0]


def test_the_limit_of_one_interval():
    X, y = adversary()
    case, _ = case_of(X, y, "adaraker", "target=none", "algo.eta0=2", "algo.lam=0.1")
    (run,) = case.runs
    best = run.rounds.seen.best(63, 127)  # rounds 64 .. 127, of level 6
    L = run.rounds.step[63:127, 6, best.kernel].max()
    eta, begun = 2 / 8, sum(127 // 2**j for j in range(7))
    value = 1 + math.log(begun) / eta + math.log(3) / eta + best.norm2 / (2 * eta)
    value += 0.1 * 64 / 2 * best.norm2 + eta * L**2 * 64 / 2 + eta * 64
    assert limits_of.Limits(run.rounds, 3, 2.0, 0.1).regret(63, 127)[0] == pytest.approx(value)


# ------------------------------------------------------------------ where they do not apply


@pytest.mark.parametrize(
    ("algo", "words", "reason"),
    [
        ("raker", "target=none algo.step=sqrt", "the same eta in every round"),
        ("raker", "target=online", "changes in mid-stream"),
        ("adaraker", "target=none scale=online", "changes in mid-stream"),
        ("adaraker", "target=none", "must be at most 1"),
        ("raker", "target=none", "must be at most 1"),
    ],
)
def test_a_theorem_that_does_not_apply_gives_its_reasons(algo, words, reason):
    X, y = switching()
    large = 5 * y if "must be at most" in reason else y
    _, bounds = case_of(X, large, algo, *words.split())
    for bound in bounds:
        assert bound.value is None
        assert bound.notes[0].startswith("does not apply: ")
    assert any(reason in note for note in bounds[0].notes)
    assert (bounds[0].observed is None) == ("mid-stream" in reason)  # the regret is there all the same


def test_classes_have_no_regret_of_least_squares():
    made = omkl.bounds("algo=raker reps=1", data="wdbc", progress=False)
    assert made.table["bound"].isna().all()
    assert "loss=logistic" in made.table["notes"][0]


# ------------------------------------------------------------------ the command


@pytest.mark.slow
def test_regret_beside_its_bounds_on_streams_with_known_targets(capsys):
    words = ["algo=raker,adaraker", "data=switch_numbers", "order=file", "reps=1", "--rows", "200"]
    assert main(["bounds", *words, "-q", "-j", "1", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert len(rows) == 6
    for row in rows:
        assert row["counts"] == "regret"
        assert row["max"] <= row["bound"], row
        assert row["settings"] == ""
    path = rows[-1]
    assert path["theorem"].endswith("Theorem 4")
    examples, known = streams.realised("switch_numbers", 1)
    cell = expand(plan([*words[1:4], "algo=adaraker", "yardsticks=[]"]))[0]
    total = np.square(examples.labels - Repetition(cell).scores).sum()
    assert path["mean"] == pytest.approx(total - np.square(examples.labels - known).sum())
    assert path["mean"] > rows[2]["mean"]  # the path is better than any fixed function here


def test_the_regret_is_drawn_over_the_examples(capsys, tmp_path):
    X, y = switching()
    own = {"data": X, "y": y, "task": "regression", "target": "minmax", "scale": "none", "yardsticks": []}
    own["reps"] = 2
    omkl.run("algo=raker,omkr", **own, jobs=1, progress=False)
    made = omkl.run("algo=raker", **own, stored=True)
    (axes,) = made.figure("curve", "regret").draw().axes
    (line,) = axes.get_lines()
    (band,) = axes.collections
    cells = cells_of(X, y, "raker", "target=minmax", reps=2)
    ends = []
    for cell in cells:
        rounds = Repetition(cell).rounds
        regret = rounds.losses - rounds.seen.best().losses
        left_out = scores.before_variation(rounds.seen.y)  # as in all measures of one's own numbers
        ends.append(scores.sums_of(scores.without(regret, left_out))[-1] * rounds.seen.width**2)
    assert line.get_ydata()[-1] == pytest.approx(np.mean(ends))
    high = np.asarray(band.get_paths()[0].vertices)[:, 1].max()
    assert high >= np.mean(ends) + np.std(ends, ddof=1) - 1e-9
    with pytest.raises(UserError, match="the curves of these cells lack regret"):
        omkl.run("algo=omkr", **own, stored=True).figure("curve", "regret")
