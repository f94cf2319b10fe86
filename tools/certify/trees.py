"""Tree ensembles: a score is the base score and the values of the leaves that are reached, summed exactly."""

import math
import struct
from fractions import Fraction
from math import lcm

from stops import Invalid, Unsupported, load_json

TESTS = {
    "<": lambda x, t: x < t,
    "≤": lambda x, t: x <= t,
    ">": lambda x, t: x > t,
    "≥": lambda x, t: x >= t,
    "=": lambda x, t: x == t,
    "≠": lambda x, t: x != t,
}
LINKS = {"logit": ("binary:logistic", "reg:logistic")}
LINKS["log"] = ("count:poisson", "reg:gamma", "reg:tweedie", "survival:aft", "survival:cox")


def single(x):
    """The nearest number of single precision."""
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def exact(x):
    value = float(x)
    if value - value != 0:
        raise Invalid("a number of the trees is not finite")
    return Fraction(value)


class Split:
    def __init__(self, feature, test, threshold, left, right, is_single=False, zero=None):
        """`zero`: where zero goes if it counts as missing."""
        self.feature, self.name, self.threshold, self.sides = feature, test, exact(threshold), (left, right)
        self.test, self.is_single, self.zero = TESTS[test], is_single, zero

    def goes_left(self, x):
        if abs(x) >= 1 << 53:
            raise Unsupported("inputs of tree ensembles beyond 53 bits")
        x = single(x) if self.is_single else float(x)
        return self.zero if self.zero is not None and x == 0 else self.test(x, self.threshold)

    def below(self, low, high):
        """The sides that are taken for some input between two bounds."""
        if low == high:
            return [self.sides[0 if self.goes_left(low) else 1]]
        if self.name in "=≠" or (self.zero is not None and low <= 0 <= high):
            return self.sides
        return [self.sides[0 if left else 1] for left in {self.goes_left(low), self.goes_left(high)}]


class Ensemble:
    """Trees of splits and leaves; a leaf is a dictionary of values by output."""

    rational = True
    long = False

    def __init__(self, features, base, trees, labels):
        if len(base) == 1 and labels == 2:  # a classifier of two classes: positive chooses the second one
            base = [0, base[0]]
            trees = [(tree, 1) for tree in trees]
        else:
            trees = [(tree, 0) for tree in trees]
        used = [split.feature for tree, _ in trees for split in splits(tree)]
        leaves = [leaf for tree, _ in trees for leaf in leaves_of(tree)]
        if any(not 0 <= k < len(base) for leaf in leaves for k in leaf) or min(used, default=0) < 0:
            raise Invalid("a leaf of an output, or a split by a feature, that there is not")
        self.open = features is None
        least = max(used, default=-1) + 1
        if not self.open and least > features:
            raise Invalid("a split by a feature that there is not")
        self.widths = [least if self.open else features, len(base)]
        self.unit = lcm(*(Fraction(b).denominator for b in base), *(v.denominator for leaf in leaves for v in leaf.values()))
        self.base, self.trees = [int(b * self.unit) for b in base], trees
        for leaf in leaves:
            for k in leaf:
                leaf[k] = int(leaf[k] * self.unit)

    def are_logarithms(self):
        return False

    def scores(self, low, high):
        reached = [([*reached_by(tree, low, high)], shift) for tree, shift in self.trees]
        sums = lambda pick: [
            base + sum(pick(leaf.get(k - shift, 0) for leaf in leaves) for leaves, shift in reached)
            for k, base in enumerate(self.base)
        ]
        least = sums(min)
        most = least if low == high else sums(max)

        def lead(a, b):
            """At least this much is score `a` above score `b`."""
            rest = (min(leaf.get(a - s, 0) - leaf.get(b - s, 0) for leaf in leaves) for leaves, s in reached)
            return self.base[a] - self.base[b] + sum(rest)

        return least, most, self.unit, lead


def reached_by(tree, low, high):
    stack = [tree]
    while stack:
        tree = stack.pop()
        if isinstance(tree, Split):
            stack += tree.below(low[tree.feature], high[tree.feature])
        else:
            yield tree


def splits(tree):
    stack = [tree]
    while stack:
        tree = stack.pop()
        if isinstance(tree, Split):
            yield tree
            stack += tree.sides


def leaves_of(tree):
    if not isinstance(tree, Split):
        return [tree]
    return [side for split in splits(tree) for side in split.sides if not isinstance(side, Split)]


def built(read, root):
    """A tree from nodes that name their children: `read` gives a leaf, or a split whose sides are names."""
    seen = set()

    def make(name):
        if name in seen:
            raise Invalid("a node of a tree is the child of two nodes")
        seen.add(name)
        found = read(name)
        if isinstance(found, Split):
            found.sides = tuple(make(side) for side in found.sides)
        return found

    return make(root)


def from_json(text, rounds, labels):
    value = load_json(text, float)
    if "learner" in value:
        return xgboost(value["learner"], rounds, labels)
    if "trees" in value:
        return veritas(value, labels)
    raise Unsupported("a JSON file of trees that is neither of XGBoost nor of Veritas")


