"""Expressions: their form, their exact value in a state, and bounds of it over a box of states.

An expression is a tuple: ("num", value), ("var", place), ("var", place, "bool"), (operator, operands…), ("cell", cells,
index). Truth values are 0 and 1. A value is an integer, a fraction, or None where it does not exist. Bounds are None where no state of the
box has a value, else (least, greatest, whether each state has a value).
"""

from fractions import Fraction
from math import ceil, floor

from stops import Invalid, Unknown, Unsupported

MOST_NODES = 2_000_000


class Wide(Exception):
    """Bounds that interval arithmetic does not give here; smaller boxes have some."""


class Empty(Exception):
    """No state of the box satisfies the condition."""


def divide(a, b):
    if b == 0:
        return 0 if a == 0 else None
    value = Fraction(a) / b
    return value.numerator if value.denominator == 1 else value


def modulus(a, b):
    if b == 0:
        return 0 if a == 0 else None
    return a % abs(b)


def power(a, b):
    if b != int(b) or abs(b) > 4096 or (a == 0 and b < 0):
        return None
    if Fraction(a).numerator.bit_length() * abs(b) > 1 << 20 or Fraction(a).denominator.bit_length() * abs(b) > 1 << 20:
        raise Unknown("a power beyond any reasonable size")
    return Fraction(a) ** int(b) if b < 0 else a ** int(b)


STRICT = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": divide,
    "%": modulus,
    "pow": power,
    "min": min,
    "max": max,
    "=": lambda a, b: int(a == b),
    "<": lambda a, b: int(a < b),
    "≤": lambda a, b: int(a <= b),
    "¬": lambda a: int(a == 0),
    "abs": abs,
    "floor": floor,
    "ceil": ceil,
    "trc": int,
    "sgn": lambda a: (a > 0) - (a < 0),
}
MONOTONE = {"min", "max", "floor", "ceil", "trc", "sgn", "+"}
TRUE, FALSE = ("num", 1), ("num", 0)


def node(*parts):
    """An expression; an operator of constants is the constant that it gives."""
    if parts[0] in STRICT and all(part[0] == "num" for part in parts[1:]):
        value = STRICT[parts[0]](*(part[1] for part in parts[1:]))
        if value is not None:
            return ("num", value)
    return parts


def compiled(tree):
    """A function of a list of values that gives the value of an expression."""
    kind = tree[0]
    if kind == "num":
        constant = tree[1]
        return lambda e: constant
    if kind == "var":
        place = tree[1]
        return lambda e: e[place]
    if kind == "cell":
        cells, index = [compiled(cell) for cell in tree[1]], compiled(tree[2])

        def cell(e):
            at = index(e)
            return cells[int(at)](e) if at is not None and 0 <= at < len(cells) and at == int(at) else None

        return cell
    parts = [compiled(part) for part in tree[1:]]
    if kind in ("∧", "∨"):
        (a, b), deciding = parts, int(kind == "∨")

        def connective(e):
            x = a(e)
            if x == deciding:
                return x
            y = b(e)
            return y if y == deciding or x is not None else None

        return connective
    if kind == "ite":
        condition, then, otherwise = parts

        def choice(e):
            x = condition(e)
            return None if x is None else then(e) if x else otherwise(e)

        return choice
    function = STRICT[kind]
    if len(parts) == 1:
        (a,) = parts

        def one(e):
            x = a(e)
            return None if x is None else function(x)

        return one
    a, b = parts

    def two(e):
        x = a(e)
        y = b(e)
        return None if x is None or y is None else function(x, y)

    return two


def truths(bounds):
    """Whether a truth value can be true, false, missing."""
    return (False, False, True) if bounds is None else (bounds[1] != 0, bounds[0] == 0, not bounds[2])


def truth(true, false, missing):
    return (int(not false), int(true), not missing) if true or false else None


