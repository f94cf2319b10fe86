#!/usr/bin/env python3
"""Compares Policert with ONNX Runtime on random pipelines of scikit-learn in front of tree ensembles and linear models.

    tools/check_pipelines.py [--program target/release/policert] [--pipelines 100] [--seed 1] [--keep FOLDER]

Each pipeline is trained on random rows of small integers and exported with skl2onnx. In every state of a small model the
label that Policert says the policy chooses (`policert dataset`) must be that of ONNX Runtime, ties aside. Thresholds that
are near to values on purpose make rounding decide. A pipeline that Policert refuses counts as a failure. Ends with 1
after a failure; the files of each failure stay in FOLDER.

Needs the packages of tools/requirements-trees.txt.
"""

import argparse
import itertools
import random
import shutil
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import onnxruntime
from skl2onnx import to_onnx
from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType, Int64TensorType
from sklearn.compose import ColumnTransformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (Binarizer, MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder, OrdinalEncoder,
                                   RobustScaler, StandardScaler)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from questions import ROOT, decisions, write_question

INPUTS, LABELS = 3, 3
LEAST, GREATEST = -4, 4
# What 32-bit arithmetic may do to sums of products.
ROUNDING = 1e-4


def scaler(draw):
    return draw.choice([StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler, lambda: MinMaxScaler(clip=True)])()


def encoder(draw):
    return draw.choice([lambda: OneHotEncoder(handle_unknown="ignore"), lambda: OneHotEncoder(drop="first"),
                        OneHotEncoder, OrdinalEncoder])()


def steps(draw, kind):
    """The steps before the trees, for a type of inputs."""
    def columns():
        order = list(range(INPUTS))
        draw.shuffle(order)
        cut = draw.randint(1, INPUTS - 1)
        return [ColumnTransformer([("a", encoder(draw), order[:cut]),
                                   ("b", draw.choice([scaler(draw), "passthrough"]), order[cut:])])]

    choices = [lambda: [scaler(draw)], lambda: [scaler(draw), scaler(draw)], lambda: [encoder(draw)], columns, columns,
               lambda: [SelectKBest(k=2), scaler(draw)]]
    if kind is FloatTensorType:
        choices += [lambda: [SimpleImputer(), scaler(draw)], lambda: [Binarizer(threshold=draw.uniform(-2, 2))]]
    return draw.choice(choices)()


def linear(draw):
    """A model whose scores are sums, with steps before it."""
    model = draw.choice([lambda: LogisticRegression(), lambda: LinearSVC(), lambda: SVC(kernel="linear"),
                         lambda: SVC(kernel="linear"), lambda: MLPClassifier((5,), max_iter=50, random_state=0)])()
    before = draw.choice([lambda: [], lambda: [scaler(draw)], lambda: [Normalizer(draw.choice(["l1", "l2"]))],
                          lambda: [Normalizer(draw.choice(["l1", "l2"])), StandardScaler()],
                          lambda: [OneHotEncoder()], lambda: [OrdinalEncoder()],
                          lambda: [OrdinalEncoder(), StandardScaler()]])()
    return before, model


def leads(pipeline, states, scores):
    """For each state how far the label is from another one."""
    if isinstance(pipeline[-1], SVC):
        # Each pair of classes votes.
        pipeline[-1].decision_function_shape = "ovo"
        return np.abs(pipeline.decision_function(np.array(states, np.float64))).min(axis=1)
    rows = [sorted(row.values()) for row in scores]
    return [row[-1] - row[-2] for row in rows]


