"""Makes tests/golden/hourglass.json: losses, statistics, gradients and updates of small models with dynamic pooling.

Written from Nawrot et al. 2023 and experiments/recipes/dynamic-pooling/README.md. Groups are pooled row by row and
group by group, relative attention picks every distance's score by its index, and gradients come from autograd. Double
precision throughout. tests/golden/README.md says how to run it.
"""

import math

import torch

import golden

SYMBOLS, BATCH, LENGTH, LAST = 11, 3, 40, 13
WIDTH, HEADS, UNITS = 16, 4, 24
FACTOR, PRIOR, TEMPERATURE, WINDOW = 3, 0.2, 0.5, 2
HIGHEST, DEVIATION, DEVIATIONS = 0.71, 0.048, 2.5  # of the loss "range": α, σ and λ
RATE, CLIP, STEPS = 0.01, 0.25, 6
SPACE = 0
TINY = 1e-9  # the published program adds it to the number of vectors that it means over, one of them included
EPSILON = torch.finfo(torch.float64).eps
PREDICTED = ("unigram", "entropy", "gumbel")

ORIGIN = (
    "made by tests/golden/hourglass.py, in double precision. The published program (PiotrNawrot/dynamic-pooling) gave "
    "the same numbers; *_subsample and *_range are not in it. gumbel: noise from torch.manual_seed(7) before every call."
)

TEXT = (golden.sequence(BATCH * (LENGTH + 1), 31337) % SYMBOLS).reshape(BATCH, LENGTH + 1)
TOKENS, TARGETS = TEXT[:, :-1], TEXT[:, 1:]
SEGMENTATION = (golden.sequence(BATCH * LENGTH, 777) % 3 == 0).reshape(BATCH, LENGTH)


