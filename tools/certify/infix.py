"""Expressions as people write them (docs/formats/expressions.md), read as JANI."""

import re

from stops import Invalid, load_json, number

SIGNS = "=> == != <= >= && || -> ** ⇒ ∨ ∧ ¬ ≠ ≤ ≥ − · = < > ! & | + - * / % ^ ( ) [ ] ,".split()
SAME = {"==": "=", "!=": "≠", "<=": "≤", ">=": "≥", "&&": "∧", "&": "∧", "and": "∧", "||": "∨", "|": "∨", "or": "∨"}
SAME |= {"=>": "⇒", "->": "⇒", "!": "¬", "not": "¬", "−": "-", "·": "*", "**": "^"}
LEVELS = [["if"], ["⇒"], ["∨"], ["∧"], [], ["=", "≠", "<", "≤", ">", "≥"], ["+", "-"], ["*", "/", "%"], [], ["^"]]
BINDS = {sign: level for level, signs in enumerate(LEVELS) for sign in signs}
NOT, COMPARED, SIGNED = 4, 5, 8  # levels
NUMBER = re.compile(r"(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
NAME = re.compile(r"[^\W\d][\w.#]*")
WORDS = {"if", "then", "else", "and", "or", "not", "true", "false"}
FUNCTIONS = {1: ["abs", "floor", "ceil", "sgn", "trc"], 2: ["min", "max", "pow", "log"], 3: ["ite"]}
OPERANDS = {1: ["exp"], 2: ["left", "right"], 3: ["if", "then", "else"]}


def tokens(text, names):
    """Pairs of a kind and a value; a name is the longest one of the model that fits."""
    found, at = [], 0
    while at < len(text):
        rest = text[at:]
        plain, decimal = NAME.match(rest), NUMBER.match(rest)
        known = max((name for name in names if rest.startswith(name) and not goes_on(name, rest)), key=len, default="")
        sign = next((sign for sign in SIGNS if rest.startswith(sign)), None)
        length = 1
        if rest[0] in "\"'`" and rest[0] in rest[1:]:
            length = rest.index(rest[0], 1) + 1
            found.append(("name", rest[1 : length - 1]))
        elif len(known) > (plain.end() if plain else 0):
            length = len(known)
            found.append(("name", known))
        elif plain:
            length, word = plain.end(), plain.group()
            found.append(("sign" if word in WORDS else "name", SAME.get(word, word)))
        elif decimal:
            length = decimal.end()
            found.append(("number", number(decimal.group())))
        elif sign:
            length = len(sign)
            found.append(("sign", SAME.get(sign, sign)))
        elif not rest[0].isspace():
            raise Invalid(f"{text[:60]!r}: {rest[:10]!r} has no meaning")
        at += length
    return [*found, ("end", "")]


def goes_on(name, rest):
    """Whether letters go on where a name ends."""
    return bool(re.match(r"\w\w", name[-1] + rest[len(name) : len(name) + 1]))


class Reader:
    def __init__(self, text, names, locations):
        self.tokens, self.at, self.places = tokens(text, names), 0, locations

    def next(self, *signs):
        """Takes one of these signs if it is next."""
        kind, value = self.tokens[self.at]
        if kind != "sign" or value not in signs:
            return None
        self.at += 1
        return value

    def need(self, sign):
        if not self.next(sign):
            raise Invalid(f"{sign!r} is expected before {self.tokens[self.at][1]!r}")

    def expression(self, level=0):
        """An expression of operators that bind at least as tightly as a level."""
        value = self.operand()
        while True:
            kind, sign = self.tokens[self.at]
            at = BINDS.get(sign, -1) if kind == "sign" else -1
            if at < level:
                return value
            self.at += 1
            if sign == "if":
                condition = self.expression(1)
                self.need("else")
                return {"op": "ite", "if": condition, "then": value, "else": self.expression()}
            right = self.expression(at if sign in "⇒^" else at + 1)
            value = self.two("pow" if sign == "^" else sign, value, right)
            if at == COMPARED and BINDS.get(self.tokens[self.at][1]) == COMPARED:
                raise Invalid("two comparisons in a row")

    def two(self, op, a, b):
        """Two operands; the name of a location that is compared with an instance is its number."""
        if BINDS.get(op) == COMPARED:
            a, b = self.place(a, b), self.place(b, a)
        return {"op": op, "left": a, "right": b}

    def place(self, a, b):
        known = isinstance(a, str) and isinstance(b, str) and a in self.places.get(b, [])
        return self.places[b].index(a) if known else a

    def operand(self):
        if self.next("¬"):
            return {"op": "¬", "exp": self.expression(NOT)}
        if sign := self.next("-", "+"):
            return {"op": sign, "left": 0, "right": self.expression(SIGNED)}
        if self.next("if"):
            condition = self.expression()
            self.need("then")
            value = self.expression(1)
            self.need("else")
            return {"op": "ite", "if": condition, "then": value, "else": self.expression()}
        kind, value = self.tokens[self.at]
        self.at += kind != "end"
        if kind == "sign" and value in ("true", "false"):
            return value == "true"
        if kind == "sign" and value == "(":
            value = self.expression()
            self.need(")")
        elif kind == "sign" and value == "[":
            value = {"op": "av", "elements": self.list("]")}
        elif kind in ("sign", "end"):
            raise Invalid(f"an operand is expected before {value!r}")
        elif kind == "name" and self.next("("):
            value = self.call(value, self.list(")"))
        while self.next("["):
            value = {"op": "aa", "exp": value, "index": self.expression()}
            self.need("]")
        return value

    def list(self, close):
        found = []
        while not self.next(close):
            found.append(self.expression())
            if not self.next(","):
                self.need(close)
                break
        return found

    def call(self, name, arguments):
        if name in ("min", "max") and len(arguments) > 2:
            arguments = [self.call(name, arguments[:-1]), arguments[-1]]
        if name in FUNCTIONS.get(len(arguments), []):
            return {"op": name, **dict(zip(OPERANDS[len(arguments)], arguments))}
        return {"op": "call", "function": name, "args": arguments}


def read(text, names, locations):
    """JANI of a text; `names` are those of the model, `locations` lists those of each instance."""
    if text.lstrip().startswith("{"):
        return load_json(text)
    reader = Reader(text, names, locations)
    value = reader.expression()
    if reader.tokens[reader.at][0] != "end":
        raise Invalid(f"an operator or the end is expected before {reader.tokens[reader.at][1]!r}")
    return value
