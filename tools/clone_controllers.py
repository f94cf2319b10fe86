#!/usr/bin/env python3
"""Trains a network to act as a linear-quadratic regulator does in the control loop of a task file.

    tools/clone_controllers.py TASK --out FILE [--hidden 64,64] [--activation tanh] [--aim x3=1] [--cost x1=10] \
[--action-cost 1] [--noise 0.5] [--decay 0.0001] [--steps 4000] [--seed 1]

The loop, given by differential equations, is linearised at its aim [default: 0]. The network learns the regulator's
actions in the states along its trajectories from the initial box, and in states near those: `--noise` is how near, in
standard deviations. The networks of `suites/arch` that say so in their task files are made by it. Needs NumPy,
PyTorch and onnx.
"""

import argparse
import tomllib
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper

FUNCTIONS = {name: getattr(np, name) for name in ("sin", "cos", "tan", "exp", "log", "sqrt", "tanh")}
ACTIVATIONS = {"tanh": torch.nn.Tanh, "sigmoid": torch.nn.Sigmoid, "relu": torch.nn.ReLU}
OPERATORS = {"tanh": "Tanh", "sigmoid": "Sigmoid", "relu": "Relu"}


class Loop:
    """The differential equations of a task, for many states at once: arrays of shape (variables, states)."""

    def __init__(self, path):
        task = tomllib.loads(Path(path).read_text())
        self.state, self.inputs = task["state"], task["input"]
        self.period, self.steps = float(task["dynamics"]["dt"]), int(task["horizon"]["steps"])
        laws = task["dynamics"]["derivative"]
        self.laws = [compile(law.replace("^", "**"), path, "eval") for law in laws]
        lower, upper = (np.array(task["initial"][side], float) for side in ("lower", "upper"))
        self.middle, self.radius = (lower + upper) / 2, (upper - lower) / 2

    def derivative(self, x, u):
        names = {**FUNCTIONS, **dict(zip(self.state, x)), **dict(zip(self.inputs, u))}
        return np.array([eval(law, names) * np.ones_like(x[0]) for law in self.laws])

    def step(self, x, u, parts=4):
        """The states after a period, by the method of Runge and Kutta."""
        h = self.period / parts
        for _ in range(parts):
            a = self.derivative(x, u)
            b = self.derivative(x + h / 2 * a, u)
            c = self.derivative(x + h / 2 * b, u)
            d = self.derivative(x + h * c, u)
            x = x + h / 6 * (a + 2 * b + 2 * c + d)
        return x

    def starts(self, random, count, part=1.0):
        cube = random.uniform(-1, 1, (count, len(self.state)))
        return (self.middle + part * self.radius * cube).T


def regulator(loop, aim, costs, action_cost):
    """The action at rest and the gain, by Riccati's equation of the linearised steps."""
    n, m = len(loop.state), len(loop.inputs)
    rest = np.zeros(m)
    for _ in range(20):
        left = loop.derivative(aim, rest)
        slopes = np.array([(loop.derivative(aim, rest + 1e-6 * e) - left) / 1e-6 for e in np.eye(m)]).T
        rest = rest - np.linalg.lstsq(slopes, left, rcond=None)[0]
    a = [(loop.step(aim + 1e-5 * e, rest) - loop.step(aim - 1e-5 * e, rest)) / 2e-5 for e in np.eye(n)]
    b = [(loop.step(aim, rest + 1e-5 * e) - loop.step(aim, rest - 1e-5 * e)) / 2e-5 for e in np.eye(m)]
    a, b = np.array(a).T, np.array(b).T
    value = np.diag(costs)
    for _ in range(20_000):
        gain = np.linalg.solve(action_cost * np.eye(m) + b.T @ value @ b, b.T @ value @ a)
        following = np.diag(costs) + a.T @ value @ (a - b @ gain)
        if np.abs(following - value).max() < 1e-9 * np.abs(following).max():
            break
        value = following
    return rest, gain


