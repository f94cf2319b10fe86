"""Two kinds of evidence: a run, and an inductive invariant (docs/formats/evidence.md)."""

from boxes import Boxes, diagram_boxes
from expressions import Empty, Wide, compiled, listed, narrow, node, truths
from model import halves
from stops import Invalid, Rejected, Unknown, of_type


class Rules:
    """What may happen in a state: the rules of the model and the policy together."""

    def __init__(self, question, policy):
        self.question, self.policy, self.model, self.strict = question, policy, question.model, question.strict

    def is_policys(self, label):
        return self.policy is not None and label in self.policy.outputs

    def is_left_out(self, label):
        return self.policy is not None and label in self.policy.never

    def applicable(self, state, strict=None):
        """The labels of the policy with an operator whose guard holds."""
        enabled = self.model.enabled(state, self.strict if strict is None else strict, self.is_policys)
        return {operator.label for operator in enabled}

    def chosen(self, state):
        """The labels of the policy that it may choose."""
        return self.policy.chosen(state, self.policy.outputs if self.policy.filter == "none" else self.applicable(state))

    def moves(self, state):
        """The operators that may fire in a state."""
        allowed = None
        for operator in self.model.enabled(state, self.strict, lambda label: not self.is_left_out(label)):
            if self.is_policys(operator.label):
                allowed = self.chosen(state) if allowed is None else allowed
                if operator.label not in allowed:
                    continue
            yield operator

    def outcomes(self, operator, state):
        """The outcomes of an operator: its position, its probability, and what it leads to."""
        for k in range(len(operator.outcomes)):
            chance = self.model.probability(operator, k, state)
            if chance:
                yield k, chance, list(self.model.leads(operator, k, state, self.strict))

    def successors(self, operator, state):
        return [after for _, _, found in self.outcomes(operator, state) for _, after in found]

    def leads_on(self, state):
        """Who leads on from a state: the environment, or all that the policy may choose; None if a run may get stuck."""
        for operator in self.model.enabled(state, self.strict, lambda label: not self.is_left_out(label)):
            if not self.is_policys(operator.label) and self.successors(operator, state):
                return "the environment"
        if self.policy is None:
            return None
        chosen = self.chosen(state)
        alive = {o.label for o in self.model.enabled(state, self.strict, self.is_policys) if self.successors(o, state)}
        return "what the policy chooses" if chosen and alive.issuperset(chosen) else None

    def check_stuck(self, state):
        if who := self.leads_on(state):
            raise Rejected(f"the run is not stuck at its end: {who} leads on from {self.model.text(state)}")


def differs(said, right, place):
    if said != right or isinstance(said, bool) != isinstance(right, bool):
        raise Rejected(f"`{place}` is {str(right)[:80]}, not {str(said)[:80]}")


