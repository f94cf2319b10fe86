"""Puts the queries of a log about a tree ensemble to Veritas, one after the other.

Veritas searches for the greatest lead of the output over the best of the others within a box. Its
search stops at the first leaf region where the lead is not negative, and is refuted when there is
none. A region's corner of integers is checked in exact arithmetic; where it is no witness, because
of a tie, the search goes on.
"""

import time
from importlib.metadata import version

import veritas

from query_log import Answer, Unsupported, arguments, ask_all, read_log, report
from trees import READERS, Split

# Steps of the search between two looks at the clock.
STEPS = 1000
# Leads from here on are looked at: Veritas adds with rounding.
SLACK = -1e-4


class VeritasPeer:
    """Veritas with the ensemble of a log."""

    def __init__(self, log, timeout):
        self.log, self.timeout = log, timeout
        # One ensemble for each output, which stands in front.
        self.ensembles = []
        for output in range(log.network.outputs):
            ensemble = veritas.AddTree(log.network.outputs, veritas.AddTreeType.REGR)
            for number, base in enumerate(log.network.base):
                ensemble.set_base_score(number, base)
            for tree in log.network.trees:
                added = ensemble.add_tree()
                self.copy(added, added.root(), tree)
            ensemble.swap_class(output)
            self.ensembles.append(ensemble)

    def copy(self, tree, at, node):
        if isinstance(node, Split):
            tree.split(at, node.input, float(node.threshold))
            self.copy(tree, tree.left(at), node.left)
            self.copy(tree, tree.right(at), node.right)
        else:
            tree.set_leaf_value(at, node.output, node.value)

    def ask(self, query):
        """The answer to a query."""
        if query["conditions"] or self.log.applicable is not None or query["relaxed"]:
            raise Unsupported("more than a box")
        sides = [query["box"][variable] for variable in self.log.inputs]
        if any(bound is None for side in sides for bound in side):
            raise Unsupported("a variable without bounds")
        config = veritas.Config(veritas.HeuristicType.MULTI_MAX_MAX_OUTPUT_DIFF)
        config.ignore_state_when_worse_than = SLACK
        config.stop_when_optimal = False
        config.stop_when_num_new_solutions_exceeds = 1
        box = [veritas.Interval(float(low), float(high + 1)) for low, high in sides]
        begin = time.perf_counter()
        search = config.get_search(self.ensembles[query["output"]], box)
        answer = None
        while answer is None:
            reason = search.steps(STEPS)
            # The solutions are sorted by their leads: a new one may stand anywhere.
            for number in range(search.num_solutions()):
                corner = search.get_solution(number).box()
                if self.log.is_witness(query, self.point(query, sides, corner)):
                    answer = "possible"
                    break
            if answer is None and reason == veritas.StopReason.NO_MORE_OPEN:
                answer = "refuted"
            elif answer is None and reason == veritas.StopReason.OUT_OF_MEMORY:
                raise Unsupported("out of memory")
            elif self.timeout is not None and time.perf_counter() - begin > self.timeout:
                answer = answer or "timeout"
        return Answer(answer, time.perf_counter() - begin)

    def point(self, query, sides, corner):
        """The state at the least corner of a region."""
        point = [low or 0 for low, _ in query["box"]]
        for number, (variable, (low, _)) in enumerate(zip(self.log.inputs, sides)):
            side = corner.get(number)
            point[variable] = low if side is None else max(low, int(side.lo))
        return point


def main():
    options = arguments(__doc__.splitlines()[0]).parse_args()
    log = read_log(options, READERS)
    peer = VeritasPeer(log, options.timeout_per_query)
    tally = ask_all(log, peer.ask)
    report(f"Veritas {version('dtai-veritas')}", options, log, tally)


if __name__ == "__main__":
    main()
