"""Makes tests/golden/byte_patches.json: places, logits, losses, gradients and ten updates of small models whose middle
blocks work on patches of bytes, with every kind of boundary.

Written from experiments/recipes/successors/byte-patches.md, Slagle 2024 and Hwang et al. 2025: patches are found,
moved and smoothed byte by byte, attention has a mask, gradients come from autograd, AdamW and the schedule are
written out. Double precision throughout. tests/golden/README.md says how to run it.
"""

import math

import torch

import golden
from blocks import BEGINNING, Blocks, behind_beginnings

BATCH, LENGTH = 3, 29
WIDTH, LOCAL, HEAD = 16, 8, 4
LAYERS, BEFORE, BEHIND = 2, 1, 2
UNITS, LOCAL_UNITS = 24, 12
POSITIONS = 32
# A space, a line's end, signs, digits, letters, an é of two bytes, and bytes next to the borders of the classes.
BYTES = [0x20, 0x61, 0x62, 0x7A, 0x0A, 0x2F, 0x30, 0x39, 0x3A, 0x41, 0x5A, 0x7B, 0xC3, 0xA9, 0x63, 0x64, 0x65]

ORIGIN = (
    "made by tests/golden/byte_patches.py, in double precision. tests/golden/README.md says how close kjslag/spacebyte's "
    "SpaceByte comes."
)

TARGETS = (golden.sequence(BATCH * LENGTH, 31337) % len(BYTES)).reshape(BATCH, LENGTH)
TOKENS = behind_beginnings(TARGETS)


def variant(boundaries, places, window, learnt, norm, qk_norm, rotary, activation, weights, loss_weight=0.0, rule="global"):
    return dict(
        boundaries=boundaries,
        places=places,
        local_window=window,
        learnt_positions=learnt,
        norm=norm,
        qk_norm=qk_norm,
        rotary=rotary,
        activation=activation,
        weights=weights,
        loss_weight=loss_weight,
        rule=rule,
    )


FACTOR = 3
VARIANTS = [
    variant("spacelike", 15, 8, True, "layer", True, "none", "relu", "simple"),  # the paper's; there is room for all
    variant("spacelike", 4, 5, True, "layer", True, "none", "relu", "simple"),  # some bytes are not scored
    variant("fixed", 10, 8, True, "layer", True, "none", "relu", "simple"),
    variant("whitespace", 2, 8, True, "layer", False, "none", "gelu", "simple"),
    variant("spacelike", 5, 6, False, "rms", True, "neighbours", "swiglu", "gpt"),
    variant("router", 29, 8, True, "layer", True, "none", "relu", "simple"),  # H-Net's, with its weight of the loss
    variant("router", 8, 6, False, "rms", True, "neighbours", "swiglu", "gpt", 0.7),  # some bytes are not scored
    variant("unigram", 29, 8, True, "layer", True, "none", "gelu", "simple"),
    variant("entropy", 29, 8, True, "layer", True, "none", "relu", "simple"),  # above a threshold
    variant("entropy", 7, 6, False, "rms", True, "neighbours", "swiglu", "gpt", rule="monotone"),
]
SMALL, SMALL_LAYERS = 12, 2  # the model whose entropies say where patches begin
# A segmentation by formula; nothing of the beginning.
SEGMENTATION = (TOKENS % 4 == 1) & (TOKENS != BEGINNING)
LEAST_SHARE, RATIO_WEIGHT = 1e-4, 0.03


