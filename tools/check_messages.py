#!/usr/bin/env python3
"""Damages the files of examples/icy_road in random places, asks the program and the Python package about them, and
compares exit codes, verdicts, the words of messages, and where findings are. Needs the package `policert` of the same
version:

    python3 tools/check_messages.py --program target/release/policert --cases 500
"""

import argparse
import collections
import json
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

import policert

EXAMPLE = pathlib.Path(__file__).resolve().parent.parent / "examples/icy_road"
FILES = ["model.jani", "careful.jani2nnet", "careful.nnet", "careful.onnx"]
# Words that change what a text means, or what it is.
WORDS = [b'"left"', b'"speed"', b"1e400", b"-1", b"null", b"[]", b"{}", b"9223372036854775808", b"true", b"\x1b[2K"]
SECONDS = 20


def damaged(content, numbers):
    content = bytearray(content)
    for _ in range(numbers.choice([1, 1, 1, 2, 4])):
        at, kind = numbers.randrange(len(content)), numbers.random()
        if kind < 0.3:
            content[at] = numbers.randrange(256)
        elif kind < 0.5:
            del content[at : at + numbers.randrange(1, 20)]
        elif kind < 0.7:
            other = numbers.randrange(len(content))
            content[at:at] = content[other : other + numbers.randrange(1, 30)]
        elif kind < 0.8:
            del content[at + 1 :]
        else:
            content[at : at + numbers.randrange(1, 8)] = numbers.choice(WORDS)
    return bytes(content)


def places(findings):
    """Codes, words and places of findings."""
    return [
        tuple(finding.get(key) for key in ("code", "message", "file", "line", "column", "pointer"))
        for finding in findings
    ]


def by_program(program, folder, interface):
    """Exit code, verdict, places of findings, and what goes to standard error."""
    words = [
        program,
        "verify",
        folder / "model.jani",
        "--property",
        "careful",
        "--timeout",
        f"{SECONDS}s",
        "--json",
        "-",
    ]
    if interface is not None:
        words += ["--interface", interface]
    done = subprocess.run(words, capture_output=True, text=True, errors="replace")
    report = json.loads(done.stdout) if done.stdout.strip() else {}
    return done.returncode, report.get("verdict"), places(report.get("errors", [])), done.stderr


def by_package(folder, interface):
    """Exit code, verdict, places of findings, and the lines of the exception."""
    policy = None if interface is None else policert.Policy(folder / "careful.onnx", interface=interface)
    try:
        verdict = policert.verify(folder / "model.jani", "careful", policy, timeout=SECONDS)
    except policert.PolicertError as error:
        return error.code, None, places(error.findings), str(error).splitlines()
    return verdict.exit_code, verdict.verdict, [], []


def difference(program, folder, interface):
    """What differs, or nothing."""
    code, verdict, findings, said = by_program(program, folder, interface)
    own_code, own_verdict, own_findings, lines = by_package(folder, interface)
    if code != own_code or code == 50:
        return code, f"the program ends with {code}, the package with {own_code}: {said} {lines}"
    if own_verdict != verdict and not lines:
        return code, f"the program says {verdict}, the package {own_verdict}"
    if lines and findings != own_findings:
        return code, f"findings of the program {findings}, of the package {own_findings}"
    unsaid = [line for line in lines if line.strip() not in said]
    return code, f"only the package says {unsaid}: {said}" if unsaid else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--cases", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    numbers = random.Random(arguments.seed)
    codes, differences = collections.Counter(), 0
    for case in range(arguments.cases):
        with tempfile.TemporaryDirectory(prefix="policert-") as name:
            folder = pathlib.Path(name)
            for file in FILES:
                shutil.copy(EXAMPLE / file, folder / file)
            chosen = numbers.choice(FILES)
            (folder / chosen).write_bytes(damaged((EXAMPLE / chosen).read_bytes(), numbers))
            interface = None
            if chosen == "careful.onnx":
                interface = folder / "onnx.jani2nnet"
                text = (EXAMPLE / "careful.jani2nnet").read_text(encoding="utf-8")
                interface.write_text(text.replace("careful.nnet", chosen), encoding="utf-8")
            code, differs = difference(arguments.program.resolve(), folder, interface)
        codes[code] += 1
        if differs is not None:
            differences += 1
            print(f"case {case}, {chosen}: {differs}")
    print(f"{arguments.cases} cases, exit codes {dict(codes)}, {differences} differences")
    sys.exit(1 if differences or codes[40] < arguments.cases // 10 else 0)


if __name__ == "__main__":
    main()
