#!/usr/bin/env python3
"""Starts heavy commands of all kinds with a limit of time, then of memory, and checks that each ends in time.

    tools/check_limits.py [--program target/release/policert] [--only TEXT] [--time 2] [--memory 300]

Every command runs with `--timeout 2s`, then with `--memory 300MB`. It has to end within 0.5 s of processor time
after the limit, or with at most 10 % more memory, with the exit code of the limit or an answer. The heavy files are
made in a temporary folder; the rest is in the repository. "abandoned" means that the work did not look at its
limits and was ended from outside.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SLACK_CPU_S = 0.5
SLACK_MEMORY = 1.1


def jani(path, edges, indent, variables=8, top=1000):
    """A model with many edges; a policy-free question about it."""
    names = [f"v{i}" for i in range(variables)]
    bounded = {"kind": "bounded", "base": "int", "lower-bound": 0, "upper-bound": top}
    reach = {"op": "∧", "left": {"op": "=", "left": names[0], "right": top},
             "right": {"op": "=", "left": names[1], "right": top // 2 + 1}}
    edge = lambda i: {
        "location": "l", "action": "a",
        "guard": {"exp": {"op": "≤", "left": names[i % variables], "right": i % top}},
        "destinations": [{"location": "l", "assignments": [
            {"ref": names[i % variables], "value": {"op": "+", "left": names[i % variables], "right": 1}}]}],
    }
    model = {
        "jani-version": 1, "name": "many", "type": "lts", "actions": [{"name": "a"}],
        "variables": [{"name": n, "type": bounded, "initial-value": 0} for n in names],
        "properties": [{"name": "p", "expression": {
            "op": "PA", "reach": {"op": "state-condition", "exp": reach},
            "objective": {"op": "objective", "goal": reach}}}],
        "automata": [{"name": "A", "locations": [{"name": "l"}], "initial-locations": ["l"],
                      "edges": [edge(i) for i in range(edges)]}],
        "system": {"elements": [{"automaton": "A"}], "syncs": [{"synchronise": ["a"], "result": "a"}]},
    }
    path.write_text(json.dumps(model, ensure_ascii=False, indent=indent))


def broken_jani(path, edges):
    """A file of one line with a mistake in every edge."""
    jani(path, edges, None)
    path.write_text(path.read_text().replace('"value"', '"valu"'))


def nnet(path, sizes, seed=1):
    """A network with random weights."""
    rng = random.Random(seed)
    with path.open("w") as out:
        out.write("// made\n%d,%d,%d,%d,\n" % (len(sizes) - 1, sizes[0], sizes[-1], max(sizes)))
        out.write(",".join(map(str, sizes)) + ",\n0,\n")
        out.write("-1.0," * sizes[0] + "\n" + "1.0," * sizes[0] + "\n")
        out.write("0.0," * (sizes[0] + 1) + "\n" + "1.0," * (sizes[0] + 1) + "\n")
        row = ["%.3f" % rng.gauss(0, 1) for _ in range(4096)]
        for i, o in zip(sizes, sizes[1:]):
            for _ in range(o):
                start = rng.randrange(2048)
                line = (row[start:] + row) * (i // 4096 + 1)
                out.write(",".join(line[:i]) + ",\n")
            out.write("0.1,\n" * o)


def vnnlib(path, inputs, bound, outputs=1):
    lines = [f"(declare-const X_{i} Real)" for i in range(inputs)]
    lines += [f"(declare-const Y_{i} Real)" for i in range(outputs)]
    lines += [f"(assert (>= X_{i} -1))\n(assert (<= X_{i} 1))" for i in range(inputs)]
    lines.append(f"(assert (>= Y_0 {bound}))")
    path.write_text("\n".join(lines) + "\n")


def xgboost(path, trees):
    """Many small trees, as XGBoost writes them."""
    tree = lambda i: {
        "base_weights": [0, 0, 0], "categories": [], "categories_nodes": [], "categories_segments": [],
        "categories_sizes": [], "default_left": [0, 0, 0], "id": i, "left_children": [1, -1, -1],
        "loss_changes": [1, 0, 0], "parents": [2147483647, 0, 0], "right_children": [2, -1, -1],
        "split_conditions": [i % 30 + 0.5, 0.1, -0.1], "split_indices": [i % 2, 0, 0], "split_type": [0, 0, 0],
        "sum_hessian": [2, 1, 1],
        "tree_param": {"num_deleted": "0", "num_feature": "2", "num_nodes": "3", "size_leaf_vector": "1"},
    }
    model = {"learner": {
        "attributes": {}, "feature_names": [], "feature_types": [],
        "gradient_booster": {"model": {
            "cats": {"enc": [], "feature_segments": [], "sorted_idx": []},
            "gbtree_model_param": {"num_parallel_tree": "1", "num_trees": str(trees)},
            "iteration_indptr": list(range(0, trees + 1, 3)), "tree_info": [i % 3 for i in range(trees)],
            "trees": [tree(i) for i in range(trees)]}, "name": "gbtree"},
        "learner_model_param": {"base_score": "5E-1", "boost_from_average": "1", "num_class": "3",
                                "num_feature": "2", "num_target": "1"},
        "objective": {"name": "multi:softprob", "softmax_multiclass_param": {"num_class": "3"}}},
        "version": [2, 1, 0]}
    path.write_text(json.dumps(model))


def evidence(path, states):
    path.write_text('{"schema_version": 1, "values": [' + ",".join(["[[1,2,3,4],0,1]"] * states) + "]}")


def states(path, rows):
    path.write_text("position,speed\n" + "20,2\n21,3\n" * (rows // 2))


def made(folder, run):
    """The heavy files."""
    at = lambda name: folder / name
    jani(at("long.jani"), 150_000, None)
    jani(at("pretty.jani"), 60_000, 1)
    broken_jani(at("broken.jani"), 60_000)
    jani(at("wide.jani"), 400, None, variables=10, top=100_000)
    nnet(at("big.nnet"), [5, 2500, 2500, 2500, 5])
    nnet(at("deep.nnet"), [5] + [60] * 12 + [1])
    nnet(at("input.nnet"), [40, 300, 300, 1])
    vnnlib(at("five.vnnlib"), 5, 100)
    vnnlib(at("five_of_five.vnnlib"), 5, 1e6, 5)
    vnnlib(at("forty.vnnlib"), 40, 2000)
    at("long.vnnlib").write_text(at("five.vnnlib").read_text() + "(assert (or " + "(<= X_0 0.5)" * 4_000_000 + "))\n")
    xgboost(at("many.json"), 150_000)
    evidence(at("evidence.json"), 6_000_000)
    states(at("states.csv"), 12_000_000)
    run("generate", "npuzzle", "3", "3", "--output", "puzzle")
    run("generate", "transport", "--locations", "12", "--packages", "8", "--output", "transport")
    run("generate", "blocksworld", "7", "--cost-bound", "20", "--failing-probability", "0.5", "--output", "blocks")
    interface = json.loads((ROOT / "examples/icy_road/hasty.jani2nnet").read_text())
    interface["file"] = "many.json"
    at("many.jani2nnet").write_text(json.dumps(interface))


def commands(folder):
    """Heavy commands, by name. What a domain's files are called is looked up."""
    def model(name):
        question = next((folder / name).rglob("pa_*.jani"))
        stem = question.name.removeprefix("pa_")
        return [str(next((folder / name).rglob(stem))), "--property", f"{question}:0"]

    blocks10, blocks8 = (["BENCH/blocksworld_%s/blocksworld_%s.jani" % (folder_, sizes), "--property",
                          "BENCH/blocksworld_%s/pa_blocksworld_%s.jani:0" % (folder_, sizes)]
                         for folder_, sizes in [("10_ca", "10_9"), ("8_ca", "8_7")])
    beluga = ["BENCH/beluga_6_2/beluga_6_2.jani", "--property", "BENCH/beluga_6_2/pa_beluga_6_2.jani:0"]
    road = ["ROOT/examples/icy_road/model.jani", "--property", "hasty"]
    puzzle, transport, small = model("puzzle"), model("transport"), model("blocks")
    none = ["--no-policy"]
    listed = {
        "verify long.jani": ["verify", "long.jani"],
        "verify pretty.jani": ["verify", "pretty.jani"],
        "verify broken.jani": ["verify", "broken.jani"],
        "verify many trees": ["verify", *road, "--interface", "many.jani2nnet"],
        "auto puzzle": ["verify", *puzzle, *none],
        "auto blocks 10": ["verify", *blocks10],
        "auto, two threads": ["verify", *beluga, "--threads", "2"],
        "certify": ["certify", "evidence.json"],
        "check long.jani": ["check", "long.jani"],
        "check broken.jani": ["check", "broken.jani"],
        "check transport": ["check", *transport, *none],
        "convert long.jani": ["convert", "long.jani", "--output", "out.jani", "--no-policy"],
        "convert to drn": ["convert", *puzzle, *none, "--to", "drn", "--output", "out.drn"],
        "convert to prism": ["convert", "pretty.jani", "--to", "prism", "--output", "out.prism", "--no-policy"],
        "dataset": ["dataset", *blocks8, "--output", "t.csv", "--rollouts", "100000000"],
        "dataset, states": ["dataset", *road, "--states", "states.csv", "--output", "t.csv", "--rollouts", "0"],
        "simulate": ["simulate", *transport, *none, "--runs", "100000000"],
        "simulate long.jani": ["simulate", "long.jani", "--no-policy"],
        "generate": ["generate", "npuzzle", "3", "4", "--output", "generated", "--force", "--count",
                     "--max-states", "100000000"],
        "query deep": ["query", "deep.nnet", "five.vnnlib"],
        "query wide": ["query", "input.nnet", "forty.vnnlib"],
        "query big": ["query", "big.nnet", "five_of_five.vnnlib"],
        "query long property": ["query", "deep.nnet", "long.vnnlib"],
        "reach": ["reach", "ROOT/examples/cart/cart.toml", "--refinements", "40"],
        "reach cells": ["reach", "ROOT/examples/cart/cells.toml", "--granularity", "0.0001"],
        "reach cells, two threads": ["reach", "ROOT/examples/cart/cells.toml", "--granularity", "0.0003",
                                     "--threads", "2"],
        "train loop": ["train", "ROOT/examples/cart/cart.toml", "--plain", "--out", "new.onnx"],
        "train model": ["train", *small, "--out", "new.nnet", "--steps", "100000000"],
        "train long.jani": ["train", "long.jani", "--out", "new.nnet"],
    }
    for engine in ["explicit", "ppa", "cegar", "ic3", "bmc", "prob", "prob-ppa", "prob-cegar"]:
        listed[f"{engine} blocks 8"] = ["verify", *blocks8, "--engine", engine]
        listed[f"{engine} wide.jani"] = ["verify", "wide.jani", "--engine", engine]
    listed["ppa splits"] = ["verify", "wide.jani", "--engine", "ppa", "--predicates", "splits:5"]
    listed["cegar splits"] = ["verify", "wide.jani", "--engine", "cegar", "--predicates", "splits:5"]
    listed["prob-ppa splits"] = ["verify", "wide.jani", "--engine", "prob-ppa", "--predicates", "splits:5"]
    words = {"BENCH": str(ROOT / "benchmarks"), "ROOT": str(ROOT)}

    def full(word):
        for short, long in words.items():
            word = word.replace(short + "/", long + "/")
        return word

    return {name: [full(word) for word in line] for name, line in listed.items()}


