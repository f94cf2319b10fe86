#!/usr/bin/env python3
"""Makes `benchmarks/asnets` and `suites/asnets.toml` anew: action schema networks for blocks and the
translations to the models of that name.

    tools/make_asnets.py POLICERT

What is there already is kept: remove a network to train it again. The same version of Policert gives the
same bytes.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "benchmarks" / "asnets"

# Name; what problems are drawn of to train on, and how many; those of a larger size to try it on; sizes of
# the instances, with the folder of the model.
BLOCKS = {
    "name": "blocks",
    "train": [("blocksworld 4", 8), ("blocksworld 5", 8), ("blocksworld 6", 6), ("blocksworld 7", 3)],
    "unseen": ("blocksworld 10", 50),
    "networks": [(2, dimension, seed) for dimension in (4, 8) for seed in (1, 2)],
    "instances": [
        (f"blocksworld {n}", f"blocksworld_{n}_ci", f"blocksworld_{n}_{n - 1}") for n in (4, 6, 8, 10)
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


def generate(policert, what, count, folder):
    run(policert, "generate", *what.split(), "--problems", count, "--seed", 7, "--output", folder)
    return sorted((folder / "problems").glob("*.pddl"), key=lambda path: int(path.stem))


def make(policert, domain, work):
    name = domain["name"]
    for what, _, stem in domain["instances"]:
        folder = work / what.replace(" ", "_")
        run(policert, "generate", *what.split(), "--output", folder)
        (FOLDER / f"{name}.pddl").write_text((folder / "domain.pddl").read_text())
        (FOLDER / f"{stem}.pddl").write_text((folder / "problem.pddl").read_text())
        text = (folder / f"{stem}.translation.json").read_text()
        text = text.replace('"domain.pddl"', f'"{name}.pddl"').replace('"problem.pddl"', f'"{stem}.pddl"')
        (FOLDER / f"{stem}.translation.json").write_text(text)
    problems = [
        path
        for what, count in domain["train"]
        for path in generate(policert, what, count, work / f"train_{what.replace(' ', '_')}")
    ]
    unseen = generate(policert, domain["unseen"][0], domain["unseen"][1], work / f"unseen_{name}")
    lines = []
    for layers, dimension, seed in domain["networks"]:
        stem = f"{name}_{layers}_{dimension}_{seed}"
        network = FOLDER / f"{stem}.json"
        card = FOLDER / f"{stem}.card.json"
        if not network.exists():
            options = ["--layers", layers, "--dimension", dimension, "--seed", seed, "--rounds", 40]
            tried = [word for path in unseen for word in ("--unseen", path)]
            told = run(
                policert, "asnet", "train", FOLDER / f"{name}.pddl", *problems, *tried, *options, "--output", network
            )
            told = told.replace(f"{network} ", "").strip()
            card.write_text(json.dumps({"unseen": domain["unseen"][0], "result": told}, indent=1) + "\n")
            print(stem, told, flush=True)
        for _, folder, model in domain["instances"]:
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
                f'  "asnets/{model}.translation.json",',
                '  "--policy",',
                f'  "asnets/{stem}.json",',
                "]",
            ]
    return lines


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    policert = Path(sys.argv[1]).resolve()
    FOLDER.mkdir(exist_ok=True)
    lines = [
        "# Action schema networks under `benchmarks/asnets`, written by `tools/make_asnets.py`.",
        'name = "Action schema networks"',
        'folder = "../benchmarks"',
        "seconds = 60",
        'memory = "4GB"',
    ]
    with tempfile.TemporaryDirectory() as work:
        lines += make(policert, BLOCKS, Path(work))
    for name, options in CONFIGURATIONS:
        lines += ["", "[[configuration]]", f'name = "{name}"', f"arguments = {json.dumps(options)}"]
    (ROOT / "suites" / "asnets.toml").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
