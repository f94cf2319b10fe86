"""Networks as programs over vectors of exact numbers, or of bounds of them.

A vector is (least values, greatest values, denominator), all integers; the two lists are one and the same where the
values are known. A program is a list of steps, each a function of the vectors so far.
"""

from fractions import Fraction
from math import ceil, floor, isqrt, lcm

from stops import Invalid, Unsupported

BITS = 192  # of functions whose values are not rational


class Network:
    def __init__(self, inputs):
        self.steps, self.widths, self.last, self.rational, self.squashed = [None], [inputs], None, True, 0
        self.long = False  # whether fractions may have so many digits that they are left out

    def add(self, width, step):
        self.steps.append(step)
        self.widths.append(width)
        return len(self.steps) - 1

    def affine(self, source, rows, biases):
        """Σ weight · value + bias; a row is a dictionary of weights by position."""
        scale = lcm(*(Fraction(w).denominator for row in rows for w in row.values()), *(Fraction(b).denominator for b in biases))
        rows = [[(k, int(w * scale)) for k, w in row.items() if w] for row in rows]
        biases = [int(b * scale) for b in biases]

        def step(vectors):
            low, high, unit = vectors[source]
            if low is high:
                values = [sum([w * low[k] for k, w in row]) + b * unit for row, b in zip(rows, biases)]
                return values, values, unit * scale
            sums = lambda up, down: [
                sum([w * (up if w > 0 else down)[k] for k, w in row]) + b * unit for row, b in zip(rows, biases)
            ]
            return sums(low, high), sums(high, low), unit * scale

        number = self.add(len(rows), step)
        self.last = (number, source, rows, biases)
        return number

    def take(self, parts):
        """Elements (vector, position) of other vectors."""

        def step(vectors):
            unit = lcm(*(vectors[v][2] for v in {v for v, _ in parts}))
            side = lambda s: [vectors[v][s][k] * (unit // vectors[v][2]) for v, k in parts]
            low = side(0)
            known = all(vectors[v][0] is vectors[v][1] for v, _ in parts)
            return low, low if known else side(1), unit

        return self.add(len(parts), step)

    def joined(self, function, a, b):
        """A function of two numbers that rises with both, element by element."""

        def step(vectors):
            (low, high, unit), (low2, high2, unit2) = vectors[a], vectors[b]
            both = lcm(unit, unit2)
            x, y = both // unit, both // unit2
            least = [function(p * x, q * y) for p, q in zip(low, low2)]
            if low is high and low2 is high2:
                return least, least, both
            return least, [function(p * x, q * y) for p, q in zip(high, high2)], both

        return self.add(self.widths[a], step)

    def fixed(self, values):
        return self.affine(0, [{} for _ in values], values)

    def relu(self, source):
        return self.joined(max, source, self.fixed([0] * self.widths[source]))

    def curve(self, source, function):
        """A function that rises, element by element; it gives bounds as integers over 2^BITS."""
        self.rational, self.squashed = False, len(self.steps)

        def step(vectors):
            low, high, unit = vectors[source]
            ends = [[function(Fraction(x, unit)) for x in side] for side in (low, high)]
            return [x[0] for x in ends[0]], [x[1] for x in ends[1]], 1 << BITS

        return self.add(self.widths[source], step)

    def times(self, a, b):
        """The products of two vectors, element by element; squares where they are one vector."""
        self.long = True

        def step(vectors):
            (low, high, unit), (low2, high2, unit2) = vectors[a], vectors[b]
            if low is high and low2 is high2:
                values = [p * q for p, q in zip(low, low2)]
                return values, values, unit * unit2
            corners = [(p * r, p * s, q * r, q * s) for p, q, r, s in zip(low, high, low2, high2)]
            if a == b:
                corners = [(p * p, q * q) if p >= 0 or q <= 0 else (0, p * p, q * q) for p, q in zip(low, high)]
            return list(map(min, corners)), list(map(max, corners)), unit * unit2

        return self.add(self.widths[a], step)

    def reciprocal(self, source):
        """One over each element."""
        self.long = True

        def step(vectors):
            low, high, unit = vectors[source]
            if min(low) <= 0:
                raise Unsupported("one over what may not be positive")
            if low is high:
                both = lcm(*low)
                values = [unit * both // x for x in low]
                return values, values, both
            one = unit << BITS
            return [one // x for x in high], [-(-one // x) for x in low], 1 << BITS

        return self.add(self.widths[source], step)

    def stairs(self, source, function):
        """A function that never falls and has integers as values, element by element."""

        def step(vectors):
            low, high, unit = vectors[source]
            least = [function(Fraction(x, unit)) for x in low]
            return least, least if low is high else [function(Fraction(x, unit)) for x in high], 1

        return self.add(self.widths[source], step)

    def are_logarithms(self):
        """Whether probabilities are the softmax of its scores: they pass through no curve at the end."""
        return self.squashed < len(self.steps) - 1

    def scores(self, low, high):
        """Bounds of the outputs for bounds of the inputs; also a function that tells by how much one leads another."""
        unit = lcm(*(Fraction(x).denominator for x in [*low, *high]))
        least = [int(x * unit) for x in low]
        vectors = [(least, least if low == high else [int(x * unit) for x in high], unit)]
        for step in self.steps[1:]:
            vectors.append(step(vectors))
        low, high, unit = vectors[-1]

        def lead(a, b):
            """At least this much, in units, is score `a` above score `b`."""
            if low is high or not self.last or self.last[0] != len(vectors) - 1:
                return low[a] - high[b]
            _, source, rows, biases = self.last
            (below, above, inner), weights = vectors[source], dict(rows[a])
            for k, w in rows[b]:
                weights[k] = weights.get(k, 0) - w
            return sum(w * (below if w > 0 else above)[k] for k, w in weights.items()) + (biases[a] - biases[b]) * inner

        return low, high, unit, lead


def sigmoid(x):
    """Bounds of 1 / (1 + exp(−x)), as integers over 2^BITS."""
    one = 1 << BITS
    if abs(x) > 500:
        return (one - 1, one) if x > 0 else (0, 1)
    fine = one << 64  # room for what is lost on the way
    down = int(abs(x) * fine) >> 16
    low = high = a = b = fine
    # exp(|x| / 2^16) by its series, whose rest is less than its last term; then squared 16 times.
    for n in range(1, 40):
        a, b = a * down // (fine * n), -(-b * (down + 1) // (fine * n))
        low, high = low + a, high + b
        if b <= 1:
            break
    high += b
    for _ in range(16):
        low, high = low * low // fine, -(-high * high // fine)
    least, most = low * one // (fine + low), -(-high * one // (fine + high))
    return (least, most) if x >= 0 else (one - most, one - least)


def greatest_power(x):
    """An upper bound of exp(x)."""
    one = 1 << BITS
    part = sigmoid(-abs(x))[0 if x > 0 else 1]
    return Fraction(one - part, part) if x > 0 else Fraction(part, one - part)


def tanh(x):
    return tuple(2 * end - (1 << BITS) for end in sigmoid(2 * x))


def elu(alpha):
    """Bounds of x above 0, of alpha · (exp(x) − 1) below."""

    def bounds(x):
        one = 1 << BITS
        if x >= 0:
            return floor(x * one), ceil(x * one)
        low, high = sigmoid(x)
        low, high = low * one // (one - low), -(-high * one // (one - high))
        return floor(alpha * (low - one)), ceil(alpha * (high - one))

    return bounds


def root(x):
    """Bounds of the square root, as integers over 2^BITS."""
    if x < 0:
        raise Unsupported("a root of what may be negative")
    scaled = floor(x * (1 << 2 * BITS))
    least = isqrt(scaled)
    return least, least if least * least == x * (1 << 2 * BITS) else least + 1


def nnet(text):
    """A network of the text format NNet."""
    lines = [line.strip() for line in text.splitlines()]
    rows = [[cell.strip() for cell in line.rstrip(",").split(",")] for line in lines if line and not line.startswith("//")]

    def numbers(row, count):
        values = [float(cell) for cell in rows[row]]
        if len(values) != count or any(x - x != 0 for x in values):
            raise Invalid(f"line {row} of the network has not {count} finite numbers")
        return [Fraction(x) for x in values]

    depth, inputs, outputs, widest = (int(cell) for cell in rows[0])
    sizes = [int(cell) for cell in rows[1]]
    if len(sizes) != depth + 1 or (sizes[0], sizes[-1], max(sizes)) != (inputs, outputs, widest) or min(sizes) < 1:
        raise Invalid("the header of the network does not agree with its layers")
    means, ranges, at = numbers(5, inputs + 1), numbers(6, inputs + 1), 7
    if 0 in ranges:
        raise Invalid("a range of the network is 0")
    network = Network(inputs)
    last = network.affine(0, [{k: 1 / r} for k, r in enumerate(ranges[:-1])], [-m / r for m, r in zip(means, ranges[:-1])])
    for layer, (before, after) in enumerate(zip(sizes, sizes[1:])):
        last = network.relu(last) if layer else last
        weights = [dict(enumerate(numbers(at + k, before))) for k in range(after)]
        biases = [numbers(at + after + k, 1)[0] for k in range(after)]
        at += 2 * after
        if layer == depth - 1:
            weights = [{k: w * ranges[-1] for k, w in row.items()} for row in weights]
            biases = [b * ranges[-1] + means[-1] for b in biases]
        last = network.affine(last, weights, biases)
    if at != len(rows):
        raise Invalid("the network has more lines than its header says")
    return network, sizes[1:-1]