class Run(Rules):
    def check(self, evidence):
        question, model = self.question, self.model
        trace = listed(evidence.get("trace"))
        states = [model.state(evidence.get("start"))]
        if not question.starts(states[0]):
            raise Rejected(f"the first state is no start state: {model.text(states[0])}")
        differs(evidence.get("steps"), len(trace), "steps")
        for k, record in enumerate(trace):
            of_type(record, dict, f"trace[{k}]")
            states.append(self.step(states[-1], record, f"trace[{k}]"))
            differs(record.get("step"), k + 1, f"trace[{k}].step")
        kind, back_to = self.end(states, trace)
        if "end" not in evidence and kind == "unsafe":
            return f"a run of {len(trace)} steps"
        end = of_type(evidence.get("end"), dict, "end")
        for key, value in (("kind", kind), ("back_to", back_to)):
            if key not in end:
                raise Invalid(f"`end.{key}` is missing")
            differs(end[key], value, f"end.{key}")
        self.confirm_policy(end.get("policy"), states[-1], "end.policy", kind == "stuck")
        return f"a run of {len(trace)} steps"

    def step(self, state, record, place):
        model, label = self.model, record.get("label")
        after = model.state(record.get("state"))
        if self.question.is_so("terminal", state):
            raise Rejected(f"{place} leaves a terminal state")
        operator = self.operator(record.get("operator"), place)
        differs(label, operator.label, f"{place}.label")
        if not model.is_enabled(operator, state, self.strict):
            raise Rejected(f"{place}: the operator is not enabled in {model.text(state)}")
        if self.is_left_out(label) or (self.is_policys(label) and label not in self.chosen(state)):
            raise Rejected(f"{place}: the policy does not choose {label!r} in {model.text(state)}")
        outcome = of_type(record.get("outcome"), int, f"{place}.outcome")
        choices = tuple(listed(record.get("choices")))
        found = [(chance, leads) for k, chance, leads in self.outcomes(operator, state) if k == outcome]
        if not found or (choices, after) not in found[0][1]:
            raise Rejected(f"{place}: the operator does not lead to {model.text(after)} from {model.text(state)}")
        before, now = model.record(state), model.record(after)
        right = {
            "by": "anyone" if self.policy is None else "policy" if self.is_policys(label) else "environment",
            "probability": str(found[0][0]),
            "changed": {name: [before[name], now[name]] for name in now if before[name] != now[name]},
            "operators": sum(1 for o in model.enabled(state, False, lambda other: other == label)),
        }
        for key, value in right.items():
            if record.get(key) is not None or key not in ("probability", "operators"):
                differs(record.get(key), value, f"{place}.{key}")
        self.confirm_policy(record.get("policy"), state, f"{place}.policy", True)
        return after

    def operator(self, record, place):
        edges = [(of_type(e.get("instance"), int, place), of_type(e.get("edge"), int, place)) for e in record["edges"]]
        if any(n < 0 for edge in edges for n in edge) or (record["vector"] is not None and record["vector"] < 0):
            raise Invalid(f"`{place}.operator` is not what it should be")
        operator = self.model.operator(record["vector"], tuple(edges))
        for said, (i, _), edge in zip(record["edges"], operator.edges, operator.parts):
            differs(said.get("automaton"), self.model.instances[i], f"{place}.operator")
            differs(said.get("pointer"), edge.pointer, f"{place}.operator")
        return operator

    def confirm_policy(self, said, state, place, shown):
        """Compares what the evidence says about the scores and the choice with what is so."""
        if self.policy is None or not shown:
            differs(said, None, place)
            return
        if said is None:
            return
        choice, rows = self.policy.says(state, self.applicable(state, False))
        differs(said.get("chosen"), choice, f"{place}.chosen")
        scores = listed(said.get("scores"))
        differs(len(scores), len(rows), f"{place}.scores")
        for k, (score, (right, decimals)) in enumerate(zip(scores, rows)):
            if score.get("exact") is None and self.policy.function.long:
                right = {**right, "exact": None}
            for key, value in right.items():
                differs(score.get(key), value, f"{place}.scores[{k}].{key}")
            if right["exact"] is not None or not min(decimals) <= score.get("decimal") <= max(decimals):
                differs(score.get("decimal"), decimals[0], f"{place}.scores[{k}].decimal")

    def end(self, states, trace):
        question, last = self.question, states[-1]
        if not question.reach_goal:
            if question.is_so("unsafe", last):
                return "unsafe", None
            if question.stuck_unsafe and not question.is_so("terminal", last) and not question.is_so("goal", last):
                self.check_stuck(last)
                return "stuck", None
            raise Rejected(f"the last state is not unsafe: {self.model.text(last)}")
        if any(question.is_so("goal", state) for state in states):
            raise Rejected("the run meets a goal state")
        if question.is_so("terminal", last):
            return "terminal", None
        if last not in states[:-1]:
            self.check_stuck(last)
            return "stuck", None
        back_to = states.index(last)
        for k in range(back_to, len(trace)):
            outcomes = self.outcomes(self.operator(trace[k]["operator"], f"trace[{k}]"), states[k])
            ways = [chance for _, chance, leads in outcomes if states[k + 1] in [after for _, after in leads]]
            if sum(ways) != 1:
                raise Rejected(f"trace[{k}], a step of the loop, depends on chance")
        return "loop", back_to


class BoxSteps(Rules):
    """Checks of all states in boxes, each with a condition on its states, by halving boxes."""

    def cover(self, box, condition, test, is_settled, check_state):
        """Checks the states of a box that satisfy a condition: as a part of the box, or one by one."""
        stack = [list(box)]
        while stack:
            part = stack.pop()
            try:
                narrow(condition, 1, 1, part)
            except Empty:
                continue
            self.left -= 1
            if self.left < 0:
                raise Unknown("the boxes were not checked within the limit of states (`--states`)")
            if all(low == high for low, high, _ in part):
                state = tuple(low for low, _, _ in part)
                if test(state):
                    check_state(state)
            elif not is_settled(part):
                stack += halves(part)

    def every_step(self, box, stays):
        """Whether what an operator does in a box is in order, for each one that the policy may choose there."""
        model = self.model
        possible = [o for o in model.possible(box) if not self.is_left_out(o.label)]
        sure = set()
        if self.policy:
            holds = lambda o: all(
                box[model.places[i]][0] == box[model.places[i]][1]
                and truths(model.bound(edge.guard, box)) == (True, False, False)
                for (i, _), edge in zip(o.edges, o.parts)
            )
            named = self.policy.outputs if self.policy.filter == "none" else [o.label for o in possible if holds(o)]
            sure = set(named)
        refuted = {}
        for operator in possible:
            part, label = list(box), operator.label
            try:
                for (i, _), edge in zip(operator.edges, operator.parts):
                    narrow(node("=", ("var", model.places[i]), ("num", edge.source)), 1, 1, part)
                    narrow(edge.guard, 1, 1, part)
            except Empty:
                continue
            if self.is_policys(label):
                key = (label, tuple(part))
                if key not in refuted:
                    refuted[key] = self.policy.never_chosen(part, label, sure)
                if refuted[key]:
                    continue
            if not stays(operator, part):
                return False
        return True


