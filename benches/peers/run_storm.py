"""Puts the probability questions of a QComp folder to Policert and to Storm, alternately.

The folder holds JANI files with `index.json` files beside them, which name constants, properties and
results. Each run is a process of its own, with a limit of CPU time and one of memory. Storm builds and
checks with its sparse engine; `--sound` makes it use sound value iteration, whose result is within the
precision (1e-6, relative) of the value. Its CPU time is that of reading, building and checking,
without the start of Python; Policert's that of the whole process. `--exact` compares exact answers.
"""

import argparse
import csv
import fnmatch
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

MEGABYTE = 1_000_000


@dataclass
class Case:
    """A question, and what the index says of it."""

    file: Path
    property: str
    constants: str
    states: int | None
    value: Fraction | None


@dataclass
class Run:
    """What came of one run."""

    seconds: float = 0.0
    megabytes: float = 0.0
    states: int | None = None
    low: Fraction | None = None
    high: Fraction | None = None
    failure: str = ""


def cases(folder, most_states):
    """All questions about probabilities, by the indices of a folder."""
    for index in sorted(folder.rglob("index.json")):
        description = json.loads(index.read_text(encoding="utf-8-sig"))
        for entry in description["files"]:
            file = index.parent / entry["file"]
            if not file.is_file():
                continue
            for instance in entry["open-parameter-values"]:
                values = instance.get("values", [])
                constants = ",".join(f"{v['name']}={plain(v['value'])}" for v in values)
                counts = [count["number"] for count in instance.get("states", [])]
                states = counts[-1] if counts else None
                if states is not None and states > most_states:
                    continue
                results = {r["property"]: number(r["value"]) for r in instance.get("results", [])}
                for property in description["properties"]:
                    if property["type"] == "prob-reach":
                        name = property["name"]
                        yield Case(file, name, constants, states, results.get(name))


def plain(value):
    return str(value).lower() if isinstance(value, bool) else value


def number(value):
    """A result as a fraction; truths count as 0 and 1, intervals are left out."""
    if isinstance(value, dict):
        if "num" in value:
            return Fraction(int(value["num"]), int(value["den"]))
        value = value.get("approx")
    return Fraction(value) if isinstance(value, (bool, int, float)) else None


