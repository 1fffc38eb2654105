#!/usr/bin/env python3
"""fit.py [--check]: what docs/fits.md shows of `xlm fit`, computed the plain way.

Prints the block, or with --check compares it with the page's. Needs NumPy and NLopt's own module (pip install numpy
nlopt). A law L = E + A·C^(−α) is fitted to the losses that tests/cmd/fit_test.cpp gives its runs: the least sum of
Huber's losses of ln L, from several starts. Draws of the bootstrap use the project's counted random numbers, written
again here.
"""
import itertools
import math
import pathlib
import sys

import nlopt
import numpy

SPANS = [16 << i for i in range(8)]
COMPUTE = [1e4 * span for span in SPANS]
LOSSES = [2.665, 2.251, 1.954, 1.716, 1.55, 1.416, 1.313, 1.239]
DELTA = 1e-3
DRAWS = 1000
SEED = 1
NORMAL = 1.959963984540054  # the quantile of 97.5 %
STUDENT = {4: 2.7764451051977987, 5: 2.570581835636314}  # the same, by degrees of freedom
BITS = (1 << 64) - 1


def mixed(x):
    """SplitMix64's finaliser."""
    x = (x + 0x9E3779B97F4A7C15) & BITS
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS
    return x ^ (x >> 31)


def uniform(draw, index):
    return (mixed(mixed(mixed(SEED) ^ draw) ^ index) >> 11) * 2.0**-53


def normal(draw, index):
    radius = 1 - uniform(draw, 2 * index)
    return math.sqrt(-2 * math.log(radius)) * math.cos(2 * math.pi * uniform(draw, 2 * index + 1))


def quantile(values, share):
    values = sorted(values)
    place = share * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])


def log_law(at, u):
    """ln L at ln C − its mean, and the share of E in L. `at`: ln E, ln A around the centre, α."""
    parts = numpy.stack([numpy.full(len(u), at[0]), at[1] - at[2] * u])
    largest = parts.max(0)
    weights = numpy.exp(parts - largest)
    return largest + numpy.log(weights.sum(0)), weights / weights.sum(0)


def fitted(u, logs, starts):
    best = (math.inf, None)
    for start in starts:
        lowest = [math.inf, None]

        def misfit(at, gradient):
            law, shares = log_law(at, u)
            errors = (law - logs) / DELTA
            size = numpy.abs(errors)
            value = float(numpy.where(size <= 1, 0.5 * size**2, size - 0.5).sum())
            if gradient.size:
                slope = numpy.clip(errors, -1, 1) / DELTA
                gradient[:] = [(slope * shares[0]).sum(), (slope * shares[1]).sum(), -(slope * shares[1] * u).sum()]
            if value < lowest[0]:
                lowest[:] = [value, numpy.array(at)]
            return value

        descent = nlopt.opt(nlopt.LD_LBFGS, 3)
        low = [logs.min() - 14, logs.min() - 14, 0.001]
        high = [logs.min() + math.log(0.9999), logs.max(), 5]
        descent.set_lower_bounds(low)
        descent.set_upper_bounds(high)
        descent.set_min_objective(misfit)
        descent.set_ftol_rel(1e-13)
        descent.set_xtol_rel(1e-11)
        descent.set_maxeval(3000)
        try:
            descent.optimize(numpy.clip(start, low, high))
        except Exception:  # of several kinds by version: at the minimum, rounding stops a line search
            pass
        best = min(best, tuple(lowest), key=lambda one: one[0])
    return best[1]


class Law:
    def __init__(self, compute, losses):
        logs = numpy.log(losses)
        self.centre = numpy.log(compute).mean()
        u = numpy.log(compute) - self.centre
        least = min(losses)
        starts = [
            [math.log(share * least), math.log(numpy.mean(losses) - share * least), exponent]
            for share, exponent in itertools.product((0.05, 0.4, 0.75, 0.95), (0.1, 0.3, 0.7, 1.3))
        ]
        self.at = fitted(u, logs, starts)
        law, _ = log_law(self.at, u)
        freedom = len(logs) - 3
        self.spread = math.sqrt(((logs - law) ** 2).sum() / freedom)
        self.stretch = STUDENT[freedom] / NORMAL
        self.drawn = []
        self.errors = []
        for draw in range(DRAWS):
            errors = numpy.array([normal(draw, i) for i in range(len(logs))])
            self.drawn.append(fitted(u, law + self.spread * errors, [self.at]))
            self.errors.append(self.spread * normal(draw, len(logs)))

    def interval(self, drawn, estimate):
        low = estimate - self.stretch * (estimate - quantile(drawn, 0.025))
        high = estimate + self.stretch * (quantile(drawn, 0.975) - estimate)
        return low, high

    def parameter(self, number):
        """E, ln A or α with its interval."""

        def of(at):
            return (math.exp(at[0]), at[1] + at[2] * self.centre, at[2])[number]

        return (of(self.at), *self.interval([of(at) for at in self.drawn], of(self.at)))

    def predicted(self, compute):
        """L with the interval of one more run."""
        u = numpy.array([math.log(compute) - self.centre])
        estimate = float(log_law(self.at, u)[0][0])
        drawn = [float(log_law(at, u)[0][0]) + error for at, error in zip(self.drawn, self.errors)]
        return [math.exp(value) for value in (estimate, *self.interval(drawn, estimate))]


def shown(value):
    """Four digits that count."""
    return f"{value:.4g}"


def block():
    law = Law(COMPUTE, LOSSES)
    left = Law(COMPUTE[:-1], LOSSES[:-1]).predicted(COMPUTE[-1])
    scale = [math.exp(value) for value in law.parameter(1)]
    numbers = [("E", law.parameter(0)), ("A", scale), ("α", law.parameter(2)), ("L at C=1e8", law.predicted(1e8))]
    rows = [("number", "value", "95 % interval", "runs reached")]
    for name, (value, low, high) in numbers:
        rows.append((name, shown(value), f"{shown(low)} to {shown(high)}", ""))
    rows.append(("L at C=2.048e7, left out", shown(left[0]), f"{shown(left[1])} to {shown(left[2])}", "1.239"))
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    rows.insert(1, tuple("─" * width for width in widths))
    lines = []
    for row in rows:
        cells = [row[0].ljust(widths[0])] + [row[column].rjust(widths[column]) for column in range(1, 4)]
        lines.append("  ".join(cells).rstrip())
    inside = left[1] <= LOSSES[-1] <= left[2]
    notes = [
        "test.bpc = E + A·C^(−α), with C = flops_per_token.",
        f"8 runs of 8 settings; settings lie {100 * law.spread:.2g} % around the law.",
        f"Without the largest runs, the law predicts them {100 * (left[0] / LOSSES[-1] - 1):+.2g} % off, "
        f"{'within' if inside else 'outside'} its interval.",
        "Intervals are of 1,000 draws of a bootstrap; those of L are of one more run.",
    ]
    return "\n".join(["test.bpc against flops_per_token", "", *lines, "", *notes]) + "\n"


if __name__ == "__main__":
    text = block()
    if sys.argv[1:] != ["--check"]:
        print(text, end="")
        sys.exit(0)
    page = (pathlib.Path(__file__).parents[2] / "docs" / "fits.md").read_text(encoding="utf-8")
    print("fit: as docs/fits.md shows it" if text in page else f"fit: docs/fits.md shows something else than\n{text}")
    sys.exit(0 if text in page else 1)
