#!/usr/bin/env bash
# Most would expect: with is_causal=True the newest of four tokens attends to itself and to the three before it, also if
#   their keys and values come from a cache and it is the only query.
# What happens: jax aligns the mask at the first key. The only query counts as token 0, so it sees the first key alone.
# Version: jax 0.10.2
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
observe <<'PYTHON'
import jax.numpy as jnp
from jax.nn import dot_product_attention

tokens = 4
queries = keys = jnp.zeros((1, tokens, 1, 1))  # alike, so that all visible keys count the same
values = jnp.arange(1.0, tokens + 1).reshape(1, tokens, 1, 1)  # 1, 2, 3, 4


def seen(queries):
    return dot_product_attention(queries, keys, values, is_causal=True).ravel().tolist()


print("all queries at once:", seen(queries))
print("the newest alone:", seen(queries[:, -1:]))
PYTHON
expect <<'TEXT'
all queries at once: [1.0, 1.5, 2.0, 2.5]
the newest alone: [1.0]
TEXT
