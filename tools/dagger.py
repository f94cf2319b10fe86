#!/usr/bin/env python3
"""Trains tree ensembles that imitate a policy, also where they go themselves (DAgger).

In each round a table of the policy's decisions is written, for states of its own runs and for all
states that ensembles of earlier rounds came to; an ensemble is trained on it (`train_trees.py`), and
runs in turn (Ross, Gordon and Bagnell 2011, Algorithm 3.1, where runs are the policy's in the first
round and the ensemble's in all others).

    tools/dagger.py POLICERT MODEL.jani --property FILE:0 --interface net.jani2nnet \\
        --kind xgboost --depth 6 --trees 10 --rounds 5 --out trees/blocks

The last round's ensemble is kept. The same seed gives the same files with the same versions.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from pathlib import Path

import train_trees


def decisions(policert, task, interface, table, *options):
    """A table of what a policy chooses."""
    Path(table).unlink(missing_ok=True)
    command = [policert, "dataset", *task, "--interface", interface, "--output", table]
    try:
        done = subprocess.run(
            [str(part) for part in [*command, *options]],
            capture_output=True, text=True, check=False,
        )
    except OSError as error:
        sys.exit(f"{policert}: {error}")
    if not Path(table).exists():
        sys.exit(f"{interface}: {done.stderr.strip()}")


def rows(table):
    with open(table, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def imitate(policert, task, teacher, rounds, rollouts, options):
    """Trains one ensemble in rounds; its interface, and a line about the last round.

    `task` are the arguments of `policert dataset` that name model and property, `options` those of
    `train_trees`, with one depth and one number of trees.
    """
    with tempfile.TemporaryDirectory() as folder:
        table, visited, states = (Path(folder) / name for name in ("table", "visited", "states"))
        known, header = {}, None
        for number in range(rounds):
            runs = ["--rollouts", rollouts, "--seed", options.seed + number]
            if known:
                with open(states, "w", newline="", encoding="utf-8") as file:
                    csv.writer(file).writerows([header, *known])
                runs += ["--states", states]
            decisions(policert, task, teacher, table, *runs)
            chosen = argparse.Namespace(**{**vars(options), "table": table, "interface": teacher})
            student, line = train_trees.fit(chosen)
            if number + 1 < rounds:
                runs = ["--rollouts", rollouts, "--seed", options.seed + number]
                decisions(policert, task, student, visited, *runs)
                header, *new = rows(visited)
                known.update(dict.fromkeys(map(tuple, new)))
        return student, f"{line}; {len(known)} states of ensembles in {rounds} rounds"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("policert", help="the program")
    parser.add_argument("model", help="a JANI file")
    parser.add_argument("--property", required=True, help="as `policert dataset` takes it")
    parser.add_argument("--no-initial", action="store_true", help="as for `policert dataset`")
    parser.add_argument("--const", action="append", default=[], help="as for `policert dataset`")
    parser.add_argument("--interface", required=True, help="the policy's interface (.jani2nnet)")
    parser.add_argument("--rounds", type=train_trees.count, default=5)
    parser.add_argument("--rollouts", type=train_trees.count, default=1000, help="runs in each round")
    train_trees.add_options(parser)
    arguments = parser.parse_args()
    task = [arguments.model, "--property", arguments.property]
    task += ["--no-initial"] * arguments.no_initial
    for constant in arguments.const:
        task += ["--const", constant]
    for options in train_trees.each_size(arguments):
        line = imitate(
            arguments.policert, task, arguments.interface, arguments.rounds, arguments.rollouts, options
        )[1]
        print(line, flush=True)


if __name__ == "__main__":
    main()
