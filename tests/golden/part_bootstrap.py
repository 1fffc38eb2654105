#!/usr/bin/env python3
"""part_bootstrap.py: the numbers of tests/results/judgement/part_bootstrap_test.cpp, computed the plain way.

Prints the difference, the interval and p of two levels. The draws use the project's counted random numbers, written
again here. Needs only Python.
"""
BITS = (1 << 64) - 1
DRAWS = 10_000
SEED = 1
A = [10.0, 22.0, 31.0, 8.0, 0.0, 45.0]
B = [11.5, 21.0, 33.0, 9.0, 0.0, 44.0]
TOKENS = [5, 10, 15, 4, 0, 20]


def mixed(x):
    x = (x + 0x9E3779B97F4A7C15) & BITS
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & BITS
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & BITS
    return x ^ (x >> 31)


def random_below(bound, seed, stream, index):
    return mixed(mixed(mixed(seed) ^ stream) ^ index) * bound >> 64


def quantile(ordered, share):
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def main():
    parts = [(a - b, tokens) for a, b, tokens in zip(A, B, TOKENS) if tokens > 0]
    drawn = []
    for draw in range(DRAWS):
        chosen = [parts[random_below(len(parts), SEED, draw, i)] for i in range(len(parts))]
        drawn.append(sum(part[0] for part in chosen) / sum(part[1] for part in chosen))
    drawn.sort()
    least = min(sum(value <= 0 for value in drawn), sum(value >= 0 for value in drawn))
    print("difference", sum(part[0] for part in parts) / sum(part[1] for part in parts))
    print("p", min(1, 2 * (least + 1) / (DRAWS + 1)))
    for level in (0.95, 0.8):
        tail = (1 - level) / 2
        print(f"{level:g} interval", quantile(drawn, tail), quantile(drawn, 1 - tail))


if __name__ == "__main__":
    main()
