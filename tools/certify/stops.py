"""Why a check ends without confirming, and the files that it reads."""

import hashlib
import json
import os
import stat
from fractions import Fraction

MOST_BYTES = 1 << 28
WIDEST = 4000  # digits of a number, and the greatest power of ten


class Stop(Exception):
    """Ends the check of a file."""

    code = 50


class Invalid(Stop):
    """The file is no evidence, or an input is not what it should be."""

    code = 40


class Unsupported(Stop):
    """Something that this checker does not read."""

    code = 41


class Rejected(Stop):
    """The evidence does not show what it claims."""

    code = 51


class Unknown(Stop):
    """A limit, or a choice that is not decided."""

    code = 30


def number(text):
    """The rational number that a decimal denotes."""
    exponent = text.lower().partition("e")[2] or "0"
    if len(text) > WIDEST or len(exponent) > 6 or abs(int(exponent)) > WIDEST:
        raise Invalid(f"the number {text[:30]} is beyond any reasonable size")
    return Fraction(text)


def load_json(text, read_number=number):
    """A JSON value; numbers with a point or exponent as `read_number` reads their text."""

    def members(pairs):
        found = dict(pairs)
        if len(found) < len(pairs):
            raise Invalid("a key stands twice in one object")
        return found

    def refuse(word):
        raise Invalid(f"{word} is no number")

    try:
        return json.loads(text, object_pairs_hook=members, parse_float=read_number, parse_constant=refuse)
    except RecursionError:
        raise Invalid("it is nested too deeply") from None
    except ValueError as error:
        raise Invalid(f"no JSON: {error}") from None


def f64(text):
    """The 64-bit number nearest to a decimal."""
    value = float(text)
    if value - value != 0:
        raise Invalid(f"the number {text[:30]} is too large")
    return value


class Files:
    """The files that were read, by role and path, with their hashes."""

    def __init__(self):
        self.read = {}

    def bytes(self, role, path):
        data = read_bytes(path)
        role = next((known for known, other in self.read if other == path), role)  # a file is listed once
        self.read[(role, path)] = hashlib.sha256(data).hexdigest()
        return data

    def expect(self, role, path, digest):
        self.bytes(role, path)
        if self.read[(role, path)] != digest:
            raise Invalid(f"{path} is not the file that the evidence is about")

    def json(self, role, path, read_number=number):
        return load_json(text_of(self.bytes(role, path), path), read_number)


def read_bytes(path):
    try:
        if "\0" in path or not stat.S_ISREG(os.stat(path).st_mode):
            raise Invalid(f"{path!r} is no file")
        if os.path.getsize(path) > MOST_BYTES:
            raise Unknown(f"{path} has more than {MOST_BYTES} bytes")
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        raise Invalid(f"cannot read {path!r}: {error}") from None


def text_of(data, path):
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Invalid(f"{path}: the file is not UTF-8") from None


def of_type(value, kind, place):
    """The value if it is of this type; a truth value is no number."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise Invalid(f"`{place}` is missing, or not what it should be")
    return value


def listed_inputs(evidence):
    """The inputs that evidence names: role, path, hash."""
    inputs = of_type(evidence.get("inputs"), list, "inputs")
    return [tuple(of_type(item.get(key), str, "inputs") for key in ("role", "path", "sha256")) for item in inputs]
