"""Random graphs over the operators of ONNX that Policert reads, for `check_onnx.py`."""

from collections import Counter

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from integer_graphs import OF_RUNTIME, RUNTIME, integer_image, integer_steps


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
        domain = RUNTIME if operator in OF_RUNTIME else ""
        self.nodes.append(helper.make_node(operator, inputs, names, domain=domain, **attributes))
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
             padded, reduced, normalised, shaped, gated, powered, partial, exponential, layer, stepped, quantised,
             lambda: integer_steps(graph, value)]
    return draw.choice(steps)()


def image_steps(graph, name, channels, height, width):
    """Convolution and pooling of the input as an image; returns a value of shape [1, n]."""
    draw = graph.draw
    image = graph.node("Reshape", [name, graph.constant(np.array([1, channels, height, width]))])
    made = draw.randint(1, 3)
    if draw.random() < 0.4:
        return integer_image(graph, image, channels, made)
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
    sets = [helper.make_opsetid("", graph.opset), helper.make_opsetid(RUNTIME, 1)]
    model = helper.make_model(body, opset_imports=sets)
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