def shapes(v):
    result = {
        "model.embed_tokens.weight": (len(BYTES), LOCAL),
        "model.embed_beginning.weight": (LOCAL,),
        "model.norm.weight": (LOCAL,),
        "lm_head.weight": (len(BYTES), LOCAL),
    }
    if v["learnt_positions"]:
        result["model.embed_positions.weight"] = (POSITIONS, LOCAL)
        result["model.embed_places.weight"] = (v["places"], WIDTH)
    if v["boundaries"] == "router":
        for name in ("q_proj", "k_proj", "residual_proj"):
            result[f"model.boundaries.{name}.weight"] = (LOCAL, LOCAL)
        result["model.boundaries.pad"] = (WIDTH - LOCAL,)
    if v["boundaries"] == "unigram":
        for layer, units, width in ((0, LOCAL_UNITS, LOCAL), (2, 1, LOCAL_UNITS)):
            result[f"model.boundaries.predictor.{layer}.weight"] = (units, width)
            result[f"model.boundaries.predictor.{layer}.bias"] = (units,)
    if v["boundaries"] == "entropy":
        result["model.boundaries.threshold"] = (1,)
        result[INNER + "model.embed_tokens.weight"] = result[INNER + "lm_head.weight"] = (len(BYTES), SMALL)
        result[INNER + "model.embed_beginning.weight"] = result[INNER + "model.norm.weight"] = (SMALL,)
        if v["learnt_positions"]:
            result[INNER + "model.embed_positions.weight"] = (POSITIONS, SMALL)
    for stage, count, width, units in stages(v):
        for layer in range(count):
            at = f"{stage}.{layer}."
            for name in ("input_layernorm", "post_attention_layernorm"):
                result[f"{at}{name}.weight"] = (width,)
            for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
                result[f"{at}self_attn.{name}.weight"] = (width, width)
            if v["qk_norm"]:
                for name in ("q_norm", "k_norm"):
                    result[f"{at}self_attn.{name}.weight"] = (HEAD,)
            for name in ("up_proj", "gate_proj") if v["activation"] == "swiglu" else ("up_proj",):
                result[f"{at}mlp.{name}.weight"] = (units, width)
            result[f"{at}mlp.down_proj.weight"] = (width, units)
    return result


INNER = "model.boundaries.model."


def stages(v):
    """(begin of the names, blocks, width, units of the feed-forward)"""
    result = [
        ("model.before", BEFORE, LOCAL, LOCAL_UNITS),
        ("model.patches", LAYERS, WIDTH, UNITS),
        ("model.behind", BEHIND, LOCAL, LOCAL_UNITS),
    ]
    if v["boundaries"] == "entropy":  # units: 4 times the width, of SwiGLU 8/3 of it in whole 64s
        units = 64 if v["activation"] == "swiglu" else 4 * SMALL
        result.append((INNER + "model.layers", SMALL_LAYERS, SMALL, units))
    return result


def is_spacelike(token):
    """No letter, digit or later byte of a character. The beginning counts as one."""
    if token == BEGINNING:
        return True
    byte = BYTES[token]
    letter_or_digit = chr(byte).isalnum() if byte < 0x80 else False
    return not letter_or_digit and not 0x80 <= byte < 0xC0


def begins(kind, row):
    """Where global blocks stand in a row of tokens."""
    found = []
    for t, token in enumerate(row):
        if kind == "fixed":
            here = t % FACTOR == 0
        elif kind == "whitespace":
            here = token != BEGINNING and BYTES[token] == 0x20
        else:
            here = is_spacelike(token) and not (t > 0 and is_spacelike(row[t - 1]))
        if here or token == BEGINNING:
            found.append(t)
    return found