def veritas(value, labels):
    base = [exact(b) for b in value["base_scores"]] if "base_scores" in value else [exact(value["base_score"])]
    if value.get("at_type", "REGR") not in ("REGR", "REGR_MEAN", "CLF_SOFTMAX", "CLF_MEAN"):
        raise Unsupported(f"an ensemble of the kind {value['at_type']}")

    def make(node):
        if "leaf_value" in node:
            values = node["leaf_value"] if isinstance(node["leaf_value"], list) else [node["leaf_value"]]
            if len(values) != len(base):
                raise Invalid("a leaf has another number of values than there are base scores")
            return {k: exact(v) for k, v in enumerate(values)}
        left, right = (node["left"], node["right"]) if "left" in node else (node["lt"], node["gteq"])
        return Split(node["feat_id"], "<", single(node["split_value"]), make(left), make(right), True)

    trees = []
    for tree in value["trees"]:
        if tree.get("split_type", "LtSplit") != "LtSplit":
            raise Unsupported(f"splits of the type {tree['split_type']}")
        trees.append(make(tree.get("structure", tree)))
    return Ensemble(None, base, trees, labels)


def xgboost(learner, rounds, labels):
    shape, booster = learner["learner_model_param"], learner["gradient_booster"]
    outputs = max(int(shape.get("num_class", 0)), int(shape.get("num_target", 1)), 1)
    name = booster["name"]
    if name not in ("gbtree", "dart"):
        raise Unsupported(f"the booster {name}")
    model = booster["model"] if name == "gbtree" else booster["gbtree"]["model"]
    weights = [single(w) for w in booster["weight_drop"]] if name == "dart" else [1.0] * len(model["trees"])
    base = shape["base_score"]
    if isinstance(base, str):
        base = base.strip().removeprefix("[").removesuffix("]").split(",")
    base = [single(b) for b in (base if isinstance(base, list) else [base])]
    objective = learner["objective"]["name"]
    if objective in LINKS["logit"]:
        base = [-single(math.log(single(single(1 / b) - 1))) if b != 0.5 else 0.0 for b in base]
    elif objective in LINKS["log"]:
        base = [single(math.log(b)) for b in base]
    trees, multiple = [], False
    for tree, output, weight in zip(model["trees"], model["tree_info"], weights, strict=True):
        sizes = {len(tree[key]) for key in ("left_children", "right_children", "split_indices", "split_conditions")}
        vectors = int(tree["tree_param"].get("size_leaf_vector", 1)) > 1
        if len(sizes) != 1 or any(tree.get("split_type", [])):
            raise Unsupported("splits by categories, or lists of several lengths")
        multiple |= vectors

        def read(k, tree=tree, output=output, weight=exact(weight), vectors=vectors):
            left, right = tree["left_children"][k], tree["right_children"][k]
            if k < 0 or (left == -1) != (right == -1):
                raise Invalid("a node of a tree that there is not")
            threshold = single(tree["split_conditions"][k])
            if left != -1:
                return Split(tree["split_indices"][k], "<", threshold, left, right, True)
            if vectors:
                raise Unsupported("leaves with several values in files of XGBoost")
            return {output: exact(threshold) * weight}

        trees.append(built(read, 0))
    used = len(trees)
    best = learner.get("attributes", {}).get("best_iteration")
    if isinstance(rounds, int) or (best is not None and rounds == "best"):
        parallel = int(model["gbtree_model_param"].get("num_parallel_tree", 1) or 1)
        starts = model.get("iteration_indptr", range(0, len(trees) + 1, parallel * outputs))
        used = starts[rounds if isinstance(rounds, int) else int(best) + 1]
    base = [exact(b) for b in (base * outputs if len(base) == 1 else base)]
    if len(base) != outputs:
        raise Invalid("another number of base scores than of outputs")
    return Ensemble(int(shape["num_feature"]), base, trees[:used], labels)


def lightgbm(text, labels, rounds):
    head, *parts = text.split("\nTree=")
    keys = dict(line.split("=", 1) for line in head.splitlines() if "=" in line)
    classes, trees = int(keys["num_tree_per_iteration"]), []
    for number, part in enumerate(parts):
        part = part.split("\nend of trees")[0]
        rows = dict(line.split("=", 1) for line in part.splitlines()[1:] if "=" in line)
        list_of = lambda key, kind: [kind(x) for x in rows.get(key, "").split()]
        if rows.get("is_linear", "0") != "0" or rows.get("num_cat", "0") != "0":
            raise Unsupported("linear leaves, and splits by categories, in files of LightGBM")
        features, thresholds = list_of("split_feature", int), list_of("threshold", float)
        lefts, rights = list_of("left_child", int), list_of("right_child", int)
        kinds, values = list_of("decision_type", int), list_of("leaf_value", float)
        if int(rows["num_leaves"]) != len(values) or len({len(x) for x in (features, thresholds, lefts, rights, kinds)}) != 1:
            raise Invalid(f"tree {number} has lists of several lengths")

        def read(k, f=features, t=thresholds, left=lefts, right=rights, d=kinds, v=values, n=number):
            if k < 0:
                return {n % classes: exact(v[-k - 1])}
            zero = bool(d[k] & 2) if (d[k] >> 2) & 3 == 1 else None
            return Split(f[k], "≤", t[k], left[k], right[k], False, zero)

        trees.append(built(read, 0 if features else -1))
    if rounds not in ("best", "all"):
        trees = trees[: rounds * classes]
    return Ensemble(int(keys["max_feature_idx"]) + 1, [Fraction(0)] * classes, trees, labels)
