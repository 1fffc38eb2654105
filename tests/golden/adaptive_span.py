"""Makes tests/golden/adaptive_span.json: losses, gradients and updates of small models with adaptive attention span.

Written from Sukhbaatar et al. 2019, Sukhbaatar et al. 2021 and experiments/recipes/adaptive-span/README.md. Every
head is computed separately over all positions before the block; gradients come from autograd. Double precision
throughout. tests/golden/README.md says how to run it.
"""

import math

import torch

import golden

SYMBOLS, BATCH, BLOCK, BLOCKS = 11, 3, 16, 4
WIDTH, HEADS, UNITS, LAYERS, RAMP, PENALTY = 16, 4, 24, 2, 8, 2e-3
SPANS = [[0.0, 0.1, 0.5, 0.9], [0.25, 0.0, 1.0, 0.33]]  # z' by layer and head
TRIMMED_SPANS = [[0.0, 0.1, 0.25, 0.02], [0.15, 0.0, 0.05, 0.33]]
WINDOWS = [5, 32]  # the fixed spans of the layers, of the kind "windows"
RATE, WARMUP, CLIP, STEPS, STEP_OF_GRADIENTS = 0.07, 8, 0.03, 12, 3

ORIGIN = (
    "made by tests/golden/adaptive_span.py, a dense formulation in double precision. fixed and adaptive: the published "
    "program (facebookresearch/adaptive-span) gave the same numbers; dynamic, expire and windows are not in it. "
    "*_trimmed: S = 160 and the second set of spans, where most of the limit is masked."
)


