"""Makes tests/golden/transformer.json: logits, losses, gradients and ten updates of small transformers with every kind
of norm, rotation, activation, window and sharing of keys.

Written from experiments/recipes/successors/transformer.md and the papers it names: attention one position at a time,
gradients by autograd, AdamW and the schedule by hand. Double precision throughout. tests/golden/README.md says how to
run it.
"""

import math

import torch

import golden
from blocks import Blocks, behind_beginnings

SYMBOLS, BATCH, LENGTH = 11, 3, 23
WIDTH, HEAD, LAYERS, UNITS, POSITIONS = 16, 4, 3, 24, 32
HEADS = WIDTH // HEAD

ORIGIN = (
    "made by tests/golden/transformer.py, in double precision. tests/golden/README.md says how close kjslag/spacebyte's "
    "Transformer and Hugging Face's LlamaForCausalLM come."
)

TARGETS = (golden.sequence(BATCH * LENGTH, 31337) % SYMBOLS).reshape(BATCH, LENGTH)
TOKENS = behind_beginnings(TARGETS)


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


class Model(Blocks):
    def __init__(self, v):
        super().__init__(v, shapes(v))

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

    def logits(self, row):
        hidden = self.embedded(row)
        for layer in range(LAYERS):
            at = f"model.layers.{layer}."
            hidden = hidden + self.attention(self.norm(hidden, self.weights[at + "input_layernorm.weight"]), layer)
            normed = self.norm(hidden, self.weights[at + "post_attention_layernorm.weight"])
            hidden = hidden + self.feed_forward(normed, at)
        hidden = self.norm(hidden, self.weights["model.norm.weight"])
        if not self.v["tied"]:
            return hidden @ self.weights["lm_head.weight"].T
        if self.v["weights"] == "simple":
            hidden = hidden / math.sqrt(WIDTH)
        return hidden @ self.weights["model.embed_tokens.weight"].T

    def loss(self):
        return golden.mean_loss(torch.stack([self.logits(row) for row in TOKENS.tolist()]), TARGETS)


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
        "trained": Model(v).trained(),
    }


def compute():
    return {"origin": ORIGIN, "variants": [computed(v) for v in VARIANTS]}


if __name__ == "__main__":
    golden.main("transformer", compute)
