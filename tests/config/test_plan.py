"""From words to a plan: defaults, grids, whose hyperparameters, pools, yardsticks, and no harm to Hydra."""

from dataclasses import replace
from pathlib import Path

import pytest

from omkl import conf
from omkl.config import learner_names, learner_spec, learner_specs, learners, plan, pool, pool_names, resolved
from omkl.data import from_arrays, of_dataset
from omkl.errors import UserError
from omkl.runs.cells import expand


def betas(made):
    return [(s.learner, s.params["beta"]) for s in made.settings if "beta" in s.params]


def names_of(made):
    return [ref.name for ref in made.data]


def test_without_words_the_first_example_of_the_readme_runs(monkeypatch):
    monkeypatch.delenv("OMKL_STORE", raising=False)
    made = plan([])
    (setting,) = made.settings
    assert (setting.learner, setting.params["beta"], setting.params["delta"]) == ("omkc_ss", 0.8, 0.01)
    assert setting.pool["name"] == "paper16"
    assert len(setting.pool["kernels"]) == 16
    assert (names_of(made), made.reps, made.order, made.seed) == (["wdbc"], 20, "permuted", 1)
    assert made.exec == {"name": "loky", "jobs": None, "threads": 1}
    names = [yardstick.learner for yardstick in made.yardsticks]
    assert names[:3] == ["majority", "perceptron", "arow"]
    assert (made.store, made.swept, made.block) == (Path("results"), (), None)


def test_every_learner_and_pool_of_conf_is_read_and_planned():
    assert {"omkc_dd", "omkc_ss", "perceptron", "majority", "arow"} <= set(learner_names())
    for name, spec in learner_specs().items():
        suitable = ["pool=gauss13"] if spec.pool != "any" and spec.kernels == "pool" else []
        assert plan([f"algo={name}", *suitable]).settings[0].params == spec.usual("classification")
    for name in pool_names():
        made = plan([f"pool={name}"]).settings[0].pool
        assert made == pool(name)
        assert made["kernels"]


def test_paper16_is_the_pool_of_the_papers():
    kernels = pool("paper16")["kernels"]
    assert [k["sigma"] for k in kernels if k["kind"] == "gaussian"] == [2.0**k for k in range(-6, 7)]
    assert [k["degree"] for k in kernels if k["kind"] == "polynomial"] == [1, 2, 3]
    assert pool("paper16_cosine")["kernels"] == kernels


def test_plain_values_in_place_of_words():
    values = {"algo": ["glob(omkc_d*)", "norma"], "data": ["wdbc"], "algo.beta": [0.5, 0.7], "reps": 2}
    typed = ["algo=omkc_dd,omkc_ddpa,omkc_ds,omkc_dspa,norma", "data=wdbc", "algo.beta=0.5,0.7", "reps=3"]
    made, same = plan(["reps=3"], sweep=True, values=values), plan(typed, sweep=True)
    assert names_of(made) == names_of(same)
    assert replace(made, data=()) == replace(same, data=())


def test_a_changed_pool_has_a_name_of_its_own():
    assert plan(["pool.normalise=cosine"]).settings[0].pool == pool("paper16_cosine")
    assert plan(["pool.normalise=none"]).settings[0].pool == pool("paper16")
    own = plan(["pool.kernels=[{kind:gaussian,sigma:[1.5,2.5]},{kind:linear}]"]).settings[0].pool
    assert [k["kind"] for k in own["kernels"]] == ["gaussian", "gaussian", "linear"]
    assert own["name"] not in pool_names()
    cosine = plan(["pool.kernels=[{kind:gaussian,sigma:[1.5,2.5]},{kind:linear}]", "pool.normalise=cosine"])
    assert cosine.settings[0].pool["name"] == f"{own['name']}-cosine"
    other = plan(["pool.kernels=[{kind:gaussian,sigma:1.5}]"]).settings[0].pool
    assert other["name"] != own["name"]
    assert [s.pool["name"] for s in plan(["pool.normalise=none,cosine"], sweep=True).settings] == [
        "paper16",
        "paper16_cosine",
    ]


