"""Makes tests/golden/transformer.json: logits, losses, gradients and ten updates of small transformers with every kind
of norm, rotation, activation, window and sharing of keys.

Written from docs/models.md and the papers it names: attention one position at a time, gradients by autograd, AdamW and
the schedule by hand. Double precision throughout. tests/golden/README.md says how to run it.
"""

import math

import torch

import golden

SYMBOLS, BATCH, LENGTH = 11, 3, 23
WIDTH, HEAD, LAYERS, UNITS, POSITIONS = 16, 4, 3, 24, 32
HEADS = WIDTH // HEAD
EPSILON = 1e-5
BEGINNING = -1

ORIGIN = (
    "made by tests/golden/transformer.py, in double precision. tests/golden/README.md says how close kjslag/spacebyte's "
    "Transformer and Hugging Face's LlamaForCausalLM come."
)

TARGETS = (golden.sequence(BATCH * LENGTH, 31337) % SYMBOLS).reshape(BATCH, LENGTH)
TOKENS = torch.cat([torch.full((BATCH, 1), BEGINNING), TARGETS[:, :-1]], 1)


def variant(norm, qk_norm, shared, windows, rotary, activation, weights, positions, tied):
    return dict(
        norm=norm,
        qk_norm=qk_norm,
        key_value_heads=shared,
        windows=windows,
        rotary=rotary,
        activation=activation,
        weights=weights,
        positions=positions,
        tied=tied,
    )


VARIANTS = [
    variant("layer", True, 0, [0], "neighbours", "relu", "simple", POSITIONS, False),  # spacebyte's defaults with RoPE
    variant("layer", False, 2, [0], "none", "gelu", "simple", POSITIONS, True),  # and others of it
    variant("rms", False, 2, [0], "halves", "swiglu", "gpt", 0, False),  # a Llama
    variant("rms", True, 0, [4, 0], "neighbours", "swiglu", "gpt", 0, True),
    variant("rms", False, 1, [3], "halves", "relu2", "simple", 0, False),
]


def shapes(v):
    shared = (v["key_value_heads"] or HEADS) * HEAD
    result = {"model.embed_tokens.weight": (SYMBOLS, WIDTH), "model.embed_beginning.weight": (WIDTH,)}
    if v["positions"]:
        result["model.embed_positions.weight"] = (POSITIONS, WIDTH)
    for layer in range(LAYERS):
        at = f"model.layers.{layer}."
        for name, shape in {
            "input_layernorm": (WIDTH,),
            "self_attn.q_proj": (WIDTH, WIDTH),
            "self_attn.k_proj": (shared, WIDTH),
            "self_attn.v_proj": (shared, WIDTH),
            "self_attn.o_proj": (WIDTH, WIDTH),
            "post_attention_layernorm": (WIDTH,),
            "mlp.up_proj": (UNITS, WIDTH),
            "mlp.down_proj": (WIDTH, UNITS),
        }.items():
            result[at + name + ".weight"] = shape
        if v["qk_norm"]:
            result[at + "self_attn.q_norm.weight"] = result[at + "self_attn.k_norm.weight"] = (HEAD,)
        if v["activation"] == "swiglu":
            result[at + "mlp.gate_proj.weight"] = (UNITS, WIDTH)
    result["model.norm.weight"] = (WIDTH,)
    if not v["tied"]:
        result["lm_head.weight"] = (SYMBOLS, WIDTH)
    return result


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


