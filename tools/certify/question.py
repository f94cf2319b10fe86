"""What evidence is about: the model, the property, start and unsafe states, and the rules of the runs."""

import os

import infix
from expressions import Lowering, compiled, constant, listed, node, truthful
from model import Model
from stops import Invalid, Rejected, Unsupported, of_type

TASK = {"model", "property", "property_file", "property_index", "constants", "interface", "policy", "terminal", "goal"}
TASK |= {"initial_states", "scores"}
RULES = {"policy", "domain", "start", "terminal", "aim", "stuck", "goal", "unlearned_labels", "never_chosen", "text"}
OF_POLICY = {"ties", "filter", "numbers", "choice"}
TRUE, FALSE = ("num", 1), ("num", 0)
ABOVE, REVERSED = (">", "≥"), {"<": ">", ">": "<", "≤": "≥", "≥": "≤", "=": "=", "≠": "≠"}
FUNCTIONS = {"min": "least", "sum": "sum", "avg": "average", "max": "greatest", "values": "greatest", "∀": None, "∃": None}
TIES = {"first": "first output", "any": "any of the best", "strict": "nothing is chosen"}
FILTERS = {"none": "all outputs", "applicable": "the applicable outputs"}
DOMAINS = {"drop": "updates that leave a domain are no transitions", "error": "updates that leave a domain are errors"}
STARTS = {
    "property_and_initial": "start: the property's and the initial states",
    "property": "start: the property's states",
    "initial": "start: the initial states",
}