def measured(program, arguments, folder, longest):
    """Exit code, processor time, peak memory in MB, clock, and what was printed, of a run."""
    begin = time.monotonic()
    with open(folder / "printed", "w+b") as printed:
        child = subprocess.Popen([program, *arguments], cwd=folder, stdin=subprocess.DEVNULL,
                                 stdout=printed, stderr=subprocess.STDOUT)
        while True:
            pid, status, usage = os.wait4(child.pid, os.WNOHANG)
            if pid:
                break
            if time.monotonic() - begin > longest:
                child.kill()
                _, status, usage = os.wait4(child.pid, 0)
                break
            time.sleep(0.005)
        child.returncode = os.waitstatus_to_exitcode(status)
        printed.seek(0)
        text = printed.read(100_000).decode(errors="replace")
    cpu = usage.ru_utime + usage.ru_stime
    return child.returncode, cpu, usage.ru_maxrss / 1000 * 1.024, time.monotonic() - begin, text


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=str(ROOT / "target/release/policert"))
    parser.add_argument("--only", default="", help="commands whose name contains this text")
    parser.add_argument("--time", type=float, default=2.0, help="limit in seconds; 0 for none")
    parser.add_argument("--memory", type=int, default=300, help="limit in MB; 0 for none")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = lambda *line: subprocess.run([program, *line, "--quiet"], cwd=folder, check=True)
        # In a process of its own: the peak of a child counts from the memory of the process that starts it.
        maker = os.fork()
        if maker == 0:
            made(folder, run)
            os._exit(0)
        if os.waitstatus_to_exitcode(os.waitpid(maker, 0)[1]) != 0:
            sys.exit("the heavy files could not be made")
        listed = {n: c for n, c in commands(folder).items() if options.only in n}
        limits = []
        if options.time:
            limits.append((30, ["--timeout", f"{options.time}s"]))
        if options.memory:
            limits.append((31, ["--memory", f"{options.memory}MB"]))
        print(f"{len(listed)} commands\n{'command':28} {'limit':8} {'code':>4} {'cpu s':>7} {'clock s':>7} {'MB':>6}")
        for command, line in listed.items():
            for code, limit in limits:
                longest = 60 + options.time if code == 30 else 120
                found, cpu, memory, clock, text = measured(program, line + limit, folder, longest)
                faults = []
                if code == 30 and cpu > clock_limit(options.time, line) + SLACK_CPU_S:
                    faults.append(f"{cpu - options.time:.2f} s too long")
                if code == 31 and memory > options.memory * SLACK_MEMORY:
                    faults.append(f"{memory - options.memory:.0f} MB too much")
                # A run that needs little memory does not come to that limit.
                is_frugal = code == 31 and found == -9 and memory <= options.memory
                if not is_frugal and found not in (0, 10, 20, 32, code) and not (found == 40 and "broken" in command):
                    faults.append(f"exit code {found}: {text.strip().splitlines()[-1:]}")
                if "before there was anything" in text:
                    text = "abandoned, or while loading"
                else:
                    text = ""
                wrong += bool(faults)
                print(f"{command:28} {limit[0][2:]:8} {found:4} {cpu:7.2f} {clock:7.2f} {memory:6.0f} "
                      f"{text} {'; '.join(faults)}", flush=True)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


def clock_limit(limit, line):
    """Processor time that a run may have until its limit: that of all its threads."""
    threads = int(line[line.index("--threads") + 1]) if "--threads" in line else 1
    return limit * threads


if __name__ == "__main__":
    sys.exit(main())
