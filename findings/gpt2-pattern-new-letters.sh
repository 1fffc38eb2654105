#!/usr/bin/env bash
# Most would expect: GPT-2's pattern cuts a text alike in Python's regex (as in the published encoder), tokenizers, tiktoken.
# What happens: \p{L} is a list of letters, and each package brings the one of another year. A letter that was new in
#   Unicode 17 joins its word in regex and begins a new piece in the other two, so the tokens differ.
# Version: regex 2026.11.19, tokenizers 0.23.3, tiktoken 0.14.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install regex==2026.11.19 tokenizers==0.23.3 tiktoken==0.14.0
observe <<'PYTHON'
import regex, tiktoken
from tokenizers import Regex, pre_tokenizers

pattern = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
split = pre_tokenizers.Split(Regex(pattern), "isolated")
for letter, since in (("\U00011f04", 15), ("\u1c8a", 16), ("\U000323b0", 17)):
    word = letter + "a"
    data = word.encode()
    ranks = {bytes([byte]): byte for byte in range(256)}
    ranks |= {data[:size]: 254 + size for size in range(2, len(data) + 1)}  # one token for the word, if it is one piece
    encoding = tiktoken.Encoding("one-word", pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    in_one = {
        "regex": len(regex.findall(pattern, word)) == 1,
        "tokenizers": len(split.pre_tokenize_str(word)) == 1,
        "tiktoken": len(encoding.encode_ordinary(word)) == 1,
    }
    pieces = ", ".join(f"{name} {'one piece' if one else 'several'}" for name, one in in_one.items())
    print(f"a letter of Unicode {since} and an a: {pieces}")
PYTHON
expect <<'TEXT'
a letter of Unicode 15 and an a: regex one piece, tokenizers one piece, tiktoken one piece
a letter of Unicode 16 and an a: regex one piece, tokenizers one piece, tiktoken one piece
a letter of Unicode 17 and an a: regex one piece, tokenizers several, tiktoken several
TEXT
