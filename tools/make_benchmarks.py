#!/usr/bin/env python3
"""Makes the instances under `benchmarks/` anew: models, networks, trees, and the table in its README.

    tools/make_benchmarks.py POLICERT [--jobs N] [--only TEXT] [--trees | --table]

What is there already is kept: remove a policy to train it again. The same version of Policert and the
same seeds give the same bytes. With `--trees` tree ensembles are trained on the networks that are there,
which needs `requirements-trees.txt`.
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


def usual(steps, horizon, seeds):
    counts = ["--steps", str(steps), "--horizon", str(horizon), "--seeds", str(seeds)]
    return ["--discount", "0.95", *counts]


for kind, option in [("ci", ""), ("ca", " --cost-aware")]:
    for blocks in (4, 6, 8, 10):
        instance(
            f"blocksworld_{blocks}_{kind}",
            f"blocksworld {blocks} --cost-bound 20{option}",
            SMALL,
            *usual(800000, 40 + 8 * (blocks - 2), 3 if blocks <= 6 else 1),
            "--potential",
            str(blocks),
        )
instance(
    "transport_10_15",
    "transport",
    SMALL,
    "--steps", "1000000", "--horizon", "400", "--seeds", "3",
    *["--discount", "0.9", "--potential", "360", "--reward-step", "-0.05", "--reward-unsafe", "-4"],
)
instance(
    "npuzzle_3_3",
    "npuzzle 3 3 --unsafe 3@7 --cost-bound 20",
    SMALL,
    *usual(1500000, 100, 1),
    *["--potential", "5", "--reward-step", "-0.02"],
)
instance(
    "racetrack_barto_small",
    "racetrack barto-small --random-starts 999",
    SMALL,
    "--no-initial",
    *usual(900000, 60, 3),
    *["--potential", "4"],
)
for planes in (4, 5, 6):
    instance(
        f"beluga_{planes}_2",
        f"beluga {planes} 2 --filter",
        ["64,64", "256,256"],
        "--no-initial",
        *["--discount", "0.95", "--steps", "150000", "--potential", "1"],
    )


# Folder, greatest depth and number of trees; the teacher is the network of 64-64 neurons.
ROUNDS, ROLLOUTS = 10, 1000
ENSEMBLES = [
    (folder, kind, depth, trees)
    for folder, boosts in (
        ("blocksworld_4_ci", 10),
        ("blocksworld_6_ci", 10),
        ("blocksworld_8_ci", 20),
        ("transport_10_15", 10),
        ("beluga_4_2", 10),
        ("beluga_5_2", 10),
        ("beluga_6_2", 10),
    )
    for kind, depth, trees in (("xgboost", 8, boosts), ("lightgbm", 10, 5), ("forest", 15, 10))
]


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


def imitate(policert, folder, kind, depth, trees):
    """Trains one ensemble on decisions of the folder's network."""
    import dagger
    import train_trees

    name = ROOT / folder / model_of(folder).stem
    options = argparse.Namespace(
        kind=kind, depth=depth, trees=trees, rate=0.4, seed=1, held_out=0.0, onnx=False, out=name
    )
    card = name.with_name(f"{name.name}_{kind}_{depth}depth_{trees}trees.card.json")
    if card.exists():
        return f"{folder}: {card.name}: is there"
    teacher = name.with_name(f"{name.name}_64_64.jani2nnet")
    task = [model_of(folder), "--property", f"{property_of(folder)}:0"]
    task += [o for f, _, _, options in INSTANCES for o in options if f == folder and o == "--no-initial"]
    student, line = dagger.imitate(policert, task, teacher, ROUNDS, ROLLOUTS, options)
    runs = ["--runs", "1000", "--steps", "400", "--seed", "1", "--json", "-", "--quiet"]
    result = run(policert, "simulate", *task, "--interface", student, *runs).stdout
    result = json.JSONDecoder().raw_decode(result[result.index("{"):])[0]
    share = {name: end["runs"] / result["runs"] for name, end in result["endings"].items()}
    text = {
        "teacher": teacher.name,
        "start_states": result["start_states"],
        "rounds": ROUNDS,
        "rollouts": ROLLOUTS,
        "options": {"kind": kind, "depth": depth, "trees": trees, "rate": 0.4, "seed": 1},
        "imitation": line,
        "evaluation": {
            "runs": result["runs"],
            "success_rate": share["goal"],
            "unsafe_rate": share["unsafe"],
            "stuck_rate": share["stuck"] + share["terminal"] + share["dropped"],
        },
    }
    card.write_text(json.dumps(text, indent=2) + "\n")
    return f"{line}: {share['goal']:.1%} reach the goal, {share['unsafe']:.1%} are unsafe"