def shapes(kind, limit):
    """Names and shapes of the weights."""
    result = {
        "in_emb.weight": (SYMBOLS, WIDTH),
        "key_pe": (1, WIDTH // HEADS, limit),
        "out_emb.weight": (SYMBOLS, WIDTH),
        "out_emb.bias": (SYMBOLS,),
    }
    for layer in range(LAYERS):
        at = f"layers.{layer}."
        for name in ("query", "key", "val", "out"):
            result[f"{at}attn.proj_{name}.weight"] = (WIDTH, WIDTH)
        for norm in ("norm1", "norm2"):
            result[f"{at}{norm}.weight"] = result[f"{at}{norm}.bias"] = (WIDTH,)
        result[f"{at}ff.fc1.weight"], result[f"{at}ff.fc1.bias"] = (UNITS, WIDTH), (UNITS,)
        result[f"{at}ff.fc2.weight"], result[f"{at}ff.fc2.bias"] = (WIDTH, UNITS), (WIDTH,)
        if kind == "adaptive":
            result[f"{at}attn.attn.adaptive_span._mask.current_val"] = (HEADS, 1, 1)
        if kind == "dynamic":
            result[f"{at}attn.attn.dynamic_span.weight"] = (HEADS, WIDTH)
            result[f"{at}attn.attn.dynamic_span.bias"] = (HEADS,)
        if kind == "expire":
            result[f"{at}attn.attn.expire_span.weight"] = (1, WIDTH)
            result[f"{at}attn.attn.expire_span.bias"] = (1,)
    return result


def golden_weights(kind, limit, spans):
    weights = {}
    for index, (name, shape) in enumerate(sorted(shapes(kind, limit).items())):
        if name.endswith("current_val"):
            value = golden.single(spans[int(name.split(".")[1])]).reshape(shape)
        elif "norm" in name and name.endswith("weight"):
            value = 1 + golden.formula(index, shape, 0.2)
            value = value.to(torch.float32).to(torch.float64)  # the sum is stored in single precision as well
        elif name.endswith("expire_span.bias"):
            value = golden.formula(index, shape, 0.2) - 4  # so that many memories expire
            value = value.to(torch.float32).to(torch.float64)
        elif name.endswith("dynamic_span.bias"):
            value = golden.formula(index, shape, 1.5)
        else:
            wide = 1.0 if name in ("in_emb.weight", "key_pe") else 0.3
            value = golden.formula(index, shape, 0.5 if name.endswith("expire_span.weight") else wide)
        weights[name] = value.requires_grad_()
    return weights


class Model:
    def __init__(self, kind, limit=32, spans=SPANS):
        self.kind, self.limit = kind, limit
        self.weights = golden_weights(kind, limit, spans)

    def no_past(self):
        """The stream begins with hidden states of zero; with expiring memories it begins without any."""
        length = 0 if self.kind == "expire" else self.limit
        return [torch.zeros(BATCH, length, WIDTH, dtype=torch.float64) for _ in range(LAYERS)]

    def forward(self, tokens, past):
        """Logits [B, M, V], the past of the next block, and the penalty on spans."""
        hidden = self.weights["in_emb.weight"][tokens]  # [B, M, D]
        next_past, penalty = [], 0.0
        for layer in range(LAYERS):
            weight = lambda name: self.weights[f"layers.{layer}.{name}"]
            seen = torch.cat([past[layer], hidden], 1)  # [B, S + M, D]
            next_past.append(seen[:, -self.limit :].detach())
            spans = self.spans(layer, hidden)
            if spans is not None:
                penalty = penalty + PENALTY * spans.mean()
            if self.kind == "expire":
                attended = self.expiring_attention(layer, hidden, seen)
            else:
                attended = self.attention(layer, hidden, seen, spans)
            hidden = golden.layer_norm(hidden + attended, weight("norm1.weight"), weight("norm1.bias"))
            inner = torch.relu(hidden @ weight("ff.fc1.weight").T + weight("ff.fc1.bias"))
            outer = inner @ weight("ff.fc2.weight").T + weight("ff.fc2.bias")
            hidden = golden.layer_norm(hidden + outer, weight("norm2.weight"), weight("norm2.bias"))
        return hidden @ self.weights["out_emb.weight"].T + self.weights["out_emb.bias"], next_past, penalty

    def spans(self, layer, hidden):
        """z of every query and head, [B or 1, M or 1, H]; none for fixed spans."""
        at = f"layers.{layer}.attn.attn."
        if self.kind == "adaptive":
            return self.limit * self.weights[at + "adaptive_span._mask.current_val"].reshape(1, 1, HEADS)
        if self.kind == "dynamic":
            gate = hidden @ self.weights[at + "dynamic_span.weight"].T + self.weights[at + "dynamic_span.bias"]
            return self.limit * torch.sigmoid(gate)
        if self.kind == "expire":
            return self.kept(layer, hidden)[..., None]  # of the block's own memories
        return None

    def kept(self, layer, memories):
        """How long each memory [B, T, D] is kept: [B, T]."""
        at = f"layers.{layer}.attn.attn.expire_span."
        return self.limit * torch.sigmoid((memories @ self.weights[at + "weight"].T + self.weights[at + "bias"])[..., 0])

    def reach(self, layer):
        """How far back the softmax sums. Like the published program, an adaptive layer drops the positions that none of
        its heads sees, in steps of 64. The rest sums to more, so that the 1e-8 below matters less."""
        if self.kind == "windows":
            return WINDOWS[layer]
        if self.kind != "adaptive":
            return self.limit
        longest = self.weights[f"layers.{layer}.attn.attn.adaptive_span._mask.current_val"].max().item() * self.limit
        return self.limit - max(0, self.limit - math.ceil(longest) - RAMP) // 64 * 64

    def project(self, layer, name, x):
        return x @ self.weights[f"layers.{layer}.attn.proj_{name}.weight"].T

    def heads(self, layer, hidden, seen, distance):
        """Of each head the scores [B, M, C + M], by content and by distance [M, C + M], and the values."""
        size = WIDTH // HEADS
        column = (self.limit - distance).clamp(0, self.limit - 1)  # of the table of positions
        query, key, value = (
            self.project(layer, name, x) for name, x in (("query", hidden), ("key", seen), ("val", seen))
        )
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            by_position = (query[..., part] @ self.weights["key_pe"][0]).gather(-1, column.expand(BATCH, -1, -1))
            scores = (query[..., part] @ key[..., part].transpose(1, 2) + by_position) / size**0.5
            yield scores, value[..., part]

    def attention(self, layer, hidden, seen, spans):
        """Sukhbaatar et al. 2019, §2.1 (equations 1 to 3) and §2.2 (the soft mask)."""
        block, length = hidden.shape[1], seen.shape[1]
        distance = torch.arange(block)[:, None] + self.limit - torch.arange(length)[None, :]  # [M, S + M]
        visible = (distance >= 1) & (distance <= self.reach(layer))
        heads = []
        for head, (scores, value) in enumerate(self.heads(layer, hidden, seen, distance)):
            attention = torch.softmax(scores.masked_fill(~visible, -torch.inf), -1)  # [B, M, S + M]
            if spans is not None:
                mask = ((RAMP + spans[..., head, None] - (distance - 1)) / RAMP).clamp(0, 1)
                attention = attention * mask
                attention = attention / (attention.sum(-1, keepdim=True) + 1e-8)
            heads.append(attention @ value)
        return self.project(layer, "out", torch.cat(heads, -1))

    def expiring_attention(self, layer, hidden, seen):
        """Sukhbaatar et al. 2021: every memory has a factor that falls with its age. What remains is normalised; a query
        that sees no memory gets zeros."""
        block, length = hidden.shape[1], seen.shape[1]
        age = torch.arange(block)[:, None] + length - block - torch.arange(length)[None, :]  # [M, C + M]
        visible = (age >= 1) & (age <= self.limit)
        factor = ((self.kept(layer, seen)[:, None, :] - age) / RAMP + 1).clamp(0, 1) * visible  # [B, M, C + M]
        heads = []
        for scores, value in self.heads(layer, hidden, seen, age):
            weight = factor * torch.exp(scores)
            total = weight.sum(-1, keepdim=True)
            heads.append(weight / torch.where(total > 0, total, torch.ones_like(total)) @ value)
        return self.project(layer, "out", torch.cat(heads, -1))

    def clamp_spans(self):
        with torch.no_grad():
            for name, weight in self.weights.items():
                if name.endswith("current_val"):
                    weight.clamp_(0, 1)


TEXT = (golden.sequence(BATCH * (BLOCKS * BLOCK + 1), 12345) % SYMBOLS).reshape(BATCH, -1)


def block_of(index):
    """Tokens and targets of a block."""
    return TEXT[:, index * BLOCK : (index + 1) * BLOCK], TEXT[:, index * BLOCK + 1 : (index + 1) * BLOCK + 1]


def block_losses(model):
    losses, past = [], model.no_past()
    with torch.no_grad():
        for index in range(BLOCKS):
            tokens, targets = block_of(index)
            logits, past, _ = model.forward(tokens, past)
            losses.append(golden.mean_loss(logits, targets).item())
    return losses


def training(model):
    """Losses before each of twelve updates, and the gradients of the fourth."""
    optimizer = golden.Adagrad(model.weights, CLIP)
    losses = []
    for step in range(STEPS):
        if step % BLOCKS == 0:
            past = model.no_past()
        tokens, targets = block_of(step % BLOCKS)
        golden.clear_gradients(model.weights)
        logits, past, penalty = model.forward(tokens, past)
        loss = golden.mean_loss(logits, targets)
        losses.append(loss.item())
        (loss + penalty).backward()
        if step == STEP_OF_GRADIENTS:
            norms = golden.gradient_norms(model.weights)
        optimizer.step(RATE * min(1, (step + 1) / WARMUP))
        model.clamp_spans()
    return {"training_losses": losses, "gradient_norms": norms}


def compute():
    result = {"origin": ORIGIN}
    for kind in ("fixed", "adaptive", "dynamic", "expire", "windows"):
        model = Model(kind)
        result[kind] = {"block_losses": block_losses(model), **training(model)}
        if kind == "adaptive":
            result[kind]["final_spans"] = [
                model.weights[f"layers.{layer}.attn.attn.adaptive_span._mask.current_val"].flatten().tolist()
                for layer in range(LAYERS)
            ]
    for kind in ("adaptive", "dynamic", "expire"):
        result[kind + "_trimmed"] = {"block_losses": block_losses(Model(kind, 160, TRIMMED_SPANS))}
    return result


if __name__ == "__main__":
    golden.main("adaptive_span", compute)
