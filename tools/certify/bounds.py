"""Evidence of a probability: bounds by state (docs/formats/evidence.md)."""

from fractions import Fraction
from itertools import product
from math import prod

from checks import Rules, differs
from expressions import compiled, listed
from pieces import Pieces
from stops import Invalid, Rejected, Unknown, Unsupported, f64, number, of_type


class Step:
    """A choice of a scheduler: parts with lower bounds of their probabilities, each an operator's outcomes of positive
    probability, with the bounds of the states that they lead to. Without a policy that draws its label it is one part. What
    the parts lack to 1 belongs to them in shares that are not known; `lost` is the share of labels that lead nowhere."""

    def __init__(self, parts, lost=None):
        self.parts, self.lost = parts, lost
        self.rest = 1 - sum(share for share, _ in parts) - (lost or 0)

    def mean(self, side, pick):
        """The mean of lower (0) or upper (1) bounds; `pick` is the best or the worst of free choices."""
        means = [sum(chance * pick(v[side] for v in leads) for chance, leads in outcomes) for _, outcomes in self.parts]
        known = sum(share * mean for (share, _), mean in zip(self.parts, means))
        if not self.rest:
            return known
        return known + self.rest * (max if side else min)(means + [0] * (self.lost is not None))

    def leads(self):
        """By outcome that certainly has a probability above 0, the states that it may lead to."""
        return [leads for share, outcomes in self.parts if share for _, leads in outcomes]

    def loses(self):
        return bool(self.lost) or any(share and sum(chance for chance, _ in outcomes) < 1 for share, outcomes in self.parts)