def check(program, folder, draw, used):
    kind = draw.choice([FloatTensorType, FloatTensorType, DoubleTensorType, Int64TensorType])
    states = [list(state) for state in itertools.product(range(LEAST, GREATEST + 1), repeat=INPUTS)]
    rows = np.array(states if draw.random() < 0.7 else draw.choices(states, k=200) + states, dtype=np.float64)
    weights = np.array([draw.uniform(-1, 1) for _ in range(INPUTS)])
    classes = np.digitize(rows @ weights + np.array([draw.gauss(0, 1) for _ in rows]), [-1.0, 1.0])
    depth = draw.randint(2, 8)
    trees = draw.choice([DecisionTreeClassifier(max_depth=depth, random_state=0),
                         RandomForestClassifier(n_estimators=3, max_depth=depth, random_state=0)])
    is_linear = draw.random() < 0.4
    before = steps(draw, kind)
    if is_linear:
        kind = FloatTensorType
        before, trees = linear(draw)
    pipeline = make_pipeline(*before, trees).fit(rows, classes)
    # Some versions of skl2onnx export no LinearSVC.
    try:
        model = to_onnx(pipeline, initial_types=[("input", kind([None, INPUTS]))])
    except NameError:
        used["(not exported by skl2onnx)"] += 1
        return None
    # Some exports in double precision declare types that the runtime refuses.
    try:
        onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    except onnxruntime.capi.onnxruntime_pybind11_state.Fail:
        used["(not loaded by ONNX Runtime)"] += 1
        return None
    # Thresholds beside values of the columns, which rounding decides.
    ensembles = [node for node in model.graph.node if node.op_type.startswith("TreeEnsemble")]
    ensemble = ensembles[0] if ensembles else None
    tables = {entry.name: entry for entry in ensemble.attribute} if ensembles else {}
    if "nodes_values" in tables and draw.random() < 0.5:
        columns = onnxruntime.InferenceSession(with_output(model, ensemble.input[0]), providers=["CPUExecutionProvider"])
        values = columns.run(None, {"input": np.array(states, dtype=element(kind))})[0]
        for place, feature in enumerate(tables["nodes_featureids"].ints):
            if tables["nodes_modes"].strings[place] != b"LEAF":
                value = np.float32(values[draw.randrange(len(values)), feature])
                tables["nodes_values"].floats[place] = draw.choice(
                    [value, np.nextafter(value, np.float32(9)), np.nextafter(value, np.float32(-9))])
    (folder / "policy.onnx").write_bytes(model.SerializeToString())
    used.update({node.op_type for node in model.graph.node})
    write_question(folder, LABELS, states, (LEAST, GREATEST))
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    labels, scores = session.run(None, {"input": np.array(states, dtype=element(kind))})
    status, text, decided = decisions(program, folder)
    if status != 0:
        return f"dataset ended with {status}: {text}"
    slack = ROUNDING if is_linear else 1e-6
    for state, label, lead in zip(states, labels, leads(pipeline, states, scores)):
        if lead > slack and decided.get(tuple(state)) != int(label):
            return f"{pipeline}: at {state}: {decided.get(tuple(state))} is chosen, not {label}, by {lead}"
    return None


def element(kind):
    return {FloatTensorType: np.float32, DoubleTensorType: np.float64, Int64TensorType: np.int64}[kind]


def with_output(model, name):
    """The bytes of a model whose only output is what the trees read."""
    other = type(model)()
    other.CopyFrom(model)
    del other.graph.output[:]
    other.graph.output.add().name = name
    kept, behind = [], set()
    for node in model.graph.node:
        if node.op_type.startswith("TreeEnsemble") or behind.intersection(node.input):
            behind.update(node.output)
        else:
            kept.append(node)
    del other.graph.node[:]
    other.graph.node.extend(kept)
    return other.SerializeToString()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/policert")
    parser.add_argument("--pipelines", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=Path("pipeline-failures"))
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")
    onnxruntime.set_default_logger_severity(4)
    failures, used = 0, Counter()
    for number in range(arguments.pipelines):
        with tempfile.TemporaryDirectory() as name:
            wrong = check(arguments.program, Path(name), random.Random(f"{arguments.seed} {number}"), used)
            if wrong:
                failures += 1
                print(f"pipeline {number}: {wrong}")
                shutil.copytree(name, arguments.keep / str(number), dirs_exist_ok=True)
    print(f"{arguments.pipelines} pipelines, {failures} failures; with each operator:")
    print(", ".join(f"{operator} {count}" for operator, count in sorted(used.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
