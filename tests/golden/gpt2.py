"""Makes tests/golden/gpt2.json: logits, losses and gradients of a small GPT-2, alone and with recurrence, and losses
of a text by documents.

Written from Radford et al. 2019, Yoshida et al. 2020 and experiments/recipes/recurrence/README.md. Attention is
computed position by position and window by window; gradients through all windows come from autograd. Double precision
throughout. tests/golden/README.md says how to run it.
"""

import math

import torch

import golden

SYMBOLS, BATCH, LENGTH = 11, 3, 23
WIDTH, HEADS, LAYERS, UNITS, POSITIONS = 16, 4, 3, 24, 32

ORIGIN = (
    "made by tests/golden/gpt2.py, in double precision. gpt2: Hugging Face's transformers 5.23.0 gave the same "
    "numbers, of documents and of computations too; for recurrence there is no public program."
)

TEXT = (golden.sequence(BATCH * (LENGTH + 1), 31337) % SYMBOLS).reshape(BATCH, LENGTH + 1)
TOKENS, TARGETS = TEXT[:, :-1], TEXT[:, 1:]


def variant(pool, insert_layer, hidden, embeddings, pool_repeated, window, overlap):
    return dict(
        pool=pool,
        insert_layer=insert_layer,
        hidden=hidden,
        embeddings=embeddings,
        pool_repeated=pool_repeated,
        window=window,
        overlap=overlap,
    )


VARIANTS = [
    variant("mean", 2, [10, 9, 8], 1, True, 7, 2),
    variant("max", 2, [10, 9, 8], 1, True, 7, 2),
    variant("attention", 2, [10, 9, 8], 1, True, 7, 2),
    variant("mean", 2, [10, 9, 8], 1, True, 6, 0),
    variant("mean", 0, [10], 2, False, 7, 3),
    variant("max", 3, [10, 9], 3, True, 5, 4),
]


COMPUTATIONS = [("gelu_new", "width_and_layer"), ("gelu", "none"), ("relu", "layer"), ("silu", "width")]


def shapes(tied, recurrence):
    """Names and shapes of the weights; Hugging Face stores matrices as [in, out], the recurrence's are [out, in]."""
    result = {"wte.weight": (SYMBOLS, WIDTH), "wpe.weight": (POSITIONS, WIDTH)}
    result["ln_f.weight"] = result["ln_f.bias"] = (WIDTH,)
    for layer in range(LAYERS):
        for name, inner, out in (
            ("attn.c_attn", WIDTH, 3 * WIDTH),
            ("attn.c_proj", WIDTH, WIDTH),
            ("mlp.c_fc", WIDTH, UNITS),
            ("mlp.c_proj", UNITS, WIDTH),
        ):
            result[f"h.{layer}.{name}.weight"], result[f"h.{layer}.{name}.bias"] = (inner, out), (out,)
        for name in ("ln_1", "ln_2"):
            result[f"h.{layer}.{name}.weight"] = result[f"h.{layer}.{name}.bias"] = (WIDTH,)
    if not tied:
        result["lm_head.weight"] = (SYMBOLS, WIDTH)
    if recurrence:
        result["recurrence.alpha"] = (LAYERS,)
        if recurrence["pool"] == "attention":
            result["recurrence.key"] = (WIDTH,)
        units = [WIDTH, *recurrence["hidden"], WIDTH * recurrence["embeddings"]]
        for index, (inner, out) in enumerate(zip(units, units[1:])):
            at = f"recurrence.ff.{2 * index}"
            result[at + ".weight"], result[at + ".bias"] = (out, inner), (out,)
    return result


def golden_weights(tied, recurrence):
    weights = {}
    for index, (name, shape) in enumerate(sorted(shapes(tied, recurrence).items())):
        if "ln_" in name and name.endswith("weight"):
            value = 1 + golden.formula(index, shape, 0.2)
        else:
            value = golden.formula(index, shape, 1.0 if name in ("wte.weight", "recurrence.alpha") else 0.3)
        weights[name] = value.requires_grad_()
    return weights


def gelu(x):
    """The tanh approximation."""
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


ACTIVATIONS = {
    "gelu_new": gelu,
    "gelu": lambda x: 0.5 * x * (1 + torch.erf(x / math.sqrt(2))),
    "relu": lambda x: x.clamp(min=0),
    "silu": lambda x: x / (1 + torch.exp(-x)),
}


