"""FLOPs of training by the formulas of each model's paper, over its configuration alone. Plain Python; shares no code
with the program. tests/core/train/training_budget_test.cpp compares the program's own count with it.

Usage: training_flops.py CASE.json, which holds {"model": {"type": …, …}, "symbols": V, "block": T, "tokens": scored
tokens of all steps} and, of an hourglass, "shortening": tokens per group for each step. A step counts as three forward
passes, a multiply-add as two FLOPs.
"""
import json
import sys

TRAINING_PER_FORWARD = 3


def transformer(model, symbols, block):
    """Slagle 2024, appendix: projections, attention, feed-forward and logits, with the keys that a causal mask leaves."""
    width, head = model["width"], model["head_width"]
    shared = model["key_value_heads"] or width // head
    matrices = 3 if model["activation"] == "swiglu" else 2
    total = width * symbols
    for layer in range(model["layers"]):
        window = model["windows"][layer % len(model["windows"])] or block
        keys = sum(min(place + 1, window) for place in range(block)) / block
        total += 2 * width * width + 2 * width * shared * head  # queries and output, keys and values
        total += 2 * keys * width  # scores, and the sum of values
        total += matrices * width * model["feed_forward"]
    return total


def byte_patches(model, symbols, block):
    """Slagle 2024: blocks over bytes, and wider ones over the places of a window, with the keys that a causal
    mask leaves."""
    local, width, places = model["local_width"], model["width"], model["places"]
    matrices = 3 if model["activation"] == "swiglu" else 2

    def blocks(width, units, length, window):
        keys = sum(min(place + 1, window) for place in range(length)) / length
        return length / block * (4 * width * width + 2 * keys * width + matrices * width * units)

    total = local * symbols + model["local_layers"] * blocks(
        local, model["local_feed_forward"], block, model["local_window"]
    )
    return total + model["layers"] * blocks(width, model["feed_forward"], places, places)


def gpt2(model, symbols, block):
    """Yoshida et al. 2020, section 5.1: the layers, and the tokens of the overlap once more. Attention is over half of
    the window. The paper leaves the logits out, which only a scored token has; here they count as for other models.
    With "cache" windows kept, every query sees their keys, too (Dai et al. 2019). With "tokens" memory tokens, a window
    is longer by them in front and behind (Bulatov et al. 2022)."""
    del block
    width, scored = model["width"], model["window"] - model["overlap"]
    places = model["window"] + 2 * model.get("tokens", 0)
    of_layer = 4 * width * width + 2 * width * model["feed_forward"]
    attention = 2 * width * (places / 2 + model.get("cache", 0) * scored)
    return model["layers"] * (of_layer + attention) * places / scored + width * symbols


def adaptive_span(model, symbols, block):
    """Sukhbaatar et al. 2019: every head looks back over its span and the ramp behind it. A position costs a score by
    the key, one by the relative position, and the sum of values."""
    del block
    width, heads = model["width"], model["heads"]
    seen = min(model["span"], model["learnt_span"] + model["span_ramp"])
    of_layer = 4 * width * width + 2 * width * model["feed_forward"] + heads * 3 * (width // heads) * seen
    return model["layers"] * of_layer + width * symbols


def hourglass(model, symbols, block, shortening):
    """Nawrot et al. 2023: the middle layers work on the groups and the null group, the others on characters."""
    width, forward = model["width"], model["feed_forward"]

    def layer(length):
        keys = sum(place + 1 for place in range(length)) / length if length == int(length) else (length + 1) / 2
        return 4 * width * width + 2 * width * forward + 3 * width * keys

    groups = 1 + block / shortening
    groups = int(groups) if groups == int(groups) else groups
    before, middle, behind = model["layers"]
    total = (before + behind) * layer(block) + middle * layer(groups) * groups / block
    if model["boundaries"] in ("gumbel", "unigram", "entropy"):
        total += (width + 1) * forward  # the predictor of boundaries
    return total + width * symbols


def training_flops(case):
    model = dict(case["model"])
    kind = model.pop("type")
    per_flop = 2 * TRAINING_PER_FORWARD
    if kind == "hourglass":
        steps = case["shortening"]
        tokens = case["tokens"] / len(steps)
        return sum(per_flop * tokens * hourglass(model, case["symbols"], case["block"], factor) for factor in steps)
    formulas = {
        "transformer": transformer,
        "byte-patches": byte_patches,
        "gpt2": gpt2,
        "adaptive-span": adaptive_span,
    }
    return per_flop * case["tokens"] * formulas[kind](model, case["symbols"], case["block"])


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print(repr(training_flops(json.load(file))))
