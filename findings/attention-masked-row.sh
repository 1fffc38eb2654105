#!/usr/bin/env bash
# Most would expect: a query that may see no key (padding, an empty window) gives zeros, or NaN as softmax of nothing.
# What happens: jax's attention returns the mean of all values that the mask forbids. As a bias of minus infinity the same
#   mask gives NaN.
# Version: jax 0.10.2
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
observe <<'PYTHON'
import jax.numpy as jnp
from jax.nn import dot_product_attention

queries = keys = jnp.zeros((1, 2, 1, 1))
values = jnp.array([10.0, 30.0]).reshape(1, 2, 1, 1)
mask = jnp.array([[False, False], [True, False]])[None, None]  # the first query sees nothing, the second the first key
print("as a mask:", dot_product_attention(queries, keys, values, mask=mask).ravel().tolist())
bias = jnp.where(mask, 0.0, -jnp.inf)
print("as a bias:", dot_product_attention(queries, keys, values, bias=bias).ravel().tolist())
PYTHON
expect <<'TEXT'
as a mask: [20.0, 10.0]
as a bias: [nan, 10.0]
TEXT