def learners_of(made):
    return [(own.learner, own.pool and own.pool["name"]) for own in made.settings]


def yardsticks_of(made):
    return [own.learner for own in made.yardsticks]


def numbers_of(made):
    return [tuple(own.params.values())[:2] for own in made.settings]


@pytest.mark.parametrize(
    ("words", "part", "expected"),
    [
        ("order=file", lambda made: made.reps, 1),
        ("order=file reps=3", lambda made: made.reps, 3),
        ("order=authors", lambda made: made.reps, 20),
        ("exec=serial", lambda made: made.exec, {"name": "serial", "threads": 1}),
        ("exec.jobs=3", lambda made: made.exec, {"name": "loky", "jobs": 3, "threads": 1}),
        ("yardsticks=[]", yardsticks_of, []),
        ("yardsticks=null", yardsticks_of, []),
        ("yardsticks=arow", yardsticks_of, ["arow"]),
        ("yardsticks=arow,majority", yardsticks_of, ["arow", "majority"]),
        ("yardsticks=[arow,majority]", yardsticks_of, ["arow", "majority"]),
        # one that is a learner already is not run twice
        ("algo=perceptron,omkc_dd", lambda made: yardsticks_of(made)[:2], ["majority", "arow"]),
        (
            "algo=perceptron algo.kernel={kind:gaussian,gamma:1}",
            lambda made: yardsticks_of(made)[:3],
            ["majority", "perceptron", "arow"],
        ),
        ("algo=[omkc_dd,arow]", learners_of, [("omkc_dd", "paper16"), ("arow", None)]),
        (
            "algo=omkc_dd,arow pool=paper16,paper16_cosine",  # without a pool, not once for each
            learners_of,
            [("omkc_dd", "paper16"), ("omkc_dd", "paper16_cosine"), ("arow", None)],
        ),
        (
            "algo=perceptron algo.kernel={kind:gaussian,gamma:0.01}",
            lambda made: (made.settings[0].params, made.settings[0].pool),
            ({"kernel": {"kind": "gaussian", "gamma": 0.01}}, None),
        ),
        # a grid is the product in the order given, ranges are exact decimals, equal settings are kept once
        (
            "algo=omkc_ss algo.beta=0.1,0.3 algo.delta=0.01,0.1",
            lambda made: (numbers_of(made), made.swept),
            ([(0.1, 0.01), (0.1, 0.1), (0.3, 0.01), (0.3, 0.1)], ("algo.beta", "algo.delta")),
        ),
        ("algo=omkc_dd algo.beta=range(0.1,1,0.1)", numbers_of, [(float(f"0.{n}"),) for n in range(1, 10)]),
        ("algo=omkc_dd algo.beta=0.30000000000000004", numbers_of, [(0.3,)]),
        (
            "algo=omkc_ddpa algo.C=1,1.0,1e0",
            lambda made: ([repr(own.params["C"]) for own in made.settings], made.swept),
            (["1.0"], ()),
        ),
        (
            "algo=omkc_dd,omkc_ss,omkc_dd algo.beta=0.3,0.1,0.3 algo.delta=0.01,0.1",
            betas,
            [("omkc_dd", 0.3), ("omkc_dd", 0.1), *(("omkc_ss", beta) for beta in (0.3, 0.3, 0.1, 0.1))],
        ),
    ],
)
def test_what_words_plan(words, part, expected):
    assert part(plan(words.split(), sweep=True)) == expected


def test_names_by_glob():
    made = {own.learner for own in plan(["algo=glob(omkc_*)"]).settings}
    assert made == {name for name in learner_names() if name.startswith("omkc_")}


def test_the_store_by_word_by_environment_by_default(monkeypatch, tmp_path):
    monkeypatch.setenv("OMKL_STORE", str(tmp_path))
    assert plan([]).store == tmp_path
    assert plan(["store=other place/ü"]).store == Path("other place/ü")
    monkeypatch.setenv("OMKL_STORE", "")
    assert plan([]).store == Path("results")