class Question:
    def __init__(self, evidence, files):
        task = of_type(evidence.get("task"), dict, "task")
        self.task, self.files = task, files
        rules = self.rules = of_type(evidence.get("semantics"), dict, "semantics")
        for known, value in ((TASK, task), (RULES, rules), (OF_POLICY, rules.get("policy") or {})):
            if not known.issuperset(value):
                raise Unsupported(f"a question with {', '.join(sorted(map(str, set(value) - known)))[:60]}")
        self.base = of_type(task.get("model"), str, "task.model")
        if any(not isinstance(task.get(key), (str, type(None))) for key in ("interface", "policy", "scores", "terminal", "goal")):
            raise Invalid("`task` is missing, or not what it should be")
        given = of_type(task.get("constants"), dict, "task.constants")
        given = {name: value if isinstance(value, str) else str(value).lower() for name, value in given.items()}
        document = files.json("model", self.base)
        self.model = Model(document, given)
        for key, values in (("domain", DOMAINS), ("aim", ("avoid_unsafe", "reach_goal")), ("stuck", ("allowed", "unsafe"))):
            if rules.get(key) not in values and (key in rules or key == "domain"):
                raise Invalid(f"`semantics.{key}` is not what it should be")
        self.strict = rules["domain"] == "error"
        self.reach_goal = rules.get("aim") == "reach_goal"
        self.stuck_unsafe = rules.get("stuck") == "unsafe"
        self.labels = document.get("labels", [])
        self.folder = os.path.dirname(self.base)
        self.standard, self.never, self.least = None, False, False
        self.property(self.chosen(document))
        if task.get("goal") is not None:
            self.goal = self.written(task["goal"])
        idle = task.get("goal") is not None and task.get("terminal") != "goal" and not (self.reach_goal or self.stuck_unsafe)
        if idle or (not of_type(task.get("initial_states"), bool, "task.initial_states") and self.start is None):
            raise Invalid("`task` says what makes no difference to the question")
        terminal = task.get("terminal")
        self.terminal = FALSE if terminal is None else self.goal if terminal == "goal" else self.written(terminal)
        if self.terminal is None or (self.reach_goal and self.goal is None):
            raise Invalid("a goal is asked for, and there is none")
        self.holds = {
            name: compiled(tree)
            for name, tree in (("unsafe", self.unsafe), ("goal", self.goal or FALSE), ("terminal", self.terminal))
        }

    def is_so(self, name, state):
        return self.holds[name](state) == 1

    def written(self, text):
        """A condition as people write it."""
        of_type(text, str, "a condition")
        names = [name for name in [*self.model.index, *self.model.known] if name]
        places = {v.name: v.names for v in self.model.variables if v.kind == "location"}
        return truthful(self.reading()(infix.read(text, names, places)))

    def reading(self):
        """Names in properties: globals, locals of a single instance, and the model's own names of its variables."""
        model = self.model

        def find(name):
            if name in model.known:
                return model.known[name]
            local = [names[name] for names in model.local if name in names]
            if len(local) == 1:
                return local[0]
            if name in model.index:
                k = model.index[name]
                return ("var", k, *["bool"] * (model.variables[k].kind == "bool"))
            raise Invalid(f"unknown name {name[:60]!r}")

        return Lowering(find, model.functions)

    # The property.

    def chosen(self, document):
        """The property that the task names."""
        name, file, index = (self.task.get(key) for key in ("property", "property_file", "property_index"))
        if file is not None:
            document = self.files.json("property", of_type(file, str, "task.property_file"))
            self.folder, self.labels = os.path.dirname(file), document.get("labels", []) + self.labels
        properties = listed(document.get("properties", []))
        if index is None:
            index = next((k for k, p in enumerate(properties) if p.get("name") == name), -1)
        if not 0 <= of_type(index, int, "task.property_index") < len(properties):
            raise Invalid("there is no such property")
        if properties[index].get("name") != name:
            raise Rejected(f"`task.property` is {str(properties[index].get('name'))[:60]!r}, not {str(name)[:60]!r}")
        return properties[index]

    def property(self, found):
        value = found.get("expression")
        self.start = self.goal = self.interface = None
        if value.get("op") != "PA":
            self.formula(value)
            return
        parts = [self.included(value.get(key)) for key in ("start", "reach", "objective", "predicates")]
        start, reach, objective = parts[:3]
        if start is not None:
            start, folder = self.labelled(*start)
            if start.get("op") == "states-values":
                self.start = [self.listed_state(record) for record in listed(start.get("values"))]
            else:
                self.start = self.states(start, folder)
        self.unsafe = FALSE if reach is None else self.states(*reach)
        goal = objective and objective[0].get("goal")
        self.goal = self.states(*self.included(goal, objective[1])) if goal is not None else None
        if value.get("file") is not None:
            self.interface = os.path.join(self.folder, value["file"])

    def included(self, value, folder=None):
        """A member that may stand in a file of its own, with the folder that it stands in."""
        folder = self.folder if folder is None else folder
        for _ in range(20):
            if not (isinstance(value, dict) and isinstance(value.get("file"), str) and "op" not in value):
                return None if value is None else (value, folder)
            path = os.path.join(folder, value["file"])
            value, folder = self.files.json("property", path), os.path.dirname(path)
        raise Invalid("files that include each other")

    def labelled(self, value, folder):
        for _ in range(20):
            if "label" not in value:
                return value, folder
            found = [label["element"] for label in self.labels if label.get("name") == value["label"]]
            if not found:
                raise Invalid(f"unknown label {value['label']!r}")
            value, folder = self.included(found[0], folder)
        raise Invalid("labels that name each other")

    def states(self, value, folder):
        value, _ = self.labelled(value, folder)
        if value.get("op") != "state-condition":
            raise Unsupported(f"states given by {value.get('op')!r}")
        read = self.reading()
        condition = truthful(read(value.get("exp", True)))
        for location in value.get("locations", []):
            k, at = self.location(location)
            condition = read.two("∧", condition, node("=", ("var", k), ("num", at)))
        return condition

    def location(self, record):
        model, name, index = self.model, record["automaton"], record.get("index")
        if index is None:
            (index,) = [i for i, instance in enumerate(model.instances) if instance == name]
        if model.instances[index] != name or index < 0:
            raise Invalid(f"element {index} of the system is not {name!r}")
        return model.places[index], model.variables[model.places[index]].names.index(record["location"])

    def listed_state(self, record):
        values = [v.initial[0] if v.initial and len(v.initial) == 1 else None for v in self.model.variables]
        for location in record.get("locations", []):
            k, at = self.location(location)
            values[k] = at
        for given in record.get("variables", []):
            target = self.reading()(given["var"])
            if target[0] != "var":
                raise Invalid("a variable is expected in a list of states")
            values[target[1]] = constant(self.reading()(given["value"]))
        if any(x is None or not v.low <= x <= v.high for x, v in zip(values, self.model.variables)):
            raise Invalid("a state of the list lacks a value, or leaves a domain")
        return tuple(map(int, values))

    def formula(self, value):
        """A property of the JANI standard."""
        if value.get("op") != "filter" or value.get("states", {}).get("op") != "initial":
            raise Unsupported("properties without a filter over the initial states")
        function, asked, bound = value.get("fun"), value.get("values"), None
        if function not in FUNCTIONS:
            raise Unsupported(f"the filter {str(function)[:20]!r}")
        relation = asked.get("op") if asked.get("op") in REVERSED else None
        if relation:
            left, right = asked.get("left"), asked.get("right")
            if not (isinstance(left, dict) and left.get("op") in ("Pmax", "Pmin")):
                left, right, relation = right, left, REVERSED[relation]
            asked, bound = left, constant(self.reading()(right))
        quantity = asked.get("op")
        path = asked.get("exp") if quantity in ("Pmax", "Pmin", "∃", "∀") else asked
        op = path.get("op")
        if op not in ("F", "G", "U") or any(key.endswith("-bounds") for key in path):
            raise Unsupported(f"paths with {op!r}, or with bounds")
        read = self.reading()
        stay = truthful(read(path["left"])) if op == "U" else TRUE
        self.unsafe = truthful(read(path["right" if op == "U" else "exp"]))
        if op == "G":
            self.unsafe = node("¬", self.unsafe)
        if quantity in ("Pmax", "Pmin"):
            self.standard = (function, relation, bound, stay)
            self.never, self.least = op == "G", (quantity == "Pmin") != (op == "G")
            return
        single = all(v.initial is not None and len(v.initial) == 1 for v in self.model.variables)
        wanted = "∀" if quantity == "∀" else "∃"
        plain = op == "G" if quantity == "∀" else stay == TRUE and op != "G"
        if not plain or bound is not None or not (function == wanted or single and function in ("∃", "∀", "values")):
            raise Unsupported("a property of paths that is neither ∃ F nor ∀ G")

    def over(self):
        """Which number the probabilities of the start states make."""
        if self.standard is None:
            return "greatest"
        function, relation, _, _ = self.standard
        if relation:
            if function not in ("∀", "∃", "values"):
                raise Unsupported(f"comparisons of the filter {function!r}")
            return "greatest" if (function == "∃") == (relation in ABOVE) else "least"
        if FUNCTIONS[function] is None:
            raise Unsupported(f"the filter {function!r} over numbers")
        return FUNCTIONS[function]

    # Start states.

    def start_rule(self):
        if self.start is None:
            return "initial"
        return "property_and_initial" if self.task.get("initial_states") else "property"

    def regions(self):
        """Where runs start: pairs of a box and a condition."""
        found, rule, domains = [], self.start_rule(), self.model.domains
        if isinstance(self.start, list):
            found += [([(x, x, True) for x in state], TRUE) for state in self.start]
        elif self.start is not None:
            found.append((list(domains), self.start))
        initial = self.model.initial_box() if rule != "property" else None
        return found + ([initial] if initial else [])

    def starts(self, state):
        """Whether runs may start in a state."""
        inside = lambda box: all(low <= x <= high for x, (low, high, _) in zip(state, box))
        return any(inside(box) and compiled(condition)(state) == 1 for box, condition in self.regions())

    # What the evidence says about the question.

    def confirm(self, evidence, policy):
        """Compares what the evidence says about the question with what is so."""
        rules, model = self.rules, self.model
        said = rules.get("policy")
        right = {"domain": rules["domain"], "start": self.start_rule(), "unlearned_labels": [], "never_chosen": []}
        if policy:
            right["unlearned_labels"] = [a for a in model.actions if a not in policy.outputs + policy.never and self.carried(a)]
            right["never_chosen"] = policy.never
        for key, value in right.items():
            if rules.get(key, [] if key == "never_chosen" else None) != value:
                raise Rejected(f"`semantics.{key}` is {value}, not {str(rules.get(key))[:80]}")
        shows_goal = self.goal is not None and (self.reach_goal or self.stuck_unsafe)
        self.same(rules.get("terminal"), None if self.terminal is FALSE else self.terminal, "semantics.terminal")
        self.same(rules.get("goal"), self.goal if shows_goal else None, "semantics.goal")
        self.same(evidence.get("unsafe_condition"), self.unsafe, "unsafe_condition")
        parts = ["no policy: all actions are allowed"]
        if said:
            rule = f"best of {FILTERS[said['filter']]}; ties: {TIES[said['ties']]}"
            if said.get("choice") == "sample":
                rule = f"drawn from {FILTERS[said['filter']]} by their probabilities"
            parts = [f"scores in real arithmetic; {rule}"]
        parts += [DOMAINS[rules["domain"]], STARTS[self.start_rule()]]
        if rules.get("terminal") is not None:
            parts.append(f"terminal: {shortened(rules['terminal'])}")
        if policy and policy.never:
            parts.append(f"never chosen: {shortened(', '.join(policy.never))}")
        if self.reach_goal:
            parts.append(f"asked: every run reaches the goal {shortened(rules.get('goal') or 'of the property')}")
        if self.stuck_unsafe:
            but = f", except the goal {shortened(rules['goal'])}" if rules.get("goal") is not None else ""
            parts.append(f"states without successors are unsafe{but}")
        if rules.get("text") != "; ".join(parts):
            raise Rejected(f"`semantics.text` is {'; '.join(parts)!r}")

    def carried(self, label):
        """Whether some operator has this label."""
        has = lambda i, action: any(edge.action == action for edge in self.model.edges[i])
        return any(result == label and parts and all(has(*part) for part in parts) for parts, result in self.model.vectors)

    def same(self, text, tree, place):
        """Compares a condition as people write it with the one that is meant, on many states."""
        if text is None or tree is None:
            if (text is None) != (tree is None):
                raise Rejected(f"`{place}` is {text!r}")
            return
        try:
            said = self.written(text)
        except (Invalid, Unsupported) as error:
            raise Rejected(f"`{place}`: {error}") from None
        one, other = compiled(said), compiled(tree)
        for state in samples(self.model.domains, [said, tree]):
            if (one(state) == 1) != (other(state) == 1):
                raise Rejected(f"`{place}` says something else of the state {self.model.text(state)}")