class Bounds(Rules):
    def check(self, evidence, limit):
        question, model = self.question, self.model
        over = question.over()
        if "over_start_states" in evidence:
            differs(evidence["over_start_states"], over, "over_start_states")
        self.stay = compiled(question.standard[3]) if question.standard else lambda state: 1
        claimed = [number(of_type(text, str, "probability")) for text in listed(evidence.get("probability"))]
        names = listed(evidence.get("variables"))
        if sorted(names) != sorted(model.index) or len(claimed) != 2:
            raise Invalid("`variables` or `probability` is not what it should be")
        order = [names.index(variable.name) for variable in model.variables]
        records = evidence.get("pieces")
        self.pieces = None if records is None else Pieces(self, listed(records))
        self.bounds = {}
        for entry in listed(evidence.get("values")):
            values, low, high = entry[0], *(Fraction(f64(str(bound))) for bound in entry[1:3])
            state = tuple(of_type(values[k], int, "values") for k in order)
            fits = all(v.low <= x <= v.high for v, x in zip(model.variables, state))
            if not fits or state in self.bounds or len(values) != len(order):
                raise Rejected(f"not a state of the model, or listed twice: {values}")
            high = min(high, self.pieces.least(state)) if self.pieces and high <= 1 else high
            if not 0 <= low <= high <= 1:
                raise Rejected(f"the bounds of a state are no probabilities in order: {model.text(state)}")
            self.bounds[state] = (low, high)
        self.places = {}
        (self.check_least_steps if question.least else self.check_steps)()
        if self.pieces:
            return self.check_pieces(over, claimed, evidence["probability"], limit)
        low, high, count = self.over_starts(over, limit)
        if count > 1 and question.standard and question.standard[0] == "values":
            raise Rejected("the property asks for one number, and there are several")
        if low < claimed[0] or high > claimed[1]:
            raise Rejected(f"the values of the start states show {low} and {high}, not the bounds that are claimed")
        quantity = "least" if question.least != question.never else "greatest"
        what = f"the {quantity} probability" + " of never reaching the target" * question.never
        return f"{what} lies between {' and '.join(evidence['probability'])} ({over} over {count} start states)"

    def check_pieces(self, over, claimed, texts, limit):
        standard = self.question.standard
        if over != "greatest":
            raise Unsupported("pieces, other than for the greatest probability of reaching the target")
        if standard and standard[0] == "values":
            raise Rejected("the property asks for one number, and pieces bound those of all start states")
        self.pieces.check(claimed[1], limit)
        low = max((self.value(state)[0] for state in self.bounds if self.question.starts(state)), default=0)
        if low < claimed[0]:
            raise Rejected(f"the values of the start states show {low}, not the bound that is claimed")
        many = f"{len(self.pieces.uppers)} pieces"
        return f"the greatest probability lies between {' and '.join(texts)} (greatest over start states, {many})"

    def value(self, state):
        """The bounds of a state, and whether it is one of those that are listed and go on."""
        if state not in self.places:
            if self.question.is_so("unsafe", state):
                self.places[state] = (1, 1, False)
            elif self.stay(state) != 1 or self.question.is_so("terminal", state):
                self.places[state] = (0, 0, False)
            else:
                known = self.bounds.get(state)
                elsewhere = self.pieces.least(state) if self.pieces and known is None else 1
                self.places[state] = (*(known or (0, elsewhere)), known is not None)
        return self.places[state]

    def steps(self, state):
        """What a scheduler may choose in a state."""
        policy, drawn = self.policy, {}
        draws = policy is not None and policy.draws
        for operator in self.moves(state):
            outcomes = [(chance, leads) for _, chance, leads in self.outcomes(operator, state) if leads]
            outcomes = [(chance, [self.value(s) + (s,) for _, s in leads]) for chance, leads in outcomes]
            if draws and self.is_policys(operator.label):
                drawn.setdefault(operator.label, []).append(outcomes)
            else:
                yield Step([(1, outcomes)])
        competing = (policy.outputs if policy.filter == "none" else self.applicable(state)) if draws else ()
        shares = policy.shares(state, competing) if competing else {}
        parts = [[(share, outcomes) for outcomes in drawn[label]] for label, share in shares.items() if label in drawn]
        if prod(map(len, parts)) > 4096:
            raise Unsupported("labels drawn that have several operators each, in too many combinations")
        nowhere = [share for label, share in shares.items() if label not in drawn]
        for combination in product(*parts) if shares else ():
            yield Step(list(combination), sum(nowhere) if nowhere else None)

    def check_steps(self):
        sources, reached, left = {}, [], set()
        for state in self.bounds:
            low, high, goes_on = self.value(state)
            if not goes_on or (low == 0 and high == 1):
                continue
            if low > 0:
                left.add(state)
            for step in self.steps(state):
                if step.mean(1, max) > high:
                    raise Rejected(f"a step leads from {self.model.text(state)} to more than its upper bound")
                if low == 0 or step.mean(0, max) < low:
                    continue
                comes_out = step.loses()
                for leads in step.leads():
                    best = max(v[0] for v in leads)
                    for lower, _, listed_there, after in leads:
                        if lower == best and listed_there and lower > 0:
                            sources.setdefault(after, []).append(state)
                        elif lower == best:
                            comes_out = True
                if comes_out:
                    reached.append(state)
        while reached:
            state = reached.pop()
            if state in left:
                left.discard(state)
                reached += sources.get(state, [])
        if left:
            raise Rejected(f"the lower bound of a state is not reached: {self.model.text(min(left))}")

    def check_least_steps(self):
        stays, left = {}, []
        for state in self.bounds:
            low, high, goes_on = self.value(state)
            if not goes_on or (low == 0 and high == 1):
                continue
            moves = list(self.steps(state))
            if moves and all(step.mean(1, min) > high for step in moves):
                raise Rejected(f"every step leads from {self.model.text(state)} to more than its upper bound")
            if low == 0:
                continue
            if not moves or any(step.mean(0, min) < low for step in moves):
                raise Rejected(f"the lower bound of a state is not reached: {self.model.text(state)}")
            inside = lambda leads: {after for lower, _, listed_there, after in leads if listed_there and lower > 0}
            stays[state] = [[inside(leads) for leads in step.leads()] for step in moves if not step.loses()]
        while True:
            left = [state for state, choices in stays.items() if not any(all(choice) for choice in choices)]
            if not left:
                break
            for state in left:
                del stays[state]
            gone = set(left)
            stays = {state: [[part - gone for part in choice] for choice in choices] for state, choices in stays.items()}
        if stays:
            raise Rejected(f"the lower bound of a state is not reached: {self.model.text(min(stays))}")

    def over_starts(self, over, limit):
        starts = set()
        for box, condition in self.question.regions():
            for state in self.model.points(box, condition, compiled(condition), limit):
                starts.add(state)
                if len(starts) > limit:
                    raise Unknown("more start states than the limit of states (`--states`)")
        sides = [[self.value(state)[side] for state in starts] for side in (0, 1)]
        if self.question.never:
            sides = [[1 - x for x in side] for side in reversed(sides)]
        sides = [side or [Fraction(0)] for side in sides]
        number = {"greatest": max, "least": min, "sum": sum, "average": lambda v: sum(v) / Fraction(len(v))}[over]
        return number(sides[0]), number(sides[1]), len(starts)
