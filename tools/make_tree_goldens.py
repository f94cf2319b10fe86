#!/usr/bin/env python3
"""Makes small tree ensembles with their own libraries, and the scores that these give.

The tests of the readers of tree ensembles compare with the files that this writes, to
crates/policy/tests/golden/trees: a folder for each ensemble, with its files and golden.json:
inputs at random, inputs that equal thresholds or lie next to them in single and in double
precision, missing values; and the scores of the library before any softmax or sigmoid. Scores of
ONNX files are those of onnxruntime.

    python3 -m venv .venv && .venv/bin/pip install -r tools/requirements-trees.txt
    .venv/bin/python tools/make_tree_goldens.py

One thread and one seed: the same versions of the libraries give the same files.
"""

import json
import pathlib
import re
import shutil
import sys

import lightgbm
import numpy as np
import onnxruntime
import xgboost
from sklearn.ensemble import (
    ExtraTreesClassifier, GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates/policy/tests/golden/trees"
FEATURES, CLASSES, ROWS = 4, 3, 300
# Inputs at random, and inputs about thresholds.
RANDOM, THRESHOLDS = 25, 8


def table(seed, kind):
    """Inputs and classes: whole numbers, fractions, or both with some missing."""
    rng = np.random.default_rng(seed)
    x = rng.integers(-4, 9, (ROWS, FEATURES)).astype(np.float64)
    if kind != "whole":
        x[:, 1] = rng.normal(0.3, 2.0, ROWS)
        x[:, 2] = rng.integers(0, 40, ROWS) / 10
    y = (np.floor(x[:, 0] + 1.5 * x[:, 1]) + x[:, 2] * x[:, 3] > rng.normal(2, 3, ROWS)).astype(int)
    y += (x[:, 2] - x[:, 0] > rng.normal(1, 2, ROWS)).astype(int)
    if kind == "missing":
        x[rng.random(x.shape) < 0.15] = np.nan
        x[rng.random(x.shape) < 0.1] = 0.0
    return x, y


def inputs(seed, x, splits):
    """Rows at random, and rows that equal a threshold of their column or lie next to it."""
    rng = np.random.default_rng(seed + 1000)
    rows = [x[rng.integers(len(x))] if i % 2 else rng.normal(1, 4, FEATURES) for i in range(RANDOM)]
    rows += [rng.integers(-9, 9, FEATURES).astype(float) for _ in range(RANDOM)]
    chosen = [splits[i] for i in rng.permutation(len(splits))[:THRESHOLDS]]
    for column, threshold in chosen:
        single = np.float32(threshold)
        near = [threshold, float(single)]
        for way in (-np.inf, np.inf):
            near += [np.nextafter(threshold, way), float(np.nextafter(single, np.float32(way)))]
        for value in near:
            row = x[rng.integers(len(x))].copy()
            row[column] = value
            rows.append(row)
    rows = np.array(rows)
    # LightGBM skips what it takes for zero before its trees are asked.
    tiny = (rows != 0) & (np.abs(rows) < 1e-30)
    return rows[~tiny.any(axis=1)]


def number(value):
    value = float(value)
    return "nan" if np.isnan(value) else value


def write(name, rows, files, tolerance, all_rounds=None):
    """Writes golden.json; `files` maps each file to its scores.
    `all_rounds` maps each file to its scores with all rounds, where training stopped early."""
    listed = lambda table: [[number(value) for value in np.atleast_1d(row)] for row in table]
    scores = {file: listed(s) for file, s in files.items()}
    golden = {"abs_tol": tolerance, "inputs": listed(rows), "files": scores}
    if all_rounds:
        golden["all_rounds"] = {file: listed(s) for file, s in all_rounds.items()}
    (OUT / name / "golden.json").write_text(json.dumps(golden).replace("], [", "],\n[") + "\n")
    print(name, len(rows), ", ".join(files))


def folder(name):
    (OUT / name).mkdir(parents=True)
    return OUT / name


def xgboost_case(seed, name, kind="fractions", rounds=3, classes=CLASSES, early=None, **options):
    """With `early`, training stops after that many rounds without progress on other rows."""
    x, y = table(seed, kind)
    parameters = {"max_depth": 3, "seed": seed, "nthread": 1, "tree_method": "exact"} | options
    if classes > 2:
        parameters |= {"objective": "multi:softprob", "num_class": classes}
    else:
        y = (y > 0).astype(int)
    types = options.pop("feature_types", None)
    for column, kind_of in enumerate(types or []):
        if kind_of == "c":
            x[:, column] = np.abs(x[:, column])
    parameters.pop("feature_types", None)
    matrix = lambda table, **more: xgboost.DMatrix(
        table, feature_types=types, enable_categorical=types is not None, **more
    )
    data = matrix(x, label=y)
    if early:
        other, labels = table(seed + 500, kind)
        labels = labels if classes > 2 else (labels > 0).astype(int)
        other = [(xgboost.DMatrix(other, label=labels), "other")]
        stop = {"evals": other, "early_stopping_rounds": early, "verbose_eval": False}
    booster = xgboost.train(parameters, data, rounds, **(stop if early else {}))
    splits = [
        (int(line[1][1:]), float(line[2]))
        for tree in booster.get_dump()
        for line in re.finditer(r"\[(f\d+)<([^\]]+)\]", tree)
    ]
    splits = [(column, float(np.float32(t))) for column, t in splits]
    rows = inputs(seed, x, splits)
    # It reads single precision; what rounds to it is given as it is.
    margins = lambda count: booster.predict(
        matrix(rows), output_margin=True, iteration_range=(0, count)
    )
    best = booster.best_iteration + 1 if early else 0
    assert not early or best < booster.num_boosted_rounds(), "training did not stop early"
    place = folder(name)
    files = ["policy.json", "policy.ubj"]
    for file in files:
        booster.save_model(place / file)
    scores = {file: margins(best) for file in files}
    write(name, rows, scores, 2e-6, {file: margins(0) for file in files} if early else None)


# What the labels are made into, for objectives that do not take classes.
OBJECTIVES = {
    "binary:hinge": None, "binary:logistic": None, "binary:logitraw": None,
    "count:poisson": 1, "multi:softmax": None, "multi:softprob": None,
    "rank:map": None, "rank:ndcg": None, "rank:pairwise": None,
    "reg:absoluteerror": None, "reg:gamma": 1, "reg:linear": None, "reg:logistic": None,
    "reg:pseudohubererror": None, "reg:quantileerror": None, "reg:squarederror": None,
    "reg:squaredlogerror": None, "reg:tweedie": 1, "survival:aft": 1, "survival:cox": 1,
}


def xgboost_objectives(seed, name):
    """One round for each objective and three base scores."""
    x, y = table(seed, "whole")
    rows = inputs(seed, x, [(0, 2.0), (1, 1.0)])[:60]
    place, files = folder(name), {}
    for objective, shift in OBJECTIVES.items():
        several = objective.startswith("multi")
        label = y if several else (y > 0).astype(int)
        data = xgboost.DMatrix(x, label=label + (shift or 0))
        options = {"num_class": CLASSES} if several else {}
        if objective == "reg:quantileerror":
            options = {"quantile_alpha": 0.5}
        if objective.startswith("rank"):
            data.set_group([ROWS // 2, ROWS - ROWS // 2])
        if objective == "survival:aft":
            data.set_float_info("label_lower_bound", label + 1.0)
            data.set_float_info("label_upper_bound", label + 2.0)
        for base_score in (0.2, 0.5, 0.7):
            parameters = {
                "objective": objective, "base_score": base_score, "max_depth": 2, "seed": seed,
                "nthread": 1, "tree_method": "exact",
            } | options
            booster = xgboost.train(parameters, data, 1)
            file = f"{objective.replace(':', '-')}-{base_score}.json"
            booster.save_model(place / file)
            files[file] = booster.predict(xgboost.DMatrix(rows), output_margin=True)
    write(name, rows, files, 2e-6)


def numeric_splits(dump):
    """Column and threshold of the numeric splits of a LightGBM model."""
    splits = []

    def collect(node):
        if "split_feature" in node:
            if node["decision_type"] == "<=":
                splits.append((node["split_feature"], float(node["threshold"])))
            collect(node["left_child"])
            collect(node["right_child"])

    for tree in dump["tree_info"]:
        collect(tree["tree_structure"])
    return splits


def lightgbm_case(seed, name, kind="fractions", rounds=3, classes=CLASSES, **options):
    x, y = table(seed, kind)
    parameters = {
        "num_leaves": 7, "min_data_in_leaf": 5, "seed": seed, "num_threads": 1, "verbose": -1,
        "deterministic": True, "force_row_wise": True,
    } | options
    if classes > 2:
        parameters |= {"objective": "multiclass", "num_class": classes}
    else:
        parameters.setdefault("objective", "binary")
        y = (y > 0).astype(int)
    if "categorical_feature" in parameters:
        for column in parameters["categorical_feature"]:
            x[:, column] = np.abs(x[:, column])
    booster = lightgbm.train(parameters, lightgbm.Dataset(x, label=y), rounds)
    dump = booster.dump_model()
    rows = inputs(seed, x, numeric_splits(dump))
    scores = booster.predict(rows, raw_score=True)
    place = folder(name)
    booster.save_model(place / "policy.txt")
    (place / "policy.json").write_text(json.dumps(dump, indent=1) + "\n")
    write(name, rows, {f: scores for f in ("policy.txt", "policy.json")}, 1e-12)


def run_onnx(path, rows):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    outputs = session.run(None, {session.get_inputs()[0].name: rows.astype(np.float32)})
    scores = outputs[-1]
    return np.asarray(scores).reshape(len(rows), -1)


def sklearn_case(seed, name, model, kind="fractions", classes=CLASSES, margins=False):
    """With `margins` the scores are those before softmax or the logistic function."""
    from skl2onnx import to_onnx

    x, y = table(seed, kind)
    x = x.astype(np.float32)
    y = y if classes > 2 else (y > 0).astype(int)
    model.fit(x, y)
    options = {"zipmap": False} if hasattr(model, "predict_proba") else None
    graph = to_onnx(model, x[:1], options={id(model): options} if options else None)
    place = folder(name)
    (place / "policy.onnx").write_bytes(graph.SerializeToString())
    trees = np.ravel(getattr(model, "estimators_", [model]))
    splits = [
        (int(f), float(t))
        for tree in trees
        for f, t in zip(tree.tree_.feature, tree.tree_.threshold)
        if f >= 0
    ]
    rows = inputs(seed, x.astype(np.float64), splits)
    scores = run_onnx(place / "policy.onnx", rows)
    own = model.predict_proba(rows) if options else model.predict(rows)[:, None]
    differ = int((np.abs(own - scores).max(axis=1) > 1e-5).sum())
    if differ:
        print(f"  scikit-learn itself gives other scores for {differ} rows")
    if margins:
        scores = model.decision_function(rows.astype(np.float32)).reshape(len(rows), -1)
        if classes == 2:
            scores = np.hstack([np.zeros_like(scores), scores])
    elif classes == 2:
        # The second class is chosen above a half.
        scores[:, 0] = 0.5
    write(name, rows, {"policy.onnx": scores}, 2e-6)


def exported_case(seed, name, kind):
    """Ensembles of XGBoost and LightGBM exported to ONNX; the scores before softmax."""
    import onnx
    from onnxmltools import convert_lightgbm, convert_xgboost
    from onnxmltools.convert.common.data_types import FloatTensorType

    x, y = table(seed, "fractions")
    x = x.astype(np.float32)
    types = [("x", FloatTensorType([None, FEATURES]))]
    if kind == "xgboost":
        model = xgboost.XGBClassifier(n_estimators=3, max_depth=3, random_state=seed, n_jobs=1)
        model.fit(x, y)
        graph = convert_xgboost(model, initial_types=types)
        margins = lambda rows: model.predict(rows, output_margin=True)
        found = re.findall(r"\[f(\d+)<([^\]]+)\]", "\n".join(model.get_booster().get_dump()))
        splits = [(int(f), float(np.float32(float(t)))) for f, t in found]
    else:
        model = lightgbm.LGBMClassifier(
            n_estimators=3, num_leaves=7, random_state=seed, n_jobs=1, verbose=-1
        )
        model.fit(x, y)
        graph = convert_lightgbm(model, initial_types=types, zipmap=False)
        margins = lambda rows: model.predict(rows, raw_score=True)
        splits = numeric_splits(model.booster_.dump_model())
    place = folder(name)
    onnx.save(graph, place / "policy.onnx")
    rows = inputs(seed, x.astype(np.float64), splits).astype(np.float32).astype(np.float64)
    scores = margins(rows)
    ranked = run_onnx(place / "policy.onnx", rows).argmax(axis=1)
    differ = int((ranked != scores.argmax(axis=1)).sum())
    if differ:
        print(f"  the library itself chooses otherwise in {differ} rows")
    write(name, rows, {"policy.onnx": scores}, 2e-6)


def main():
    if OUT.exists():
        shutil.rmtree(OUT)
    xgboost_case(1, "xgboost-classes")
    xgboost_case(2, "xgboost-whole-numbers", kind="whole")
    xgboost_case(3, "xgboost-missing", kind="missing")
    xgboost_case(4, "xgboost-two-classes", classes=2, objective="binary:logistic")
    xgboost_case(5, "xgboost-regression", classes=1, objective="reg:squarederror")
    xgboost_case(6, "xgboost-parallel-trees", num_parallel_tree=2, subsample=0.7)
    xgboost_case(7, "xgboost-vector-leaves", multi_strategy="multi_output_tree", tree_method="hist")
    xgboost_case(8, "xgboost-histograms", tree_method="hist", max_bin=16)
    xgboost_case(9, "xgboost-base-score", base_score=0.25)
    xgboost_case(10, "xgboost-weighted-trees", booster="dart", rate_drop=0.4, rounds=6)
    xgboost_case(41, "xgboost-pruned", tree_method="exact", max_depth=5, gamma=2.0)
    by_category = {"feature_types": ["c", "q", "q", "c"], "tree_method": "hist"}
    xgboost_case(48, "xgboost-categories", max_cat_to_onehot=1, max_depth=4, **by_category)
    xgboost_case(49, "xgboost-categories-missing", kind="missing", max_cat_to_onehot=20, **by_category)
    early = {"rounds": 30, "early": 2, "eta": 1}
    xgboost_case(42, "xgboost-early", **early)
    xgboost_case(43, "xgboost-early-two-classes", classes=2, objective="binary:logistic", **early)
    xgboost_case(44, "xgboost-early-parallel", num_parallel_tree=2, subsample=0.7, **early)
    xgboost_case(45, "xgboost-early-weighted", booster="dart", rate_drop=0.1, **early)
    xgboost_case(
        46, "xgboost-early-vector", multi_strategy="multi_output_tree", tree_method="hist", **early
    )
    xgboost_objectives(47, "xgboost-objectives")
    lightgbm_case(11, "lightgbm-classes")
    lightgbm_case(12, "lightgbm-whole-numbers", kind="whole")
    lightgbm_case(13, "lightgbm-missing", kind="missing")
    lightgbm_case(14, "lightgbm-missing-zero", kind="missing", zero_as_missing=True)
    lightgbm_case(15, "lightgbm-no-missing", use_missing=False)
    lightgbm_case(16, "lightgbm-two-classes", classes=2)
    lightgbm_case(17, "lightgbm-forest", boosting="rf", bagging_freq=1, bagging_fraction=0.7)
    lightgbm_case(18, "lightgbm-categories", categorical_feature=[0])
    lightgbm_case(
        19, "lightgbm-categories-missing", kind="missing", categorical_feature=[0, 3], max_cat_to_onehot=1
    )
    lightgbm_case(20, "lightgbm-linear", linear_tree=True, linear_lambda=0.1)
    one = {"random_state": 0}
    sklearn_case(21, "sklearn-tree", DecisionTreeClassifier(max_depth=4, **one))
    sklearn_case(22, "sklearn-forest", RandomForestClassifier(5, max_depth=4, **one))
    sklearn_case(23, "sklearn-extra-trees", ExtraTreesClassifier(5, max_depth=4, **one))
    sklearn_case(24, "sklearn-regression-tree", DecisionTreeRegressor(max_depth=4, **one))
    sklearn_case(25, "sklearn-regression-forest", RandomForestRegressor(4, max_depth=3, **one))
    boosting = GradientBoostingClassifier(n_estimators=4, **one)
    sklearn_case(26, "sklearn-boosting", boosting, margins=True)
    sklearn_case(27, "sklearn-boosting-two-classes", boosting, classes=2, margins=True)
    small = RandomForestClassifier(3, max_depth=3, **one)
    sklearn_case(28, "sklearn-forest-two-classes", small, classes=2)
    exported_case(31, "onnx-of-xgboost", "xgboost")
    exported_case(32, "onnx-of-lightgbm", "lightgbm")
    size = sum(file.stat().st_size for file in OUT.rglob("*") if file.is_file())
    print(f"{size / 1000:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
