"""Makes tests/golden/window_memory.json: losses, logits and gradients of a small GPT-2 whose windows keep something for
the windows after them: keys and values (memory: cache), or memory tokens (memory: tokens).

Written from Dai et al. 2019, §3.2, Bulatov et al. 2022, §3, and experiments/recipes/recurrence/README.md. It takes
the weights and the layers of gpt2.py. Attention is computed query by query, over a list of the keys that the query
sees; gradients come from autograd. Double precision throughout. tests/golden/README.md says how to run it.
"""

import math

import torch

import golden
import gpt2

ORIGIN = "made by tests/golden/window_memory.py, in double precision; GPT-2 with absolute positions has no public program"


def variant(memory, count, detach, window, overlap):
    """`count`: earlier windows that are kept, or memory tokens."""
    return dict(memory=memory, count=count, detach=detach, window=window, overlap=overlap)


VARIANTS = [
    variant("cache", 1, False, 6, 0),
    variant("cache", 1, False, 7, 2),
    variant("cache", 2, False, 5, 0),
    variant("cache", 3, False, 5, 3),
    variant("cache", 1, True, 6, 0),
    variant("cache", 2, True, 7, 3),
    variant("tokens", 3, False, 6, 0),
    variant("tokens", 2, False, 7, 2),
    variant("tokens", 1, False, 5, 4),
    variant("tokens", 2, True, 6, 0),
]


def golden_weights(settings):
    """As gpt2.py's, with the learnt memory in its alphabetical place."""
    shapes = gpt2.shapes(True, None)
    if settings["memory"] == "tokens":
        shapes["memory.tokens"] = (settings["count"], gpt2.WIDTH)
    weights = {}
    for index, (name, shape) in enumerate(sorted(shapes.items())):
        if "ln_" in name and name.endswith("weight"):
            value = 1 + golden.formula(index, shape, 0.2)
        else:
            value = golden.formula(index, shape, 1.0 if name == "wte.weight" else 0.3)
        weights[name] = value.requires_grad_()
    return weights


class Model(gpt2.Model):
    def __init__(self, settings):
        super().__init__()
        self.settings = settings
        self.weights = golden_weights(settings)

    def layers(self, hidden, past):
        """The layers on hidden [n, k] → [n, k]. `past[layer]` is a list of the (key, value) that every query sees, in
        addition to those of the places up to its own. Also returns the (key, value) of each place, by layer."""
        made = []
        for layer in range(gpt2.LAYERS):
            attended, own = self.attend(layer, hidden, past[layer])
            hidden = hidden + attended
            inner = self.activation(self.affine(f"h.{layer}.mlp.c_fc", self.norm(f"h.{layer}.ln_2", hidden)))
            hidden = hidden + self.affine(f"h.{layer}.mlp.c_proj", inner)
            made.append(own)
        return hidden, made

    def attend(self, layer, hidden, past):
        size = gpt2.WIDTH // gpt2.HEADS
        normed = self.norm(f"h.{layer}.ln_1", hidden)
        query, key, value = self.affine(f"h.{layer}.attn.c_attn", normed).split(gpt2.WIDTH, 1)
        own = list(zip(key, value))
        rows = []
        for place in range(len(hidden)):
            seen = past + own[: place + 1]
            heads = []
            for head in range(gpt2.HEADS):
                part = slice(head * size, (head + 1) * size)
                scores = torch.stack([each[part] @ query[place, part] for each, _ in seen]) / math.sqrt(size)
                shares = torch.softmax(scores, 0)
                heads.append(sum(share * each[part] for share, (_, each) in zip(shares, seen)))
            rows.append(torch.cat(heads))
        return self.affine(f"h.{layer}.attn.c_proj", torch.stack(rows)), own

    def embed(self, tokens):
        return self.weights["wte.weight"][tokens] + self.weights["wpe.weight"][: len(tokens)]

    def logits(self, hidden):
        return self.norm("ln_f", hidden) @ self.weights["wte.weight"].T

    def kept(self, tensor):
        return tensor.detach() if self.settings["detach"] else tensor

    def cached_windows(self, tokens, windows):
        """The logits of every window. A token is remembered as the last window that read it saw it."""
        step = self.settings["window"] - self.settings["overlap"]
        store = [{} for _ in range(gpt2.LAYERS)]  # by layer: place in the text → key and value
        for begin, end in windows:
            places = range(max(0, begin - self.settings["count"] * step), begin)
            past = [[layer[place] for place in places] for layer in store]
            hidden, made = self.layers(self.embed(tokens[begin:end]), past)
            for layer, own in zip(store, made):
                for offset, (key, value) in enumerate(own):
                    layer[begin + offset] = (self.kept(key), self.kept(value))
            yield self.logits(hidden)

    def windows_with_tokens(self, tokens, windows):
        """The logits of every window between two copies of the memory (Bulatov et al. 2022, §3.2)."""
        memory, count = self.weights["memory.tokens"], self.settings["count"]
        for begin, end in windows:
            hidden = torch.cat([memory, self.embed(tokens[begin:end]), memory])
            hidden, _ = self.layers(hidden, [[]] * gpt2.LAYERS)
            memory = self.kept(self.norm("ln_f", hidden[-count:]))
            yield self.logits(hidden[count:-count])

    def scored_logits(self, tokens):
        """The logits of every scored prediction: [N, V]."""
        window, overlap = self.settings["window"], self.settings["overlap"]
        windows = [(0, min(window, len(tokens)))]
        while windows[-1][1] < len(tokens):
            begin = windows[-1][0] + window - overlap
            windows.append((begin, min(begin + window, len(tokens))))
        read = self.cached_windows if self.settings["memory"] == "cache" else self.windows_with_tokens
        scored = []
        for (begin, _), logits in zip(windows, read(tokens, windows)):
            scored.append(logits[sum(len(each) for each in scored) - begin :])
        return torch.cat(scored)


def remembered(settings):
    model = Model(settings)
    logits = torch.stack([model.scored_logits(row) for row in gpt2.TOKENS])
    loss = golden.mean_loss(logits, gpt2.TARGETS)
    loss.backward()
    return {
        **settings,
        "loss": loss.item(),
        "logits_row_1_last": logits[1, -1].tolist(),
        "logits_row_2_token_13": logits[2, 13].tolist(),
        "gradient_norms": golden.gradient_norms(model.weights),
    }


def compute():
    return {"origin": ORIGIN, "memories": [remembered(settings) for settings in VARIANTS]}


if __name__ == "__main__":
    golden.main("window_memory", compute)
