#!/usr/bin/env python3
"""Makes `benchmarks/asnets` and `suites/asnets.toml` anew: action schema networks for blocks, blocks with
costs and sliding tiles, and the translations to the models of that name.

    tools/make_asnets.py POLICERT [--only NAME] [--networks N] [--check]

What is there already is kept: remove a network and its card to train it again. `--only` trains for one domain,
`--networks` at most so many. A network that solves fewer unseen problems than its domain asks for is left out, but
its card stays. `--check` writes nothing: it trains the networks that are there again, as their cards say, and
compares the bytes, which the same version of Policert gives on the same machine.
"""

import argparse
import json
import resource
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "benchmarks" / "asnets"


# Seeds of the problems.
TRAINING_SEED, UNSEEN_SEED = 7, 8
# For each problem to try networks on so many are drawn.
DRAWN = 3


def sizes(layers, dimensions, seeds):
    return [(n, d, seed) for seed in seeds for n in layers for d in dimensions]


# Name; what problems are drawn of to train on, and how many; those to try it on, and how many it must solve;
# sizes and seeds of the networks; options of training; the instances: what is generated, the folder of the
# model, the name of the model.
BLOCKS = {
    "name": "blocks",
    "train": [("blocksworld 4", 5), ("blocksworld 5", 10), ("blocksworld 6", 15), ("blocksworld 7", 20)],
    "unseen": ("blocksworld 10", 50),
    "least": 45,
    "networks": sizes((2, 3), (4, 8), range(1, 10)),
    "options": ["--rounds", 60],
    "instances": [
        (f"blocksworld {n}", f"blocksworld_{n}_ci", f"blocksworld_{n}_{n - 1}") for n in (4, 6, 8, 10)
    ],
}

COSTS = {
    "name": "blocks_costs",
    "train": [("blocksworld 3 --cost-aware", 4), ("blocksworld 4 --cost-aware", 10), ("blocksworld 5 --cost-aware", 12)],
    "unseen": ("blocksworld 6 --cost-aware", 50),
    "least": 25,
    "networks": sizes((2,), (4, 8), (1, 2)),
    "options": ["--rounds", 60, "--batches", 60],
    "instances": [
        (f"blocksworld {n} --cost-aware --cost-bound 20", f"blocksworld_{n}_ca", f"blocksworld_{n}_{n - 1}")
        for n in (4, 6, 8, 10)
    ],
}

TILES = {
    "name": "tiles",
    "train": [("npuzzle 3 3 --moves 4", 10), ("npuzzle 3 3 --moves 7", 10), ("npuzzle 3 3 --moves 10", 10)],
    "unseen": ("npuzzle 3 3 --moves 10", 50),
    "least": 40,
    "networks": sizes((2, 3, 4), (4, 8), range(1, 5)) + sizes((2, 3, 4), (16,), (1,)) + sizes((2,), (32,), (1,)),
    "options": ["--rounds", 40, "--batches", 60],
    "instances": [
        (f"npuzzle 3 3 --unsafe {pair} --cost-bound 20", folder, "npuzzle_3_3")
        for pair, folder in (
            ("3@7", "npuzzle_3_3"),
            ("1@3", "npuzzle_3_3_tile_1"),
            ("6@5", "npuzzle_3_3_tile_6"),
            ("4@8", "npuzzle_3_3_tile_4"),
        )
    ],
}

# As in Table 1 of POLIC3.
CONFIGURATIONS = [
    ("auto", ["--engine", "auto"]),
    ("explicit", ["--engine", "explicit"]),
    ("ic3", ["--engine", "ic3"]),
    ("polic3", ["--engine", "ic3", "--preset", "polic3"]),
    ("polic3-nog", ["--engine", "ic3", "--preset", "polic3-nog"]),
]