def model_of(folder):
    names = {"start.jani", "reach.jani", "objective.jani"}
    files = [f for f in (ROOT / folder).glob("*.jani") if f.name not in names]
    return next(f for f in files if not f.name.startswith("pa_"))


def property_of(folder):
    return next((ROOT / folder).glob("pa_*.jani"))


def policies(folder):
    """Name, card and interface of a folder's policies: networks by size, then ensembles."""
    found = []
    for file in (ROOT / folder).glob("*.card.json"):
        card = json.loads(file.read_text())
        options = card["options"]
        stem = file.name.removesuffix(".card.json")
        if "hidden" in options:
            name = "-".join(str(n) for n in options["hidden"])
            found.append((0, options["hidden"], name, card, f"{stem}.jani2nnet"))
        else:
            name = f"{options['kind']}, depth {options['depth']}, {options['trees']} trees"
            found.append((1, [], name, card, f"{stem}.jani2ensemble"))
    return [entry[2:] for entry in sorted(found, key=lambda entry: entry[:3])]


def table():
    lines = [
        "| instance | policy | start states | steps | reach the goal | unsafe | mean return |",
        "|---|---|---|---|---|---|---|",
    ]
    for folder, *_ in INSTANCES:
        for name, card, _ in policies(folder):
            score = card["evaluation"]
            starts = card["start_states"]
            mean = f"{score['mean_return']:.2f}" if "mean_return" in score else ""
            lines.append(
                f"| `{folder}` | {name} | {starts if starts is not None else 'many'} "
                f"| {card.get('steps', '')} | {score['success_rate']:.1%} "
                f"| {score['unsafe_rate']:.1%} | {mean} |"
            )
    return "\n".join(lines) + "\n"


def write_table():
    readme = ROOT / "README.md"
    begin, end = "<!-- table -->\n", "<!-- end of table -->\n"
    text = readme.read_text()
    head, rest = text.split(begin)
    readme.write_text(head + begin + table() + end + rest.split(end)[1])


def neurons(name):
    """The size of a network, for figures over it; nothing for trees."""
    layers = name.split("-")
    if all(layer.isdigit() for layer in layers):
        yield f"values = {{ neurons = {sum(int(layer) for layer in layers)} }}"


def domain(folder):
    """The domain of an instance: its folder's name without sizes, and how actions cost."""
    return " ".join(part for part in folder.split("_") if not part.isdigit())


def write_suites():
    """The studies of all networks and of all ensembles under `auto`."""
    for suite, kind, ending in (
        ("networks", "Networks", ".jani2nnet"),
        ("ensembles", "Tree ensembles", ".jani2ensemble"),
    ):
        lines = [
            "# All of that kind under `benchmarks/`, written by `tools/make_benchmarks.py`.",
            f'name = "{kind}"',
            'folder = "../benchmarks"',
            "seconds = 60",
            'memory = "4GB"',
        ]
        for folder, _, _, options in INSTANCES:
            for name, _, interface in policies(folder):
                if not interface.endswith(ending):
                    continue
                arguments = [
                    f"{folder}/{model_of(folder).name}",
                    "--property",
                    f"{folder}/{property_of(folder).name}:0",
                    "--interface",
                    f"{folder}/{interface}",
                ]
                arguments += [option for option in options if option == "--no-initial"]
                lines += [
                    "",
                    "[[instance]]",
                    f'name = "{folder} {name}"',
                    *neurons(name),
                    f'domain = "{domain(folder)}, {kind.lower()}"',
                    "arguments = [",
                    *(f'  "{argument}",' for argument in arguments),
                    "]",
                ]
        lines += ["", "[[configuration]]", 'name = "auto"', 'arguments = ["--engine", "auto"]']
        (ROOT.parent / "suites" / f"{suite}.toml").write_text("\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("policert", type=Path)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", default="", help="folders whose name contains this text")
    parser.add_argument("--trees", action="store_true", help="train ensembles on the networks")
    parser.add_argument("--table", action="store_true", help="write the table and nothing else")
    arguments = parser.parse_args()
    if arguments.trees:
        for folder, *size in ENSEMBLES:
            if arguments.only in folder:
                print(imitate(arguments.policert, folder, *size), flush=True)
    elif not arguments.table:
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
    write_suites()


if __name__ == "__main__":
    main()
