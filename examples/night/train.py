"""A language model of letters that trains in seconds: a multilayer perceptron over the last letters."""

import argparse

import numpy as np


def read_text(path):
    """The letters of a text as small numbers: the first 95 % for training, the rest to measure."""
    with open(path, "rb") as file:
        data = np.frombuffer(file.read().lower(), dtype=np.uint8)
    letters, ids = np.unique(data, return_inverse=True)
    cut = len(ids) * 95 // 100
    return len(letters), ids[:cut], ids[cut:]


class Model:
    """Letters -> vectors -> one hidden layer -> scores of the next letter."""

    def __init__(self, letters, context, width, hidden, rng):
        self.context = context
        self.rng = rng
        self.weights = {
            "vectors": rng.normal(0, 1, (letters, width)),
            "hidden": rng.normal(0, 1 / np.sqrt(context * width), (context * width, hidden)),
            "hidden_bias": np.zeros(hidden),
            "scores": rng.normal(0, 1 / np.sqrt(hidden), (hidden, letters)),
            "scores_bias": np.zeros(letters),
        }

    def scores(self, windows, dropout):
        """Scores of the next letter, with what the backward pass needs."""
        w = self.weights
        inputs = w["vectors"][windows].reshape(len(windows), -1)
        active = np.tanh(inputs @ w["hidden"] + w["hidden_bias"])
        if dropout > 0:
            active = active * (self.rng.random(active.shape) >= dropout) / (1 - dropout)
        return active @ w["scores"] + w["scores_bias"], inputs, active

    def loss(self, windows, targets):
        """Mean nats of a letter."""
        scores, _, _ = self.scores(windows, 0)
        scores = scores - scores.max(axis=1, keepdims=True)
        chosen = scores[np.arange(len(targets)), targets]
        return float(np.mean(np.log(np.exp(scores).sum(axis=1)) - chosen))

    def gradients(self, windows, targets, dropout):
        """Gradients of the mean loss of a batch."""
        w = self.weights
        scores, inputs, active = self.scores(windows, dropout)
        chances = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances /= chances.sum(axis=1, keepdims=True)
        chances[np.arange(len(targets)), targets] -= 1
        chances /= len(targets)
        kept = active * (1 - dropout)
        back = (chances @ w["scores"].T) * (1 - kept * kept) * (active != 0) / (1 - dropout)
        to_vectors = (back @ w["hidden"].T).reshape(len(windows), self.context, -1)
        vectors = np.zeros_like(w["vectors"])
        np.add.at(vectors, windows, to_vectors)
        return {
            "vectors": vectors,
            "hidden": inputs.T @ back,
            "hidden_bias": back.sum(axis=0),
            "scores": active.T @ chances,
            "scores_bias": chances.sum(axis=0),
        }


class Adam:
    """The optimizer Adam."""

    def __init__(self, weights, first=0.9, second=0.99, epsilon=1e-8):
        self.first, self.second, self.epsilon = first, second, epsilon
        self.mean = {name: np.zeros_like(value) for name, value in weights.items()}
        self.square = {name: np.zeros_like(value) for name, value in weights.items()}
        self.steps = 0

    def update(self, weights, gradients, rate):
        self.steps += 1
        for name, gradient in gradients.items():
            self.mean[name] += (1 - self.first) * (gradient - self.mean[name])
            self.square[name] += (1 - self.second) * (gradient * gradient - self.square[name])
            mean = self.mean[name] / (1 - self.first**self.steps)
            square = self.square[name] / (1 - self.second**self.steps)
            weights[name] -= rate * mean / (np.sqrt(square) + self.epsilon)


def windows_at(ids, ends, context):
    """The letters before each end, oldest first, and the letter at it."""
    return ids[ends[:, None] + np.arange(-context, 0)], ids[ends]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=6000)
    arguments = parser.parse_args()

    context = 6
    width = 12
    hidden = 64
    batch = 32
    rate = 0.004
    dropout = 0.1
    rng = np.random.Generator(np.random.PCG64(arguments.seed))
    letters, train, valid = read_text(arguments.text)
    model = Model(letters, context, width, hidden, rng)
    optimizer = Adam(model.weights)
    for step in range(1, arguments.steps + 1):
        ends = rng.integers(context, len(train), batch)
        windows, targets = windows_at(train, ends, context)
        gradients = model.gradients(windows, targets, dropout)
        optimizer.update(model.weights, gradients, rate * (1 - step / (arguments.steps + 1)))
        if step % 1000 == 0:
            print(f"step {step} loss {model.loss(windows, targets):.4f}", flush=True)

    ends = np.arange(context, len(valid))
    print(f"valid {model.loss(*windows_at(valid, ends, context)):.7f}", flush=True)


if __name__ == "__main__":
    main()
