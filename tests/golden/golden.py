"""Shared by the scripts of the golden numbers: formulas for weights and tokens, two optimisers, writing and checking.

The formulas are those of the C++ tests that read the numbers, so that no weights need to be stored.
"""

import argparse
import json
import math
import pathlib
import sys

import torch

FOLDER = pathlib.Path(__file__).resolve().parent


def formula(index, shape, scale):
    """scale · sin(0.37 i + 1.7 index + 0.11) over the flattened tensor, rounded to single precision; in double."""
    count = math.prod(shape)
    values = [scale * math.sin(0.37 * i + (1.7 * index + 0.11)) for i in range(count)]
    return torch.tensor(values, dtype=torch.float32).to(torch.float64).reshape(shape)


def single(values):
    """Numbers rounded to single precision, in double."""
    return torch.tensor(values, dtype=torch.float32).to(torch.float64)


def sequence(count, seed):
    """The upper bits of a linear congruential sequence."""
    numbers = []
    for _ in range(count):
        seed = (1103515245 * seed + 12345) % 2**31
        numbers.append(seed >> 16)
    return torch.tensor(numbers)


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdim=True)
    return centred / torch.sqrt((centred**2).mean(-1, keepdim=True) + 1e-5) * weight + bias


def mean_loss(logits, targets):
    """Mean negative log-likelihood, in nats, of targets [...] under logits [..., V]."""
    return -torch.log_softmax(logits, -1).gather(-1, targets.unsqueeze(-1)).mean()


class Adagrad:
    """Adagrad from an accumulator of zero. If a tensor's gradient is longer than `clip`, its step is shortened; the
    accumulator gets the whole gradient."""

    def __init__(self, weights, clip):
        self.weights, self.clip = weights, clip
        self.sums = {name: torch.zeros_like(weight) for name, weight in weights.items()}

    def step(self, rate):
        with torch.no_grad():
            for name, weight in self.weights.items():
                gradient = weight.grad
                self.sums[name] += gradient**2
                shorter = min(1.0, self.clip / (gradient.norm().item() + 1e-10))
                weight -= rate * shorter * gradient / (self.sums[name].sqrt() + 1e-10)


class Adam:
    """Adam (0.9, 0.999, 1e-8). All gradients together are shortened to the length `clip`."""

    def __init__(self, weights, clip):
        self.weights, self.clip, self.number = weights, clip, 0
        self.first = {name: torch.zeros_like(weight) for name, weight in weights.items()}
        self.second = {name: torch.zeros_like(weight) for name, weight in weights.items()}

    def step(self, rate):
        self.number += 1
        with torch.no_grad():
            length = math.sqrt(sum(weight.grad.norm().item() ** 2 for weight in self.weights.values()))
            shorter = min(1.0, self.clip / (length + 1e-6))
            for name, weight in self.weights.items():
                gradient = shorter * weight.grad
                self.first[name] = 0.9 * self.first[name] + 0.1 * gradient
                self.second[name] = 0.999 * self.second[name] + 0.001 * gradient**2
                first = self.first[name] / (1 - 0.9**self.number)
                second = self.second[name] / (1 - 0.999**self.number)
                weight -= rate * first / (second.sqrt() + 1e-8)


def gradient_norms(weights):
    """The length of every weight's gradient; 0 for one that has none."""
    return {
        name: 0.0 if weight.grad is None else weight.grad.norm().item() for name, weight in sorted(weights.items())
    }


def clear_gradients(weights):
    for weight in weights.values():
        weight.grad = None


def differences(stored, computed, place=""):
    """Every pair of numbers as (difference, place). Other values must be equal; a difference counts as infinity."""
    if isinstance(stored, dict) and isinstance(computed, dict):
        for key in sorted(stored.keys() | computed.keys()):
            if key in stored and key in computed:
                yield from differences(stored[key], computed[key], f"{place}/{key}")
            else:
                yield math.inf, f"{place}/{key} (only in one)"
    elif isinstance(stored, list) and isinstance(computed, list) and len(stored) == len(computed):
        for index, (left, right) in enumerate(zip(stored, computed)):
            yield from differences(left, right, f"{place}/{index}")
    elif isinstance(stored, float) and isinstance(computed, float):
        # Relative from 1 on, absolute below, because gradients that are zero in theory are rounding errors.
        yield abs(stored - computed) / max(1.0, abs(stored)), place
    elif stored != computed:
        yield math.inf, f"{place}: {str(stored)[:60]} stored, {str(computed)[:60]} computed"


def check(path, stored, computed, tolerance):
    """Prints the largest difference and returns whether it is small enough."""
    every = list(differences(stored, computed))
    worst, place = max(every)
    print(f"{path.name}: {len(every)} numbers, largest difference {worst:.1e} at {place}")
    return worst <= tolerance


def main(name, compute, tolerance=1e-12):
    """Writes NAME.json, or with --check recomputes it and compares: exit code 1 if they differ."""
    parser = argparse.ArgumentParser(description=f"Makes tests/golden/{name}.json.")
    parser.add_argument("--check", action="store_true", help="compare with the file and write nothing")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    path = FOLDER / f"{name}.json"
    computed = compute()
    if arguments.check:
        sys.exit(0 if check(path, json.loads(path.read_text(encoding="utf-8")), computed, tolerance) else 1)
    path.write_text(json.dumps(computed, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(path)
