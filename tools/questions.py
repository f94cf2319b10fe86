"""Small models around policies, for the tools that compare Policert with the libraries that made the policies.

The variables of a model are the inputs of the policy, x0, x1, …, and its labels are the outputs, a0, a1, ….
"""

import csv
import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def names_of(inputs):
    return [f"x{k}" for k in range(inputs)]


def labels_of(outputs):
    return [f"a{k}" for k in range(outputs)]


def jani(names, labels, edges, unsafe, bounds):
    """A model of one automaton with one location, all of whose variables begin at 0."""
    least, greatest = bounds
    bounded = {"kind": "bounded", "base": "int", "lower-bound": least, "upper-bound": greatest}
    return {
        "jani-version": 1, "name": "question", "type": "mdp", "actions": [{"name": label} for label in labels],
        "variables": [{"name": name, "type": bounded, "initial-value": 0} for name in names],
        "properties": [{"name": "p", "expression": {
            "op": "PA", "reach": {"op": "state-condition", "exp": unsafe}}}],
        "automata": [{"name": "m", "locations": [{"name": "l"}], "initial-locations": ["l"], "edges": edges}],
        "system": {"elements": [{"automaton": "m"}],
                   "syncs": [{"synchronise": [label], "result": label} for label in labels]},
    }


def write_question(folder, outputs, states, bounds, policy="policy.onnx", entries=None):
    """A model that stays where it is, an interface of the policy, and a list of states. `entries` are the inputs
    of the policy, if they are not the variables."""
    names, labels = names_of(len(states[0])), labels_of(outputs)
    edges = [{"location": "l", "action": label, "destinations": [{"location": "l"}]} for label in labels]
    unsafe = {"op": "=", "left": names[0], "right": bounds[1]}
    (folder / "model.jani").write_text(json.dumps(jani(names, labels, edges, unsafe, bounds)))
    interface = {"version": 2, "file": str(policy), "filter": False, "input": entries or names, "output": labels}
    (folder / "policy.jani2nnet").write_text(json.dumps(interface))
    with open(folder / "states.csv", "w", newline="") as file:
        csv.writer(file).writerows([names, *states])


def run(command):
    """The exit status of a program, and what it says."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    return done.returncode, (done.stderr or done.stdout).strip()


def decisions(program, folder):
    """The exit status, what is said, and by state the index of the label that Policert says the policy chooses, for
    what `write_question` wrote."""
    status, text = run([program, "dataset", folder / "model.jani", "--interface", folder / "policy.jani2nnet",
                        "--states", folder / "states.csv", "--rollouts", 0, "--output", folder / "decisions.csv", "-q"])
    if status != 0:
        return status, text, {}
    with open(folder / "states.csv", newline="") as file:
        names = next(csv.reader(file))
    with open(folder / "decisions.csv", newline="") as file:
        decided = {tuple(int(float(row[name])) for name in names): int(row["label_index"])
                   for row in csv.DictReader(file)}
    return status, text, decided
