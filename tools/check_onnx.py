#!/usr/bin/env python3
"""Compares Policert with ONNX Runtime on random graphs over the operators that Policert reads.

    tools/check_onnx.py [--program target/release/policert] [--graphs 300] [--seed 1] [--engines 0.1] [--keep FOLDER]

Each graph is made with the package `onnx`, with an operator set drawn from those in use. In random states of a small
model the label that Policert says the policy chooses (`policert dataset`) must be that of the greatest output of ONNX
Runtime, wherever its lead exceeds what rounding can do, and no argument of a step is as near to a jump; and the outputs
at one state must be those of ONNX Runtime within rounding (`policert query`). A graph that Policert refuses counts as a
failure. For a share of the graphs, a second model, of which the labels change the variables, is put to every engine:
all that answer must say what the enumeration of the states that can be reached says, with the decisions of ONNX Runtime
where all of these are clear, and otherwise what the engine `explicit` says. Ends with 1 after a failure; the files of
each failure stay in FOLDER.

Needs the packages of tools/requirements-trees.txt.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

from questions import ROOT, decisions, jani, labels_of, names_of, run, write_question
from random_graphs import finished, random_graph

LEAST, GREATEST = -4, 4
STATES = 12
# What 32-bit arithmetic may do to an output of magnitude 1 in graphs of this size.
ROUNDING = 2e-4
# Besides `explicit`.
ENGINES = ["auto", "ppa", "cegar", "ic3", "bmc"]


class Runtime:
    """What ONNX Runtime computes in states, one operator after the other."""

    def __init__(self, plain, graph, inputs):
        self.scores_of = session(plain)
        self.exact = graph.exact
        self.arguments = [(session(finished(graph, inputs, name, None)), name, operator, scale)
                          for name, operator, scale in graph.jumps]

    def scores(self, state):
        return values(self.scores_of, state)[0]

    def distances(self, state):
        """How near the nearest argument is to a jump, over what rounding can do: of all arguments, and of those that
        rounding changes."""
        nearest = [np.inf, np.inf]
        for argument, name, operator, scale in self.arguments:
            scaled = values(argument, state).astype(np.float64) / scale
            if operator == "Sign":
                apart = np.abs(scaled)
            else:
                shift = 0.5 if operator in ("Round", "QuantizeLinear") else 0.0
                apart = np.abs(scaled - shift - np.round(scaled - shift))
            apart = float(np.min(apart / (ROUNDING * (1 + np.abs(scaled)))))
            nearest[0] = min(nearest[0], apart)
            if name not in self.exact:
                nearest[1] = min(nearest[1], apart)
        return nearest

    def choice(self, state, labels=None):
        """The greatest score of some labels; none where rounding could decide otherwise."""
        row = self.scores(state)
        labels = range(len(row)) if labels is None else labels
        if len(labels) == 1:
            return labels[0]
        second, best = sorted(labels, key=lambda label: row[label])[-2:]
        lead = 2 * ROUNDING * (1 + float(np.max(np.abs(row))))
        is_clear = row[best] - row[second] > lead and self.distances(state)[1] >= 1
        return int(best) if is_clear else None


def session(model):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def values(of, state):
    return of.run(None, {"input": np.array([state], np.float32)})[0]


class Moves:
    """A model whose labels change the variables, with an unsafe condition that some runs may meet."""

    def __init__(self, inputs, outputs, draw):
        self.inputs, self.outputs = inputs, outputs
        self.bounds = (-3, 3) if inputs <= 3 else (-1, 1)
        # Label, changes by variable, and a guard: relation, variable, number.
        self.edges = []
        for label in range(outputs):
            for _ in range(draw.choice([1, 1, 2])):
                moved = sorted(draw.sample(range(inputs), draw.randint(1, min(2, inputs))))
                changes = {variable: draw.choice([-2, -1, 1, 2]) for variable in moved}
                guard = None
                if draw.random() < 0.3:
                    guard = draw.choice(["<", "\u2264", "\u2260"]), draw.randrange(inputs), draw.randint(0, 2)
                self.edges.append((label, changes, guard))
        chosen = draw.sample(range(inputs), min(inputs, draw.choice([1, 2])))
        self.unsafe = {variable: draw.choice(self.bounds) for variable in chosen}

    def write(self, folder):
        least, greatest = self.bounds
        names, labels = names_of(self.inputs), labels_of(self.outputs)
        operation = lambda op, left, right: {"op": op, "left": left, "right": right}
        moved = lambda name, by: operation("min", operation("max", operation("+", name, by), least), greatest)
        edges = []
        for label, changes, guard in self.edges:
            assignments = [{"ref": names[variable], "value": moved(names[variable], by)}
                           for variable, by in changes.items()]
            edge = {"location": "l", "action": labels[label],
                    "destinations": [{"location": "l", "assignments": assignments}]}
            if guard:
                relation, variable, number = guard
                edge["guard"] = {"exp": operation(relation, names[variable], number)}
            edges.append(edge)
        corner = [operation("=", names[variable], value) for variable, value in self.unsafe.items()]
        unsafe = corner[0] if len(corner) == 1 else operation("\u2227", *corner)
        (folder / "moves.jani").write_text(json.dumps(jani(names, labels, edges, unsafe, self.bounds)))

    def successors(self, state):
        """By label the states that its edges lead to."""
        found = {}
        for label, changes, guard in self.edges:
            if guard:
                relation, variable, number = guard
                left = state[variable]
                if not (left < number or relation == "\u2264" and left == number
                        or relation == "\u2260" and left != number):
                    continue
            least, greatest = self.bounds
            after = tuple(min(max(value + changes.get(variable, 0), least), greatest)
                          for variable, value in enumerate(state))
            found.setdefault(label, set()).add(after)
        return found

    def is_safe(self, runtime, is_filtered):
        """Whether no state that is reached is unsafe; none where a decision is not clear."""
        open_states, seen = [(0,) * self.inputs], set()
        while open_states:
            state = open_states.pop()
            if state in seen:
                continue
            seen.add(state)
            if all(state[variable] == value for variable, value in self.unsafe.items()):
                return False
            successors = self.successors(state)
            if is_filtered and not successors:
                continue
            label = runtime.choice(state, sorted(successors) if is_filtered else None)
            if label is None:
                return None
            open_states.extend(successors.get(label, ()))
        return True


def disagreement(program, folder, moves, runtime, draw, counts):
    """What an engine says that the enumeration of the states does not, if anything."""
    filtering = draw.choice(["none", "applicable"])
    options = ["--interface", folder / "policy.jani2nnet", "--ties", draw.choice(["first", "any"]), "--quiet",
               "--filter", filtering, "--timeout", "10s"]
    ask = lambda engine, *more: run([program, "verify", folder / "moves.jani", *options, "--engine", engine, *more])
    known = moves.is_safe(runtime, filtering == "applicable")
    explicit, text = ask("explicit")
    if explicit not in (0, 10, 20):
        return f"explicit ended with {explicit}: {text}"
    if known is not None:
        counts["safe" if known else "unsafe"] += 1
        if explicit != (0 if known else 10):
            return f"explicit ended with {explicit}, the runtime's decisions are {'safe' if known else 'unsafe'}: {text}"
    for engine in ENGINES:
        status, text = ask(engine)
        answers = {0, 10} if explicit == 20 else {explicit}
        if status not in {20, 30, 31, 32} | answers:
            return f"{engine} ended with {status}, explicit with {explicit} ({options[3:]}): {text}"
        counts[f"{engine} answers"] += status in answers
    return None


def write_query(folder, state, scores):
    """Asks whether an output differs from what ONNX Runtime computes by more than rounding."""
    lines = [f"(declare-const X_{k} Real)" for k in range(len(state))]
    lines += [f"(declare-const Y_{k} Real)" for k in range(len(scores))]
    for k, value in enumerate(state):
        lines += [f"(assert (>= X_{k} {value}.0))", f"(assert (<= X_{k} {value}.0))"]
    slack = ROUNDING * (1 + float(np.max(np.abs(scores))))
    number = lambda value: f"{value:.9f}"
    beyond = [f"(and (>= Y_{k} {number(float(score) + slack)}))" for k, score in enumerate(scores)]
    beyond += [f"(and (<= Y_{k} {number(float(score) - slack)}))" for k, score in enumerate(scores)]
    lines.append(f"(assert (or {' '.join(beyond)}))")
    (folder / "property.vnnlib").write_text("\n".join(lines) + "\n")


def check(program, folder, draw, engines, counts):
    """What is wrong with one random graph, if anything, and the operators in it."""
    inputs, outputs, plain, chooser, graph = random_graph(draw)
    used = graph.used
    onnx.save(plain, folder / "scores.onnx")
    onnx.save(chooser, folder / "policy.onnx")
    states = [[draw.randint(LEAST, GREATEST) for _ in range(inputs)] for _ in range(STATES)]
    write_question(folder, outputs, states, (LEAST, GREATEST))
    runtime = Runtime(plain, graph, inputs)
    scores = [runtime.scores(state) for state in states]
    if not all(np.all(np.isfinite(row)) for row in scores):
        return None, used
    status, text, decided = decisions(program, folder)
    if status != 0:
        return f"dataset ended with {status}: {text}", used
    for state, row in zip(states, scores):
        label = runtime.choice(state)
        if label is not None and decided.get(tuple(state)) != label:
            return f"at {state}: {decided.get(tuple(state))} is chosen, the outputs are {row.tolist()}", used
    clear = next((place for place, state in enumerate(states) if runtime.distances(state)[0] >= 1), None)
    if clear is not None:
        state, row = states[clear], scores[clear]
        write_query(folder, state, row)
        status, text = run([program, "query", folder / "scores.onnx", folder / "property.vnnlib", "--timeout", "20s", "-q"])
        if status != 0:
            return f"query ended with {status} at {state}, the outputs are {row.tolist()}: {text}", used
    if draw.random() < engines:
        moves = Moves(inputs, outputs, draw)
        moves.write(folder)
        return disagreement(program, folder, moves, runtime, draw, counts), used
    return None, used


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/policert")
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", type=float, default=0.1, help="share of the graphs that every engine gets")
    parser.add_argument("--keep", type=Path, default=Path("onnx-failures"))
    arguments = parser.parse_args()
    failures, used, counts = 0, Counter(), Counter()
    onnxruntime.set_default_logger_severity(3)
    for number in range(arguments.graphs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            draw = random.Random(f"{arguments.seed} {number}")
            wrong, operators = check(arguments.program, folder, draw, arguments.engines, counts)
            used.update(operators.keys())
            if wrong:
                failures += 1
                print(f"graph {number}: {wrong}", flush=True)
                kept = arguments.keep / str(number)
                kept.mkdir(parents=True, exist_ok=True)
                for file in folder.iterdir():
                    (kept / file.name).write_bytes(file.read_bytes())
    print(f"{arguments.graphs} graphs, {failures} failures; graphs with each operator:")
    print(", ".join(f"{operator} {count}" for operator, count in sorted(used.items())))
    print("models by enumeration, and answers of engines about models:")
    print(", ".join(f"{what} {count}" for what, count in sorted(counts.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
