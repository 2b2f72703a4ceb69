"""Decisions about solvers, as tests of answers and sentences need them."""

from orthobench.decide.rule import Decision, Verdict
from orthobench.stats.calls import Call, Stop

SEEDS = 6


def good(solver, cost, factor=1.0, misses=0, stop=(), exact=None, **more):
    """Return that a solver is as good, with a call of some cost; `exact` costs as much or more."""
    call = Call(Stop(tuple(stop)), cost, SEEDS - misses, SEEDS)
    at = None if exact is None else call if exact == cost else Call(Stop(), exact, SEEDS, SEEDS)
    more = {"seeds": SEEDS, **more}
    return Decision(solver, Verdict.AS_GOOD, call=call, exact=at, factor=factor, **more)


def other(solver, verdict, **more):
    """Return another verdict."""
    return Decision(solver, verdict, **{"seeds": SEEDS, **more})
