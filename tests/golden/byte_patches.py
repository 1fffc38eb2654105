"""Makes tests/golden/byte_patches.json: places, logits, losses, gradients and ten updates of small models whose middle
blocks work on patches of bytes, with every kind of boundary.

Written from docs/models.md and Slagle 2024: patches are found and moved byte by byte, attention has a mask, gradients
come from autograd, AdamW and the schedule are written out. Double precision throughout. tests/golden/README.md says how
to run it.
"""

import math

import torch

import golden

BATCH, LENGTH = 3, 29
WIDTH, LOCAL, HEAD = 16, 8, 4
LAYERS, BEFORE, BEHIND = 2, 1, 2
UNITS, LOCAL_UNITS = 24, 12
POSITIONS = 32
EPSILON = 1e-5
BEGINNING = -1
# A space, a line's end, signs, digits, letters, an é of two bytes, and bytes next to the borders of the classes.
BYTES = [0x20, 0x61, 0x62, 0x7A, 0x0A, 0x2F, 0x30, 0x39, 0x3A, 0x41, 0x5A, 0x7B, 0xC3, 0xA9, 0x63, 0x64, 0x65]

ORIGIN = (
    "made by tests/golden/byte_patches.py, in double precision. tests/golden/README.md says how close kjslag/spacebyte's "
    "SpaceByte comes."
)

TARGETS = (golden.sequence(BATCH * LENGTH, 31337) % len(BYTES)).reshape(BATCH, LENGTH)
TOKENS = torch.cat([torch.full((BATCH, 1), BEGINNING), TARGETS[:, :-1]], 1)


def variant(boundaries, places, window, learnt, norm, qk_norm, rotary, activation, weights):
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
    )


FACTOR = 3
VARIANTS = [
    variant("spacelike", 15, 8, True, "layer", True, "none", "relu", "simple"),  # the paper's; there is room for all
    variant("spacelike", 4, 5, True, "layer", True, "none", "relu", "simple"),  # some bytes are not scored
    variant("fixed", 10, 8, True, "layer", True, "none", "relu", "simple"),
    variant("whitespace", 2, 8, True, "layer", False, "none", "gelu", "simple"),
    variant("spacelike", 5, 6, False, "rms", True, "neighbours", "swiglu", "gpt"),
]


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
    for stage, count, width, units in stages():
        for layer in range(count):
            at = f"model.{stage}.{layer}."
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


def stages():
    return [
        ("before", BEFORE, LOCAL, LOCAL_UNITS),
        ("patches", LAYERS, WIDTH, UNITS),
        ("behind", BEHIND, LOCAL, LOCAL_UNITS),
    ]


def golden_weights(v):
    """By the place of the name in alphabetical order."""
    weights = {}
    for index, (name, shape) in enumerate(sorted(shapes(v).items())):
        if "norm" in name:
            value = 1 + golden.formula(index, shape, 0.2)
        else:
            value = golden.formula(index, shape, 1.0 if "embed_" in name else 0.3)
        weights[name] = value.requires_grad_()
    return weights


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


