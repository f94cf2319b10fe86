#!/usr/bin/env python3
"""Makes small tree ensembles with their own libraries, and the scores that these give.

The tests of the readers of tree ensembles compare with the files that this writes, to
crates/policy/tests/golden/trees: a folder for each ensemble, with its files and golden.json:
inputs at random, inputs that equal thresholds or lie next to them in single and in double
precision, missing values; and the scores of the library before any softmax or sigmoid. Scores of
ONNX files are those of onnxruntime. A file with the scores `null` is one that the reader refuses.

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
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier, RandomForestRegressor
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


def write(name, rows, files, tolerance):
    """Writes golden.json; `files` maps each file to its scores, or None where it is refused."""
    listed = lambda table: [[number(value) for value in np.atleast_1d(row)] for row in table]
    scores = {file: None if s is None else listed(s) for file, s in files.items()}
    golden = {"abs_tol": tolerance, "inputs": listed(rows), "files": scores}
    (OUT / name / "golden.json").write_text(json.dumps(golden).replace("], [", "],\n[") + "\n")
    print(name, len(rows), ", ".join(files))


def folder(name):
    (OUT / name).mkdir(parents=True)
    return OUT / name


def xgboost_case(seed, name, kind="fractions", rounds=3, classes=CLASSES, integers=False, **options):
    x, y = table(seed, kind)
    parameters = {"max_depth": 3, "seed": seed, "nthread": 1, "tree_method": "exact"} | options
    if classes > 2:
        parameters |= {"objective": "multi:softprob", "num_class": classes}
    else:
        y = (y > 0).astype(int)
    booster = xgboost.train(parameters, xgboost.DMatrix(x, label=y), rounds)
    splits = [
        (int(line[1][1:]), float(line[2]))
        for tree in booster.get_dump()
        for line in re.finditer(r"\[(f\d+)<([^\]]+)\]", tree)
    ]
    splits = [(column, float(np.float32(t))) for column, t in splits]
    rows = inputs(seed, x, splits)
    # It reads single precision; what rounds to it is given as it is.
    scores = booster.predict(xgboost.DMatrix(rows), output_margin=True)
    place = folder(name)
    for ending in ("json", "ubj"):
        booster.save_model(place / f"policy.{ending}")
    write(name, rows, {f"policy.{ending}": scores for ending in ("json", "ubj")}, 2e-6)


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


def lightgbm_case(seed, name, kind="fractions", rounds=3, classes=CLASSES, refused=False, **options):
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
        x[:, 0] = np.abs(x[:, 0])
    booster = lightgbm.train(parameters, lightgbm.Dataset(x, label=y), rounds)
    dump = booster.dump_model()
    rows = inputs(seed, x, numeric_splits(dump))
    scores = booster.predict(rows, raw_score=True)
    place = folder(name)
    booster.save_model(place / "policy.txt")
    (place / "policy.json").write_text(json.dumps(dump, indent=1) + "\n")
    write(name, rows, {f: None if refused else scores for f in ("policy.txt", "policy.json")}, 1e-12)


def run_onnx(path, rows):
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    outputs = session.run(None, {session.get_inputs()[0].name: rows.astype(np.float32)})
    scores = outputs[-1]
    return np.asarray(scores).reshape(len(rows), -1)


def sklearn_case(seed, name, model, kind="fractions"):
    from skl2onnx import to_onnx

    x, y = table(seed, kind)
    x = x.astype(np.float32)
    model.fit(x, y)
    options = {"zipmap": False} if hasattr(model, "predict_proba") else None
    graph = to_onnx(model, x[:1], options={id(model): options} if options else None)
    place = folder(name)
    (place / "policy.onnx").write_bytes(graph.SerializeToString())
    trees = getattr(model, "estimators_", [model])
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
    lightgbm_case(11, "lightgbm-classes")
    lightgbm_case(12, "lightgbm-whole-numbers", kind="whole")
    lightgbm_case(13, "lightgbm-missing", kind="missing")
    lightgbm_case(14, "lightgbm-missing-zero", kind="missing", zero_as_missing=True)
    lightgbm_case(15, "lightgbm-no-missing", use_missing=False)
    lightgbm_case(16, "lightgbm-two-classes", classes=2)
    lightgbm_case(17, "lightgbm-forest", boosting="rf", bagging_freq=1, bagging_fraction=0.7)
    lightgbm_case(18, "lightgbm-categories", categorical_feature=[0], refused=True)
    one = {"random_state": 0}
    sklearn_case(21, "sklearn-tree", DecisionTreeClassifier(max_depth=4, **one))
    sklearn_case(22, "sklearn-forest", RandomForestClassifier(5, max_depth=4, **one))
    sklearn_case(23, "sklearn-extra-trees", ExtraTreesClassifier(5, max_depth=4, **one))
    sklearn_case(24, "sklearn-regression-tree", DecisionTreeRegressor(max_depth=4, **one))
    sklearn_case(25, "sklearn-regression-forest", RandomForestRegressor(4, max_depth=3, **one))
    exported_case(31, "onnx-of-xgboost", "xgboost")
    exported_case(32, "onnx-of-lightgbm", "lightgbm")
    size = sum(file.stat().st_size for file in OUT.rglob("*") if file.is_file())
    print(f"{size / 1000:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
