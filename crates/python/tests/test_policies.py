"""Objects of libraries as policies: they choose what their library chooses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import policert
from policert.comparison import Difference, compare

LABELS = ["accelerate", "coast", "brake"]
WORDS: dict[str, Any] = {"inputs": ["position", "speed"], "outputs": LABELS}


def samples() -> tuple[Any, Any]:
    numbers = np.random.default_rng(1)
    rows = numbers.integers(-10, 30, (400, 2)).astype(np.float32)
    return rows, (rows[:, 0] > 20).astype(int) + (rows[:, 1] > 5)


def classifiers() -> list[Any]:
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.tree import DecisionTreeClassifier

    return [
        DecisionTreeClassifier(max_depth=4, random_state=1),
        RandomForestClassifier(5, max_depth=4, random_state=1),
        GradientBoostingClassifier(n_estimators=3, random_state=1),
        LogisticRegression(),
    ]


@pytest.mark.parametrize("estimator", classifiers(), ids=lambda e: type(e).__name__)
def test_scikit_learn(icy_road: str, estimator: Any) -> None:
    policy = policert.Policy.from_sklearn(estimator.fit(*samples()), **WORDS)
    expected = [
        LABELS[k] for k in estimator.predict(np.array([[p, 1] for p in range(31)], dtype="f4"))
    ]
    states = [[0, p, 1] for p in range(31)]
    found = policert.commands.choices(icy_road, "careful", policy, states)
    assert [labels[0] for labels in found] == expected
    assert policert.verify(icy_road, "careful", policy).verdict in ("safe", "unsafe")


@pytest.mark.parametrize("classes", [2, 3])
def test_xgboost(icy_road: str, classes: int) -> None:
    import xgboost

    rows, labels = samples()
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(rows, labels % classes)
    never = LABELS[classes:]
    policy = policert.Policy.from_xgboost(
        model, inputs=["position", "speed"], outputs=LABELS[:classes], never=never
    )
    assert policert.verify(icy_road, "careful", policy).verdict in ("safe", "unsafe")


def test_lightgbm(icy_road: str) -> None:
    lightgbm = pytest.importorskip("lightgbm", exc_type=(ImportError, OSError))
    model = lightgbm.LGBMClassifier(n_estimators=5, verbose=-1).fit(*samples())
    policy = policert.Policy.from_lightgbm(model, **WORDS)
    assert policert.verify(icy_road, "careful", policy).verdict in ("safe", "unsafe")


def test_a_difference_shows_the_observation(icy_road: str) -> None:
    policy = policert.Policy(Path(icy_road).with_name("careful.onnx"))
    with pytest.raises(Difference) as caught:
        compare(policy, 3, [(0, 30), (0, 3)], lambda rows: [2 if r[0] == 3 else 0 for r in rows])
    error = caught.value
    assert len(error.observation) == 2 and error.policert != [error.library]


def test_saving_keeps_the_interface(icy_road: str, tmp_path: Path) -> None:
    policy = policert.Policy(Path(icy_road).with_name("careful.onnx").read_bytes(), **WORDS)
    path = policy.save(tmp_path / "mine.onnx")
    beside = path.with_suffix(".jani2nnet")
    assert policert.verify(icy_road, "careful", policert.Policy(path, interface=beside)).is_safe
