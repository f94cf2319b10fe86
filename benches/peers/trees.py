"""Tree ensembles of query logs: XGBoost's JSON and LightGBM's text, for points of integers.

On integers `x < t` and `x <= t` are both `x < n` for an integer n, so that thresholds are integers
here, and no node's exact arithmetic matters any more. Leaves are the 64-bit numbers of the file.
"""

import json
import math
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from struct import pack, unpack


@dataclass
class Leaf:
    """What a tree adds to the score of a class."""

    output: int
    value: float


@dataclass
class Split:
    """`input < threshold` goes left."""

    input: int
    threshold: int
    left: object
    right: object


class Trees:
    """An ensemble: scores are sums of leaves and of a base for each class."""

    def __init__(self, outputs, base, trees):
        self.outputs, self.base, self.trees = outputs, base, trees
        numbers = list(base) + [leaf.value for tree in trees for leaf in leaves(tree)]
        self.unit = max(Fraction(number).denominator for number in numbers)

    def scores(self, inputs):
        """The exact scores at integer inputs, all multiplied by one power of two."""
        sums = [int(Fraction(number) * self.unit) for number in self.base]
        for node in self.trees:
            while isinstance(node, Split):
                node = node.left if inputs[node.input] < node.threshold else node.right
            sums[node.output] += int(Fraction(node.value) * self.unit)
        return sums


def leaves(node):
    if isinstance(node, Leaf):
        return [node]
    return leaves(node.left) + leaves(node.right)


def single(number):
    """The nearest number of single precision."""
    return unpack("f", pack("f", number))[0]


def read_xgboost(path):
    """The ensemble of a JSON file of XGBoost with numeric splits."""
    learner = json.loads(Path(path).read_text())["learner"]
    parameters = learner["learner_model_param"]
    outputs = max(int(parameters["num_class"]), 1)
    text = parameters["base_score"].strip("[]")
    base = [single(float(number)) for number in text.split(",")]
    base = base * outputs if len(base) == 1 else base
    model = learner["gradient_booster"]["model"]

    def node(tree, output, at):
        if tree["left_children"][at] < 0:
            return Leaf(output, single(tree["split_conditions"][at]))
        left, right = (node(tree, output, tree[s][at]) for s in ("left_children", "right_children"))
        threshold = math.ceil(single(tree["split_conditions"][at]))
        return Split(tree["split_indices"][at], threshold, left, right)

    trees = [node(tree, c, 0) for tree, c in zip(model["trees"], model["tree_info"])]
    return Trees(outputs, base, trees)


def read_lightgbm(path):
    """The ensemble of a text file of LightGBM with numeric splits."""
    head, *blocks = Path(path).read_text().split("end of trees")[0].split("\nTree=")
    entries = lambda text: dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    outputs = int(entries(head)["num_tree_per_iteration"])
    trees = []
    for number, block in enumerate(blocks):
        tree = entries(block)
        row = lambda key, kind: [kind(text) for text in tree.get(key, "").split()]
        inputs, values = row("split_feature", int), row("leaf_value", float)
        thresholds = row("threshold", float)
        left, right = row("left_child", int), row("right_child", int)

        def node(at):
            if at < 0:
                return Leaf(number % outputs, values[-1 - at])
            threshold = math.floor(thresholds[at]) + 1
            return Split(inputs[at], threshold, node(left[at]), node(right[at]))

        trees.append(node(0 if inputs else -1))
    return Trees(outputs, [0.0] * outputs, trees)


READERS = {".json": read_xgboost, ".txt": read_lightgbm}