def span(tree, box):
    """Bounds of an expression over a box, which is a list of bounds."""
    kind = tree[0]
    if kind == "num":
        return (tree[1], tree[1], True)
    if kind == "var":
        return box[tree[1]]
    if kind in ("∧", "∨"):
        (t, f, m), (t2, f2, m2) = truths(span(tree[1], box)), truths(span(tree[2], box))
        if kind == "∧":
            return truth(t and t2, f or f2, m and (t2 or m2) or m2 and (t or m))
        return truth(t or t2, f and f2, m and (f2 or m2) or m2 and (f or m))
    if kind == "ite":
        condition = span(tree[1], box)
        true, false, missing = truths(condition)
        sides = [span(side, box) for side, can in ((tree[2], true), (tree[3], false)) if can]
        return joined(sides, not missing)
    if kind == "cell":
        index = span(tree[2], box)
        if index is None:
            return None
        inside = range(max(0, ceil(index[0])), min(len(tree[1]) - 1, floor(index[1])) + 1)
        sure = index[2] and index[0] == index[1] and len(inside) == 1
        return joined([span(tree[1][k], box) for k in inside], sure)
    bounds = [span(part, box) for part in tree[1:]]
    if None in bounds:
        return None
    sure = all(part[2] for part in bounds)
    if all(part[0] == part[1] for part in bounds):
        value = STRICT[kind](*(part[0] for part in bounds))
        return None if value is None else (value, value, sure)
    (a, b, _), (c, d, _) = bounds[0], bounds[-1]
    if kind in MONOTONE:
        function = STRICT[kind]
        return (*(function(*(part[side] for part in bounds)) for side in (0, 1)), sure)
    if kind == "-":
        return (a - d, b - c, sure)
    if kind == "*" or (kind == "/" and (c > 0 or d < 0)):
        function = STRICT[kind]
        corners = [function(x, y) for x in (a, b) for y in (c, d)]
        return (min(corners), max(corners), sure)
    if kind == "%" and c == d and c != 0:
        same = a // abs(c) == b // abs(c)
        return (a % abs(c), b % abs(c), sure) if same else (0, abs(c), sure)
    if kind == "abs":
        return (0 if a <= 0 <= b else min(abs(a), abs(b)), max(abs(a), abs(b)), sure)
    if kind == "¬":
        return truth(a == 0, b != 0, not sure)
    if kind == "=":
        return truth(a <= d and c <= b, True, not sure)
    if kind == "<":
        return truth(a < d, b >= c, not sure)
    if kind == "≤":
        return truth(a <= d, b > c, not sure)
    raise Wide


def joined(bounds, sure):
    known = [part for part in bounds if part is not None]
    if not known:
        return None
    sure = sure and len(known) == len(bounds) and all(part[2] for part in known)
    return (min(part[0] for part in known), max(part[1] for part in known), sure)


def integral(tree):
    """Whether an expression is an integer wherever it has a value, as far as its form shows."""
    kind = tree[0]
    if kind == "num":
        return tree[1] == int(tree[1])
    if kind in ("/", "pow", "cell"):
        return False
    if kind in ("+", "-", "*", "min", "max", "abs", "%"):
        return all(integral(part) for part in tree[1:])
    return kind != "ite" or integral(tree[2]) and integral(tree[3])


def operands(tree, op):
    """The operands of a chain of one connective."""
    found, stack = [], [tree]
    while stack:
        tree = stack.pop()
        if tree[0] == op:
            stack += tree[:0:-1]
        else:
            found.append(tree)
    return found


def possible(tree, wanted, box):
    try:
        return truths(span(tree, box))[0 if wanted else 1]
    except Wide:
        return True


def narrow(tree, low, high, box):
    """Leaves out of a box states in which an expression has no value from `low` to `high`."""
    if tree[0] in ("∧", "∨") and (low >= 1 or high <= 0):
        wanted, all_parts = int(low >= 1), operands(tree, tree[0])
        if wanted == int(tree[0] == "∨"):
            all_parts = [part for part in all_parts if possible(part, wanted, box)]
        if not all_parts:
            raise Empty
        for part in all_parts if wanted == int(tree[0] == "∧") or len(all_parts) == 1 else ():
            narrow(part, wanted, wanted, box)
        return
    try:
        bounds = span(tree, box)
    except Wide:
        return
    if bounds is None or bounds[0] > high or bounds[1] < low:
        raise Empty
    kind, parts = tree[0], tree[1:]
    if kind == "var":
        low, high = max(ceil(low), bounds[0]), min(floor(high), bounds[1])
        if low > high:
            raise Empty
        box[tree[1]] = (low, high, bounds[2])
    elif kind == "¬":
        narrow(parts[0], 1 - min(high, 1), 1 - max(low, 0), box)
    elif kind == "ite":
        true, false, _ = truths(span(parts[0], box))
        if not (true and false):
            narrow(parts[1] if true else parts[2], low, high, box)
    elif kind in ("<", "≤") and (low >= 1 or high <= 0):
        less, greater, strict = (*parts, kind == "<") if low >= 1 else (*parts[::-1], kind == "≤")
        step = int(strict and integral(less) and integral(greater))
        (least, _, _), (_, greatest, _) = span(less, box), span(greater, box)
        narrow(less, least, greatest - step, box)
        narrow(greater, least + step, greatest, box)
    elif kind == "=" and low >= 1:
        (a, b, _), (c, d, _) = span(parts[0], box), span(parts[1], box)
        for part in parts:
            narrow(part, max(a, c), min(b, d), box)
    elif kind == "=" and high <= 0:
        for part, other in (parts, parts[::-1]):
            (a, b, _), (c, d, _) = span(part, box), span(other, box)
            if c == d and integral(part) and c in (a, b):
                narrow(part, a + (a == c), b - (b == c), box)
    elif kind in ("+", "-"):
        sign = 1 if kind == "+" else -1
        (a, b, _), (c, d, _) = span(parts[0], box), span(parts[1], box)
        narrow(parts[0], low - (d if sign > 0 else -c), high - (c if sign > 0 else -d), box)
        narrow(parts[1], *((low - b, high - a) if sign > 0 else (a - high, b - low)), box)
    elif kind == "*":
        for part, other in (parts, parts[::-1]):
            c, d, _ = span(other, box)
            if c == d and c != 0 and part[0] != "num":
                narrow(part, *sorted((Fraction(low) / c, Fraction(high) / c)), box)


