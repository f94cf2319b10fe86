"""Policies of scikit-learn, XGBoost and LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np

from .comparison import compare
from .policy import Policy

# Inputs of this range tell the choices of a policy apart well enough to compare them.
RANGE = (-20, 20)


def from_sklearn(cls: type[Policy], estimator: Any, words: dict[str, Any]) -> Policy:
    import skl2onnx

    width = int(estimator.n_features_in_)
    sample = np.zeros((1, width), dtype=np.float32)
    exported = skl2onnx.to_onnx(estimator, sample, options={"zipmap": False})
    policy = cls(exported.SerializeToString(), **words)
    classes = list(estimator.classes_)
    compare(
        policy,
        len(classes),
        [RANGE] * width,
        lambda rows: [
            classes.index(c) for c in estimator.predict(np.array(rows, dtype=np.float32))
        ],
    )
    return policy


def from_xgboost(cls: type[Policy], model: Any, words: dict[str, Any]) -> Policy:
    import xgboost

    booster = model if isinstance(model, xgboost.Booster) else model.get_booster()
    policy = cls(bytes(booster.save_raw("json")), **words)
    width = booster.num_features()
    iterations = getattr(booster, "best_iteration", None)
    limit = (0, 0) if iterations is None else (0, iterations + 1)
    names = booster.feature_names

    def predict(rows: list[list[int]]) -> list[int]:
        matrix = xgboost.DMatrix(np.array(rows, dtype=np.float32), feature_names=names)
        margins = booster.predict(matrix, output_margin=True, iteration_range=limit)
        return _choices(np.asarray(margins))

    outputs = _outputs(booster.predict(_empty(xgboost, width, names), output_margin=True))
    compare(policy, outputs, [RANGE] * width, predict)
    return policy


def _empty(xgboost: Any, width: int, names: Any) -> Any:
    return xgboost.DMatrix(np.zeros((1, width), dtype=np.float32), feature_names=names)


def from_lightgbm(cls: type[Policy], model: Any, words: dict[str, Any]) -> Policy:
    booster = getattr(model, "booster_", model)
    policy = cls(booster.model_to_string().encode(), **words)
    width = booster.num_feature()

    def predict(rows: list[list[int]]) -> list[int]:
        return _choices(np.asarray(booster.predict(np.array(rows, dtype=float), raw_score=True)))

    outputs = _outputs(booster.predict(np.zeros((1, width)), raw_score=True))
    compare(policy, outputs, [RANGE] * width, predict)
    return policy


def _outputs(margins: Any) -> int:
    """The number of labels: one score is a choice between two."""
    margins = np.asarray(margins)
    return 2 if margins.ndim == 1 else int(margins.shape[1])


def _choices(margins: Any) -> list[int]:
    if margins.ndim == 1:
        return [int(margin > 0) for margin in margins]
    return [int(k) for k in np.argmax(margins, axis=1)]
