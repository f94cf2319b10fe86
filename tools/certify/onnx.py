"""ONNX: its protocol buffers, graphs of a few operators as programs of `network`, and ONNX-ML tree ensembles."""

import os
import struct
from fractions import Fraction
from math import ceil, floor

from network import Network, elu, root, sigmoid, tanh
from stops import Invalid, Unsupported
from trees import Ensemble, Split, built, exact

SAME = {"Identity", "Dropout", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Cast"}
ORDERED = {"Softmax", "LogSoftmax", "ArgMax"}
STAIRS = {"Floor": floor, "Ceil": ceil, "Round": round, "Sign": lambda x: (x > 0) - (x < 0)}
MODES = {"BRANCH_LT": "<", "BRANCH_LEQ": "≤", "BRANCH_GT": ">", "BRANCH_GTE": "≥", "BRANCH_EQ": "=", "BRANCH_NEQ": "≠"}
FORMATS = {1: "f", 11: "d", 7: "q", 6: "i", 9: "?", 10: "e"}
MOST = 1 << 22


def fields(data):
    """The fields of a message: lists of numbers and of bytes by number."""
    found, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value - (1 << 64) if value >= 1 << 63 else value
            if shift > 63:
                raise Invalid("the protocol buffer is broken")

    while at < len(data):
        key = varint()
        kind = key & 7
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) if kind != 2 else varint()
            if size is None or size < 0 or at + size > len(data):
                raise Invalid("the protocol buffer is broken")
            value, at = data[at : at + size], at + size
        found.setdefault(key >> 3, []).append(value)
    return found


def integers(values):
    """Numbers that may be packed."""
    found = []
    for value in values:
        found += fields_of_varints(value) if isinstance(value, bytes) else [value]
    return found


def fields_of_varints(data):
    found, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            found.append(value - (1 << 64) if value >= 1 << 63 else value)
            value = shift = 0
    return found


def unpacked(values, letter):
    data = b"".join(values)
    return [x[0] for x in struct.iter_unpack("<" + letter, data)]


def text(message, number):
    return message.get(number, [b""])[-1].decode()


def tensor(message, folder, files):
    """The shape and the numbers of a tensor; real numbers as fractions."""
    shape, kind = integers(message.get(1, [])), message.get(2, [0])[0]
    if kind not in FORMATS:
        raise Unsupported(f"tensors of the type {kind}")
    if message.get(14, [0])[0] == 1:
        place = {text(fields(pair), 1): text(fields(pair), 2) for pair in message.get(13, [])}
        path = os.path.join(folder, place["location"])
        if not os.path.realpath(path).startswith(os.path.realpath(folder) + os.sep):
            raise Invalid("numbers in a file outside of the folder of the model")
        start, data = int(place.get("offset", 0)), files.bytes("policy", path)
        size = int(place.get("length", len(data) - start))
        if start < 0 or size < 0 or start + size > len(data):
            raise Invalid("numbers beyond the end of a file")
        values = unpacked([data[start : start + size]], FORMATS[kind])
    elif 9 in message:
        values = unpacked(message[9], FORMATS[kind])
    elif kind == 1:
        values = unpacked(message.get(4, []), "f")
    elif kind == 11:
        values = unpacked(message.get(10, []), "d")
    else:
        values = integers(message.get(7 if kind == 7 else 5, []))
    if kind == 10 and 9 not in message:
        raise Unsupported("half precision that is not stored as raw data")
    if len(values) != product(shape):
        raise Invalid("a tensor with another number of elements than its shape says")
    return shape, [exact(x) if kind in (1, 10, 11) else int(x) for x in values]


def product(shape):
    size = 1
    for n in shape:
        size *= n
    if not 0 <= size <= MOST:
        raise Invalid("a tensor of no reasonable size")
    return size


class Value:
    """A tensor: constant numbers, or a vector of the program. Of an `ordered` one only the order counts."""

    def __init__(self, shape, numbers=None, vector=None, ordered=False):
        self.shape, self.numbers, self.vector, self.ordered = shape, numbers, vector, ordered