def run(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
    return done.stdout


def generate(policert, what, count, seed, folder):
    run(policert, "generate", *what.split(), "--problems", count, "--seed", seed, "--output", folder)
    return sorted((folder / "problems").glob("*.pddl"), key=lambda path: int(path.stem))


def translate(policert, domain, work):
    """Writes domain, problems and translations."""
    name = domain["name"]
    for what, folder, model in domain["instances"]:
        made = work / f"instance_{folder}"
        run(policert, "generate", *what.split(), "--output", made)
        if not (ROOT / "benchmarks" / folder).exists():
            # A model without networks of its own.
            shutil.copytree(made / "predicates", ROOT / "benchmarks" / folder / "predicates")
            for path in made.glob("*.jani"):
                shutil.copy(path, ROOT / "benchmarks" / folder)
        # Problems and translations of models of the same name stand side by side.
        stem = f"{name}_{model}" if domain is COSTS else model
        (FOLDER / f"{name}.pddl").write_text((made / "domain.pddl").read_text())
        (FOLDER / f"{stem}.pddl").write_text((made / "problem.pddl").read_text())
        text = (made / f"{model}.translation.json").read_text()
        text = text.replace('"domain.pddl"', f'"{name}.pddl"').replace('"problem.pddl"', f'"{stem}.pddl"')
        (FOLDER / f"{stem}.translation.json").write_text(text)


def begins(path):
    """What is true at the start of a problem, and its goal: the same for problems that differ in their names."""
    return path.read_text().partition("(:domain")[2]


def problems_of(policert, domain, work):
    """The problems to train on, and those to try networks on: different ones, none of which was trained on."""
    name = domain["name"]
    problems = [
        path
        for i, (what, count) in enumerate(domain["train"])
        for path in generate(policert, what, count, TRAINING_SEED, work / f"train_{name}_{i}")
    ]
    what, count = domain["unseen"]
    known, unseen = {begins(path) for path in problems}, []
    for path in generate(policert, what, DRAWN * count, UNSEEN_SEED, work / f"unseen_{name}"):
        if len(unseen) < count and begins(path) not in known:
            known.add(begins(path))
            unseen.append(path)
    if len(unseen) < count:
        sys.exit(f"{name}: there are {len(unseen)} problems that were not trained on, and {count} are asked for")
    return problems, unseen


def train(policert, domain, work, most):
    """Trains what is missing, at most so many networks."""
    name = domain["name"]
    problems, unseen = problems_of(policert, domain, work)
    tried = [word for path in unseen for word in ("--unseen", path)]
    for layers, dimension, seed in domain["networks"]:
        stem = f"{name}_{layers}_{dimension}_{seed}"
        network, card = FOLDER / f"{stem}.json", FOLDER / f"{stem}.card.json"
        if card.exists() or most == 0:
            continue
        most -= 1
        options = ["--layers", layers, "--dimension", dimension, "--seed", seed, *domain["options"]]
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        told = run(
            policert, "asnet", "train", FOLDER / f"{name}.pddl", *problems, *tried, *options, "--output", network
        )
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        told = told.replace(f"{network} ", "").strip()
        solved = int(told.split(", and ")[1].split()[0])
        record = {
            "problems": [f"{what} --problems {count} --seed {TRAINING_SEED}" for what, count in domain["train"]],
            "unseen": f"the first {domain['unseen'][1]} others of {domain['unseen'][0]} "
            f"--problems {DRAWN * domain['unseen'][1]} --seed {UNSEEN_SEED}",
            "options": " ".join(map(str, options)),
            "result": told,
            "processor_s": round(seconds),
        }
        card.write_text(json.dumps(record, indent=1) + "\n")
        print(stem, told, f"{seconds:.0f} s", flush=True)
        if solved < domain["least"]:
            network.unlink()
    return most


def check(policert, domain, work):
    """Trains the networks that are there again. Returns the names of those that differ."""
    name = domain["name"]
    problems, _ = problems_of(policert, domain, work)
    differ = []
    for network in sorted(FOLDER.glob(f"{name}_[0-9]*_[0-9]*_[0-9]*.json")):
        if network.name.endswith((".card.json", ".translation.json")):
            continue
        options = json.loads(network.with_suffix(".card.json").read_text())["options"].split()
        again = work / network.name
        run(policert, "asnet", "train", FOLDER / f"{name}.pddl", *problems, *options, "--output", again)
        same = again.read_bytes() == network.read_bytes()
        print(network.stem, "is the same" if same else "DIFFERS", flush=True)
        differ += [] if same else [network.stem]
    return differ


def instances(domain):
    """The lines of the suite for the networks that are there."""
    name = domain["name"]
    lines = []
    for layers, dimension, seed in domain["networks"]:
        stem = f"{name}_{layers}_{dimension}_{seed}"
        if not (FOLDER / f"{stem}.json").exists():
            continue
        for _, folder, model in domain["instances"]:
            translation = f"{name}_{model}" if domain is COSTS else model
            lines += [
                "",
                "[[instance]]",
                f'name = "{folder} {stem}"',
                f'domain = "{name}, asnets"',
                "arguments = [",
                f'  "{folder}/{model}.jani",',
                '  "--property",',
                f'  "{folder}/pa_{model}.jani:0",',
                '  "--interface",',
                f'  "asnets/{translation}.translation.json",',
                '  "--policy",',
                f'  "asnets/{stem}.json",',
                "]",
            ]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policert", type=Path)
    parser.add_argument("--only")
    parser.add_argument("--networks", type=int, default=-1)
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    policert = arguments.policert.resolve()
    if arguments.check:
        with tempfile.TemporaryDirectory() as work:
            asked = [domain for domain in (BLOCKS, COSTS, TILES) if arguments.only in (None, domain["name"])]
            differ = [name for domain in asked for name in check(policert, domain, Path(work))]
        sys.exit(f"not reproduced: {', '.join(differ)}" if differ else 0)
    FOLDER.mkdir(exist_ok=True)
    lines = [
        "# Action schema networks under `benchmarks/asnets`, written by `tools/make_asnets.py`.",
        'name = "Action schema networks"',
        'folder = "../benchmarks"',
        "seconds = 60",
        'memory = "4GB"',
    ]
    most = arguments.networks
    with tempfile.TemporaryDirectory() as work:
        for domain in (BLOCKS, COSTS, TILES):
            if arguments.only in (None, domain["name"]):
                translate(policert, domain, Path(work))
                most = train(policert, domain, Path(work), most)
            lines += instances(domain)
    for name, options in CONFIGURATIONS:
        lines += ["", "[[configuration]]", f'name = "{name}"', f"arguments = {json.dumps(options)}"]
    (ROOT / "suites" / "asnets.toml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