def measured(command, options):
    """Runs a command under the limits; (its status, output, errors, CPU seconds, megabytes)."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (options.time, options.time + 5))
        resource.setrlimit(resource.RLIMIT_AS, (options.memory * MEGABYTE,) * 2)

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=limit)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode(errors="replace"))
    seconds = usage.ru_utime + usage.ru_stime
    return child.returncode, *texts, seconds, usage.ru_maxrss * 1024 / MEGABYTE


def failure(status, errors, seconds, options):
    if seconds >= options.time:
        return "time"
    if "alloc" in errors or "memory" in errors.lower():
        return "memory"
    lines = [line for line in errors.splitlines() if line.strip()]
    return (lines[-1] if lines else f"exit {status}")[:120]


def ask_policert(case, options, build_all=False):
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [options.policert, "verify", case.file, "--property", case.property, "--quiet"]
        command += ["--json", result] + (["--const", case.constants] if case.constants else [])
        command += (["--build-all"] if build_all else []) + (["--exact"] if options.exact else [])
        status, _, errors, seconds, megabytes = measured(list(map(str, command)), options)
        run = Run(seconds, megabytes)
        try:
            report = json.loads(result.read_text())
        except (OSError, ValueError):
            run.failure = failure(status, errors, seconds, options)
            return run
    bounds = report.get("probability")
    if bounds and report["verdict"] in ("probability", "safe", "unsafe"):
        run.low, run.high = map(Fraction, bounds)
        run.states = report["statistics"]["reachable_states"]
    else:
        run.failure = report.get("reason_code") or report["verdict"]
        run.failure += f": {report['errors'][0][:100]}" if report.get("errors") else ""
    return run


def ask_storm(case, options, whole=False):
    command = [sys.executable, __file__, "--worker", case.file, case.property, case.constants]
    how = "exact" if options.exact else "sound" if options.sound else "default"
    command.append("count" if whole else how)
    status, output, errors, seconds, megabytes = measured(list(map(str, command)), options)
    run = Run(seconds, megabytes)
    try:
        answer = json.loads(output.splitlines()[-1])
    except (IndexError, ValueError):
        run.failure = failure(status, errors, seconds, options)
        return run
    run.seconds, run.states = answer["seconds"], answer["states"]
    if answer["value"] is not None:
        run.low = run.high = Fraction(answer["value"])
    return run


def storm_worker(file, name, constants, how):
    """One question, in this process."""
    import stormpy

    begin = time.process_time()
    model, properties = stormpy.parse_jani_model(file)
    properties = [p for p in properties if p.get_name() == name]
    if constants:
        model, properties = stormpy.instantiate_constants(model, constants, properties)
    value = None
    if how == "count":
        built = stormpy.build_model(model)
    else:
        build = stormpy.build_model[stormpy.Rational] if how == "exact" else stormpy.build_model
        built = build(model, properties)
        environment = getattr(stormpy.environments, how)()
        result = stormpy.model_checking(
            built, properties[0], only_initial_states=True, environment=environment
        )
        # A truth has no `get_value`.
        get = result.get_value if hasattr(result, "get_value") else result.__getitem__
        values = [get(state) for state in built.initial_states]
        value = max(Fraction(float(v) if how != "exact" or v in (0, 1) else str(v)) for v in values)
        value = str(value)
    seconds = time.process_time() - begin
    print(json.dumps({"states": built.nr_states, "value": value, "seconds": seconds}))


def compare(case, ours, theirs):
    """What is to be said about the two answers, if anything."""
    notes = []
    if ours.failure:
        notes.append(f"Policert: {ours.failure}")
    if theirs.failure:
        notes.append(f"Storm: {theirs.failure}")
    for who, low, high in (("listed", case.value, case.value), ("Storm", theirs.low, theirs.high)):
        if low is None or ours.low is None:
            continue
        away = max(ours.low - high, low - ours.high, Fraction(0))
        if away > Fraction(1, 10**6):
            notes.append(f"{who} differs by {float(away):.2g}")
    return "; ".join(notes)


COLUMNS = [
    "file", "property", "constants", "whole space", "states listed", "states Policert", "states Storm",
    "listed", "low", "high", "Storm", "s", "Storm s", "ratio", "MB", "Storm MB", "remark",
]


def shown(value):
    return "" if value is None else f"{float(value):.9g}"


def row(case, ours, theirs, ours_all, theirs_all):
    both = ours.low is not None and theirs.low is not None and ours.seconds > 0
    ratio = f"{theirs.seconds / ours.seconds:.1f}" if both else ""
    whole = ""
    if ours_all.states is not None and theirs_all.states is not None:
        equal = ours_all.states == theirs_all.states
        whole = "equal" if equal else f"{ours_all.states} and {theirs_all.states}"
    return dict(zip(COLUMNS, [
        case.file.name.removesuffix(".jani"), case.property, case.constants, whole,
        case.states or "", ours.states or "", theirs.states or "", shown(case.value),
        shown(ours.low), shown(ours.high), shown(theirs.low), f"{ours.seconds:.3f}",
        f"{theirs.seconds:.3f}", ratio, f"{ours.megabytes:.0f}",
        f"{theirs.megabytes:.0f}", compare(case, ours, theirs),
    ]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="JANI files with index.json files")
    parser.add_argument("--policert", type=Path, required=True, help="the program")
    parser.add_argument("--only", default="*", help="pattern of file/property")
    parser.add_argument("--states", type=int, default=10**7, help="leave larger ones out (default 10⁷)")
    parser.add_argument("--time", type=int, default=60, help="CPU seconds for a run (default 60)")
    parser.add_argument("--memory", type=int, default=3000, help="megabytes for a run (default 3000)")
    parser.add_argument("--exact", action="store_true", help="exact answers")
    parser.add_argument("--sound", action="store_true", help="let Storm use sound value iteration")
    parser.add_argument("--count", action="store_true", help="compare whole state spaces, besides")
    parser.add_argument("--csv", type=Path, help="write the table as CSV")
    parser.add_argument("--markdown", type=Path, help="write the table as Markdown")
    options = parser.parse_args()
    rows = []
    for case in cases(options.folder, options.states):
        if not fnmatch.fnmatch(f"{case.file.name}/{case.property}", options.only):
            continue
        ours, theirs = ask_policert(case, options), ask_storm(case, options)
        ours_all = theirs_all = Run()
        if options.count:
            ours_all = ask_policert(case, options, build_all=True)
            theirs_all = ask_storm(case, options, whole=True)
        rows.append(row(case, ours, theirs, ours_all, theirs_all))
        print(" | ".join(map(str, rows[-1].values())), flush=True)
        write(rows, options)


def write(rows, options):
    if options.csv:
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(rows)
    if options.markdown:
        line = lambda cells: "| " + " | ".join(str(cell).replace("|", "/") for cell in cells) + " |\n"
        with options.markdown.open("w") as file:
            file.write(line(COLUMNS) + line("---" for _ in COLUMNS))
            file.writelines(line(entry.values()) for entry in rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        storm_worker(*sys.argv[2:6])
    else:
        main()