class Graph:
    def __init__(self, message, folder, files):
        self.folder, self.files = folder, files
        self.nodes, self.constants, self.values = {}, {}, {}
        self.message = message
        for item in map(fields, message.get(5, [])):
            self.constants[text(item, 8)] = item
        for item in map(fields, message.get(1, [])):
            for k, name in enumerate(item.get(2, [])):
                if name in self.nodes and name:
                    raise Invalid(f"the value {name.decode()!r} is defined twice")
                self.nodes[name.decode()] = (item, k)
        inputs = [fields(item) for item in message.get(11, [])]
        self.inputs = [item for item in inputs if text(item, 1) not in self.constants]
        if len(self.inputs) != 1:
            raise Unsupported("a graph with several inputs")
        self.input = text(self.inputs[0], 1)
        self.kind, self.shape = self.type_of(self.inputs[0])

    def type_of(self, value):
        """The type of the elements and the shape; a first dimension without size is 1."""
        kind = fields(fields(value[2][0])[1][0])
        sizes = [fields(d).get(1, [0])[0] for d in fields(kind[2][0]).get(1, [])] if 2 in kind else None
        if sizes:
            sizes[0] = sizes[0] or 1
        return kind[1][0], sizes

    def attributes(self, node):
        found = {}
        for item in map(fields, node.get(5, [])):
            name = text(item, 1)
            if name in found:
                raise Invalid(f"the attribute {name} is given twice")
            found[name] = item
        return found


