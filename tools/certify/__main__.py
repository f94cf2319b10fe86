#!/usr/bin/env python3
"""Checks evidence files of Policert, by code that shares nothing with it.

    python3 tools/certify [--states 200000] [--seconds 600] [--quiet] FILE...

Reads the evidence (docs/formats/evidence.md) and the files that it names, from the current folder. Ends with 0 if each
file shows what it claims, else with the code of the first that does not: 30 a limit was reached, 40 the file is no
evidence or an input has changed, 41 it needs something that this checker does not read, 51 it does not show what it
claims. Needs nothing but Python 3.11.
"""

import argparse
import re
import signal
import struct
import sys

import bounds
import checks
from expressions import Wide
from policy import Policy
from question import Question
from stops import Files, Invalid, Rejected, Stop, Unknown, Unsupported, f64, listed_inputs, load_json, of_type, read_bytes
from stops import text_of

KINDS = {
    "trace": ("unsafe", checks.Run),
    "invariant": ("safe", checks.Invariant),
    "values": ("probability", bounds.Bounds),
}
FAULTS = (StopIteration, ArithmeticError, AttributeError, LookupError, MemoryError, RecursionError, TypeError, ValueError, struct.error)


def certify(path, states):
    """Checks a file; what is confirmed, in lines."""
    evidence = of_type(load_json(text_of(read_bytes(path), path), f64), dict, path)
    version = of_type(evidence.get("schema_version"), int, "schema_version")
    if version != 1:
        raise Unsupported(f"version {version} of the format")
    shown = [kind for kind in KINDS if kind in evidence]
    verdict = of_type(evidence.get("verdict"), str, "verdict")
    if "witness" in evidence or "refutation" in evidence:
        raise Unsupported("the answer of a query")
    if not shown:
        raise Invalid("no evidence: one of `values`, `trace` and `invariant` is needed")
    if len(shown) > 1 or KINDS[shown[0]][0] != verdict:
        raise Rejected(f"it claims the verdict {verdict!r}, but lists {' and '.join(shown)}")
    recorded = listed_inputs(evidence)
    for role, file, digest in recorded:
        Files().expect(role, file, digest)
    files = Files()
    question = Question(evidence, files)
    if question.rules.get("policy") is None and (question.task.get("policy") or question.task.get("interface")):
        raise Rejected("`task` names a policy, and `semantics` none")
    policy = Policy(question) if question.rules.get("policy") is not None else None
    for (role, file), digest in files.read.items():
        if (role, file, digest) not in recorded:
            raise Rejected(f"`inputs` does not name {file} as what it is for the question")
    for role, file, _ in recorded:
        if (role, file) not in files.read:
            raise Invalid(f"{file} is not part of the question")
    question.confirm(evidence, policy)
    if question.standard and verdict != "probability":
        raise Rejected("the property asks for a probability, which this does not show")
    check = KINDS[shown[0]][1](question, policy).check
    found = check(evidence) if verdict == "unsafe" else check(evidence, states)
    lines = [f"{role} {file} (SHA-256 {digest})" for role, file, digest in recorded]
    return [f"{verdict}: {found}", f"property {question.task['property']}", *lines, question.rules["text"]]


def outcome(path, states, seconds):
    """The exit code for a file, and what to say about it."""

    def stop(*_):
        raise Unknown(f"not decided within {seconds} s (`--seconds`)")

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        return 0, certify(path, states)
    except Stop as found:
        return found.code, [str(found)]
    except Wide:
        return Unknown.code, ["interval arithmetic does not suffice"]
    except FAULTS as fault:
        return Invalid.code, [f"something in it has not the form that it should have ({type(fault).__name__}: {fault})"]
    finally:
        signal.alarm(0)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--states", type=int, default=200_000, help="the most states or boxes that are looked at")
    parser.add_argument("--seconds", type=int, default=600, help="the most time for a file")
    parser.add_argument("--quiet", action="store_true", help="one line for each file")
    options = parser.parse_args()
    sys.setrecursionlimit(6000)
    first = 0
    words = {0: "CONFIRMED", 30: "UNKNOWN", 40: "INVALID", 41: "UNSUPPORTED", 51: "REJECTED"}
    for path in options.files:
        code, lines = outcome(path, options.states, options.seconds)
        first = first or code
        lines = lines[:1] if options.quiet else lines
        text = "\n  ".join([f"{words[code]} {path}: {lines[0]}", *lines[1:]])
        print(re.sub(r"[^\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f]", "?", text).encode(errors="replace").decode(), flush=True)
    sys.exit(first)


if __name__ == "__main__":
    main()
