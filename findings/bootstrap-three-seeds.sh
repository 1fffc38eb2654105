#!/usr/bin/env bash
# Most would expect: a bootstrap interval of 95 % holds the true mean in about 95 % of all experiments.
# What happens: of three seeds scipy's interval never reaches beyond the smallest and the greatest, as no draw has a mean
#   outside. It holds the mean of a normal distribution in 72 to 75 of 100 experiments, Student's t in 95.
# Version: scipy 1.17.1
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install scipy==1.17.1 numpy==2.4.6
observe <<'PYTHON'
import numpy
from scipy import stats

random = numpy.random.default_rng(1)
experiments = random.normal(size=(1000, 3))
hits = {"BCa": 0, "percentile": 0}
for seeds in experiments:
    for method in hits:
        interval = stats.bootstrap((seeds,), numpy.mean, n_resamples=999, method=method, rng=random).confidence_interval
        hits[method] += interval.low <= 0 <= interval.high
for method, count in hits.items():
    print(f"{method}: the true mean is inside in {count / 10:.0f} %")
half = stats.t.ppf(0.975, 2) * experiments.std(axis=1, ddof=1) / 3**0.5
print(f"Student's t: the true mean is inside in {100 * numpy.mean(abs(experiments.mean(axis=1)) <= half):.0f} %")
PYTHON
expect <<'TEXT'
BCa: the true mean is inside in 72 %
percentile: the true mean is inside in 75 %
Student's t: the true mean is inside in 95 %
TEXT