class Program(Graph):
    """A graph as a program."""

    def compile(self, wanted):
        if not self.shape or 0 in self.shape:
            raise Unsupported("an input of the graph whose shape is not known")
        self.network = Network(product(self.shape))
        self.values[self.input] = Value(self.shape, vector=0)
        names = [text(fields(item), 1) for item in self.message.get(12, [])]
        names = [wanted] if wanted is not None else names
        found = [self.value(name) for name in names]
        if len(found) > 1:
            found = [v for v in found if v.ordered] or [v for v in found if product(v.shape) > 1] or found
            if len(found) != 1:
                raise Unsupported("a graph with several outputs of which none is named")
        if found[0].vector is None:
            raise Unsupported("a policy that does not read its input")
        if found[0].vector != len(self.network.steps) - 1:
            found[0].vector = self.network.take([(found[0].vector, k) for k in range(self.width(found[0]))])
        return self.network

    def width(self, value):
        return len(value.numbers) if value.numbers is not None else self.network.widths[value.vector]

    def value(self, name):
        if name not in self.values:
            if name in self.constants:
                self.values[name] = Value(*tensor(self.constants[name], self.folder, self.files))
            elif name in self.nodes:
                node, place = self.nodes[name]
                self.values[name] = None
                self.values[name] = self.apply(node, place)
            else:
                raise Invalid(f"the value {name!r} is not defined")
        if self.values[name] is None:
            raise Invalid("the graph goes in a circle")
        return self.values[name]

    def apply(self, node, place):
        op, attributes = text(node, 4), self.attributes(node)
        get = lambda name, default: attributes[name][3][0] if name in attributes and 3 in attributes[name] else default
        real = lambda name, default: exact(struct.unpack("<f", attributes[name][2][0])[0]) if name in attributes else default
        if place or text(node, 7) not in ("", "ai.onnx"):
            raise Unsupported(f"the operator {op} of another domain, or its further outputs")
        if op == "Constant":
            return self.constant(attributes)
        given = [self.value(name.decode()) if name else None for name in node.get(1, [])]
        if op in SAME or op in ORDERED:
            return self.same(op, given, get)
        if any(v is not None and v.ordered for v in given):
            raise Unsupported(f"the operator {op} after the order of the scores was taken")
        if op in ("Gemm", "MatMul"):
            factors = real("alpha", 1), real("beta", 1)
            return self.product(op, given, factors, [get("transA", 0), get("transB", 0)])
        if op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu") and len(given) == 2:
            return self.two(op, *given)
        if op == "Sum" and given:
            total = given[0]
            for other in given[1:]:
                total = self.two("Add", total, other)
            return total
        x = given[0] if given else None
        if op in STAIRS and x.vector is not None:
            return Value(x.shape, vector=self.network.stairs(x.vector, STAIRS[op]))
        if op in ("Neg", "Relu", "LeakyRelu", "Abs", "Clip", "Tanh", "Sigmoid", "Elu", "Sqrt", "Reciprocal"):
            numbers = lambda c: Value([1], [c])
            if op == "Neg":
                return self.two("Mul", x, numbers(-1))
            if op == "Abs":
                return self.two("Max", x, self.two("Mul", x, numbers(-1)))
            if op == "Relu":
                return self.two("Max", x, numbers(0))
            if op == "LeakyRelu":
                return self.two("PRelu", x, numbers(real("alpha", exact(struct.unpack("f", struct.pack("f", 0.01))[0]))))
            if op == "Clip":
                ends = [real("min", None), real("max", None)]
                ends = [v.numbers[0] if v else e for v, e in zip([*given[1:], None, None], ends)]
                for end, side in zip(ends, ("Max", "Min")):
                    x = x if end is None else self.two(side, x, numbers(end))
                return x
            if x.vector is None:
                raise Unsupported(f"{op} of constants")
            if op == "Reciprocal":
                return Value(x.shape, vector=self.network.reciprocal(x.vector))
            functions = {"Sqrt": root, "Tanh": tanh, "Sigmoid": sigmoid, "Elu": elu(real("alpha", Fraction(1)))}
            return Value(x.shape, vector=self.network.curve(x.vector, functions[op]))
        raise Unsupported(f"the operator {op}")

    def constant(self, attributes):
        if "value" in attributes:
            return Value(*tensor(fields(attributes["value"][5][0]), self.folder, self.files))
        if "value_float" in attributes:
            return Value([], [exact(unpacked(attributes["value_float"][2], "f")[0])])
        if "value_ints" in attributes or "value_int" in attributes:
            numbers = integers(attributes.get("value_ints", {}).get(8, []) or attributes["value_int"][3])
            return Value([len(numbers)], numbers)
        raise Unsupported("a constant that is no tensor")

    def same(self, op, given, get):
        """Elements in the same order, or scores of which only the order counts."""
        x, size = given[0], self.width(given[0])
        shape, ordered = list(x.shape), x.ordered or op in ORDERED
        if op == "Cast" and get("to", 0) not in ((1, 11) if not ordered else (1, 6, 7, 11)):
            raise Unsupported("a cast that may round")
        if op == "ArgMax" and get("select_last_index", 0):
            raise Unsupported("ArgMax that selects the last index")
        if op in ORDERED and [n for n in shape if n != 1] not in ([], [size]):
            raise Unsupported(f"{op} of several rows")
        if op == "Flatten":
            axis = get("axis", 1)
            shape = [product(shape[:axis]), product(shape[axis:])]
        elif op == "Reshape" and not x.ordered:
            wanted = [shape[k] if n == 0 else n for k, n in enumerate(given[1].numbers)]
            rest = size // max(1, product([n for n in wanted if n != -1]))
            shape = [rest if n == -1 else n for n in wanted]
        elif op in ("Squeeze", "Unsqueeze"):
            shape = [n for n in shape if n != 1] if op == "Squeeze" else [1, *shape]
            if len(shape) > 1 and size != max(shape):
                raise Unsupported(f"{op} of several rows")
        if product(shape) != size:
            raise Invalid(f"{op} to a shape of another size")
        return Value(shape, x.numbers, x.vector, ordered)

    def product(self, op, given, factors, turned):
        a, b = given[0], given[1]
        if b.numbers is None or a.vector is None or turned[0] or len(b.shape) != 2 or len(a.shape) > 2:
            raise Unsupported(f"{op} of another form than a vector by a constant matrix")
        inner, outer = b.shape[::-1] if turned[1] else b.shape
        if a.shape[-1] != inner or (len(a.shape) == 2 and a.shape[0] != 1):
            raise Invalid(f"{op} of shapes that do not fit")
        at = (lambda k, j: j * inner + k) if turned[1] else (lambda k, j: k * outer + j)
        rows = [{k: b.numbers[at(k, j)] * factors[0] for k in range(inner)} for j in range(outer)]
        biases = [0] * outer
        if len(given) > 2 and given[2] is not None:
            if given[2].numbers is None:
                raise Unsupported(f"{op} with a bias that is not constant")
            biases = [x * factors[1] for x in spread(given[2].shape, given[2].numbers, [1, outer])]
        return Value([*a.shape[:-1], outer], vector=self.network.affine(a.vector, rows, biases))

    def two(self, op, a, b):
        """Two tensors, element by element."""
        shape = common(a.shape, b.shape)
        size, network = product(shape), self.network
        if a.numbers is not None and b.numbers is not None:
            raise Unsupported(f"{op} of constants")
        if op == "Div" and b.numbers is not None:
            if 0 in b.numbers:
                raise Invalid("a division by 0")
            op, b = "Mul", Value(b.shape, [1 / Fraction(x) for x in b.numbers])
        if op == "Mul" and a.numbers is not None:
            a, b = b, a
        if op == "Div" and b.numbers is None:
            op, b = "Mul", Value(b.shape, vector=self.network.reciprocal(b.vector))
        if op == "PRelu" and b.numbers is None:
            raise Unsupported(f"{op} by what is not constant")
        sides = []
        for side in (a, b):
            if side.numbers is not None:
                sides.append(spread(side.shape, side.numbers, shape))
            else:
                places = spread(side.shape, range(self.width(side)), shape)
                same = list(places) == list(range(self.width(side)))
                sides.append(side.vector if same else network.take([(side.vector, k) for k in places]))
        if op == "Mul" and b.numbers is None:
            sides = [network.fixed(side) if isinstance(side, list) else side for side in sides]
            return Value(shape, vector=network.times(*sides))
        if op in ("Mul", "PRelu"):
            scaled = network.affine(sides[0], [{k: w} for k, w in enumerate(sides[1])], [0] * size)
            if op == "Mul":
                return Value(shape, vector=scaled)
            if any(w > 1 for w in sides[1]):
                raise Unsupported("a slope above 1")
            return Value(shape, vector=network.joined(max, sides[0], scaled))
        if op in ("Add", "Sub") and list in map(type, sides):
            sign = -1 if op == "Sub" else 1
            vector, numbers = (sides[1], sides[0]) if a.numbers is not None else sides
            rows = [{k: sign if a.numbers is not None else 1} for k in range(size)]
            return Value(shape, vector=network.affine(vector, rows, [x if a.numbers is not None else sign * x for x in numbers]))
        sides = [network.fixed(side) if isinstance(side, list) else side for side in sides]
        if op == "Sub":
            sides[1] = network.affine(sides[1], [{k: -1} for k in range(size)], [0] * size)
        function = {"Max": max, "Min": min}.get(op, lambda p, q: p + q)
        return Value(shape, vector=network.joined(function, *sides))


