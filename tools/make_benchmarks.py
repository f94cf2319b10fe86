#!/usr/bin/env python3
"""Makes the instances under `benchmarks/` anew: models, networks, and the table in its README.

    tools/make_benchmarks.py POLICERT [--jobs N] [--only TEXT] [--table]

What is there already is kept: remove a network to train it again. The same version of Policert and the
same seeds give the same bytes.
"""

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent / "benchmarks"

# Folder, options of `generate`, hidden layers, options of `train`.
INSTANCES = []


def instance(folder, generate, hidden, *train):
    INSTANCES.append((folder, generate.split(), hidden, list(train)))


SMALL = ["16,16", "32,32", "64,64"]
for kind, option in [("ci", ""), ("ca", " --cost-aware")]:
    instance(
        f"blocksworld_4_{kind}",
        f"blocksworld 4 --cost-bound 20{option}",
        SMALL,
        "--steps",
        "400000",
    )
instance(
    "blocksworld_6_ci", "blocksworld 6 --cost-bound 20", SMALL, "--steps", "800000"
)
for planes in (4, 5, 6):
    instance(
        f"beluga_{planes}_2",
        f"beluga {planes} 2 --filter",
        ["64,64"],
        "--no-initial",
        "--steps",
        "150000",
    )
instance(
    "racetrack_barto_small",
    "racetrack barto-small --random-starts 999",
    ["16,16", "32,32"],
    "--no-initial",
    "--steps",
    "900000",
    "--discount",
    "0.95",
)


def run(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True, check=False)


def make(policert, folder, generate, hidden):
    """Writes the model once, and an interface for each network."""
    target = ROOT / folder
    # The property names the interface of the last one.
    for layers in reversed(hidden):
        command = [policert, "generate", *generate, "--hidden", layers, "--output", target]
        done = run(*command, "--force", "--quiet")
        if done.returncode != 0:
            sys.exit(f"{folder}: {done.stderr}")


def train(policert, folder, options, interface):
    """Trains one network beside its interface."""
    model = model_of(folder)
    done = run(
        policert, "train", model, "--property", f"{property_of(folder)}:0",
        "--interface", interface, "--seed", "1", "--quiet", *options,
    )
    card = interface.with_suffix(".card.json")
    if not card.exists():
        return f"{folder}: {interface.name}: no network: {done.stderr.strip()}"
    score = json.loads(card.read_text())["evaluation"]
    # Both formats hold the same weights; one is enough here.
    interface.with_suffix(".onnx").unlink(missing_ok=True)
    return (
        f"{folder}: {interface.name}: {score['success_rate']:.1%} reach the goal, "
        f"{score['unsafe_rate']:.1%} are unsafe"
    )


def model_of(folder):
    names = {"start.jani", "reach.jani", "objective.jani"}
    files = [f for f in (ROOT / folder).glob("*.jani") if f.name not in names]
    return next(f for f in files if not f.name.startswith("pa_"))


def property_of(folder):
    return next((ROOT / folder).glob("pa_*.jani"))


def table():
    lines = [
        "| instance | network | start states | steps | reach the goal | unsafe | mean return |",
        "|---|---|---|---|---|---|---|",
    ]
    for folder, _, _, _ in INSTANCES:
        cards = sorted((ROOT / folder).glob("*.card.json"), key=lambda f: len(f.read_text()))
        cards.sort(key=lambda f: json.loads(f.read_text())["options"]["hidden"])
        for file in cards:
            card = json.loads(file.read_text())
            score = card["evaluation"]
            starts = card["start_states"]
            hidden = "-".join(str(n) for n in card["options"]["hidden"])
            lines.append(
                f"| `{folder}` | {hidden} | {starts if starts is not None else 'many'} "
                f"| {card['steps']} | {score['success_rate']:.1%} | {score['unsafe_rate']:.1%} "
                f"| {score['mean_return']:.2f} |"
            )
    return "\n".join(lines) + "\n"


def write_table():
    readme = ROOT / "README.md"
    begin, end = "<!-- table -->\n", "<!-- end of table -->\n"
    text = readme.read_text()
    head, rest = text.split(begin)
    readme.write_text(head + begin + table() + end + rest.split(end)[1])


def write_suite():
    """The study of all networks under `auto`."""
    lines = [
        "# All networks under `benchmarks/`, written by `tools/make_benchmarks.py`.",
        'name = "Networks"',
        'folder = "../benchmarks"',
        "seconds = 60",
        'memory = "4GB"',
    ]
    for folder, _, _, options in INSTANCES:
        for network in sorted((ROOT / folder).glob("*.nnet"), key=lambda f: (len(f.name), f.name)):
            interface = network.with_suffix(".jani2nnet")
            arguments = [
                f"{folder}/{model_of(folder).name}",
                "--property",
                f"{folder}/{property_of(folder).name}:0",
                "--interface",
                f"{folder}/{interface.name}",
            ]
            arguments += [option for option in options if option == "--no-initial"]
            hidden = json.loads(interface.read_text())["elements"]
            lines += [
                "",
                "[[instance]]",
                f'name = "{folder} {"-".join(str(n) for n in hidden)}"',
                "arguments = [",
                *(f'  "{argument}",' for argument in arguments),
                "]",
            ]
    lines += ["", "[[configuration]]", 'name = "auto"', 'arguments = ["--engine", "auto"]']
    (ROOT.parent / "suites" / "networks.toml").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policert", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="folders whose name contains this text")
    parser.add_argument("--table", action="store_true", help="write the table and nothing else")
    arguments = parser.parse_args()
    if not arguments.table:
        waiting = []
        for folder, generate, hidden, options in INSTANCES:
            if arguments.only not in folder:
                continue
            make(arguments.policert, folder, generate, hidden)
            interfaces = sorted((ROOT / folder).glob("*.jani2nnet"))
            waiting += [
                (folder, options, i) for i in interfaces if not i.with_suffix(".nnet").exists()
            ]
        with ThreadPoolExecutor(arguments.jobs) as pool:
            jobs = [pool.submit(train, arguments.policert, f, o, i) for f, o, i in waiting]
            for job in jobs:
                print(job.result(), flush=True)
    write_table()
    write_suite()


if __name__ == "__main__":
    main()