def shortened(text):
    return text if len(text) <= 60 else text[:60] + "…"


def samples(domains, trees):
    """States of the domains: all of them if they differ in few ways where the expressions look, else many."""
    read, numbers = set(), {0}

    def visit(tree):
        if tree[0] == "var":
            read.add(tree[1])
        elif tree[0] == "num":
            numbers.add(int(tree[1]))
        else:
            for part in [*tree[1], tree[2]] if tree[0] == "cell" else tree[1:]:
                visit(part)

    for tree in trees:
        visit(tree)
    base, count = [low for low, _, _ in domains], 1
    for k in read:
        count *= domains[k][1] - domains[k][0] + 1
    read, seed = sorted(read), 1
    for step in range(min(count, 5000)):
        state, rest = list(base), step
        for k in read:
            low, high, _ = domains[k]
            if count <= 5000:
                rest, at = divmod(rest, high - low + 1)
                state[k] = low + at
                continue
            near = [n + d for n in numbers for d in (-1, 0, 1) if low <= n + d <= high] + [low, high]
            seed = (seed * 6364136223846793005 + 1442695040888963407) % (1 << 64)
            state[k] = low + (seed >> 20) % (high - low + 1) if seed >> 60 < 3 else sorted(near)[(seed >> 20) % len(near)]
        yield state