def common(a, b):
    """The shape of two that are stretched to each other."""
    size = max(len(a), len(b))
    a, b = [1] * (size - len(a)) + list(a), [1] * (size - len(b)) + list(b)
    if any(x != y and 1 not in (x, y) for x, y in zip(a, b)):
        raise Invalid("shapes that do not fit")
    return [y if x == 1 else x for x, y in zip(a, b)]


def spread(shape, values, target):
    """The elements of a tensor stretched to a shape."""
    shape, values = [1] * (len(target) - len(shape)) + list(shape), list(values)
    if len(shape) > len(target) or any(x not in (1, y) for x, y in zip(shape, target)):
        raise Invalid("shapes that do not fit")
    places = [0]
    for n, m in zip(shape, target):
        places = [p * n + (k if n > 1 else 0) for p in places for k in range(m)]
    return [values[p] for p in places]


def read(data, path, files, wanted, labels):
    """The function of a file, and the classes that it names."""
    model = fields(data)
    message = fields(model[7][0])
    graph = Program(message, os.path.dirname(path) or ".", files)
    names = [text(node, 4) for node in map(fields, message.get(1, []))]
    if any(name.startswith("TreeEnsemble") for name in names):
        return ensemble(graph, names, labels)
    return graph.compile(wanted), None


