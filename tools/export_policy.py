#!/usr/bin/env python3
"""Writes a model that joblib or pickle saved in a format that Policert reads.

    python3 tools/export_policy.py model.joblib policy.onnx

The library of the model decides what is written:

    scikit-learn (also pipelines)   ONNX, by skl2onnx
    LightGBM                        text, by its own save_model (policy.txt)
    XGBoost                         JSON or UBJSON, by its own save_model (policy.json, policy.ubj)

Loading such a file runs the Python code in it: load only files that you trust. The versions of the
libraries must be those that saved the file, as far as they ask for it.

The labels of the scores are printed in their order: they belong into the list `output` of the
interface. LightGBM does not store the names of classes in its own format.
"""

import argparse
import pathlib
import pickle
import sys


def load(path):
    """The object in the file."""
    try:
        import joblib
    except ImportError:
        joblib = None
    try:
        if joblib is not None:
            return joblib.load(path)
        with open(path, "rb") as file:
            return pickle.load(file)
    except OSError as error:
        sys.exit(f"{path}: {error}")
    except Exception as error:  # Whatever the code in the file raises.
        sys.exit(f"{path}: it cannot be loaded: {type(error).__name__}: {error}")


def library(model):
    """The library that the class of the model, or a class that it extends, comes from."""
    for cls in type(model).__mro__:
        name = cls.__module__.partition(".")[0]
        if name in ("sklearn", "lightgbm", "xgboost"):
            return name
    return None


def write_sklearn(model, output):
    """Writes ONNX; the probabilities come as a tensor."""
    try:
        from skl2onnx import to_onnx
        from skl2onnx.common.data_types import FloatTensorType
    except ImportError:
        sys.exit("skl2onnx is missing: pip install skl2onnx")
    inputs = getattr(model, "n_features_in_", None)
    if inputs is None:
        sys.exit("the model does not say how many inputs it has: it is not trained")
    options = {id(model): {"zipmap": False}} if hasattr(model, "classes_") else None
    types = [("input", FloatTensorType([None, inputs]))]
    output.write_bytes(to_onnx(model, initial_types=types, options=options).SerializeToString())


def write_lightgbm(model, output):
    """Writes the text format, with the rounds up to the best one."""
    booster = getattr(model, "booster_", model)
    booster.save_model(str(output), num_iteration=booster.best_iteration)


def write_xgboost(model, output):
    """Writes JSON, or UBJSON, as the ending says."""
    model.save_model(str(output))


WRITERS = {
    "sklearn": (write_sklearn, (".onnx",)),
    "lightgbm": (write_lightgbm, (".txt",)),
    "xgboost": (write_xgboost, (".json", ".ubj")),
}


def main():
    """Reads the command line, and exports."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", type=pathlib.Path, help="the file that joblib or pickle saved")
    parser.add_argument("output", type=pathlib.Path, help="the file to be written")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")
    arguments = parser.parse_args()
    if arguments.output.exists() and not arguments.force:
        sys.exit(f"{arguments.output} is there already; --force replaces it")
    model = load(arguments.model)
    name = library(model)
    if name is None:
        sys.exit(f"{arguments.model}: {type(model).__name__} is of none of {', '.join(WRITERS)}")
    write, endings = WRITERS[name]
    if arguments.output.suffix not in endings:
        sys.exit(f"{arguments.output}: a model of {name} is written as {' or '.join(endings)}")
    write(model, arguments.output)
    print(f"{arguments.output} is written")
    classes = getattr(model, "classes_", None)
    if classes is not None:
        print("labels in the order of the scores:", ", ".join(str(label) for label in classes))


if __name__ == "__main__":
    main()
