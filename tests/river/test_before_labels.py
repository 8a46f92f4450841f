"""What river's models say before they have seen a label: as river's own do."""

import pytest

pytest.importorskip("river")
from river import checks

import omkl.river


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        ("NormaLogisticClassifier", {}, {False: 0.5, True: 0.5}),
        ("AutoClassifier", {}, {}),
        ("AutoClassifier", {"classes": ["a", "b", "c", "d"]}, dict.fromkeys("abcd", 0.25)),
    ],
)
def test_probabilities_before_any_label(name, settings, expected):
    model = getattr(omkl.river, name)(**settings)
    assert model.predict_proba_one({"x": 1.0}) == expected


def test_river_s_check_of_binary_probabilities():
    model = omkl.river.NormaLogisticClassifier()
    own = [
        check for check in checks.yield_checks(model) if check.__name__ == "check_predict_proba_one_binary"
    ]
    assert own
    for check in own:
        check(model.clone())