class Model:
    def __init__(self, tied=True, recurrence=None, activation="gelu_new", attention_scale="width"):
        self.recurrence = recurrence
        self.activation, self.attention_scale = ACTIVATIONS[activation], attention_scale
        self.weights = golden_weights(tied, recurrence)

    def affine(self, name, x):
        return x @ self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def norm(self, name, x):
        return golden.layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def run(self, tokens, handed=None):
        """One row's window [T] → logits [T, V] and every layer's output [L, T, k]. `handed` [E, k] are more keys and
        values of the layers that see them."""
        hidden = self.weights["wte.weight"][tokens] + self.weights["wpe.weight"][: len(tokens)]
        outputs = []
        for layer in range(LAYERS):
            sees = handed is not None and self.recurrence["insert_layer"] in (0, layer + 1)
            hidden = hidden + self.attention(layer, hidden, handed if sees else hidden[:0])
            inner = self.activation(self.affine(f"h.{layer}.mlp.c_fc", self.norm(f"h.{layer}.ln_2", hidden)))
            hidden = hidden + self.affine(f"h.{layer}.mlp.c_proj", inner)
            outputs.append(hidden)
        head = self.weights.get("lm_head.weight", self.weights["wte.weight"])
        return self.norm("ln_f", hidden) @ head.T, torch.stack(outputs)

    def attention(self, layer, hidden, handed):
        size, extra = WIDTH // HEADS, len(handed)
        divisor = math.sqrt(size) if "width" in self.attention_scale else 1
        divisor *= layer + 1 if "layer" in self.attention_scale else 1
        normed = self.norm(f"h.{layer}.ln_1", torch.cat([handed, hidden]))  # [E + T, k]
        query, key, value = self.affine(f"h.{layer}.attn.c_attn", normed).split(WIDTH, 1)
        rows = []
        for place in range(extra, len(normed)):
            heads = []
            for head in range(HEADS):
                part = slice(head * size, (head + 1) * size)
                scores = key[: place + 1, part] @ query[place, part] / divisor
                heads.append(torch.softmax(scores, 0) @ value[: place + 1, part])
            rows.append(torch.cat(heads))
        return self.affine(f"h.{layer}.attn.c_proj", torch.stack(rows))

    def hand_over(self, outputs):
        """Yoshida et al. 2020, §3.1, equation 1 and its variants: every layer's output [L, T, k] → [E, k]."""
        shares = torch.softmax(self.weights["recurrence.alpha"], 0)
        mixed = (shares[:, None, None] * outputs).sum(0)  # [T, k]
        if self.recurrence["pool"] == "mean":
            pooled = mixed.mean(0)
        elif self.recurrence["pool"] == "max":
            pooled = mixed.max(0).values
        else:
            pooled = torch.softmax(mixed @ self.weights["recurrence.key"] / math.sqrt(WIDTH), 0) @ mixed
        for index in range(len(self.recurrence["hidden"]) + 1):
            at = f"recurrence.ff.{2 * index}"
            pooled = self.weights[at + ".weight"] @ (torch.relu(pooled) if index else pooled)
            pooled = pooled + self.weights[at + ".bias"]
        return pooled.reshape(self.recurrence["embeddings"], WIDTH)

    def window_losses(self, row):
        """The summed loss of every window's scored predictions (Yoshida et al. 2020, §4.2), in a text that is read
        from its beginning."""
        window, overlap = self.recurrence["window"], self.recurrence["overlap"]
        losses, handed, scored_to, begin = [], None, 0, 0
        while scored_to < LENGTH:
            end = min(begin + window, LENGTH)
            logits, outputs = self.run(TOKENS[row, begin:end], handed)
            chances = torch.log_softmax(logits, -1)
            targets = TARGETS[row, begin:end]
            losses.append(-sum(chances[place, targets[place]] for place in range(scored_to - begin, end - begin)))
            pooled = window if self.recurrence["pool_repeated"] else window - overlap
            handed = self.hand_over(outputs[:, :pooled])
            scored_to, begin = end, begin + window - overlap
        return losses


def plain(tied):
    model = Model(tied)
    logits = torch.stack([model.run(row)[0] for row in TOKENS])
    loss = golden.mean_loss(logits, TARGETS)
    loss.backward()
    return {
        "loss": loss.item(),
        "logits_row_1_last": logits[1, -1].tolist(),
        "logits_row_2_token_4": logits[2, 4].tolist(),
        "gradient_norms": golden.gradient_norms(model.weights),
    }


def computation(activation, attention_scale):
    model = Model(activation=activation, attention_scale=attention_scale)
    loss = golden.mean_loss(torch.stack([model.run(row)[0] for row in TOKENS]), TARGETS)
    loss.backward()
    return {
        "activation": activation,
        "attention_scale": attention_scale,
        "loss": loss.item(),
        "gradient_norms": golden.gradient_norms(model.weights),
    }


def recurrent(settings):
    model = Model(recurrence=settings)
    losses = [model.window_losses(row) for row in range(BATCH)]
    loss = sum(sum(row) for row in losses) / (BATCH * LENGTH)
    loss.backward()
    return {
        **settings,
        "loss": loss.item(),
        "window_losses_of_row_0": [part.item() for part in losses[0]],
        "gradient_norms": golden.gradient_norms(model.weights),
    }


DOCUMENTS = [0, 1, 3, 20, 21, 50]  # where they begin in the text, of which 72 symbols are there
END_OF_TEXT = SYMBOLS - 1


def document_losses(model, window, overlap, first_token):
    """Nats and scored tokens of a text whose documents are independent. Every prediction is computed in a separate pass
    over the window that experiments/recipes/recurrence/README.md gives it."""
    text = TEXT.flatten().tolist()
    nats, scored = 0.0, 0
    for begin, end in zip(DOCUMENTS, [*DOCUMENTS[1:], len(text)]):
        document = [END_OF_TEXT] * first_token + text[begin:end]
        for place in range(1, len(document)):
            index = max(0, -(-(place - window) // (window - overlap)))  # the first window that reaches `place` - 1
            seen = document[index * (window - overlap) : place]
            logits, _ = model.run(torch.tensor(seen))
            nats -= torch.log_softmax(logits[-1], -1)[document[place]].item()
            scored += 1
    return {"window": window, "overlap": overlap, "first_token": first_token, "nats": nats, "tokens": scored}


def documents():
    model = Model()
    shapes = [(7, 0), (7, 3), (5, 4), (30, 0)]
    return {
        "begin": DOCUMENTS,
        "losses": [document_losses(model, *shape, first) for shape in shapes for first in (False, True)],
    }


def compute():
    return {
        "origin": ORIGIN,
        "gpt2": {"tied": plain(True), "untied": plain(False)},
        "documents": documents(),
        "computations": [computation(*each) for each in COMPUTATIONS],
        "recurrence": [recurrent(settings) for settings in VARIANTS],
    }


if __name__ == "__main__":
    golden.main("gpt2", compute)