def ensemble(graph, names, labels):
    nodes = [fields(node) for node in graph.message[1]]
    others = [n for n in names if n not in ("Cast", "Identity", "ZipMap", "TreeEnsembleClassifier", "TreeEnsembleRegressor")]
    if others or len([n for n in names if n.startswith("TreeEnsemble")]) != 1:
        raise Unsupported(f"beside one tree ensemble, the operator {', '.join(others)[:60]}")
    (node,) = [n for n in nodes if text(n, 4).startswith("TreeEnsemble")]
    casts, source = [], text(node, 1)
    while source != graph.input:
        inner, _ = graph.nodes[source]
        to = graph.attributes(inner).get("to", {3: [0]})[3][0]
        if text(inner, 4) not in ("Cast", "Identity") or to not in (0, 1, 11):
            raise Unsupported("what stands in front of the trees")
        casts += [to] if to else []
        source = text(inner, 1)
    is_single = 1 in casts or not (graph.kind == 11 or (graph.kind != 1 and casts))
    attributes = graph.attributes(node)
    ints = lambda name: integers(attributes.get(name, {}).get(8, []))

    def reals(name):
        if name + "_as_tensor" in attributes:
            return tensor(fields(attributes[name + "_as_tensor"][5][0]), graph.folder, graph.files)[1]
        return [exact(x) for x in unpacked(attributes.get(name, {}).get(7, []), "f")]

    word = lambda name, default: attributes[name][4][0].decode() if name in attributes else default
    texts = lambda name: [x.decode() for x in attributes.get(name, {}).get(9, [])]
    classifier = text(node, 4).endswith("Classifier")
    if word("aggregate_function", "SUM") != "SUM" or word("post_transform", "NONE") not in ("NONE", "SOFTMAX", "LOGISTIC"):
        raise Unsupported("another sum, or a transformation of the scores that changes their order")
    kind = "class" if classifier else "target"
    classes = (ints("classlabels_int64s") or texts("classlabels_strings")) if classifier else None
    outputs = len(classes) if classifier else attributes.get("n_targets", {3: [1]})[3][0]
    ids, weights, base = ints(f"{kind}_ids"), reals(f"{kind}_weights"), reals("base_values") or [Fraction(0)] * outputs
    if classifier and outputs == 2 and len(set(ids)) == 1:
        above = all(w >= 0 for w in weights)
        if (above and (ids[0] != 0 or word("post_transform", "NONE") != "NONE")) or any(base) or len(base) != 2:
            raise Unsupported("this classifier of two classes with one score")
        ids, base = [1] * len(ids), [Fraction(1, 2) if above else Fraction(0), Fraction(0)]
    if len(base) != outputs:
        raise Invalid("another number of base values than of outputs")
    leaves = {}
    for tree, leaf, output, weight in zip(ints(f"{kind}_treeids"), ints(f"{kind}_nodeids"), ids, weights, strict=True):
        values = leaves.setdefault((tree, leaf), {})
        values[output] = values.get(output, 0) + weight
    columns = [ints("nodes_" + name) for name in ("treeids", "nodeids", "featureids", "truenodeids", "falsenodeids")]
    rows = {}
    for tree, name, *rest in zip(*columns, texts("nodes_modes"), reals("nodes_values"), strict=True):
        if (tree, name) in rows:
            raise Invalid("a node of a tree is there twice")
        rows[(tree, name)] = rest

    def make(name):
        feature, left, right, mode, threshold = rows[name]
        if mode == "LEAF":
            return leaves.get(name, {})
        if mode not in MODES:
            raise Unsupported(f"nodes of the mode {mode}")
        return Split(feature, MODES[mode], threshold, (name[0], left), (name[0], right), is_single)

    roots = {}
    for tree, name in rows:
        roots.setdefault(tree, name)
    trees = [built(make, root) for root in roots.items()]
    width = graph.shape[-1] if graph.shape and graph.shape[-1] > 0 and len(graph.shape) > 1 else None
    return Ensemble(width, base, trees, labels), classes