def truthful(tree):
    """The expression, which has to be a truth value."""
    if not is_truth(scalar(tree)):
        raise Invalid("a truth value is expected")
    return tree


def is_truth(tree):
    kind = tree[0]
    if kind in ("ite", "cell"):
        return all(is_truth(part) for part in (tree[2:] if kind == "ite" else tree[1]))
    return kind in ("∧", "∨", "¬", "=", "<", "≤") or (kind == "num" and tree[1] in (0, 1)) or tree[2:] == ("bool",)


class Lowering:
    """Makes expressions of JANI: `find` gives what a name means, `functions` what is called."""

    def __init__(self, find, functions=None):
        self.find, self.functions, self.count, self.calls = find, functions or {}, 0, []

    def __call__(self, value, local=()):
        self.count += 1
        if self.count > MOST_NODES:
            raise Unknown("expressions of more than two million parts")
        again = lambda name: self(value.get(name), local)
        if isinstance(value, bool) or isinstance(value, (int, Fraction)):
            return ("num", int(value) if value == int(value) else value)
        if isinstance(value, str):
            return local[value] if value in local else self.find(value)
        if not isinstance(value, dict):
            raise Invalid(f"no expression: {str(value)[:60]}")
        op = value.get("op")
        if "constant" in value or not isinstance(op, str):
            raise Unsupported(f"an expression with the members {', '.join(map(str, value))[:60]}")
        if op == "ite":
            return self.ite(again("if"), again("then"), again("else"))
        if op == "av":
            return [self(cell, local) for cell in listed(value.get("elements"))]
        if op == "ac":
            length = constant(again("length"))
            if not 0 <= length <= 100_000:
                raise Invalid("an array of no reasonable length")
            name = value.get("var")
            return [self(value.get("exp"), {**dict(local), name: ("num", k)}) for k in range(int(length))]
        if op == "aa":
            return self.access(again("exp"), again("index"))
        if op == "call":
            return self.call(value.get("function"), [self(part, local) for part in listed(value.get("args"))])
        if op == "let" and value.get("variables") == []:
            return again("expression")
        if op in ("¬", "floor", "ceil", "abs", "sgn", "trc"):
            return node(op, (truthful if op == "¬" else scalar)(again("exp")))
        if op == "-" and "left" not in value and "exp" in value:
            return node("-", FALSE, scalar(again("exp")))
        return self.two(op, again("left"), again("right"))

    def two(self, op, a, b):
        known = truthful if op in ("∧", "∨", "⇒") else scalar
        a, b = known(a), known(b)
        if op in ("≠", "⇒"):
            return node("¬", node("=", a, b)) if op == "≠" else node("∨", node("¬", a), b)
        if op in (">", "≥"):
            return node({">": "<", "≥": "≤"}[op], b, a)
        if op in ("∧", "∨"):
            neutral = TRUE if op == "∧" else FALSE
            return b if a == neutral else a if b == neutral else (op, a, b)
        if op not in STRICT or op in ("¬", "floor", "ceil", "abs", "sgn", "trc"):
            raise Unsupported(f"the operator {op[:30]}")
        return node(op, a, b)

    def ite(self, condition, a, b):
        if isinstance(a, list) or isinstance(b, list):
            if not isinstance(a, list) or not isinstance(b, list) or len(a) != len(b):
                raise Unsupported("a choice between arrays of several lengths")
            return [self.ite(condition, x, y) for x, y in zip(a, b)]
        if condition[0] == "num":
            return a if condition[1] else b
        return ("ite", truthful(condition), a, b)

    def access(self, array, index):
        if not isinstance(array, list):
            raise Invalid("an array is expected where a cell is read")
        index = scalar(index)
        if index[0] == "num" and index[1] in range(len(array)):
            return array[int(index[1])]
        if any(isinstance(cell, list) for cell in array):
            if len({len(cell) for cell in array}) != 1:
                raise Unsupported("rows of several lengths")
            return [self.access([cell[k] for cell in array], index) for k in range(len(array[0]))]
        return ("cell", tuple(array), index)

    def call(self, name, arguments):
        if name not in self.functions:
            raise Invalid(f"unknown function {name!r}")
        if name in self.calls:
            raise Unsupported("functions that call themselves")
        parameters, body = self.functions[name]
        if len(parameters) != len(arguments):
            raise Invalid(f"{name!r} has {len(parameters)} arguments")
        self.calls.append(name)
        value = self(body, dict(zip(parameters, arguments)))
        self.calls.pop()
        return value


def listed(value):
    if not isinstance(value, list):
        raise Invalid("a list is expected")
    return value


def scalar(tree):
    if isinstance(tree, list):
        raise Invalid("a number or truth value is expected, not an array")
    return tree


def constant(tree):
    if scalar(tree)[0] != "num":
        raise Invalid("a constant is expected")
    return tree[1]
