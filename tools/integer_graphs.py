"""Random layers that compute with integers, as quantisation in the operator format writes them, for
`check_onnx.py`: QLinearMatMul and its like.

Beside each node stands what it means with real numbers. Its result is not used, except to tell how near the argument
of a rounding is to a jump.
"""

import numpy as np

# The domain of ONNX Runtime, and its operators that are written.
RUNTIME = "com.microsoft"
OF_RUNTIME = {"QGemm", "QLinearAdd", "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearAveragePool",
              "QLinearGlobalAveragePool", "QLinearConcat"}


class Quantised:
    """A value of integers with its scale and zero point, and with what it stands for."""

    def __init__(self, graph, name, scale, zero, axis=None):
        self.name, self.scale, self.zero = name, graph.constant(scale), graph.constant(zero)
        self.factor = np.asarray(scale, np.float64)
        along = {} if axis is None else {"axis": axis}
        self.real = graph.node("DequantizeLinear", [name, self.scale, self.zero], **along)

    def parts(self):
        return [self.name, self.scale, self.zero]


class Result:
    """Scale and zero point of a result that is yet to be computed."""

    def __init__(self, graph, kind):
        draw, bounds = graph.draw, np.iinfo(kind)
        self.graph = graph
        self.scale = np.float32(draw.choice([0.03125, 0.0625, 0.1, 0.25, 0.37]))
        self.zero = kind(draw.choice([bounds.min, 0, draw.randint(bounds.min // 2, bounds.max // 2)]))
        self.names = [graph.constant(self.scale), graph.constant(self.zero)]

    def of(self, name, argument):
        """The value of this name, which is a real number rounded."""
        self.graph.jumps.append((argument, "QuantizeLinear", float(self.scale)))
        return Quantised(self.graph, name, self.scale, self.zero)


def quantised(graph, name, kind):
    result = Result(graph, kind)
    return result.of(graph.node("QuantizeLinear", [name, *result.names]), name)


def weights(graph, shape, axis):
    """Integers with one scale, or one for each place of an axis."""
    draw = graph.draw
    values = np.array([draw.randint(-60, 60) for _ in range(int(np.prod(shape)))], np.int8).reshape(shape)
    if draw.random() < 0.5:
        scales = np.array([draw.choice([0.015625, 0.02, 0.007]) for _ in range(shape[axis])], np.float32)
        return Quantised(graph, graph.constant(values), scales, np.zeros(shape[axis], np.int8), axis)
    scale = np.float32(draw.choice([0.015625, 0.02, 0.007]))
    return Quantised(graph, graph.constant(values), scale, np.int8(draw.randint(-3, 3)))


def bias(graph, size, scale):
    """Integers of 32 bits: their name, and the real numbers that they are."""
    values = np.array([graph.draw.randint(-500, 500) for _ in range(size)], np.int32)
    real = (values * scale).astype(np.float32)
    return graph.constant(values), graph.constant(real)


def integer_steps(graph, value):
    """Some layers between QuantizeLinear and DequantizeLinear; returns the new value."""
    draw, (name, (_, n)) = graph.draw, value
    kind = draw.choice([np.uint8, np.int8])
    at = quantised(graph, name, kind)
    for _ in range(draw.randint(1, 3)):
        result, out = Result(graph, kind), draw.randint(2, 5)
        step = draw.choice(["MatMul", "Gemm", "Gemm", "Add", "Mul", "Sigmoid", "LeakyRelu", "Concat", "Integer"])
        if step == "MatMul":
            other = weights(graph, (n, out), 1)
            argument = graph.node("MatMul", [at.real, other.real])
            made, n = graph.node("QLinearMatMul", [*at.parts(), *other.parts(), *result.names]), out
        elif step == "Gemm":
            other = weights(graph, (out, n), 0)
            of_bias, real = bias(graph, out, at.factor * other.factor)
            argument = graph.node("Gemm", [at.real, other.real, real], transB=1)
            made = graph.node("QGemm", [*at.parts(), *other.parts(), of_bias, *result.names], transB=1)
            n = out
        elif step in ("Add", "Mul"):
            other = at
            if draw.random() < 0.5:
                values = np.array([draw.randint(0, 100) for _ in range(n)], kind)
                other = Quantised(graph, graph.constant(values), np.float32(0.02), kind(draw.randint(0, 50)))
            argument = graph.node(step, [at.real, other.real])
            made = graph.node(f"QLinear{step}", [*at.parts(), *other.parts(), *result.names])
        elif step in ("Sigmoid", "LeakyRelu"):
            slope = {} if step == "Sigmoid" else {"alpha": draw.choice([0.01, 0.25])}
            argument = graph.node(step, [at.real], **slope)
            made = graph.node(f"QLinear{step}", [*at.parts(), *result.names], **slope)
        elif step == "Concat":
            argument = graph.node(step, [at.real, at.real], axis=1)
            made, n = graph.node("QLinearConcat", [*result.names, *at.parts(), *at.parts()], axis=1), 2 * n
        else:
            # Sums of integers as such, scaled as real numbers.
            other = weights(graph, (n, out), 1)
            sums = graph.node("MatMulInteger", [at.name, other.name, at.zero, other.zero])
            scaled = graph.node("Cast", [sums], to=1)
            factors = (at.factor * other.factor).astype(np.float32)
            return graph.node("Mul", [scaled, graph.constant(factors)]), (1, out)
        at = result.of(made, argument)
    return at.real, (1, n)


def integer_image(graph, image, channels, made):
    """A convolution of integers and maybe pools of its result; returns a value of shape [1, n]."""
    draw, kind = graph.draw, graph.draw.choice([np.uint8, np.int8])
    at = quantised(graph, image, kind)
    kernels = weights(graph, (made, channels, 2, 2), 0)
    of_bias, real = bias(graph, made, at.factor * kernels.factor)
    window = {"pads": [1, 1, 0, 0], "strides": [draw.choice([1, 2])] * 2}
    result = Result(graph, kind)
    argument = graph.node("Conv", [at.real, kernels.real, real], **window)
    name = graph.node("QLinearConv", [*at.parts(), *kernels.parts(), *result.names, of_bias], **window)
    at = result.of(name, argument)
    if draw.random() < 0.4:
        name = graph.node("MaxPool", [at.name], kernel_shape=[2, 2], pads=[0, 0, 1, 1])
        at = Quantised(graph, name, result.scale, result.zero)
    pool = draw.choice(["AveragePool", "GlobalAveragePool", None])
    if pool:
        result = Result(graph, kind)
        shape = {} if pool == "GlobalAveragePool" else {"kernel_shape": [2, 2], "pads": [0, 0, 1, 1]}
        argument = graph.node(pool, [at.real], **shape)
        at = result.of(graph.node(f"QLinear{pool}", [*at.parts(), *result.names], **shape), argument)
    return graph.node("Flatten", [at.real])