class Model:
    def __init__(self, v):
        self.v, self.weights = v, golden_weights(v)

    def norm(self, x, scale):
        if self.v["norm"] == "rms":
            return x / torch.sqrt((x**2).mean(-1, keepdim=True) + EPSILON) * scale
        return golden.layer_norm(x, scale, 0)

    def turned(self, x, position):
        """One head's vector [d], its pairs turned by position · 10000^(-2i/d)."""
        if self.v["rotary"] == "none":
            return x
        result = [None] * HEAD
        for i in range(HEAD // 2):
            angle = position * 10000.0 ** (-2 * i / HEAD)
            a, b = (2 * i, 2 * i + 1) if self.v["rotary"] == "neighbours" else (i, i + HEAD // 2)
            result[a] = x[a] * math.cos(angle) - x[b] * math.sin(angle)
            result[b] = x[b] * math.cos(angle) + x[a] * math.sin(angle)
        return torch.stack(result)

    def attention(self, hidden, layer):
        at = f"model.layers.{layer}.self_attn."
        w = {name: self.weights[at + name + ".weight"] for name in ("q_proj", "k_proj", "v_proj", "o_proj")}
        shared = self.v["key_value_heads"] or HEADS
        queries = (hidden @ w["q_proj"].T).reshape(-1, HEADS, HEAD)
        keys = (hidden @ w["k_proj"].T).reshape(-1, shared, HEAD)
        values = (hidden @ w["v_proj"].T).reshape(-1, shared, HEAD)
        if self.v["qk_norm"]:
            queries = self.norm(queries, self.weights[at + "q_norm.weight"])
            keys = self.norm(keys, self.weights[at + "k_norm.weight"])
        window = self.v["windows"][layer % len(self.v["windows"])] or LENGTH
        rows = []
        for i in range(len(hidden)):
            seen = range(max(0, i - window + 1), i + 1)
            heads = []
            for head in range(HEADS):
                group = head // (HEADS // shared)
                query = self.turned(queries[i, head], i)
                scores = torch.stack([query @ self.turned(keys[j, group], j) for j in seen]) / math.sqrt(HEAD)
                weights = torch.softmax(scores, 0)
                heads.append(sum(weight * values[j, group] for weight, j in zip(weights, seen)))
            rows.append(torch.cat(heads))
        return torch.stack(rows) @ w["o_proj"].T

    def feed_forward(self, hidden, layer):
        at = f"model.layers.{layer}.mlp."
        up = hidden @ self.weights[at + "up_proj.weight"].T
        kind = self.v["activation"]
        if kind == "swiglu":
            gate = hidden @ self.weights[at + "gate_proj.weight"].T
            inner = gate / (1 + torch.exp(-gate)) * up
        elif kind == "gelu":
            inner = 0.5 * up * (1 + torch.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up**3)))
        else:
            inner = torch.relu(up) ** (2 if kind == "relu2" else 1)
        return inner @ self.weights[at + "down_proj.weight"].T

    def logits(self, row):
        table = self.weights["model.embed_tokens.weight"]
        hidden = torch.stack(
            [self.weights["model.embed_beginning.weight"] if token == BEGINNING else table[token] for token in row]
        )
        if self.v["positions"]:
            hidden = hidden + self.weights["model.embed_positions.weight"][: len(row)]
        for layer in range(LAYERS):
            at = f"model.layers.{layer}."
            hidden = hidden + self.attention(self.norm(hidden, self.weights[at + "input_layernorm.weight"]), layer)
            normed = self.norm(hidden, self.weights[at + "post_attention_layernorm.weight"])
            hidden = hidden + self.feed_forward(normed, layer)
        hidden = self.norm(hidden, self.weights["model.norm.weight"])
        if not self.v["tied"]:
            return hidden @ self.weights["lm_head.weight"].T
        if self.v["weights"] == "simple":
            hidden = hidden / math.sqrt(WIDTH)
        return hidden @ table.T

    def loss(self):
        return golden.mean_loss(torch.stack([self.logits(row) for row in TOKENS.tolist()]), TARGETS)


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
        for weight in model.weights.values():
            weight.grad = None
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
    logits = torch.stack([model.logits(row) for row in TOKENS.tolist()])
    loss = golden.mean_loss(logits, TARGETS)
    loss.backward()
    return {
        **v,
        "loss": loss.item(),
        "logits_row_1_last": logits[1, -1].tolist(),
        "logits_row_2_token_4": logits[2, 4].tolist(),
        "gradient_norms": golden.gradient_norms(model.weights),
        "trained": trained(v),
    }


def compute():
    return {"origin": ORIGIN, "variants": [computed(v) for v in VARIANTS]}


if __name__ == "__main__":
    golden.main("transformer", compute)
