"""Makes tests/golden/muon.json: weights after each of ten updates by Muon, with AdamW for what is no matrix of a layer.

Written from Jordan et al. 2024 and docs/models.md. The iteration is computed as what it is in exact arithmetic: a
polynomial of each singular value, with singular vectors as they are. Gradients are a formula. Double precision
throughout. tests/golden/README.md says how to run it.
"""

import math

import torch

import golden

SHAPES = {  # square, wide and tall matrices of layers, and what AdamW gets
    "emb.weight": (7, 6),
    "layers.0.narrow.weight": (1, 6),
    "layers.0.norm.weight": (6,),
    "layers.0.square.weight": (6, 6),
    "layers.0.up.weight": (10, 6),
    "layers.1.down.weight": (6, 10),
    "layers.1.square.weight": (6, 6),
    "out.weight": (7, 6),
}
STEPS = 10
ITERATIONS = 5
COEFFICIENTS = (3.4445, -4.7750, 2.0315)
RATE, ADAMW_RATE, MOMENTUM, DECAY, BETAS, EPSILON = 0.02, 0.003, 0.95, 0.1, (0.8, 0.95), 1e-8
CLIP = 2.0

VARIANTS = [  # how the rate follows the shape, and the rate of the rest
    {"adjust_lr": "original", "adamw_lr": ADAMW_RATE},
    {"adjust_lr": "match-rms-adamw", "adamw_lr": RATE},
]

ORIGIN = (
    "made by tests/golden/muon.py, in double precision. tests/golden/README.md says how close KellerJordan/Muon's program "
    "comes."
)


def is_hidden_matrix(name, weight):
    return name.startswith("layers.") and weight.dim() == 2 and min(weight.shape) > 1


def gradient(index, step, shape):
    """A formula that changes with the step; of matrices some singular values are much smaller than others."""
    return golden.formula(index + 10 * step, shape, 0.5) + golden.formula(3 * index + step, shape, 0.1) ** 2


def orthogonalized(matrix):
    left, values, right = torch.linalg.svd(matrix, full_matrices=False)
    values = values / (matrix.norm() + 1e-7)
    a, b, c = COEFFICIENTS
    for _ in range(ITERATIONS):
        values = a * values + b * values**3 + c * values**5
    return left @ torch.diag(values) @ right


def scale(adjust, rows, columns):
    return math.sqrt(max(1, rows / columns)) if adjust == "original" else 0.2 * math.sqrt(max(rows, columns))


def trained(v):
    """Every weight after ten updates, and the sums of absolute values after each."""
    names = sorted(SHAPES)
    weights = {name: golden.formula(index, SHAPES[name], 0.3) for index, name in enumerate(names)}
    first = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    second = {name: torch.zeros_like(weight) for name, weight in weights.items()}
    sums = []
    for step in range(1, STEPS + 1):
        gradients = {name: gradient(index, step, SHAPES[name]) for index, name in enumerate(names)}
        length = math.sqrt(sum(g.norm().item() ** 2 for g in gradients.values()))
        shorter = min(1.0, CLIP / (length + 1e-6))
        for name, weight in weights.items():
            g = shorter * gradients[name]
            if is_hidden_matrix(name, weight):
                first[name] = MOMENTUM * first[name] + (1 - MOMENTUM) * g
                update = orthogonalized(MOMENTUM * first[name] + (1 - MOMENTUM) * g)
                weights[name] = (1 - RATE * DECAY) * weight - RATE * scale(v["adjust_lr"], *weight.shape) * update
            else:
                rate = v["adamw_lr"]
                first[name] = BETAS[0] * first[name] + (1 - BETAS[0]) * g
                second[name] = BETAS[1] * second[name] + (1 - BETAS[1]) * g**2
                corrected = (second[name] / (1 - BETAS[1] ** step)).sqrt() + EPSILON
                weights[name] = (1 - rate * DECAY) * weight - rate * first[name] / (1 - BETAS[0] ** step) / corrected
        sums.append({name: weight.abs().sum().item() for name, weight in weights.items()})
    return {**v, "sums": sums, "weights": {name: weight.flatten().tolist() for name, weight in weights.items()}}


def compute():
    return {"origin": ORIGIN, "variants": [trained(v) for v in VARIANTS]}


if __name__ == "__main__":
    golden.main("muon", compute)