class Model:
    def __init__(self, v):
        self.v, self.weights = v, golden_weights(v)

    def norm(self, x, scale):
        if self.v["norm"] == "rms":
            return x / torch.sqrt((x**2).mean(-1, keepdim=True) + EPSILON) * scale
        return golden.layer_norm(x, scale, 0)

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

    def feed_forward(self, x, at):
        up = x @ self.weights[at + "mlp.up_proj.weight"].T
        if self.v["activation"] == "swiglu":
            gate = x @ self.weights[at + "mlp.gate_proj.weight"].T
            inner = gate / (1 + torch.exp(-gate)) * up
        elif self.v["activation"] == "gelu":
            inner = 0.5 * up * (1 + torch.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up**3)))
        else:
            inner = torch.relu(up)
        return inner @ self.weights[at + "mlp.down_proj.weight"].T

    def blocks(self, stage, x, window):
        for name, count, _, _ in stages():
            for layer in range(count if name == stage else 0):
                at = f"model.{stage}.{layer}."
                x = x + self.attention(self.norm(x, self.weights[at + "input_layernorm.weight"]), at, window)
                x = x + self.feed_forward(self.norm(x, self.weights[at + "post_attention_layernorm.weight"]), at)
        return x

    def logits(self, row):
        """Logits [T, V] of a row, and how many of its predictions are scored."""
        table = self.weights["model.embed_tokens.weight"]
        x = torch.stack(
            [self.weights["model.embed_beginning.weight"] if token == BEGINNING else table[token] for token in row]
        )
        if self.v["learnt_positions"]:
            x = x + self.weights["model.embed_positions.weight"][: len(row)]
        x = self.blocks("before", x, self.v["local_window"])
        found = begins(self.v["boundaries"], row)
        places = found[: self.v["places"]]
        patches = torch.cat([torch.zeros(len(places), WIDTH - LOCAL, dtype=torch.float64), x[places]], 1)
        if self.v["learnt_positions"]:
            patches = patches + self.weights["model.embed_places.weight"][: len(places)]
        patches = self.blocks("patches", patches, LENGTH)
        rows = list(x)
        for place, patch in zip(places, patches):
            rows[place] = rows[place] + patch[WIDTH - LOCAL :]
        x = self.blocks("behind", torch.stack(rows), self.v["local_window"])
        x = self.norm(x, self.weights["model.norm.weight"])
        scored = found[self.v["places"]] if len(found) > len(places) else len(row)
        return x @ self.weights["lm_head.weight"].T, scored

    def loss(self):
        """The mean over rows of each row's mean over its scored predictions."""
        losses = []
        for row, targets in zip(TOKENS.tolist(), TARGETS):
            logits, scored = self.logits(row)
            losses.append(golden.mean_loss(logits[:scored], targets[:scored]))
        return sum(losses) / len(losses)


STEPS, RATE, WARMUP, BETAS, DECAY, CLIP = 10, 0.02, 0.3, (0.9, 0.98), 0.01, 1.0


def multiplier(v, name, weight):
    matrix = weight.dim() == 2 and "embed_" not in name
    return weight.shape[1] ** -0.5 if v["weights"] == "simple" and matrix else 1.0


def trained(v):
    """The losses before each of ten updates, and the sums of the weights' absolute values behind them."""
    model = Model(v)
    moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in model.weights.items()}
    losses = []
    for step in range(1, STEPS + 1):
        golden.clear_gradients(model.weights)
        loss = model.loss()
        loss.backward()
        losses.append(loss.item())
        with torch.no_grad():
            length = math.sqrt(sum(w.grad.norm().item() ** 2 for w in model.weights.values()))
            shorter = min(1.0, CLIP / (length + 1e-6))
            rate = RATE * math.cos(0.5 * math.pi * (step - 1) / STEPS) * min(1.0, step / (WARMUP * STEPS))
            for name, weight in model.weights.items():
                gradient = shorter * weight.grad
                first, second = moments[name]
                first.mul_(BETAS[0]).add_((1 - BETAS[0]) * gradient)
                second.mul_(BETAS[1]).add_((1 - BETAS[1]) * gradient**2)
                own = rate * multiplier(v, name, weight)
                weight *= 1 - own * DECAY
                corrected = (second / (1 - BETAS[1] ** step)).sqrt() + 1e-8
                weight -= own * (first / (1 - BETAS[0] ** step)) / corrected
    return {"losses": losses, "weights": {name: w.abs().sum().item() for name, w in model.weights.items()}}


def computed(v):
    model = Model(v)
    rows = [model.logits(row) for row in TOKENS.tolist()]
    loss = model.loss()
    loss.backward()
    return {
        **v,
        "begins": [begins(v["boundaries"], row) for row in TOKENS.tolist()],
        "scored": [scored for _, scored in rows],
        "loss": loss.item(),
        "logits_row_1_last": rows[1][0][-1].tolist(),
        "logits_row_2_token_4": rows[2][0][4].tolist(),
        "gradient_norms": golden.gradient_norms(model.weights),
        "trained": trained(v),
    }


def compute():
    return {"origin": ORIGIN, "bytes": BYTES, "variants": [computed(v) for v in VARIANTS]}


if __name__ == "__main__":
    golden.main("byte_patches", compute)
