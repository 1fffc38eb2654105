"""Shared by the scripts of models of transformer blocks: weights, embeddings, norms, feed-forwards, and ten updates by
AdamW with clipping, warm-up and the half-cosine schedule."""

import math

import torch

import golden

EPSILON = 1e-5
BEGINNING = -1
STEPS, RATE, WARMUP, BETAS, DECAY, CLIP = 10, 0.02, 0.3, (0.9, 0.98), 0.01, 1.0


def behind_beginnings(targets):
    """The tokens [B, T] that predict these targets."""
    return torch.cat([torch.full((len(targets), 1), BEGINNING), targets[:, :-1]], 1)


class Blocks:
    """`v` is the variant; `shapes` those of weights by name; `special` gives values to some, or None."""

    def __init__(self, v, shapes, special=lambda index, name, shape: None):
        self.v, self.weights = v, {}
        for index, (name, shape) in enumerate(sorted(shapes.items())):
            value = special(index, name, shape)
            if value is None and "norm" in name:
                value = 1 + golden.formula(index, shape, 0.2)
            elif value is None:
                value = golden.formula(index, shape, 1.0 if "embed_" in name else 0.3)
            self.weights[name] = value.requires_grad_()

    def embedded(self, row, at="model."):
        """Embeddings [T, d] of a row of tokens, with learnt positions if there are any."""
        table = self.weights[at + "embed_tokens.weight"]
        beginning = self.weights[at + "embed_beginning.weight"]
        x = torch.stack([beginning if token == BEGINNING else table[token] for token in row])
        positions = self.weights.get(at + "embed_positions.weight")
        return x if positions is None else x + positions[: len(row)]

    def norm(self, x, scale):
        if self.v["norm"] == "rms":
            return x / torch.sqrt((x**2).mean(-1, keepdim=True) + EPSILON) * scale
        return golden.layer_norm(x, scale, 0)

    def feed_forward(self, x, at):
        up = x @ self.weights[at + "mlp.up_proj.weight"].T
        kind = self.v["activation"]
        if kind == "swiglu":
            gate = x @ self.weights[at + "mlp.gate_proj.weight"].T
            inner = gate / (1 + torch.exp(-gate)) * up
        elif kind == "gelu":
            inner = 0.5 * up * (1 + torch.tanh(math.sqrt(2 / math.pi) * (up + 0.044715 * up**3)))
        else:
            inner = torch.relu(up) ** (2 if kind == "relu2" else 1)
        return inner @ self.weights[at + "mlp.down_proj.weight"].T

    def multiplier(self, name, weight):
        matrix = weight.dim() == 2 and "embed_" not in name
        return weight.shape[1] ** -0.5 if self.v["weights"] == "simple" and matrix else 1.0

    def trained(self):
        """The losses before each of ten updates, and the sums of the weights' absolute values behind them."""
        moments = {name: (torch.zeros_like(w), torch.zeros_like(w)) for name, w in self.weights.items()}
        losses = []
        for step in range(1, STEPS + 1):
            golden.clear_gradients(self.weights)
            loss = self.loss()
            loss.backward()
            losses.append(loss.item())
            with torch.no_grad():
                learnt = {name: w for name, w in self.weights.items() if w.grad is not None}
                length = math.sqrt(sum(w.grad.norm().item() ** 2 for w in learnt.values()))
                shorter = min(1.0, CLIP / (length + 1e-6))
                rate = RATE * math.cos(0.5 * math.pi * (step - 1) / STEPS) * min(1.0, step / (WARMUP * STEPS))
                for name, weight in learnt.items():
                    gradient = shorter * weight.grad
                    first, second = moments[name]
                    first.mul_(BETAS[0]).add_((1 - BETAS[0]) * gradient)
                    second.mul_(BETAS[1]).add_((1 - BETAS[1]) * gradient**2)
                    own = rate * self.multiplier(name, weight)
                    weight *= 1 - own * DECAY
                    corrected = (second / (1 - BETAS[1] ** step)).sqrt() + 1e-8
                    weight -= own * (first / (1 - BETAS[0] ** step)) / corrected
        return {"losses": losses, "weights": {name: w.abs().sum().item() for name, w in self.weights.items()}}
