"""Policies: what feeds them, their scores, and which labels they may choose (docs/formats/policy.md)."""

import math
import os
from fractions import Fraction

import infix
import onnx
import trees
from expressions import Wide, listed, node, scalar, span
from network import greatest_power, nnet
from stops import Invalid, Rejected, Unknown, Unsupported, of_type, text_of


KEYS = {"elements", "file", "filter", "input", "never", "output", "rounds", "scores", "ties", "version"}


class Policy:
    def __init__(self, question):
        self.question, task, rules = question, question.task, question.rules["policy"]
        self.ties, self.filter = rules.get("ties"), rules.get("filter")
        if self.ties not in ("first", "any", "strict") or self.filter not in ("none", "applicable"):
            raise Invalid("`semantics.policy` is not what it should be")
        if rules.get("numbers") != "real" or rules.get("at_least") is not None:
            raise Unsupported("scores that are not meant in real arithmetic, or labels drawn only where they are probable")
        self.draws = rules.get("choice", "argmax") == "sample"
        if rules.get("choice", "argmax") not in ("argmax", "sample"):
            raise Invalid("`semantics.policy.choice` is not what it should be")
        path = task.get("interface")
        if path is None:
            raise Unsupported("a policy without an interface file")
        interface = of_type(question.files.json("interface", of_type(path, str, "task.interface")), dict, path)
        self.version = interface.get("version", 1)
        if self.version not in (1, 2):
            raise Unsupported(f"version {self.version} of the interface")
        if self.version == 2 and not KEYS.issuperset(interface):
            raise Unsupported("a key of the interface that is not known")
        file = task.get("policy")
        if file is None:
            file = os.path.join(os.path.dirname(path), interface["file"])
        self.labels, self.never = listed(interface.get("output")), listed(interface.get("never", []))
        known = set(question.model.actions)
        if len({*self.labels, *self.never}) < len(self.labels + self.never) or not known.issuperset(self.labels + self.never):
            raise Invalid("the labels of the interface are not those of the model, or stand there twice")
        data = question.files.bytes("policy", file)
        self.function, classes, hidden = self.read(data, file, interface)
        if interface.get("elements") not in (None, hidden) and hidden is not None:
            raise Invalid(f"/elements: the hidden layers are {hidden}")
        self.inputs = self.inputs_of(interface.get("input"))
        widths = self.function.widths
        if len(self.inputs) < widths[0] or (len(self.inputs) > widths[0] and not getattr(self.function, "open", False)):
            raise Invalid(f"the interface lists {len(self.inputs)} inputs, the policy has {widths[0]}")
        if len(self.labels) != widths[-1]:
            raise Invalid(f"the interface lists {len(self.labels)} outputs, the policy has {widths[-1]}")
        self.outputs = self.attached(classes)
        if self.draws and (classes is not None or not self.function.are_logarithms()):
            raise Unsupported("labels drawn by scores that are no logarithms of probabilities")
        self.memory = {}

    def read(self, data, path, interface):
        """The function of the scores, the classes that it names, and the sizes of its hidden layers."""
        wanted = self.question.task.get("scores")
        if data[:1] in (b"\x08", b"\x12", b"\x3a", b"\x42"):
            wanted = interface.get("scores") if wanted is None else wanted
            function, classes = onnx.read(data, path, self.question.files, wanted, len(self.labels))
            return function, classes, None
        if wanted is not None:
            raise Invalid("`task` names an output of a file without named outputs")
        if data[:1] == b"{" and data[1:2] in b"LiIlU":
            raise Unsupported("trees in UBJSON")
        text = text_of(data, path)
        if text.lstrip().startswith("{"):
            return trees.from_json(text, interface.get("rounds", "best"), len(self.labels)), None, None
        if text.startswith("tree"):
            return trees.lightgbm(text, len(self.labels), interface.get("rounds", "best")), None, None
        function, hidden = nnet(text)
        return function, None, hidden

    def attached(self, classes):
        """The labels in the order of the scores."""
        if classes is None:
            return self.labels
        if all(isinstance(c, int) for c in classes):
            found = [self.labels[c] if 0 <= c < len(self.labels) else None for c in classes]
        else:
            found = [c if c in self.labels else None for c in classes]
            if None in found and any(found):
                raise Invalid("only some of the classes of the policy are labels of the interface")
        return self.labels if None in found else found

    # What feeds the inputs.

    def inputs_of(self, items):
        if isinstance(items, dict) and self.version == 2:
            raise Unsupported("an interface that gives inputs by name")
        return [tree for item in listed(items) for tree in self.input(item)]

    def input(self, item):
        model, question = self.question.model, self.question
        if isinstance(item, str) and self.version == 2:
            if item.strip() in model.index:
                return [("var", model.index[item.strip()])]
            value = infix.read(item, [n for n in [*model.index, *model.known] if n], {})
            call = value.get("function") if isinstance(value, dict) and value.get("op") == "call" else None
            read = question.reading()
            if call == "flatten":
                return flat(read(value["args"][0]))
            if call == "one_hot":
                tree, *ends = (scalar(read(part)) for part in value["args"])
                low, high = (end[1] for end in ends) if ends else span(tree, model.domains)[:2]
                if not 0 <= high - low < 4096:
                    raise Unsupported("one_hot of so many values")
                return [node("=", tree, ("num", k)) for k in range(int(low), int(high) + 1)]
            return [scalar(read(value))]
        if "normalise" in item and self.version == 2:
            inner = [tree for part in item["normalise"] for tree in self.input(part)]
            rows = [], item["mean"], item["variance"]
            if len(rows[1]) != len(inner) or len(rows[2]) != len(inner):
                raise Invalid("as many means and variances as inputs are needed")
            found = []
            for tree, mean, variance in zip(inner, *rows[1:]):
                root = math.sqrt(float(variance) + float(item.get("epsilon", 1e-8)))
                value = node("/", node("-", tree, ("num", Fraction(float(mean)))), ("num", Fraction(root)))
                if item.get("clip") is not None:
                    clip = Fraction(float(item["clip"]))
                    value = node("max", node("min", value, ("num", clip)), ("num", -clip))
                found.append(value)
            return found
        name, index, owner = item.get("name"), item.get("index"), item.get("automaton")
        if "automaton" not in item and index is not None:
            return [("var", model.index[f"{name}#{index}"])]
        if owner is not None:
            if model.instances[owner["index"]] != owner["name"]:
                raise Invalid(f"element {owner['index']} of the system is another automaton")
        names = model.known if owner is None else model.local[owner["index"]]
        if name not in names:
            raise Invalid(f"the model has no variable {str(name)[:60]!r}")
        return [scalar(names[name] if index is None else names[name][index])]

    # Scores and choices.

    def scores(self, box):
        """Bounds of the scores over a box, and by how much they lead each other."""
        bounds = [span(tree, box) for tree in self.inputs]
        if None in bounds:
            raise Rejected("an input of the policy has no value")
        return self.function.scores([low for low, _, _ in bounds], [high for _, high, _ in bounds])

    def scores_in(self, state):
        if state not in self.memory:
            if len(self.memory) > 10_000:
                self.memory.clear()
            self.memory[state] = self.scores([(x, x, True) for x in state])
        return self.memory[state]

    def choice(self, state, competing):
        """The labels that may be chosen among those that compete; None where that is not decided."""
        if not competing:
            return []
        if self.draws:
            return [label for label in self.outputs if label in competing]
        lead = self.scores_in(state)[3]
        places = [k for k, label in enumerate(self.outputs) if label in competing]
        kept = []
        for k in places:
            wins = [self.wins(k, j, lead(k, j), lead(j, k)) for j in places if j != k]
            if None in wins and False not in wins:
                return None
            kept += [] if False in wins else [self.outputs[k]]
        return kept

    def wins(self, k, j, least, back):
        """Whether score k is good enough beside score j, of which it is ahead by `least` to −`back`; None if that is open."""
        strictly = self.ties == "strict" or (self.ties == "first" and j < k)
        if least > 0 or (least == 0 and not strictly):
            return True
        return False if back > 0 or (back == 0 and strictly) else None

    def shares(self, state, competing):
        """Lower bounds of the softmax of the labels that compete: 1 / Σ exp(lead of another)."""
        _, _, unit, lead = self.scores_in(state)
        places = [k for k, label in enumerate(self.outputs) if label in competing]
        if all(lead(k, j) == lead(j, k) == 0 for k in places for j in places):
            return {self.outputs[k]: Fraction(1, len(places)) for k in places}
        found = {}
        for k in places:
            ahead = [Fraction(-lead(k, j), unit) for j in places]
            found[self.outputs[k]] = Fraction(0) if max(ahead) > 500 else 1 / sum(map(greatest_power, ahead))
        return found

    def chosen(self, state, competing):
        found = self.choice(state, competing)
        if found is None:
            raise Unknown(f"the choice in {self.question.model.text(state)} is not decided")
        return found

    def never_chosen(self, box, label, sure):
        """Whether a label is chosen in no state of a box in which the labels `sure` compete for sure."""
        if self.draws:
            return False
        try:
            lead = self.scores(box)[3]
        except Wide:
            return False
        k = self.outputs.index(label)
        for j, other in enumerate(self.outputs):
            if j != k and other in sure:
                if self.wins(k, j, -1, lead(j, k)) is False:
                    return True
        return False

    def says(self, state, applicable):
        """What the policy says in a state, as evidence writes it."""
        low, high, unit, _ = self.scores_in(state)
        choice = self.choice(state, self.outputs if self.filter == "none" else applicable)
        rows = []
        for k, label in enumerate(self.outputs):
            exact = Fraction(low[k], unit) if self.function.rational else None
            decimals = [low[k] / unit, high[k] / unit]
            row = {"label": label, "exact": None if exact is None else str(exact), "applicable": label in applicable}
            rows.append((row, decimals))
        return choice, rows


def flat(tree):
    return [part for cell in tree for part in flat(cell)] if isinstance(tree, list) else [tree]
