#!/usr/bin/env bash
# Most would expect: tiktoken and tokenizers cut a text alike if both have the same tokens with the same ids.
# What happens: tokenizers merges in the order of its list of merges, tiktoken in the order of the ids. Where a vocabulary
#   is numbered in another order than its merges (by the alphabet, say), the two cut differently, without a warning.
# Version: tiktoken 0.14.0, tokenizers 0.23.3
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install tiktoken==0.14.0 tokenizers==0.23.3
observe <<'PYTHON'
import tiktoken
from tokenizers import Tokenizer, models

letters = {letter: id for id, letter in enumerate("abc")}
merges = [("b", "c"), ("a", "b")]  # "bc" was learnt first
for order, pairs in (("of the alphabet", ["ab", "bc"]), ("of the merges", ["bc", "ab"])):
    vocabulary = letters | {pair: len(letters) + place for place, pair in enumerate(pairs)}
    rust = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    ranks = {token.encode(): id for token, id in vocabulary.items()}
    other = tiktoken.Encoding("small", pat_str=r"\S+", mergeable_ranks=ranks, special_tokens={})
    cut = [other.decode([token]) for token in other.encode_ordinary("abc")]
    print(f"ids in the order {order}: tokenizers {rust.encode('abc').tokens}, tiktoken {cut}")
PYTHON
expect <<'TEXT'
ids in the order of the alphabet: tokenizers ['a', 'bc'], tiktoken ['ab', 'c']
ids in the order of the merges: tokenizers ['a', 'bc'], tiktoken ['a', 'bc']
TEXT
