"""A program for program.yaml: a loss with one lowest point, at x = 0.3 and lr = 0.01, and noise that the seed decides."""
import json
import math
import os
import random

with open(os.environ["XLM_CONFIG"], encoding="utf-8") as file:
    options = json.load(file)["options"]
seed = int(os.environ["XLM_SEED"])
x = options["x"] - 0.3
rate = math.log10(options["lr"]) + 2
loss = 1 + x**2 + 0.2 * (rate + x) ** 2 + random.Random(seed).uniform(0, 0.01)
with open(os.environ["XLM_METRICS"], "a", encoding="utf-8") as file:
    file.write(json.dumps({"split": "valid", "step": 1, "loss": loss, "final": True}) + "\n")
