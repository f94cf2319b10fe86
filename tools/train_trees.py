#!/usr/bin/env python3
"""Trains tree ensembles on a table of decisions and saves them with their interface.

The table is what `policert dataset` writes. For each depth and number of trees there is one
ensemble, in the format of its library and, with --onnx, as ONNX-ML; the interface
(.jani2ensemble) has the inputs, labels and filter of the interface of the policy that decided.

    python3 -m venv .venv && .venv/bin/pip install -r tools/requirements-trees.txt
    .venv/bin/python tools/train_trees.py data.csv --interface net.jani2nnet \\
        --kind xgboost --depth 5 --trees 20 --out trees/blocks

One thread and one seed: the same table gives the same files with the same library versions.
"""

import argparse
import csv
import json
import pathlib
import sys

import numpy as np


def read_table(path):
    """The inputs and label indices of a table, and the names of its inputs."""
    try:
        with open(path, newline="", encoding="utf-8") as file:
            rows = list(csv.reader(file))
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{path}: {error}")
    if not rows:
        sys.exit(f"{path}: it is empty")
    if not rows or rows[0][-2:] != ["label_index", "label"]:
        sys.exit(f"{path}: the last columns are not label_index and label")
    if len(rows) < 2:
        sys.exit(f"{path}: there are no rows")
    for number, row in enumerate(rows[1:], start=2):
        whole = all(field.removeprefix("-").isdigit() for field in row[:-1])
        if len(row) != len(rows[0]) or not whole:
            sys.exit(f"{path}, line {number}: {len(rows[0])} fields are expected, whole numbers but the last")
    numbers = np.array([[int(field) for field in row[:-1]] for row in rows[1:]], dtype=np.int64)
    return numbers[:, :-1].astype(np.float32), numbers[:, -1], rows[0][:-2]


def train_forest(x, y, classes, options):
    """A random forest of scikit-learn with a score for every label, also for those nobody chose."""
    from sklearn.ensemble import RandomForestClassifier

    missing = np.setdiff1d(np.arange(classes), y)
    weights = np.concatenate([np.ones(len(y)), np.zeros(len(missing))])
    # Rows without weight make the labels known and change nothing else.
    x = np.concatenate([x, np.repeat(x[:1], len(missing), axis=0)])
    y = np.concatenate([y, missing])
    forest = RandomForestClassifier(
        n_estimators=options.trees,
        max_depth=options.depth,
        # Every row of a table of decisions is right, and none is there twice.
        bootstrap=False,
        random_state=options.seed,
        n_jobs=1,
    )
    return forest.fit(x, y, sample_weight=weights)


def train_xgboost(x, y, classes, options):
    """Gradient-boosted trees of XGBoost: in each round one tree for each label."""
    import xgboost

    parameters = {
        "objective": "multi:softmax",
        "num_class": classes,
        "max_depth": options.depth,
        "learning_rate": options.rate,
        "min_child_weight": 0,
        "tree_method": "hist",
        "seed": options.seed,
        "nthread": 1,
    }
    return xgboost.train(parameters, xgboost.DMatrix(x, label=y), num_boost_round=options.trees)


def train_lightgbm(x, y, classes, options):
    """Gradient-boosted trees of LightGBM: in each round one tree for each label."""
    import lightgbm

    parameters = {
        "objective": "multiclass",
        "num_class": classes,
        "max_depth": options.depth,
        "num_leaves": min(2**options.depth, 4096),
        "min_data_in_leaf": 1,
        "learning_rate": options.rate,
        "seed": options.seed,
        "num_threads": 1,
        "deterministic": True,
        "force_row_wise": True,
        "verbosity": -1,
    }
    return lightgbm.train(parameters, lightgbm.Dataset(x, label=y), num_boost_round=options.trees)


def predict(kind, model, x):
    """The label indices that an ensemble chooses."""
    if kind == "forest":
        return model.predict(x)
    if kind == "xgboost":
        import xgboost

        return model.predict(xgboost.DMatrix(x)).astype(np.int64)
    return model.predict(x).argmax(axis=1)