def shapes(kind):
    """Names and shapes of the weights."""
    result = {
        "word_emb.weight": (SYMBOLS, WIDTH),
        "r_w_bias": (HEADS, WIDTH // HEADS),
        "r_r_bias": (HEADS, WIDTH // HEADS),
        "final_cast.weight": (SYMBOLS, WIDTH),
        "final_cast.bias": (SYMBOLS,),
    }
    for at in places_of_layers(kind):
        for name, out, inner in (
            ("dec_attn.qkv_net", 3 * WIDTH, WIDTH),
            ("dec_attn.r_net", WIDTH, WIDTH),
            ("dec_attn.o_net", WIDTH, WIDTH),
            ("pos_ff.CoreNet.0", UNITS, WIDTH),
            ("pos_ff.CoreNet.3", WIDTH, UNITS),
        ):
            result[f"{at}.{name}.weight"], result[f"{at}.{name}.bias"] = (out, inner), (out,)
        for name in ("dec_attn.layer_norm", "pos_ff.layer_norm"):
            result[f"{at}.{name}.weight"] = result[f"{at}.{name}.bias"] = (WIDTH,)
    if kind != "none":
        result["null_group"] = (1, 1, WIDTH)
        result["down_ln.weight"] = result["down_ln.bias"] = (WIDTH,)
    if kind in PREDICTED:
        at = "boundary_predictor.boundary_predictor"
        result[f"{at}.0.weight"], result[f"{at}.0.bias"] = (UNITS, WIDTH), (UNITS,)
        result[f"{at}.2.weight"], result[f"{at}.2.bias"] = (1, UNITS), (1,)
    return result


def places_of_layers(kind):
    counts = [3] if kind == "none" else [1, 2, 1]
    return [f"layers.{stage}.{index}" for stage, count in enumerate(counts) for index in range(count)]


def golden_weights(kind):
    weights = {}
    for index, (name, shape) in enumerate(sorted(shapes(kind).items())):
        if ("layer_norm" in name or name.startswith("down_ln")) and name.endswith("weight"):
            value = (1 + golden.formula(index, shape, 0.2)).to(torch.float32).to(torch.float64)
        else:
            wide = name in ("word_emb.weight", "null_group", "boundary_predictor.boundary_predictor.2.weight")
            value = golden.formula(index, shape, 1.0 if wide else 0.3)
        weights[name] = value.requires_grad_()
    return weights


def gelu(x):
    return x * 0.5 * (1 + torch.erf(x / math.sqrt(2)))


def moved(groups):
    """Each token's weight in its group, given the group's number: 1. The number is a sum of boundaries, so that soft
    boundaries change the weight of every later token."""
    return 1 + groups - groups.detach()


class Model:
    def __init__(self, kind, pooling, in_range=False):
        self.kind, self.pooling, self.in_range = kind, pooling, in_range
        self.tiny = 0 if in_range else TINY
        self.weights = golden_weights(kind)

    def affine(self, name, x):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def norm(self, name, x):
        return golden.layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def layers(self, stage, hidden):
        """The layers of a stage on one row [T, D]."""
        for at in places_of_layers(self.kind):
            if at.startswith(f"layers.{stage}."):
                hidden = self.norm(f"{at}.dec_attn.layer_norm", hidden + self.attention(f"{at}.dec_attn", hidden))
                inner = gelu(self.affine(f"{at}.pos_ff.CoreNet.0", hidden))
                outer = self.affine(f"{at}.pos_ff.CoreNet.3", inner)
                hidden = self.norm(f"{at}.pos_ff.layer_norm", hidden + outer)
        return hidden

    def attention(self, at, hidden):
        """Relative attention of Dai et al. 2019, §3.3, without memory."""
        length, size = hidden.shape[0], WIDTH // HEADS
        frequency = 10000.0 ** (-torch.arange(0, WIDTH, 2, dtype=torch.float64) / WIDTH)
        angle = torch.arange(length, dtype=torch.float64)[:, None] * frequency
        relative = self.affine(f"{at}.r_net", torch.cat([angle.sin(), angle.cos()], 1))  # [T, D], by distance
        distance = torch.arange(length)[:, None] - torch.arange(length)[None, :]  # [T, T]
        query, key, value = self.affine(f"{at}.qkv_net", hidden).split(WIDTH, 1)
        heads = []
        for head in range(HEADS):
            part = slice(head * size, (head + 1) * size)
            by_content = (query[:, part] + self.weights["r_w_bias"][head]) @ key[:, part].T
            by_place = (query[:, part] + self.weights["r_r_bias"][head]) @ relative[:, part].T  # [T, distance]
            scores = (by_content + by_place.gather(1, distance.clamp(min=0))) / math.sqrt(size)
            heads.append(torch.softmax(scores.masked_fill(distance < 0, -torch.inf), 1) @ value[:, part])
        return self.affine(f"{at}.o_net", torch.cat(heads, 1))

    def boundaries(self, hidden):
        """Boundaries [B, T], 0 or 1, and the predictor's output [B, T]."""
        if self.kind == "fixed":
            return (torch.arange(LENGTH) % FACTOR == 0).double().expand(BATCH, LENGTH), None
        if self.kind == "whitespace":
            return (TOKENS == SPACE).double(), None
        at = "boundary_predictor.boundary_predictor."
        predicted = self.affine(at + "2", gelu(self.affine(at + "0", hidden)))[..., 0]
        if self.kind != "gumbel":
            return (torch.sigmoid(predicted) > 0.5).double(), predicted
        torch.manual_seed(7)
        noise = torch.rand(BATCH, LENGTH, dtype=torch.float64).clamp(EPSILON, 1 - EPSILON)
        soft = torch.sigmoid((predicted + torch.log(noise / (1 - noise))) / TEMPERATURE)  # Nawrot et al. 2023, eq. 4
        hard = (soft > 0.5).double()
        return hard + soft - soft.detach(), predicted  # straight through

    def pool(self, hidden, boundaries):
        """Vectors of the closed groups of one row [G, D], and the number of groups closed up to each token [T]."""
        flags = boundaries.detach() > 0.5
        groups, begin = [], 0
        share = moved(torch.cumsum(boundaries, 0) - boundaries)  # of the boundaries before each token
        for end in flags.nonzero()[:, 0].tolist():
            tokens = slice(begin, end + 1)
            if self.pooling == "mean":
                weight = share[tokens, None]
                groups.append((weight * hidden[tokens]).sum(0) / (weight.sum() + self.tiny))
            else:
                groups.append(hidden[end])
            begin = end + 1
        return groups, torch.cumsum(flags, 0)

    def middle(self, hidden, boundaries):
        """Nawrot et al. 2023, §3.2, on one row [T, D]: pooled, through the middle layers, spread, and the residual."""
        groups, closed = self.pool(hidden, boundaries)
        shortened = torch.stack([self.weights["null_group"][0, 0], *groups])  # [1 + G, D]
        weight = moved(torch.cumsum(boundaries, 0))[:, None]
        spread = self.layers(1, self.norm("down_ln", shortened))[closed] * weight / (weight + self.tiny)
        return spread + hidden

    def forward(self, scored):
        """Loss of the last `scored` tokens, boundary loss and statistics."""
        hidden = torch.stack([self.layers(0, row) for row in self.weights["word_emb.weight"][TOKENS]])
        last = slice(LENGTH - scored, LENGTH)
        if self.kind == "none":
            return self.loss(hidden, last)[0], None, {}
        boundaries, predicted = self.boundaries(hidden)
        rows = [self.layers(2, self.middle(row, flags)) for row, flags in zip(hidden, boundaries)]
        loss, logits = self.loss(torch.stack(rows), last)
        found = boundaries[:, last] > 0.5
        statistics = {"shortening_factor": found.numel() / found.sum().item()}
        if predicted is None:
            return loss, None, statistics
        target = self.target(logits, last)
        statistics["boundary_accuracy"] = (found == target).double().mean().item()
        statistics["boundary_precision"] = (found & target).sum().item() / found.sum().item()
        statistics["boundary_recall"] = (found & target).sum().item() / target.sum().item()
        return loss, self.boundary_loss(boundaries[:, last], predicted[:, last], target), statistics

    def loss(self, hidden, last):
        logits = self.affine("final_cast", hidden[:, last])
        return golden.mean_loss(logits, TARGETS[:, last]), logits

    def target(self, logits, last):
        """The predictor's targets; for gumbel, which has none, the spaces."""
        if self.kind == "unigram":
            return SEGMENTATION[:, last]
        if self.kind == "gumbel":
            return TOKENS[:, last] == SPACE
        chances = torch.softmax(logits.detach(), -1)
        entropy = -(chances * chances.log()).sum(-1)  # Nawrot et al. 2023, eq. 5
        spikes = torch.ones_like(entropy, dtype=torch.bool)
        for row in range(BATCH):
            for place in range(entropy.shape[1]):  # eq. 6
                spikes[row, place] = all(
                    entropy[row, place] > entropy[row, earlier] for earlier in range(max(0, place - WINDOW), place)
                )
        return spikes

    def boundary_loss(self, boundaries, predicted, target):
        """Nawrot et al. 2023, §3.3. Cross-entropy as published: of the sigmoid of the sigmoid."""
        if self.kind != "gumbel":
            chance = torch.sigmoid(torch.sigmoid(predicted))
            return -torch.where(target, chance.log(), (1 - chance).log()).mean()
        if self.in_range:
            return sum(self.outside(share) for share in boundaries.mean(1)) / BATCH
        count, ones = boundaries.shape[1], boundaries.sum(1)  # eq. 7
        ways = math.lgamma(count + 1) - torch.lgamma(ones + 1) - torch.lgamma(count - ones + 1)
        return -(ways + ones * math.log(PRIOR) + (count - ones) * math.log(1 - PRIOR)).mean() / count

    def outside(self, share):
        """Owodunni et al. 2025: how far the share of boundaries of a row is above α, or below α − λσ."""
        lowest = HIGHEST - DEVIATIONS * DEVIATION
        if share > HIGHEST:
            return share - HIGHEST
        return lowest - share if share < lowest else 0 * share


def call(model, scored):
    with torch.no_grad():
        loss, boundary_loss, statistics = model.forward(scored)
    result = {"loss": loss.item(), **statistics}
    if boundary_loss is not None:
        result["boundary_loss"] = boundary_loss.item()
    return result


def training(model):
    """The gradients before the first of six updates, and the losses before each."""
    optimizer = golden.Adam(model.weights, CLIP)
    losses, norms = [], None
    for _ in range(STEPS):
        golden.clear_gradients(model.weights)
        loss, boundary_loss, _ = model.forward(LENGTH)
        losses.append(loss.item())
        (loss if boundary_loss is None else loss + boundary_loss).backward()
        norms = norms or golden.gradient_norms(model.weights)
        optimizer.step(RATE)
    return {"gradient_norms": norms, "training_losses": losses}


def compute():
    result = {"origin": ORIGIN}
    for kind in ("none", "fixed", "whitespace", *PREDICTED):
        for pooling in ("mean",) if kind in ("none", "gumbel") else ("mean", "subsample"):
            model = Model(kind, pooling)
            name = kind if pooling == "mean" else f"{kind}_{pooling}"
            result[name] = numbers(model)
    result["gumbel_range"] = numbers(Model("gumbel", "mean", in_range=True))
    return result


def numbers(model):
    return {"whole": call(model, LENGTH), "last_13": call(model, LAST), **training(model)}


if __name__ == "__main__":
    golden.main("hourglass", compute)
