#!/usr/bin/env python3
"""Checks that policy files of many versions of the training libraries are read with the library's own meaning.

    tools/check_versions.py [--program target/release/policert] [--only xgboost] [--keep FOLDER]

Each version is installed into an environment of its own (from the package index, under FOLDER, which is kept for the
next run), makes small policies there, and says what it chooses in every state of a small model. `policert dataset` must
choose the same wherever the library's lead exceeds what rounding can do. Prints a table; ends with 1 if a file is
refused, or read with another meaning.

Wheels of torch bring gigabytes for GPUs: PIP_INDEX_URL can name an index of smaller ones. What torch itself does not
export goes to standard error.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import venv
from itertools import product
from pathlib import Path

from questions import ROOT, decisions, write_question

LEAST, GREATEST = -3, 3
INPUTS, LABELS = 3, 3
# What 32-bit sums of so few numbers can do to a score.
ROUNDING = 1e-5

# Library, what is installed beside it. Old versions need the NumPy of their time.
OLD = ["numpy==1.26.4", "scipy==1.11.4", "scikit-learn==1.2.2"]
NEW = ["numpy==2.2.6", "scipy==1.15.3", "scikit-learn==1.6.1"]
VERSIONS = [
    *(("xgboost", version, OLD) for version in ["1.5.2", "1.6.2", "1.7.6", "2.0.3"]),
    *(("xgboost", version, NEW) for version in ["2.1.4", "3.0.5", "3.1.3", "3.2.0"]),
    *(("lightgbm", version, OLD) for version in ["3.2.1", "3.3.5", "4.0.0", "4.3.0"]),
    *(("lightgbm", version, NEW) for version in ["4.5.0", "4.6.0", "4.7.0"]),
    ("scikit-learn", "1.2.2", ["numpy==1.26.4", "skl2onnx==1.14.1", "onnx==1.14.1", "protobuf==4.25.8", "packaging"]),
    ("scikit-learn", "1.3.2", ["numpy==1.26.4", "skl2onnx==1.16.0", "onnx==1.15.0", "protobuf==4.25.8", "packaging"]),
    ("scikit-learn", "1.4.2", ["numpy==1.26.4", "skl2onnx==1.17.0", "onnx==1.16.2", "protobuf==4.25.8", "packaging"]),
    ("scikit-learn", "1.5.2", ["numpy==1.26.4", "skl2onnx==1.18.0", "onnx==1.17.0", "protobuf==4.25.8", "packaging"]),
    ("scikit-learn", "1.6.1", ["numpy==2.2.6", "skl2onnx==1.19.1", "onnx==1.18.0", "protobuf==4.25.8", "packaging"]),
    ("scikit-learn", "1.7.2", ["numpy==2.2.6", "skl2onnx==1.19.1", "onnx==1.19.1", "protobuf==4.25.8", "packaging"]),
    ("scikit-learn", "1.9.1", ["numpy==2.4.6", "skl2onnx==1.20.0", "onnx==1.23.2"]),
    *(("torch", version, ["numpy==1.26.4", "onnx==1.14.1", "protobuf==4.25.8"]) for version in ["1.13.1", "2.0.1"]),
    ("torch", "2.1.2", ["numpy==1.26.4", "onnx==1.16.2", "onnxscript==0.1.0", "protobuf==4.25.8"]),
    ("torch", "2.2.2", ["numpy==1.26.4", "onnx==1.16.2", "onnxscript==0.1.0", "protobuf==4.25.8"]),
    ("torch", "2.3.1", ["numpy==1.26.4", "onnx==1.16.2", "onnxscript==0.1.0", "protobuf==4.25.8"]),
    ("torch", "2.4.1", ["numpy==2.2.6", "onnx==1.17.0", "onnxscript==0.1.0", "protobuf==4.25.8"]),
    ("torch", "2.5.1", ["numpy==2.2.6", "onnx==1.17.0", "onnxscript==0.1.0", "protobuf==4.25.8"]),
    ("torch", "2.6.0", ["numpy==2.2.6", "onnx==1.17.0", "onnxscript==0.2.2", "protobuf==4.25.8"]),
    ("torch", "2.7.1", ["numpy==2.2.6", "onnx==1.18.0", "onnxscript==0.3.2", "onnx-ir==0.1.3", "protobuf==4.25.8"]),
    ("torch", "2.8.0", ["numpy==2.2.6", "onnx==1.18.0", "onnxscript==0.4.0", "onnx-ir==0.1.7", "protobuf==4.25.8"]),
    ("torch", "2.9.1", ["numpy==2.2.6", "onnx==1.19.1", "onnxscript==0.5.7", "onnx-ir==0.1.12"]),
    ("torch", "2.10.0", ["numpy==2.2.6", "onnx==1.20.0", "onnxscript==0.6.2", "onnx-ir==0.2.0"]),
    ("torch", "2.11.0", ["numpy==2.2.6", "onnx==1.20.1", "onnxscript==0.6.2", "onnx-ir==0.2.0"]),
    ("torch", "2.12.1", ["numpy==2.4.6", "onnx==1.21.0", "onnxscript==0.7.0", "onnx-ir==0.2.1"]),
    ("torch", "2.13.0", ["numpy==2.4.6", "onnx==1.22.0", "onnxscript==0.7.1", "onnx-ir==0.2.1"]),
    ("torch", "2.14.1", ["numpy==2.4.6", "onnx==1.23.0", "onnxscript==0.7.2"]),
    ("torch", "2.15.0", ["numpy==2.4.6", "onnx==1.23.2", "onnxscript==0.7.2"]),
]


def states():
    return [list(state) for state in product(range(LEAST, GREATEST + 1), repeat=INPUTS)]


def make(library, folder):
    """Runs inside of an environment: makes policies, and writes each with the scores in every state.

    A maker yields the name of a file, the scores, and what is special about the interface: `least`, what is
    subtracted from each variable; `input`, what is listed instead of the variables.
    """
    maker = make_torch if library == "torch" else make_tables
    for name, scores, *settings in maker(library, folder):
        record = {"scores": [[float(score) for score in row] for row in scores], **dict(*settings)}
        (folder / f"{name}.scores").write_text(json.dumps(record))


def make_torch(_, folder):
    import torch_exports

    return torch_exports.make(states(), LABELS, LEAST, GREATEST - LEAST + 1, folder)


def make_tables(library, folder):
    """Makers that learn from a table."""
    import numpy

    draw = numpy.random.RandomState(7)
    table = numpy.array(states(), dtype=numpy.float64)
    noise = draw.normal(size=(len(table), LABELS))
    wanted = numpy.stack([table[:, 0] + table[:, 1], table[:, 1] * table[:, 2], table[:, 2] - table[:, 0]], axis=1)
    labels = numpy.argmax(wanted + noise, axis=1)
    maker = {"xgboost": make_xgboost, "lightgbm": make_lightgbm, "scikit-learn": make_sklearn}[library]
    return maker(numpy, table, labels, folder)


def make_xgboost(numpy, table, labels, folder):
    import xgboost

    data = xgboost.DMatrix(table, label=labels)
    for booster in ("gbtree", "dart"):
        settings = {"objective": "multi:softprob", "num_class": LABELS, "max_depth": 3, "booster": booster,
                    "rate_drop": 0.2, "seed": 1, "nthread": 1}
        if booster == "gbtree":
            del settings["rate_drop"]
        model = xgboost.train(settings, data, num_boost_round=6)
        endings = ["json"] + (["ubj"] if hasattr(model, "save_raw") and xgboost.__version__ >= "1.6" else [])
        for ending in endings:
            model.save_model(str(folder / f"{booster}.{ending}"))
            yield f"{booster}.{ending}", model.predict(data, output_margin=True)
    model = xgboost.XGBClassifier(n_estimators=5, max_depth=2, base_score=0.3, n_jobs=1).fit(table, labels == 0)
    model.save_model(str(folder / "binary.json"))
    margin = model.predict(table, output_margin=True)
    # The label of class 0 has the score 0.
    yield "binary.json", numpy.stack([numpy.zeros_like(margin), margin], axis=1)


def make_lightgbm(numpy, table, labels, folder):
    import lightgbm

    settings = {"min_child_samples": 3, "n_jobs": 1, "random_state": 1, "verbose": -1}
    for kind in ("gbdt", "dart", "goss"):
        model = lightgbm.LGBMClassifier(n_estimators=6, num_leaves=6, boosting_type=kind, **settings)
        model.fit(table, labels)
        model.booster_.save_model(str(folder / f"{kind}.txt"))
        yield f"{kind}.txt", model.predict(table, raw_score=True)
    table = table - numpy.array([0, 0, LEAST])
    data = lightgbm.Dataset(table, label=labels, categorical_feature=[2], free_raw_data=False)
    model = lightgbm.train({"objective": "multiclass", "num_class": LABELS, "min_data_in_leaf": 3, "num_threads": 1,
                            "min_data_per_group": 3, "cat_smooth": 1, "verbose": -1}, data, num_boost_round=4)
    model.save_model(str(folder / "categorical.txt"))
    yield "categorical.txt", model.predict(table, raw_score=True), {"least": [0, 0, LEAST]}


def make_sklearn(numpy, table, labels, folder):
    from skl2onnx import to_onnx
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.tree import DecisionTreeClassifier

    models = {
        "tree": DecisionTreeClassifier(max_depth=4, random_state=1),
        "forest": RandomForestClassifier(n_estimators=8, max_depth=4, random_state=1),
        "boosting": GradientBoostingClassifier(n_estimators=5, random_state=1),
        "logistic": LogisticRegression(max_iter=500),
        "perceptrons": MLPClassifier([8], max_iter=200, random_state=1),
        "pipeline": make_pipeline(StandardScaler(), MLPClassifier([6], max_iter=200, random_state=1)),
        "scaled-forest": make_pipeline(StandardScaler(), RandomForestClassifier(n_estimators=5, max_depth=3,
                                                                               random_state=1)),
    }
    for name, model in models.items():
        model.fit(table, labels)
        text = to_onnx(model, table[:1].astype(numpy.float32)).SerializeToString()
        (folder / f"{name}.onnx").write_bytes(text)
        yield f"{name}.onnx", model.predict_proba(table)


def environment(folder, library, version, others):
    """The interpreter of the environment that has one version; it is made once."""
    home = folder / f"{library}-{version}"
    python = home / "bin" / "python"
    if (home / "ready").exists():
        return python
    venv.create(home, with_pip=True, clear=True)
    packages = [f"{library}=={version}", *(other for other in others if not other.startswith(f"{library}=="))]
    command = [python, "-m", "pip", "install", "-q", "--no-input", "--only-binary", ":all:", *packages]
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else "pip failed")
    (home / "ready").touch()
    return python


def compare(program, policy, record):
    """What is wrong with how a policy file is read, if anything; and the number of states that were compared."""
    scores, least = record["scores"], record.get("least", [0] * INPUTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shifted = [[x - low for x, low in zip(state, least)] for state in states()]
        write_question(folder, len(scores[0]), shifted, (LEAST, GREATEST - min(least)), policy, record.get("input"))
        status, text, decided = decisions(program, folder)
        if status != 0:
            lines = text.splitlines()
            reason = lines[0].replace(str(policy), "file").partition("; supported are")[0] if lines else ""
            return f"refused ({status}): {reason}", 0
    compared = 0
    for state, row in zip(states(), scores):
        best, second = sorted(row, reverse=True)[:2]
        if best - second <= ROUNDING * (1 + abs(best)):
            continue
        compared += 1
        chosen = decided.get(tuple(x - low for x, low in zip(state, least)))
        if chosen != row.index(best):
            return f"at {state} label {chosen} is chosen, the scores are {row}", compared
    return None, compared


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/policert")
    parser.add_argument("--only", help="one library")
    parser.add_argument("--keep", type=Path, default=Path("library-versions"))
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.make:
        make(arguments.make[0], Path(arguments.make[1]))
        return 0
    home = arguments.keep.resolve()
    failures = 0
    print("| library | version | files | states compared | result |\n|---|---|---|---|---|")
    for library, version, others in VERSIONS:
        if arguments.only not in (None, library):
            continue
        files = home / "files" / f"{library}-{version}"
        files.mkdir(parents=True, exist_ok=True)
        try:
            python = environment(home, library, version, others)
            command = [str(python), str(Path(__file__).resolve()), "--make", library, str(files)]
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  env={**os.environ, "OMP_NUM_THREADS": "1"})
            if done.returncode != 0:
                raise RuntimeError(done.stderr.strip().splitlines()[-1])
            unwritten = [line for line in done.stderr.splitlines() if line.startswith("torch does not export")]
            print(*unwritten, sep="\n", end="\n" if unwritten else "", file=sys.stderr)
        except (RuntimeError, IndexError) as error:
            print(f"| {library} | {version} | | | not made: {error} |", flush=True)
            failures += 1
            continue
        wrong, compared, count = {}, 0, 0
        for scores in sorted(files.glob("*.scores")):
            policy = scores.with_suffix("")
            problem, number = compare(arguments.program, policy, json.loads(scores.read_text()))
            count, compared = count + 1, compared + number
            if problem:
                wrong.setdefault(problem, []).append(policy.name)
                failures += 1
        result = "; ".join(f"{problem} ({', '.join(names)})" for problem, names in wrong.items()) or "as the library"
        print(f"| {library} | {version} | {count} | {compared} | {result} |", flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
