#!/usr/bin/env python3
"""Compares Policert with ONNX Runtime on random graphs over the operators that Policert reads.

    tools/check_onnx.py [--program target/release/policert] [--graphs 300] [--seed 1] [--engines 0.1] [--keep FOLDER]

Each graph is made with the package `onnx`, with an operator set drawn from those in use. In random states of a small
model the label that Policert says the policy chooses (`policert dataset`) must be that of the greatest output of ONNX
Runtime, wherever its lead exceeds what rounding can do, and no argument of a step is as near to a jump; and the outputs
at one state must be those of ONNX Runtime within rounding (`policert query`). A graph that Policert refuses counts as a failure. For a share of the graphs, a
second model, of which the labels change the variables, is put to every engine: all that answer must say what the
enumeration of its states says. Ends with 1 after a failure; the files of each failure stay in FOLDER.

Needs the packages of tools/requirements-trees.txt.
"""

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parent.parent
LEAST, GREATEST = -4, 4
STATES = 12
# What 32-bit arithmetic may do to an output of magnitude 1 in graphs of this size.
ROUNDING = 2e-4
# Besides `explicit`.
ENGINES = ["auto", "ppa", "cegar", "ic3", "bmc"]


class Graph:
    """A graph that grows: values with their shapes, all of one row."""

    def __init__(self, draw, opset):
        self.draw, self.opset = draw, opset
        self.nodes, self.constants, self.names = [], [], 0
        self.used = Counter()
        # Values at whose jumps rounding decides: name, operator, scale. Those that are computed exactly.
        self.jumps, self.exact = [], {"input"}

    def name(self):
        self.names += 1
        return f"v{self.names}"

    def constant(self, array):
        name = self.name()
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weights(self, *shape, scale=1.0):
        drawn = [self.draw.uniform(-scale, scale) for _ in range(int(np.prod(shape)))]
        return np.array(drawn, dtype=np.float32).reshape(shape)

    def node(self, operator, inputs, outputs=1, **attributes):
        names = [self.name() for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        self.used[operator] += 1
        return names[0] if outputs == 1 else names


def vector_step(graph, value, others):
    """One more operation on a value of shape [1, n]; returns the new value."""
    draw, (name, (_, n)) = graph.draw, value
    out = draw.randint(2, 6)
    fused = lambda: graph.node("Gemm", [name, graph.constant(graph.weights(out, n)),
                                        graph.constant(graph.weights(out))], transB=1)

    def affine():
        if draw.random() < 0.5:
            return fused(), (1, out)
        product = graph.node("MatMul", [name, graph.constant(graph.weights(n, out))])
        return graph.node("Add", [product, graph.constant(graph.weights(out))]), (1, out)

    def activation():
        kinds = ["Relu", "Tanh", "Sigmoid", "Abs", "Neg", "Elu", "LeakyRelu", "Selu", "Celu", "Softplus", "HardSigmoid",
                 "PRelu", "Clip", "Gelu", "Silu", "Mish"]
        if graph.opset >= 14:
            kinds.append("HardSwish")
        kind = draw.choice(kinds)
        if kind == "PRelu":
            return graph.node(kind, [name, graph.constant(graph.weights(n))]), (1, n)
        if kind == "Clip":
            low = np.float32(draw.uniform(-2, 0))
            return graph.node(kind, [name, graph.constant(low), graph.constant(np.float32(low + 2))]), (1, n)
        if kind in ("Elu", "LeakyRelu", "Celu"):
            return graph.node(kind, [name], alpha=draw.choice([0.1, 0.5, 1.0])), (1, n)
        if kind == "Silu":
            return graph.node("Mul", [name, graph.node("Sigmoid", [name])]), (1, n)
        if kind == "Mish" and (graph.opset < 18 or draw.random() < 0.5):
            return graph.node("Mul", [name, graph.node("Tanh", [graph.node("Softplus", [name])])]), (1, n)
        if kind == "Gelu":
            if graph.opset >= 20 and draw.random() < 0.5:
                return graph.node(kind, [name], approximate=draw.choice(["none", "tanh"])), (1, n)
            half = graph.constant(np.float32(0.5))
            scaled = graph.node("Div", [name, graph.constant(np.float32(1.4142135))])
            one = graph.node("Add", [graph.node("Erf", [scaled]), graph.constant(np.float32(1))])
            return graph.node("Mul", [graph.node("Mul", [name, one]), half]), (1, n)
        return graph.node(kind, [name]), (1, n)

    def constant_operand():
        operator = draw.choice(["Add", "Sub", "Mul", "Div"])
        operand = graph.weights(n)
        if operator == "Div":
            operand = np.where(np.abs(operand) < 0.25, np.float32(0.5), operand)
        return graph.node(operator, [name, graph.constant(operand)]), (1, n)

    def two():
        same = [other for other, shape in others if shape == (1, n)] or [name]
        operator = draw.choice(["Add", "Sub", "Max", "Min", "Sum"])
        return graph.node(operator, [name, draw.choice(same)]), (1, n)

    def joined():
        other, (_, m) = draw.choice(others)
        return graph.node("Concat", [name, other], axis=draw.choice([1, -1])), (1, n + m)

    def taken():
        positions = [draw.randrange(n) for _ in range(draw.randint(2, 5))]
        return graph.node("Gather", [name, graph.constant(np.array(positions))], axis=1), (1, len(positions))

    def cut():
        if n < 3:
            return activation()
        at = draw.randint(1, n - 2)
        bounds = [graph.constant(np.array([x])) for x in (at, n, 1)]
        return graph.node("Slice", [name, *bounds, graph.constant(np.array([1]))]), (1, n - at)

    def split():
        if n < 4:
            return affine()
        sizes = graph.constant(np.array([2, n - 2]))
        first, second = graph.node("Split", [name, sizes], outputs=2, axis=1)
        return draw.choice([(first, (1, 2)), (second, (1, n - 2))])

    def padded():
        pads = graph.constant(np.array([0, 1, 0, 1]))
        return graph.node("Pad", [name, pads, graph.constant(np.float32(0.5))]), (1, n + 2)

    def reduced():
        operator = draw.choice(["ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin"])
        as_input = graph.opset >= (13 if operator == "ReduceSum" else 18)
        if as_input:
            single = graph.node(operator, [name, graph.constant(np.array([1]))], keepdims=1)
        else:
            single = graph.node(operator, [name], axes=[1], keepdims=1)
        # Values less their sum, mean or extreme: as duelling networks do.
        return graph.node("Sub", [name, single]), (1, n)

    def normalised():
        parts = [graph.weights(n), graph.weights(n), graph.weights(n), np.abs(graph.weights(n)) + np.float32(0.25)]
        return graph.node("BatchNormalization", [name, *map(graph.constant, parts)]), (1, n)

    def bounded(low=-2.0):
        bounds = graph.constant(np.float32(low)), graph.constant(np.float32(2.0))
        return graph.node("Clip", [name, *bounds])

    def gated():
        same = [other for other, shape in others if shape in ((1, n), (1, 1))] or [name]
        gate = graph.node(draw.choice(["Sigmoid", "Tanh"]), [draw.choice(same)])
        return graph.node("Mul", draw.choice([[bounded(), gate], [gate, bounded()]])), (1, n)

    def powered():
        value = bounded()
        exponent = draw.choice([1, 2, 3, 4, None])
        if exponent is None:
            return graph.node("Mul", [value, value]), (1, n)
        kind = draw.choice([np.float32, np.int64])
        return graph.node("Pow", [value, graph.constant(kind(exponent))]), (1, n)

    def partial():
        """A function that has no value everywhere, of something that is certainly where it has one."""
        positive = draw.choice([
            lambda: graph.node("Mul", [(value := bounded()), value]),
            lambda: graph.node("Exp", [bounded()]),
            lambda: graph.node("Softplus", [name]),
            lambda: graph.node("Sigmoid", [name]),
            lambda: graph.node("Abs", [name]),
        ])()
        above = graph.node("Add", [positive, graph.constant(np.float32(draw.choice([0.25, 0.5, 1.0])))])
        kind = draw.choice(["Sqrt", "Log", "Reciprocal", "Div", "Over", "Pow", "Root"])
        if kind == "Div":
            return graph.node("Div", [bounded(), above]), (1, n)
        if kind == "Over":
            return graph.node("Div", [graph.constant(graph.weights(n)), above]), (1, n)
        if kind == "Pow":
            exponent = draw.choice([0.5, -0.5, -1.0, -2.0])
            return graph.node("Pow", [above, graph.constant(np.float32(exponent))]), (1, n)
        if kind == "Root":
            return graph.node("Reciprocal", [graph.node("Sqrt", [above])]), (1, n)
        return graph.node(kind, [above]), (1, n)

    def stepped():
        argument, kind = name, draw.choice(["Floor", "Ceil", "Round", "Sign"])
        if draw.random() < 0.5:
            argument = graph.node("Mul", [name, graph.constant(np.float32(draw.choice([0.25, 0.5, 1.5])))])
            graph.exact.update({argument} if name in graph.exact else ())
        graph.jumps.append((argument, kind, 1.0))
        result = graph.node(kind, [argument])
        if argument in graph.exact:
            graph.exact.add(result)
        return result, (1, n)

    def there_and_back(value):
        """Quantised with a scale and a zero point, and scaled back."""
        kind = draw.choice([np.uint8, np.int8])
        scale = np.float32(draw.choice([0.03125, 0.0625, 0.1, 0.25, 0.37]))
        bounds = np.iinfo(kind)
        zero = kind(draw.choice([bounds.min, 0, draw.randint(bounds.min // 2, bounds.max // 2)]))
        graph.jumps.append((value, "QuantizeLinear", float(scale)))
        parts = [graph.constant(scale), graph.constant(kind(zero))]
        return graph.node("DequantizeLinear", [graph.node("QuantizeLinear", [value, *parts]), *parts])

    def quantised():
        if draw.random() < 0.3:
            return there_and_back(name), (1, n)
        scales = np.array([draw.choice([0.015625, 0.02, 0.007]) for _ in range(out)], np.float32)
        weights = np.array([[draw.randint(-100, 100) for _ in range(n)] for _ in range(out)], np.int8)
        per_channel = draw.random() < 0.5
        parts = [scales, np.zeros(out, np.int8)] if per_channel else [scales[0], np.int8(draw.randint(-3, 3))]
        axis = {"axis": 0} if per_channel else {}
        weights = graph.node("DequantizeLinear", [graph.constant(weights), *map(graph.constant, parts)], **axis)
        bias = graph.constant(np.array([draw.randint(-500, 500) for _ in range(out)], np.int32))
        bias = graph.node("DequantizeLinear", [bias, graph.constant(np.float32(0.0009765625))])
        result = graph.node("Gemm", [there_and_back(name), weights, bias], transB=1)
        if draw.random() < 0.5:
            result = graph.node("Relu", [result])
        return there_and_back(result), (1, out)

    def exponential():
        return graph.node("Mul", [graph.node("Exp", [bounded()]), bounded(-1.0)]), (1, n)

    def layer():
        """A layer that normalises, as an operator or written out."""
        epsilon = draw.choice([1e-1, 1e-2])
        parts = [graph.constant(graph.weights(n)), graph.constant(graph.weights(n))]
        if n % 2 == 0 and n > 2 and draw.random() < 0.4:
            channels = [1, 2, n // 2]
            image = graph.node("Reshape", [name, graph.constant(np.array(channels))])
            parts = [graph.constant(graph.weights(2)), graph.constant(graph.weights(2))]
            if graph.opset >= 21 and draw.random() < 0.5:
                groups = draw.choice([1, 2])
                image = graph.node("GroupNormalization", [image, *parts], epsilon=epsilon, num_groups=groups)
            else:
                image = graph.node("InstanceNormalization", [image, *parts], epsilon=epsilon)
            return graph.node("Reshape", [image, graph.constant(np.array([1, n]))]), (1, n)
        if graph.opset >= 17 and draw.random() < 0.6:
            return graph.node("LayerNormalization", [name, *parts], epsilon=epsilon, axis=draw.choice([1, -1])), (1, n)
        mean = lambda value: (graph.node("ReduceMean", [value, graph.constant(np.array([1]))]) if graph.opset >= 18
                              else graph.node("ReduceMean", [value], axes=[1]))
        centred = graph.node("Sub", [name, mean(name)])
        square = graph.node("Pow", [centred, graph.constant(np.float32(2))])
        above = graph.node("Add", [mean(square), graph.constant(np.float32(epsilon))])
        row = graph.node("Div", [centred, graph.node("Sqrt", [above])])
        return graph.node("Add", [graph.node("Mul", [row, parts[0]]), parts[1]]), (1, n)

    def shaped():
        column = graph.node("Reshape", [name, graph.constant(np.array([n, 1]))])
        moved = graph.node("Transpose", [column], perm=[1, 0])
        return graph.node("Flatten", [graph.node("Identity", [moved])]), (1, n)

    steps = [affine, affine, affine, activation, activation, activation, constant_operand, two, joined, taken, cut, split,
             padded, reduced, normalised, shaped, gated, powered, partial, exponential, layer, stepped, quantised]
    return draw.choice(steps)()


def image_steps(graph, name, channels, height, width):
    """Convolution and pooling of the input as an image; returns a value of shape [1, n]."""
    draw = graph.draw
    image = graph.node("Reshape", [name, graph.constant(np.array([1, channels, height, width]))])
    made = draw.randint(1, 3)
    weights = [graph.weights(made, channels, 2, 2), graph.weights(made)]
    image = graph.node("Conv", [image, *map(graph.constant, weights)], pads=[1, 1, 0, 0],
                       strides=[draw.choice([1, 2])] * 2)
    image = graph.node("Relu", [image])
    pool = draw.choice(["MaxPool", "AveragePool", "GlobalAveragePool", None])
    if pool == "GlobalAveragePool":
        image = graph.node(pool, [image])
    elif pool:
        image = graph.node(pool, [image], kernel_shape=[2, 2], pads=[0, 0, 1, 1])
    return graph.node("Flatten", [image])


def shape_of(graph, name, inputs):
    """The shape that ONNX Runtime gives a value."""
    model = finished(graph, inputs, name, None)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"input": np.zeros((1, inputs), np.float32)})[0].shape


def finished(graph, inputs, output, shape, kind=TensorProto.FLOAT):
    source = helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, inputs])
    target = helper.make_tensor_value_info(output, kind, shape)
    body = helper.make_graph(graph.nodes, "policy", [source], [target], graph.constants)
    model = helper.make_model(body, opset_imports=[helper.make_opsetid("", graph.opset)])
    model.ir_version = 9
    return model


def random_graph(draw):
    """A graph with its number of inputs: the model with scores as outputs, and the one with an end that chooses."""
    graph = Graph(draw, draw.choice([13, 15, 17, 18, 20, 21]))
    inputs = draw.randint(2, 5)
    if draw.random() < 0.2:
        inputs = 9
        name = image_steps(graph, "input", 1, 3, 3)
        values = [(name, tuple(shape_of(graph, name, inputs)))]
    else:
        values = [("input", (1, inputs))]
    for _ in range(draw.randint(2, 9)):
        values.append(vector_step(graph, draw.choice(values[-3:]), values))
    name, (_, n) = values[-1]
    outputs = draw.randint(2, 4)
    last = [graph.constant(graph.weights(n, outputs)), graph.constant(graph.weights(outputs))]
    scores = graph.node("Gemm", [name, *last])
    plain = finished(graph, inputs, scores, [1, outputs])
    end = draw.choice([None, "Softmax", "LogSoftmax", "ArgMax"])
    if end is None:
        chooser = plain
    elif end == "ArgMax":
        kept = draw.choice([0, 1])
        label = graph.node(end, [scores], axis=1, keepdims=kept)
        chooser = finished(graph, inputs, label, [1, 1] if kept else [1], TensorProto.INT64)
    else:
        chooser = finished(graph, inputs, graph.node(end, [scores], axis=-1), [1, outputs])
    for model in (plain, chooser):
        onnx.checker.check_model(model)
    return inputs, outputs, plain, chooser, graph


def distances(graph, inputs, states):
    """For each state how near the nearest argument is to a jump, over what rounding can do: of all arguments, and of
    those that rounding changes."""
    nearest = np.full((2, len(states)), np.inf)
    for name, operator, scale in graph.jumps:
        session = reference(finished(graph, inputs, name, None))
        for place, state in enumerate(states):
            values = session.run(None, {"input": np.array([state], np.float32)})[0].astype(np.float64) / scale
            if operator == "Sign":
                apart = np.abs(values)
            else:
                shift = 0.5 if operator in ("Round", "QuantizeLinear") else 0.0
                apart = np.abs(values - shift - np.round(values - shift))
            apart = float(np.min(apart / (ROUNDING * (1 + np.abs(values)))))
            nearest[0, place] = min(nearest[0, place], apart)
            if name not in graph.exact:
                nearest[1, place] = min(nearest[1, place], apart)
    return nearest


def reference(model):
    """The runtime for a model, which computes one operator after the other."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def write_question(folder, inputs, outputs, states):
    """A model whose variables are the inputs and whose labels are the outputs, with an interface and a list of states."""
    names = [f"x{k}" for k in range(inputs)]
    labels = [f"a{k}" for k in range(outputs)]
    bounded = {"kind": "bounded", "base": "int", "lower-bound": LEAST, "upper-bound": GREATEST}
    edges = [{"location": "l", "action": label, "destinations": [{"location": "l"}]} for label in labels]
    unsafe = {"op": "=", "left": names[0], "right": GREATEST}
    model = {
        "jani-version": 1, "name": "inputs", "type": "mdp", "actions": [{"name": label} for label in labels],
        "variables": [{"name": name, "type": bounded, "initial-value": 0} for name in names],
        "properties": [{"name": "p", "expression": {
            "op": "PA", "reach": {"op": "state-condition", "exp": unsafe}}}],
        "automata": [{"name": "m", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": edges}],
        "system": {"elements": [{"automaton": "m"}],
                   "syncs": [{"synchronise": [label], "result": label} for label in labels]},
    }
    (folder / "model.jani").write_text(json.dumps(model))
    interface = {"file": "policy.onnx", "filter": False,
                 "input": [{"name": name, "automaton": None} for name in names], "output": labels}
    (folder / "policy.jani2nnet").write_text(json.dumps(interface))
    with open(folder / "states.csv", "w", newline="") as file:
        csv.writer(file).writerows([names, *states])


def write_engine_question(folder, inputs, outputs, draw):
    """A model whose labels change the variables, with an unsafe condition that some runs may meet."""
    names = [f"x{k}" for k in range(inputs)]
    labels = [f"a{k}" for k in range(outputs)]
    least, greatest = (-3, 3) if inputs <= 3 else (-1, 1)
    bounded = {"kind": "bounded", "base": "int", "lower-bound": least, "upper-bound": greatest}
    operation = lambda op, left, right: {"op": op, "left": left, "right": right}

    def changed(name):
        by = draw.choice([-2, -1, 1, 2])
        moved = operation("+", name, by)
        return {"ref": name, "value": operation("min", operation("max", moved, least), greatest)}

    edges = []
    for label in labels:
        for _ in range(draw.choice([1, 1, 2])):
            moved = sorted(draw.sample(names, draw.randint(1, min(2, inputs))))
            edge = {"location": "l", "action": label,
                    "destinations": [{"location": "l", "assignments": [changed(name) for name in moved]}]}
            if draw.random() < 0.3:
                relation = draw.choice(["<", "\u2264", "\u2260"])
                edge["guard"] = {"exp": operation(relation, draw.choice(names), draw.randint(0, 2))}
            edges.append(edge)
    chosen = draw.sample(names, min(inputs, draw.choice([1, 2])))
    corner = [operation("=", name, draw.choice([least, greatest])) for name in chosen]
    unsafe = corner[0] if len(corner) == 1 else operation("\u2227", *corner)
    model = {
        "jani-version": 1, "name": "moves", "type": "mdp", "actions": [{"name": label} for label in labels],
        "variables": [{"name": name, "type": bounded, "initial-value": 0} for name in names],
        "properties": [{"name": "p", "expression": {
            "op": "PA", "reach": {"op": "state-condition", "exp": unsafe}}}],
        "automata": [{"name": "m", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": edges}],
        "system": {"elements": [{"automaton": "m"}],
                   "syncs": [{"synchronise": [label], "result": label} for label in labels]},
    }
    (folder / "moves.jani").write_text(json.dumps(model))


def disagreement(program, folder, draw):
    """What an engine says that the enumeration of the states does not, if anything."""
    options = ["--interface", folder / "policy.jani2nnet", "--ties", draw.choice(["first", "any"]), "--quiet",
               "--filter", draw.choice(["none", "applicable"]), "--timeout", "10s"]
    ask = lambda engine, *more: run([program, "verify", folder / "moves.jani", *options, "--engine", engine, *more])
    expected, text = ask("explicit")
    if expected not in (0, 10, 20):
        return f"explicit ended with {expected}: {text}"
    for engine in ENGINES:
        status, text = ask(engine)
        answers = {0, 10} if expected == 20 else {expected}
        if status not in {20, 30, 31, 32} | answers:
            return f"{engine} ended with {status}, explicit with {expected} ({options[3:]}): {text}"
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


def run(command):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    return done.returncode, (done.stderr or done.stdout).strip()


def check(program, folder, draw, engines):
    """What is wrong with one random graph, if anything, and the operators in it."""
    inputs, outputs, plain, chooser, graph = random_graph(draw)
    used = graph.used
    onnx.save(plain, folder / "scores.onnx")
    onnx.save(chooser, folder / "policy.onnx")
    states = [[draw.randint(LEAST, GREATEST) for _ in range(inputs)] for _ in range(STATES)]
    write_question(folder, inputs, outputs, states)
    session = reference(plain)
    near = distances(graph, inputs, states)
    scores = [session.run(None, {"input": np.array([state], np.float32)})[0][0] for state in states]
    if not all(np.all(np.isfinite(row)) for row in scores):
        return None, used
    status, text = run([program, "dataset", folder / "model.jani", "--interface", folder / "policy.jani2nnet",
                        "--states", folder / "states.csv", "--rollouts", 0, "--output", folder / "decisions.csv", "-q"])
    if status != 0:
        return f"dataset ended with {status}: {text}", used
    with open(folder / "decisions.csv", newline="") as file:
        decided = {tuple(int(float(row[f"x{k}"])) for k in range(inputs)): int(row["label_index"])
                   for row in csv.DictReader(file)}
    for state, row, apart in zip(states, scores, near[1]):
        best, second = sorted(row, reverse=True)[:2]
        if apart < 1 or best - second <= 2 * ROUNDING * (1 + float(np.max(np.abs(row)))):
            continue
        if decided.get(tuple(state)) != int(np.argmax(row)):
            return f"at {state}: {decided.get(tuple(state))} is chosen, the outputs are {row.tolist()}", used
    clear = np.flatnonzero(near[0] >= 1)
    if clear.size:
        state, row = states[clear[0]], scores[clear[0]]
        write_query(folder, state, row)
        status, text = run([program, "query", folder / "scores.onnx", folder / "property.vnnlib", "--timeout", "20s", "-q"])
        if status != 0:
            return f"query ended with {status} at {state}, the outputs are {row.tolist()}: {text}", used
    if draw.random() < engines:
        write_engine_question(folder, inputs, outputs, draw)
        return disagreement(program, folder, draw), used
    return None, used


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/policert")
    parser.add_argument("--graphs", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--engines", type=float, default=0.1, help="share of the graphs that every engine gets")
    parser.add_argument("--keep", type=Path, default=Path("onnx-failures"))
    arguments = parser.parse_args()
    failures, used = 0, Counter()
    for number in range(arguments.graphs):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            draw = random.Random(f"{arguments.seed} {number}")
            wrong, operators = check(arguments.program, folder, draw, arguments.engines)
            used.update(operators.keys())
            if wrong:
                failures += 1
                print(f"graph {number}: {wrong}")
                kept = arguments.keep / str(number)
                kept.mkdir(parents=True, exist_ok=True)
                for file in folder.iterdir():
                    (kept / file.name).write_bytes(file.read_bytes())
    print(f"{arguments.graphs} graphs, {failures} failures; graphs with each operator:")
    print(", ".join(f"{operator} {count}" for operator, count in sorted(used.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