class Invariant(BoxSteps):
    """Boxes of states, each with conditions on the states in it, that no run leaves."""

    def check(self, evidence, limit):
        records, model = listed(evidence.get("invariant")), self.model
        where = listed(evidence.get("where", [[]] * len(records)))
        if len(where) != len(records):
            raise Invalid("`where` has another length than `invariant`")
        self.boxes, self.left = Boxes(model, records, where, "invariant"), limit
        if "diagram" in evidence:
            if self.question.reach_goal:
                raise Rejected("states of a `diagram` have no ranks")
            for box in diagram_boxes(model, evidence["diagram"], limit):
                self.boxes.add(box, ("num", 1))
        for box, condition in self.question.regions():
            holds = compiled(condition)
            for piece in self.boxes.outside(box):
                for state in model.points(piece, condition, holds, limit):
                    if not self.boxes.contains(state):
                        raise Rejected(f"a start state lies outside of the invariant: {model.text(state)}")
        if self.question.reach_goal:
            return self.check_ranks(evidence.get("ranks"))
        for box, condition, test, _ in self.boxes.pieces:
            self.cover(box, condition, test, self.is_closed, self.check_state)
        return f"an inductive invariant of {len(self.boxes.pieces)} boxes"

    def check_ranks(self, ranks):
        """Checks that every run reaches the goal: each step leads to a smaller rank, until it does."""
        if ranks is None:
            raise Rejected("an invariant without `ranks` does not show that every run reaches the goal")
        if any(of_type(rank, int, "ranks") < 0 for rank in listed(ranks)):
            raise Invalid("`ranks`: a rank below 0")
        if len(ranks) != len(self.boxes.pieces):
            raise Rejected("there is not one rank for each box")
        for box, condition, test, k in self.boxes.pieces:
            self.cover(box, condition, test, lambda part: False, lambda state: self.check_rank(state, ranks[k], ranks))
        return f"every run reaches the goal, as the ranks of {len(ranks)} boxes show"

    def check_rank(self, state, rank, ranks):
        question, model = self.question, self.model
        if question.is_so("goal", state):
            return
        if question.is_so("terminal", state) or self.leads_on(state) is None:
            raise Rejected(f"a run ends in {model.text(state)}")
        for operator in self.moves(state):
            for after in self.successors(operator, state):
                lower = min((ranks[k] for k in self.boxes.holding(after)), default=rank) < rank
                if not lower and not question.is_so("goal", after):
                    raise Rejected(f"a step leads to no smaller rank: from {model.text(state)} to {model.text(after)}")

    def check_state(self, state):
        question, model = self.question, self.model
        if question.is_so("unsafe", state):
            raise Rejected(f"the invariant contains the unsafe state {model.text(state)}")
        if question.is_so("terminal", state):
            return
        if question.stuck_unsafe and not question.is_so("goal", state) and self.leads_on(state) is None:
            raise Rejected(f"a run gets stuck in {model.text(state)}")
        for operator in self.moves(state):
            for after in self.successors(operator, state):
                if not self.boxes.contains(after):
                    raise Rejected(f"a step leads out of the invariant: from {model.text(state)} to {model.text(after)}")

    def is_closed(self, box):
        """Whether interval arithmetic shows that no state of a box is unsafe or leads out."""
        question, model = self.question, self.model
        if truths(model.bound(question.unsafe, box))[0] or self.strict or question.stuck_unsafe:
            return False
        if truths(model.bound(question.terminal, box)) == (True, False, False):
            return True
        return self.every_step(box, self.stays)

    def stays(self, operator, part):
        for k in range(len(operator.outcomes)):
            try:
                after = self.model.image(operator, k, part)
            except Wide:
                return False
            if after is not None and self.boxes.outside(after):
                return False
        return True