class Model(Blocks):
    def __init__(self, v):
        super().__init__(v, shapes(v), self.threshold)

    def threshold(self, index, name, shape):
        if not name.endswith("threshold"):
            return None
        return (3.7 if self.v["rule"] == "global" else 0.05) + golden.formula(index, shape, 0.01)

    def turned(self, x):
        """Pairs (2i, 2i + 1) of x [T, heads, d] turned by position · 10000^(-2i/d)."""
        if self.v["rotary"] == "none":
            return x
        speeds = 10000.0 ** (-torch.arange(0, HEAD, 2, dtype=torch.float64) / HEAD)
        angles = torch.arange(len(x), dtype=torch.float64)[:, None, None] * speeds  # [T, 1, d/2]
        even, odd = x[..., 0::2], x[..., 1::2]
        pairs = [even * angles.cos() - odd * angles.sin(), odd * angles.cos() + even * angles.sin()]
        return torch.stack(pairs, -1).flatten(-2)

    def attention(self, x, at, window):
        def heads_of(name):
            return (x @ self.weights[f"{at}self_attn.{name}.weight"].T).reshape(len(x), -1, HEAD)

        query, key, value = heads_of("q_proj"), heads_of("k_proj"), heads_of("v_proj")
        if self.v["qk_norm"]:
            query = self.norm(query, self.weights[at + "self_attn.q_norm.weight"])
            key = self.norm(key, self.weights[at + "self_attn.k_norm.weight"])
        scores = torch.einsum("ihd,jhd->hij", self.turned(query), self.turned(key)) / math.sqrt(HEAD)
        distance = torch.arange(len(x))[:, None] - torch.arange(len(x))[None, :]
        unseen = (distance < 0) | (distance >= window)
        chances = torch.softmax(scores.masked_fill(unseen, -torch.inf), -1)
        mixed = torch.einsum("hij,jhd->ihd", chances, value).reshape(x.shape)
        return mixed @ self.weights[at + "self_attn.o_proj.weight"].T

    def blocks(self, stage, x, window):
        for name, count, _, _ in stages(self.v):
            for layer in range(count if name == stage else 0):
                at = f"{stage}.{layer}."
                x = x + self.attention(self.norm(x, self.weights[at + "input_layernorm.weight"]), at, window)
                x = x + self.feed_forward(self.norm(x, self.weights[at + "post_attention_layernorm.weight"]), at)
        return x

    def router(self, x):
        """The probability that a patch begins at each byte of a row x [T, d]."""
        found = [torch.tensor(1.0, dtype=torch.float64)]
        for t in range(1, len(x)):
            query = self.weights["model.boundaries.q_proj.weight"] @ x[t - 1]
            key = self.weights["model.boundaries.k_proj.weight"] @ x[t]
            cosine = query @ key / (query.norm() * key.norm())
            found.append(torch.clamp((1 - cosine) / 2, 0, 1))
        return torch.stack(found)

    def predicted(self, x):
        """The logit of a piece's end at each byte of a row x [T, d]."""
        part = {name: self.weights[f"model.boundaries.predictor.{name}"] for name in ("0.weight", "0.bias", "2.weight")}
        inner = x @ part["0.weight"].T + part["0.bias"]
        inner = inner * 0.5 * (1 + torch.erf(inner / math.sqrt(2)))
        return (inner @ part["2.weight"].T + self.weights["model.boundaries.predictor.2.bias"]).squeeze(-1)

    def unsure(self, row):
        """Where the small model's entropies, in bits, say that patches begin. They have no gradient."""
        with torch.no_grad():
            x = self.blocks(INNER + "model.layers", self.embedded(row, INNER + "model."), self.v["local_window"])
            x = self.norm(x, self.weights[INNER + "model.norm.weight"])
            chances = torch.softmax(x @ self.weights[INNER + "lm_head.weight"].T, -1)
            entropies = (-chances * torch.log2(chances)).sum(-1).tolist()  # behind each byte
            threshold = self.weights["model.boundaries.threshold"].item()
        found = [0]  # the beginning
        for t in range(1, len(row)):
            if self.v["rule"] == "global":
                here = entropies[t - 1] > threshold
            else:
                here = t > 1 and entropies[t - 1] - entropies[t - 2] > threshold
            if here:
                found.append(t)
        return found

    def down(self, x, patches, places, found, chances):
        """What the last local blocks get: the bytes x [T, d] and the patches of their places, brought together."""
        if self.v["boundaries"] != "router":
            rows = list(x)
            for place, patch in zip(places, patches):
                rows[place] = rows[place] + patch[WIDTH - LOCAL :]
            return torch.stack(rows)
        smooth, last = [], torch.zeros(LOCAL, dtype=torch.float64)
        for place, patch in zip(places, patches):
            share = torch.clamp(chances[place], LEAST_SHARE, 1 - LEAST_SHARE)
            last = share * patch[:LOCAL] + (1 - share) * last
            smooth.append(last)
        rows = []
        for t in range(len(x)):
            sure = chances[t] if t in found else 1 - chances[t]
            own = smooth[sum(place <= t for place in places) - 1]
            straight_through = 1 + (sure - sure.detach())
            rows.append(own * straight_through + self.weights["model.boundaries.residual_proj.weight"] @ x[t])
        return torch.stack(rows)

    def boundary_loss(self, found, chances, logits, row):
        """Of one row, whose number is `row`."""
        if self.v["boundaries"] == "router":
            share, mean, n = len(found) / LENGTH, chances.mean(), float(FACTOR)
            weight = self.v["loss_weight"] if self.v["loss_weight"] > 0 else RATIO_WEIGHT
            return weight * n / (n - 1) * ((n - 1) * share * mean + (1 - share) * (1 - mean))
        if self.v["boundaries"] == "unigram":
            ends = SEGMENTATION[row][1:].to(torch.float64)
            likely = torch.log(torch.sigmoid(logits[1:])) * ends + torch.log(torch.sigmoid(-logits[1:])) * (1 - ends)
            return -likely.mean()
        return 0.0

    def logits(self, number):
        """Of the row of this number: its logits [T, V], where patches begin, how many predictions are scored, and the
        loss of the boundaries."""
        row = TOKENS[number].tolist()
        x = self.blocks("model.before", self.embedded(row), self.v["local_window"])
        chances = self.router(x) if self.v["boundaries"] == "router" else None
        ends = self.predicted(x) if self.v["boundaries"] == "unigram" else None
        if chances is not None:
            found = [t for t in range(LENGTH) if chances[t] > 0.5]
        elif ends is not None:
            found = [t for t in range(LENGTH) if ends[t] > 0 or row[t] == BEGINNING]
        elif self.v["boundaries"] == "entropy":
            found = self.unsure(row)
        else:
            found = begins(self.v["boundaries"], row)
        places = found[: self.v["places"]]
        if chances is not None:
            patches = torch.stack([torch.cat([x[place], self.weights["model.boundaries.pad"]]) for place in places])
        else:
            patches = torch.cat([torch.zeros(len(places), WIDTH - LOCAL, dtype=torch.float64), x[places]], 1)
        if self.v["learnt_positions"]:
            patches = patches + self.weights["model.embed_places.weight"][: len(places)]
        patches = self.blocks("model.patches", patches, LENGTH)
        before = x
        x = self.blocks("model.behind", self.down(before, patches, places, found, chances), self.v["local_window"])
        x = self.norm(x, self.weights["model.norm.weight"])
        scored = found[self.v["places"]] if len(found) > len(places) else len(row)
        boundary_loss = self.boundary_loss(found, chances, ends, number)
        return x @ self.weights["lm_head.weight"].T, found, scored, boundary_loss

    def loss(self):
        """The mean over rows of each row's mean over its scored predictions, and of the loss of its boundaries."""
        losses = []
        for number in range(BATCH):
            logits, _, scored, boundary_loss = self.logits(number)
            losses.append(golden.mean_loss(logits[:scored], TARGETS[number][:scored]) + boundary_loss)
        return sum(losses) / len(losses)


def computed(v):
    model = Model(v)
    rows = [model.logits(number) for number in range(BATCH)]
    loss = model.loss()
    loss.backward()
    return {
        **v,
        "begins": [found for _, found, _, _ in rows],
        "scored": [scored for _, _, scored, _ in rows],
        "loss": loss.item(),
        "logits_row_1_last": rows[1][0][-1].tolist(),
        "logits_row_2_token_4": rows[2][0][4].tolist(),
        "gradient_norms": golden.gradient_norms(model.weights),
        "trained": Model(v).trained(),
    }


def compute():
    return {"origin": ORIGIN, "bytes": BYTES, "variants": [computed(v) for v in VARIANTS]}


if __name__ == "__main__":
    golden.main("byte_patches", compute)
