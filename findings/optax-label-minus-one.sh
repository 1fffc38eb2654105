#!/usr/bin/env bash
# Most would expect: a label outside the vocabulary is left out of the loss, as PyTorch's ignore_index does, or is an error.
# What happens: optax counts -1, the usual label of padding in small GPTs, as the last token of the vocabulary. Its loss
#   looks plausible. -100, and labels above the vocabulary, give NaN.
# Version: optax 0.2.8, jax 0.10.2
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install optax==0.2.8 jax==0.10.2 jaxlib==0.10.2 numpy==2.4.6
observe <<'PYTHON'
import jax, jax.numpy as jnp
import optax

logits = jnp.log(jnp.array([[0.5, 0.25, 0.25]]))
loss = optax.softmax_cross_entropy_with_integer_labels
for label in (0, 2, -1, -100, 3):
    print(f"label {label}: loss {float(loss(logits, jnp.array([label]))[0]):.3f}")
gradient = jax.grad(lambda logits: loss(logits, jnp.array([-1])).sum())(logits)
print("gradient for label -1:", [round(float(x), 3) for x in gradient[0]])
PYTHON
expect <<'TEXT'
label 0: loss 0.693
label 2: loss 1.386
label -1: loss 1.386
label -100: loss nan
label 3: loss nan
gradient for label -1: [0.5, 0.25, -0.75]
TEXT
