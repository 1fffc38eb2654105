#!/usr/bin/env python3
"""part_comparison.py: the numbers of tests/results/judgement/part_comparison_test.cpp, by NumPy and SciPy.

The long-run variance is that of the equal-weighted cosine estimator, computed by scipy.fft.dct instead of sums.
"""
import numpy
import scipy.fft
import scipy.stats

COUNT = 40


def compare(shift, wave):
    i = numpy.arange(COUNT)
    tokens = 50 + i % 7
    difference = tokens * (shift + 0.1 * numpy.cos(3 * i) + wave * numpy.sin(i / 5))
    mean = difference.sum() / tokens.sum()
    residuals = difference - mean * tokens
    waves = int(0.4 * COUNT ** (2 / 3))
    of_waves = (scipy.fft.dct(residuals, norm="ortho")[1 : waves + 1] ** 2).mean()
    of_single = (residuals**2).sum() / (COUNT - 1)
    freedom = waves if of_waves > of_single else COUNT - 1
    error = numpy.sqrt(max(of_waves, of_single) * COUNT) / tokens.sum()
    half = scipy.stats.t.ppf(0.975, freedom) * error
    print("freedom", freedom, "difference", float(mean), "interval", float(mean - half), float(mean + half))
    print("p", float(2 * scipy.stats.t.sf(abs(mean) / error, freedom)))
    print("effective", float(min(COUNT, COUNT * of_single / of_waves)))


def main():
    compare(0.03, 0.05)
    compare(0.03, 0)


if __name__ == "__main__":
    main()