def cloned(loop, given, aim, costs, options):
    """Weights and biases of the layers, in double precision."""
    rest, gain = regulator(loop, aim, costs, options.action_cost)
    random = np.random.default_rng(options.seed)
    x = loop.starts(random, max(20, 20_000 // loop.steps), part=1.3)
    seen = []
    for _ in range(loop.steps):
        seen.append(x.T.copy())
        x = loop.step(x, rest[:, None] - gain @ (x - aim[:, None]))
    states = np.concatenate(seen)
    mean, scale = states.mean(0), states.std(0) + 1e-3
    states = np.concatenate([states, states + options.noise * scale * random.standard_normal(states.shape)])
    actions = rest - (states - aim) @ gain.T
    spread = actions.std(0) + 1e-6
    widths = [len(loop.state), *given, len(loop.inputs)]
    layers = []
    for inner, outer in zip(widths, widths[1:]):
        layers += [torch.nn.Linear(inner, outer), ACTIVATIONS[options.activation]()]
    network = torch.nn.Sequential(*layers[:-1])
    shown = torch.tensor((states - mean) / scale, dtype=torch.float32)
    wanted = torch.tensor((actions - rest) / spread, dtype=torch.float32)
    learner = torch.optim.AdamW(network.parameters(), 3e-3, weight_decay=options.decay)
    rate = torch.optim.lr_scheduler.CosineAnnealingLR(learner, options.steps)
    batches = torch.Generator().manual_seed(options.seed)
    for _ in range(options.steps):
        batch = torch.randint(len(shown), (256,), generator=batches)
        loss = ((network(shown[batch]) - wanted[batch]) ** 2).mean()
        learner.zero_grad()
        loss.backward()
        learner.step()
        rate.step()
    print(f"loss {loss.item():.6f}")
    linear = [layer for layer in network if isinstance(layer, torch.nn.Linear)]
    weights = [[part.detach().double().numpy().copy() for part in (layer.weight, layer.bias)] for layer in linear]
    # The network reads states and gives actions, both in their own units.
    weights[0][1] -= weights[0][0] @ (mean / scale)
    weights[0][0] /= scale
    weights[-1][0] *= spread[:, None]
    weights[-1][1] = weights[-1][1] * spread + rest
    return weights


def save(weights, activation, path):
    nodes, tensors, at = [], [], "state"
    for i, (weight, bias) in enumerate(weights):
        for name, values in ((f"w{i}", weight), (f"b{i}", bias)):
            tensors.append(numpy_helper.from_array(values.astype(np.float32), name))
        after = "action" if i + 1 == len(weights) else f"y{i}"
        nodes.append(helper.make_node("Gemm", [at, f"w{i}", f"b{i}"], [after], transB=1))
        if after != "action":
            nodes.append(helper.make_node(OPERATORS[activation], [after], [f"z{i}"]))
        at = f"z{i}"
    ends = [
        helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, width])
        for name, width in (("state", weights[0][0].shape[1]), ("action", weights[-1][0].shape[0]))
    ]
    graph = helper.make_graph(nodes, "controller", ends[:1], ends[1:], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    onnx.save(model, path)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    parser.add_argument("--out", required=True)
    parser.add_argument("--hidden", default="64,64")
    parser.add_argument("--activation", choices=sorted(ACTIVATIONS), default="tanh")
    parser.add_argument("--aim", action="append", default=[])
    parser.add_argument("--cost", action="append", default=[])
    parser.add_argument("--action-cost", type=float, default=1.0)
    parser.add_argument("--noise", type=float, default=0.5)
    parser.add_argument("--decay", type=float, default=1e-4)
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(options.seed)
    loop = Loop(options.task)
    aim, costs = np.zeros(len(loop.state)), np.ones(len(loop.state))
    for values, given in ((aim, options.aim), (costs, options.cost)):
        for text in given:
            name, value = text.split("=")
            values[loop.state.index(name)] = float(value)
    hidden = [int(width) for width in options.hidden.split(",")]
    save(cloned(loop, hidden, aim, costs, options), options.activation, options.out)


main()