def test_data_by_name_and_by_path(tmp_path):
    path = tmp_path / "my.libsvm"
    path.write_text("+1 1:1\n-1 1:2\n")
    assert plan([f"data=wdbc,{path},wdbc"]).data[1].word == str(path)
    assert names_of(plan([f"data=wdbc,{path},wdbc"])) == ["wdbc", "my"]


def test_data_may_be_given_in_place_of_words():
    own = from_arrays([[0.0], [1.0]], [0, 1], name="mine")
    made = plan(["algo=alma", "yardsticks=[]"], data=[of_dataset(own), "wdbc"])
    assert names_of(made) == ["mine", "wdbc"]
    assert made.data[0].load() is own


def test_one_grid_cannot_ask_for_millions_of_settings():
    words = ["algo=omkc_ss", "algo.beta=range(0.001,1,0.001)", "algo.delta=range(0,1,0.001)"]
    with pytest.raises(UserError, match="999000 settings; at most 100000"):
        plan(words, sweep=True)


def test_a_setting_is_not_changed_by_the_next():
    first = plan(["algo=omkc_dd"]).settings[0]
    second = plan(["algo=omkc_dd", "algo.beta=0.5"]).settings[0]
    assert (first.params["beta"], second.params["beta"]) == (0.8, 0.5)
    assert learner_spec("omkc_dd").defaults["beta"] == 0.8


def test_resolved_says_what_runs_and_what_it_means():
    made = resolved(["algo=omkc_sd", "algo.beta=0.9", "pool=linear", "order=file"])
    assert made["reps"] == 1
    assert made["pool"]["linear"]["kernels"] == [{"kind": "linear"}]
    beta = made["algo"]["omkc_sd"]["hyperparameters"]["beta"]
    assert beta["value"] == 0.9
    assert beta["domain"] == "(0, 1]"
    assert beta["help"] == learner_spec("omkc_sd").hyperparameters["beta"].help


def test_a_program_with_its_own_hydra_keeps_it(tmp_path):
    from hydra import compose, initialize_config_dir
    from hydra.core.global_hydra import GlobalHydra

    (tmp_path / "mine.yaml").write_text("answer: 42\n")
    with initialize_config_dir(str(tmp_path), version_base="1.3"):
        mine = GlobalHydra.instance().hydra
        assert learner_spec("omkc_dd").name == "omkc_dd"
        conf._read.clear()
        assert plan([]).settings
        assert GlobalHydra.instance().hydra is mine
        assert compose("mine")["answer"] == 42
    assert not GlobalHydra.instance().is_initialized()


def test_a_group_means_its_learners_and_leaves_out_the_unsuitable_with_a_note():
    with pytest.warns(
        UserWarning,
        match=r"\(not for classification\): edoebe, iegp, omkl_gf, ridge_features, vaw2$",
    ):
        made = plan(["algo=features", "data=wdbc"])
    names = [setting.learner for setting in made.settings]
    lifted = [
        "adaraker",
        "adaraker_authors",
        "bomkc_fogd",
        "dualsgd",
        "egpc",
        "raker",
        "rff",
    ]
    assert [name for name in names if name != "auto" and not name.startswith("arow_")] == lifted
    with pytest.warns(UserWarning, match=r"not for pool=paper16\): adaraker, .*bomkc_fogd, .*raker"):
        made = plan(["algo=features,omkc_dd", "pool=paper16"])
    names = [setting.learner for setting in made.settings]
    assert {"dualsgd", "rff", "omkc_dd"} <= set(names)
    assert not {"raker", "egpc", "arow_features_pool"} & set(names)
    assert len(plan(["algo=omkc,omkc_dd"]).settings) == 11
    mixed = plan(["algo=norma_regression,omkc", "data=wdbc"])  # one named itself stays: it is a mistake
    assert "norma_regression" in [setting.learner for setting in mixed.settings]
    with pytest.raises(UserError, match=r"unknown learner or group \(did you mean 'budget'\?\)"):
        plan(["algo=budgets"])


