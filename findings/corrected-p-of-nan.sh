#!/usr/bin/env bash
# Most would expect: a p-value that is NaN (a comparison of one seed, say) stays NaN, and the others are corrected.
# What happens: by the method of Benjamini and Hochberg statsmodels makes every p-value NaN, and still says which are
#   significant. By Holm's it counts the NaN as a comparison, so the others get larger.
# Version: statsmodels 0.15.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install statsmodels==0.15.0 scipy==1.17.1 pandas==3.1.1 numpy==2.4.6
observe <<'PYTHON'
import numpy
from statsmodels.stats.multitest import multipletests

for values in ([0.01, 0.04], [0.01, numpy.nan, 0.04]):
    for method in ("fdr_bh", "holm"):
        significant, corrected, _, _ = multipletests(values, method=method)
        print(f"{values} by {method}: p {[round(float(p), 4) for p in corrected]}, significant {significant.tolist()}")
PYTHON
expect <<'TEXT'
[0.01, 0.04] by fdr_bh: p [0.02, 0.04], significant [True, True]
[0.01, 0.04] by holm: p [0.02, 0.04], significant [True, True]
[0.01, nan, 0.04] by fdr_bh: p [nan, nan, nan], significant [True, False, False]
[0.01, nan, 0.04] by holm: p [0.03, nan, 0.08], significant [True, False, False]
TEXT
