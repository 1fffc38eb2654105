#!/usr/bin/env bash
# Most would expect: two seeds each are too few for Levene's test to say that two spreads differ, or it refuses.
# What happens: with two numbers in each group p is 0 or nearly 0, because both deviations of a group are equal, so
#   nothing varies within the groups. Only equal spreads give NaN.
# Version: scipy 1.17.1
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install scipy==1.17.1 numpy==2.4.6
observe <<'PYTHON'
import numpy
from scipy.stats import bartlett, levene

random = numpy.random.default_rng(1)
pairs = [random.normal(size=(2, 2)) for _ in range(1000)]  # one distribution: the spreads do not differ
for test in (levene, bartlett):
    found = sum(test(*pair).pvalue < 0.05 for pair in pairs)
    print(f"{test.__name__}: p < 0.05 in {found / len(pairs):.0%} of 1000 comparisons of equal spreads")
print("levene, 1.0 1.5 and 2.0 2.25: p =", float(levene([1.0, 1.5], [2.0, 2.25]).pvalue))
print("levene, 1.0 1.5 and 2.0 2.5: p =", float(levene([1.0, 1.5], [2.0, 2.5]).pvalue))
PYTHON
expect <<'TEXT'
levene: p < 0.05 in 100% of 1000 comparisons of equal spreads
bartlett: p < 0.05 in 4% of 1000 comparisons of equal spreads
levene, 1.0 1.5 and 2.0 2.25: p = 0.0
levene, 1.0 1.5 and 2.0 2.5: p = nan
TEXT
