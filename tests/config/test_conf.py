"""A faulty conf folder: each fault is one line that names the file and the key."""

import shutil

import pytest
import yaml

from omkl.config import learner_names, learner_spec, plan, pool
from omkl.errors import UserError
from omkl.paths import conf_folder

LEARNER = {
    "beta": {"value": 0.8, "domain": "(0, 1)", "help": "discount", "search": "linear 0.1 0.9"},
    "about": {
        "function": "omkc_dd",
        "label": "Mine",
        "cite": "nobody (2026)",
        "task": "classification",
        "kernels": "pool",
        "revision": 1,
    },
}


@pytest.fixture
def conf(tmp_path, monkeypatch):
    """A copy of the conf folder that the configuration is read from."""
    folder = shutil.copytree(conf_folder(), tmp_path / "conf")
    monkeypatch.setattr("omkl.conf.conf_folder", lambda: folder)
    return folder


def changed(path, value):
    """Return a copy of LEARNER with one dotted key set, or removed when the value is None."""
    content = yaml.safe_load(yaml.safe_dump(LEARNER))
    *parents, last = path.split(".")
    place = content
    for parent in parents:
        place = place[parent]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return content


def test_a_new_file_is_a_new_learner(conf):
    (conf / "algo" / "mine.yaml").write_text(yaml.safe_dump(LEARNER))
    (conf / "algo" / "_shared.yaml").write_text("anything: 1\n")
    assert "mine" in learner_names()
    assert "_shared" not in learner_names()
    spec = learner_spec("mine")
    assert (spec.function, spec.defaults, spec.yardstick) == ("omkc_dd", {"beta": 0.8}, False)
    (conf / "algo" / "mine.yaml").write_text(yaml.safe_dump(changed("beta.value", 0.25)))
    assert learner_spec("mine").defaults == {"beta": 0.25}


def test_a_learner_can_build_on_a_shared_part(conf):
    (conf / "algo" / "_base.yaml").write_text(yaml.safe_dump(LEARNER))
    (conf / "algo" / "mine.yaml").write_text(
        "defaults: [_base, _self_]\nbeta: {value: 0.5}\nabout: {label: Derived}\n"
    )
    spec = learner_spec("mine")
    assert (spec.defaults, spec.label, spec.cite) == ({"beta": 0.5}, "Derived", "nobody (2026)")


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        ("about", None, "'about' is missing"),
        ("about.label", None, "'about.label' is missing"),
        ("about.cite", None, "'about.cite' is missing"),
        ("about.task", None, "'about.task' is missing"),
        ("about.kernels", None, "'about.kernels' is missing"),
        ("about.revision", None, "'about.revision' is missing"),
        ("beta.domain", None, "'beta.domain' is missing"),
        ("beta.help", None, "'beta.help' is missing"),
        ("beta.value", None, "'beta.value' is missing"),
        ("beta.defalt", 1, "unknown key 'beta.defalt'"),
        ("gamma", 0.5, "gamma: must be a block of value, domain and help"),
        ("beta.value", 1.5, "beta: must be a number > 0 and < 1, got 1.5"),
        ("beta.value", "high", "beta: must be a number > 0 and < 1, got 'high'"),
        ("beta.domain", "0 to 1", "beta: '0 to 1' is not a domain"),
        ("about.domains", {"beta": "(0, 1)"}, "unknown key 'about.domains'"),
        ("about.revision", "first", "about.revision: must be a whole number ≥ 1, got 'first'"),
        (
            "about.kernels",
            "pol",
            "about.kernels: must be one of pool, own, none, got 'pol' (did you mean 'pool'",
        ),
        ("about.task", "ranking", "about.task: must be one of classification"),
        ("about.groups", ["norma"], "about.groups: 'norma' is a learner's name; a group needs another name"),
        ("about.groups", ["two words"], "about.groups: 'two words' is not a name of a group"),
        ("about.stochastic", "yes please", "about.stochastic: must be true or false"),
        ("about.lable", "x", "unknown key 'about.lable' (did you mean 'label'?)"),
        ("about.task", [[[]]], "about.task: must be one of classification, regression, novelty, got [[]]"),
        ("about.task", {"a": {}}, "about.task: must be one of classification, regression, novelty, got {'a"),
        ("about.state", {"w": {"shape": ["m"], "grows": [[]]}}, "grows: there is no array [[]]"),
        ("about.kernels", "own", "'about.kernels: own' and a hyperparameter 'kernel: kernel' go together"),
        ("about.yardstick", True, "a yardstick has its own kernel or none"),
        ("about.state", ["w"], "about.state: must be a mapping"),
        ("_target_", "os.system", "_target_: must be a block of value, domain and help"),
        ("about.label", "${nowhere}", "cannot be composed: Interpolation key 'nowhere' not found"),
    ],
)
def test_a_faulty_learner_names_file_and_key(conf, path, value, said):
    file = conf / "algo" / "mine.yaml"
    file.write_text(yaml.safe_dump(changed(path, value)))
    with pytest.raises(UserError) as error:
        learner_spec("mine")
    assert str(file) in str(error.value)
    assert said in str(error.value)
    assert "\n" not in str(error.value)
    assert learner_spec("omkc_dd").name == "omkc_dd"  # the others still work


def test_a_file_name_must_be_a_word(conf):
    (conf / "pool" / "my-pool.yaml").write_text("label: x\n")
    with pytest.raises(UserError, match=r"my-pool\.yaml: the name must be letters"):
        plan(["pool=my-pool"])


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"label": None}, "'label' is missing"),
        ({"normalise": None}, "'normalise' is missing"),
        (
            {"normalise": "cosin"},
            "normalise: must be one of none, cosine, got 'cosin' (did you mean 'cosine'?)",
        ),
        ({"kernels": []}, "kernels: must be a list of kernels"),
        (
            {"kernels": [{"kind": "linear"}, {"kind": "gaussian", "sigma": [1, -1]}]},
            "kernels: kernel 2 of the list",
        ),
        ({"normalize": "none"}, "unknown key 'normalize' (did you mean 'normalise'?)"),
    ],
)
def test_a_faulty_pool_names_file_and_key(conf, change, said):
    content = {"label": "mine", "normalise": "none", "kernels": [{"kind": "linear"}], **change}
    file = conf / "pool" / "mine.yaml"
    file.write_text(yaml.safe_dump({key: value for key, value in content.items() if value is not None}))
    with pytest.raises(UserError) as error:
        pool("mine")
    assert str(file) in str(error.value)
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("line", "other", "said"),
    [
        ("delay: 1", "delay: one", r"delay: must be a whole number .* got 'one'"),
        ("delay: 1", "dealy: 1", r"unknown key 'dealy' \(did you mean 'delay'\?\)|delay is missing"),
        ("delay: 1", "", "delay is missing"),
        ("seed: 1", "seed: ${nowhere}", "cannot be composed: Interpolation key 'nowhere' not found"),
    ],
)
def test_a_faulty_config_names_file_and_key(conf, line, other, said):
    file = conf / "config.yaml"
    assert f"\n{line}\n" in file.read_text()
    file.write_text(file.read_text().replace(f"\n{line}\n", f"\n{other}\n", 1))
    with pytest.raises(UserError, match=rf"config\.yaml: ({said})"):
        plan([])


def test_a_setting_may_refer_to_another(conf):
    file = conf / "config.yaml"
    file.write_text(file.read_text().replace("\nreps: null\n", "\nreps: ${seed}\n", 1))
    assert plan(["data=wdbc"]).reps == 1