def test_learners_for_two_classes_are_left_out_of_groups_and_named_where_named(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "three.csv").write_text("x,y\n1.5,a\n2,b\n3,c\n")
    for data in ("iris", str(tmp_path / "three.csv")):
        with pytest.warns(UserWarning, match=r"skipped \(not for the 3 classes of .*\): .*alma,"):
            made = plan(["algo=all", f"data={data}"])
        assert all(learner_spec(setting.learner).takes(3) for setting in made.settings)
        with pytest.raises(
            UserError, match=r"^algo=alma is for two classes, data=\S+ has 3; .*such as auto \("
        ):
            expand(plan(["algo=alma", f"data={data}"]))
    one = plan(["algo=alma", f"data={tmp_path / 'three.csv'}", "positive=b", "reps=1", "yardsticks=[]"])
    assert len(expand(one)) == 1


def test_a_positive_class_is_read_as_it_is_written(tmp_path):
    (tmp_path / "my.csv").write_text("x,y\n1,a\n2,b\n")
    texts = "1 1.0 2.10 +1 -1 007 1e3 1_000 True true yes 1.2.3"
    for text, read in [
        *((text, text) for text in texts.split()),
        ('"1,3"', "1,3"),
        ("'a b'", "a b"),
        ("null", None),
    ]:
        made = plan(["algo=alma", f"data={tmp_path / 'my.csv'}", f"positive={text}", "yardsticks=[]"])
        assert made.data[0].preparation.positive == read
    for wrong in ("{a:1}", "[a]", '""', "1,2"):
        with pytest.raises(UserError, match="positive"):
            plan(["algo=alma", f"data={tmp_path / 'my.csv'}", f"positive={wrong}"])


def test_a_budget_that_nobody_gave_refuses_no_small_table(tmp_path):
    (tmp_path / "two.libsvm").write_text("1 1:1\n-1 1:2\n")
    data = f"data={tmp_path / 'two.libsvm'}"
    made = plan(["algo=budget", data])
    assert len(made.settings) > 8
    assert expand(made)
    with pytest.raises(UserError, match=r"bomkc_rbp cannot store more vectors per kernel .* T = 2; choose"):
        expand(plan(["algo=bomkc_rbp", "algo.budget=1000", data]))


def test_every_group_follows_from_the_learners_files():
    made = learners.groups()
    specs = learner_specs()
    assert made["budget"] == [name for name, spec in specs.items() if "budget" in spec.hyperparameters]
    assert {"raker", "arow", "bomkc_rbp"} <= set(made["bounded"])
    assert not {"omkc_dd", "norma_nu", "adamkl", "krls_ald", "lasvm"} & set(made["bounded"])
    assert made["yardsticks"] == [name for name, spec in specs.items() if spec.yardstick]
    assert not made.keys() & specs.keys()
    assert list(learners.meanings()) == [*list(made)[:11], "omkc", "bomkc", "omkl"]


def test_of_data_with_the_same_examples_the_first_is_taken_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setenv("OMKL_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    for name, sign in (("commas", ","), ("semicolons", ";")):
        Path(f"{name}.csv").write_text(
            f"x{sign}y\n" + "".join(f"{n}.5{sign}{'ab'[n % 2]}\n" for n in range(9)), encoding="utf-8"
        )
    Path("other.csv").write_text("x,y\n1.5,a\n2,b\n", encoding="utf-8")
    with pytest.warns(UserWarning, match="^semicolons.csv is left out.* as commas.csv$"):
        assert names_of(plan(["data=commas.csv,semicolons.csv,other.csv"])) == ["commas", "other"]
    with pytest.warns(UserWarning, match="^adaraker_air is left out, .* as air$"):
        assert names_of(plan(["data=air,adaraker_air", "algo=raker"])) == ["air"]


def test_what_the_groups_of_forms_promise_is_true_of_their_members():
    stored, meanings = set(learners.groups()["budget"]), learners.meanings()
    assert "dualsgd" in stored & set(learners.groups()["features"])
    assert "no vectors" not in meanings["features"]
