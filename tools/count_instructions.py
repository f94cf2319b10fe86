#!/usr/bin/env python3
"""Counts the instructions that Policert needs for questions of the papers, and compares them with an earlier count.

    tools/count_instructions.py [--program target/release/policert] [--only TEXT] [--jobs 1]
        [--save FILE.json] [--against FILE.json]

Every command runs under `valgrind --tool=callgrind`, on one thread. Counts hardly depend on what else the machine
does, so two versions of the program can be compared on a busy one. Build it without Z3 (`cargo build --release -p
policert`). The published models are read from the folder that POLICERT_SHARED names (default: ../shared); with
`--against`, the command ends with 1 if a count has grown by more than 2 %.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("POLICERT_SHARED", ROOT / ".." / "shared"))
ALLOWED_GROWTH = 1.02


def questions():
    """What is asked: a name, and the command lines whose instructions are added up."""
    bench = SHARED / "benchmarks"
    blocks = bench / "blocksworld" / "icaps22"
    blocks_65 = [blocks / "models/cost05/blocksworld_6_5.jani", "--interface",
                 blocks / "networks/blocksworld_6_5/learned_cost05_non_terminal/blocksworld_6_5_32_32.jani2nnet"]
    blocks_87 = [blocks / "models/cost05/blocksworld_8_7.jani", "--interface",
                 blocks / "networks/blocksworld_8_7/learned_no_cost/blocksworld_8_7_16_16.jani2nnet"]
    properties = blocks / "additional_properties/safety_verification/cost05"
    at = "compact_starts_cost_predicates_afterwards"
    pa_65 = properties / "blocksworld_6_5" / at / "learned_cost05_non_terminal" / f"pa_{at}_blocksworld_6_5_32_32.jani"
    pa_87 = properties / "blocksworld_8_7" / at / "learned_no_cost" / f"pa_{at}_blocksworld_8_7_16_16.jani"
    icaps24 = bench / "blocksworld" / "icaps24"
    pa_43 = (icaps24 / "blocksworld/additional_properties/safety_verification/blocksworld_4_3" / at
             / f"pa_{at}_blocksworld_4_3.jani")
    blocks_43 = [icaps24 / "blocksworld/cost_terminal/models/legacy_enc/blocksworld_4_3.jani", "--interface",
                 icaps24 / "rddps22/blocksworld/networks/learned_cost05_non_terminal/blocksworld_4_3_16_16.jani2nnet",
                 "--const", "failing_probability=0.5", "--const", "item_cost_bound=50"]
    transport = bench / "transport/one_way_line_15_10"
    tireworld = bench / "qcomp_mdp/planning/tireworld/tireworld.25.jani"
    loops = bench / "bbreach/benchmarks"
    verify = lambda model, question, engine: ["verify", *model, "--property", question, "--engine", engine]
    return {
        "ppa 6_5 :0": [verify(blocks_65, f"{pa_65}:0", "ppa")],
        "ppa 6_5 :1": [verify(blocks_65, f"{pa_65}:1", "ppa")],
        "ppa 8_7 :0": [verify(blocks_87, f"{pa_87}:0", "ppa")],
        "ic3 6_5 :0": [verify(blocks_65, f"{pa_65}:0", "ic3")],
        "cegar 4_3": [verify(blocks_43, f"{pa_43}:0", "cegar")],
        "explicit transport": [verify(
            [transport / "det/one_way_line_15_10.jani", "--interface",
             transport / "derived/det/one_way_line_15_10_det_64_64_relu_reading.jani2nnet"],
            f"{transport / 'det/pa_one_way_line_15_10_random_starts_1000.jani'}:0", "explicit")],
        "prob tireworld.25": [["verify", tireworld, "--no-policy", "--engine", "prob"]],
        "reach b1-tanh-2x20": [["reach", loops / "b1.toml", "--instance", "b1-tanh-2x20"]],
        "reach tora-tanh-3x20": [["reach", loops / "tora.toml", "--instance", "tora-tanh-3x20"]],
        "queries": queries(bench),
    }


# Properties that take seconds, and networks with an operator that is not supported.
LEFT_OUT = ["prop_6.", "prop_7.", "gcas_4.", "hyperrectangle_1869.", "linearizenn/"]


def queries(bench):
    """The questions of VNN-COMP that take a moment each."""
    listed = []
    for folder in ["acasxu", "vnncomp"]:
        with (bench / folder / "instances.csv").open() as instances:
            for row in csv.DictReader(instances):
                if not any(part in row["property"] for part in LEFT_OUT):
                    listed.append(["query", bench / folder / row["network"], bench / folder / row["property"]])
    return listed


def count(program, line):
    """Instructions of one command."""
    with tempfile.TemporaryDirectory() as folder:
        found = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/counts", program, *map(str, line)],
            cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    total = re.search(r"Collected : (\d+)", found.stderr)
    if total is None or found.returncode not in (0, 10, 20):
        sys.exit(f"{' '.join(map(str, line))}: exit code {found.returncode}\n{found.stderr[-2000:]}")
    return int(total[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=Path, default=ROOT / "target/release/policert")
    parser.add_argument("--only", default="", help="only questions whose name holds one of these texts, separated by commas")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--save", type=Path, help="write the counts into this file")
    parser.add_argument("--against", type=Path, help="compare with the counts in this file")
    options = parser.parse_args()
    program = options.program.resolve()
    before = json.loads(options.against.read_text()) if options.against else {}
    counts, grown = {}, []
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, lines in questions().items():
            if not any(text in name for text in options.only.split(",")):
                continue
            counts[name] = sum(pool.map(lambda line: count(program, line), lines))
            ratio = counts[name] / before[name] if name in before else None
            print(f"{name:24} {counts[name] / 1e9:9.4f} thousand million" + (f"  x {ratio:.3f}" if ratio else ""),
                  flush=True)
            if ratio and ratio > ALLOWED_GROWTH:
                grown.append(name)
            if options.save:
                options.save.write_text(json.dumps(counts, indent=1) + "\n")
    if grown:
        sys.exit(f"more than 2 % above the count before: {', '.join(grown)}")


if __name__ == "__main__":
    main()