def to_onnx(kind, model, inputs):
    """An ensemble as ONNX-ML."""
    if kind == "forest":
        from skl2onnx import to_onnx as convert
        from skl2onnx.common.data_types import FloatTensorType

        return convert(
            model,
            initial_types=[("input", FloatTensorType([None, inputs]))],
            options={"zipmap": False},
            target_opset={"": 15, "ai.onnx.ml": 3},
        )
    from onnxmltools.convert.common.data_types import FloatTensorType

    if kind == "xgboost":
        from onnxmltools import convert_xgboost as convert

        options = {}
    else:
        from onnxmltools import convert_lightgbm as convert

        options = {"zipmap": False}
    types = [("input", FloatTensorType([None, inputs]))]
    # Without a name it gets a random one.
    return convert(model, name="trees", initial_types=types, target_opset=15, **options)


def save(kind, model, name, inputs, with_onnx):
    """Writes an ensemble; the name of the file for the interface."""
    onnx = name.with_name(name.name + ".onnx")
    if kind == "xgboost":
        file = name.with_name(name.name + ".json")
        model.save_model(file)
    elif kind == "lightgbm":
        file = name.with_name(name.name + ".txt")
        model.save_model(file)
    else:
        # scikit-learn has no format of its own that others can read.
        file, with_onnx = onnx, True
    if with_onnx:
        onnx.write_bytes(to_onnx(kind, model, inputs).SerializeToString())
    return file.name


TRAIN = {"forest": train_forest, "xgboost": train_xgboost, "lightgbm": train_lightgbm}


def count(text):
    """A whole number from 1 on."""
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 on")
    return int(text)


def numbers(text):
    """Such numbers between commas."""
    return [count(part) for part in text.split(",")]


def share(text):
    """A share that leaves something."""
    value = float(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0 to less than 1")
    return value


def fit(options):
    """Trains one ensemble and writes it with its interface; the interface and a line about it."""
    x, y, columns = read_table(options.table)
    try:
        interface = json.loads(pathlib.Path(options.interface).read_text(encoding="utf-8"))
        classes = len(interface["output"])
        inputs = len(interface["input"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{options.interface}: no interface (.jani2nnet): {error!r}")
    if inputs != len(columns) or y.max() >= classes:
        sys.exit(f"{options.interface}: it does not fit the table {options.table}")
    order = np.random.default_rng(options.seed).permutation(len(y))
    held_out = order[: int(len(y) * options.held_out)]
    learnt = order[len(held_out):]
    pathlib.Path(options.out).parent.mkdir(parents=True, exist_ok=True)
    model = TRAIN[options.kind](x[learnt], y[learnt], classes, options)
    name = pathlib.Path(
        f"{options.out}_{options.kind}_{options.depth}depth_{options.trees}trees"
    )
    description = {
        "file": save(options.kind, model, name, len(columns), options.onnx),
        "filter": interface.get("filter", False),
        "input": interface["input"],
        "output": interface["output"],
    }
    text = json.dumps(description, indent=2, ensure_ascii=False) + "\n"
    written = name.with_name(name.name + ".jani2ensemble")
    written.write_text(text, encoding="utf-8")
    agreement = [
        float((predict(options.kind, model, x[rows]) == y[rows]).mean()) if len(rows) else 1.0
        for rows in (learnt, held_out)
    ]
    line = (
        f"{name.name}: agrees with the policy in {100 * agreement[0]:.2f} % of {len(learnt)} rows "
        f"learnt from, {100 * agreement[1]:.2f} % of {len(held_out)} others"
    )
    return written, line


def add_options(parser):
    """The options about ensembles."""
    parser.add_argument("--kind", choices=sorted(TRAIN), default="xgboost")
    parser.add_argument("--depth", type=numbers, default=[5], metavar="N,…", help="greatest depth")
    parser.add_argument(
        "--trees", type=numbers, default=[20], metavar="N,…",
        help="trees of a forest, or rounds of boosting",
    )
    parser.add_argument("--rate", type=float, default=0.4, help="learning rate of boosting")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--held-out", type=share, default=0.1, help="share of rows that are only judged by"
    )
    parser.add_argument("--onnx", action="store_true", help="write ONNX-ML besides")
    parser.add_argument(
        "--out", required=True, metavar="NAME", help="files are NAME_KIND_DEPTHdepth_TREEStrees.*"
    )


def each_size(options):
    """The options for each depth and number of trees."""
    for depth in options.depth:
        for trees in options.trees:
            yield argparse.Namespace(**{**vars(options), "depth": depth, "trees": trees})


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table", help="what `policert dataset` wrote")
    parser.add_argument("--interface", required=True, help="the interface of the policy (.jani2nnet)")
    add_options(parser)
    for options in each_size(parser.parse_args()):
        print(fit(options)[1])


if __name__ == "__main__":
    main()
