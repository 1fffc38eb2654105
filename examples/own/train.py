"""train.py --text FILE --context N --rate R --seed S: learns which letter follows N others, and prints its losses.

Nothing in it knows of xlm. It stands for your own program.
"""
import argparse
import math
import random
import re

parser = argparse.ArgumentParser()
parser.add_argument("--text", required=True)
parser.add_argument("--context", type=int, default=1)
parser.add_argument("--rate", type=float, default=0.1)
parser.add_argument("--steps", type=int, default=12000)
parser.add_argument("--seed", type=int, default=1)
arguments = parser.parse_args()
random.seed(arguments.seed)

text = re.sub("[^a-z]+", " ", open(arguments.text).read().lower())
letters = [" abcdefghijklmnopqrstuvwxyz".index(letter) for letter in text]
border = len(letters) * 9 // 10
weights = [[[random.gauss(0, 0.1) for _ in range(27)] for _ in range(27)] for _ in range(arguments.context)]


def predict(place):
    rows = [weights[back][letters[place - 1 - back]] for back in range(arguments.context)]
    scores = [math.exp(sum(row[letter] for row in rows)) for letter in range(27)]
    total = sum(scores)
    return rows, [score / total for score in scores]


def validate():
    places = range(border + 3, len(letters))
    return sum(-math.log(predict(place)[1][letters[place]]) for place in places) / len(places)


recent = 0
for step in range(1, arguments.steps + 1):
    place = random.randrange(3, border)
    rows, chances = predict(place)
    recent -= math.log(chances[letters[place]])
    chances[letters[place]] -= 1
    for row in rows:
        for letter in range(27):
            row[letter] -= arguments.rate * chances[letter]
    if step % 1000 == 0:
        print("step", step, "loss", recent / 1000)
        recent = 0
        print("valid", validate(), flush=True)
