"""Compares Policert with Storm on what `policert convert` writes.

For each question, Policert bounds the probability itself, and Storm computes it on the conversions: the
JANI and PRISM files, with the policy as an automaton where there is one, and the explicit process (DRN).
Arguments are those of `policert verify`, one question in quotes each; `--digits N` are the decimal places of
scores. A rounded policy may choose otherwise than the policy itself: that is reported, and no error.
"""

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path


def policert(options, *arguments):
    command = [options.policert, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=options.time)


def storm(path, kind, properties, limit):
    """Value, number of states and seconds, computed in a process of its own."""
    command = [sys.executable, __file__, "--worker", str(path), kind, properties]
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
    try:
        return json.loads(done.stdout.splitlines()[-1])
    except (IndexError, ValueError):
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return {"failure": (lines or [f"exit {done.returncode}"])[-1][:150]}


def worker(path, kind, properties):
    import stormpy

    begin = time.process_time()
    if kind == "jani":
        model, formulas = stormpy.parse_jani_model(path)
        built = stormpy.build_model(model, formulas)
    elif kind == "prism":
        model = stormpy.parse_prism_program(path)
        formulas = stormpy.parse_properties(Path(properties).read_text(), model)
        built = stormpy.build_model(model, formulas)
    else:
        built = stormpy.build_model_from_drn(path)
        formulas = stormpy.parse_properties(properties)
    environment = stormpy.environments.sound()
    result = stormpy.model_checking(
        built, formulas[0], only_initial_states=True, environment=environment
    )
    get = result.get_value if hasattr(result, "get_value") else result.__getitem__
    try:
        value = [float(get(state)) for state in built.initial_states]
    except Exception:
        value = [float(result.at(state)) for state in built.initial_states]
    seconds = time.process_time() - begin
    print(json.dumps({"values": value, "states": built.nr_states, "seconds": round(seconds, 3)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", nargs="+", help="arguments of `policert verify`, in quotes")
    parser.add_argument("--policert", required=True, help="the program")
    parser.add_argument("--digits", type=int, default=5, help="decimal places of scores (default 5)")
    parser.add_argument("--time", type=float, default=300, help="seconds for a run (default 300)")
    options = parser.parse_args()
    bad = 0
    for question in options.questions:
        bad += check(shlex.split(question), options)
    sys.exit(1 if bad else 0)


def check(arguments, options):
    print(shlex.join(arguments), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        result = folder / "result.json"
        begin = time.monotonic()
        policert(options, "verify", *arguments, "--engine", "prob", "--json", result, "--quiet")
        report = json.loads(result.read_text())
        if report["probability"] is None:
            print(f"  Policert: {report['verdict']}: {report['reason']}")
            return 1
        low, high = map(float, report["probability"])
        states = report["statistics"]["reachable_states"]
        print(f"  Policert: [{low:.9g}, {high:.9g}], {states} states, {time.monotonic() - begin:.2f} s")
        has_policy = report["semantics"]["policy"] is not None
        encoding = ["--policy-as-automaton", f"discrete:{options.digits}"] if has_policy else []
        bad = 0
        for kind in ("jani", "prism", "drn"):
            file = folder / f"model.{kind}"
            extra = [] if kind == "drn" else encoding
            done = policert(options, "convert", *arguments, "--to", kind, "--output", file, *extra)
            if done.returncode != 0:
                print(f"  {kind}: not written ({done.returncode}): {done.stderr.strip()[:200]}")
                continue
            direction = "min" if '"Pmin"' in (folder / "model.jani").read_text() else "max"
            properties = str(folder / "model.props")
            if kind == "drn":
                path = 'F "target"'
                if '"op": "U"' in (folder / "model.jani").read_text():
                    path = '!"failed" U "target"'
                properties = f"P{direction}=? [ {path} ]"
            answer = storm(file, kind, properties, options.time)
            if "unknown label 'target'" in answer.get("failure", ""):
                # A label without states does not occur in DRN.
                answer = {"values": [0.0], "states": states, "seconds": 0}
            if "failure" in answer:
                print(f"  {kind}: Storm: {answer['failure']}")
                bad += 1
                continue
            value = (min if direction == "min" else max)(answer["values"])
            agrees = low - 2e-6 <= value <= high + 2e-6
            remark = "" if agrees else "  DIFFERS" + (" (rounded policy)" if extra else "")
            bad += not agrees and not extra
            print(f"  {kind}: {value:.9g}, {answer['states']} states, {answer['seconds']} s{remark}")
        return bad


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(*sys.argv[2:5])
    else:
        main()
