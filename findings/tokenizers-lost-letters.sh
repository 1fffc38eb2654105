#!/usr/bin/env bash
# Most would expect: byte pairs learnt on bytes encode every text, because any text is bytes.
# What happens: the trainer keeps only bytes of its training text. Encoding then drops all others without a warning, so
#   decoding gives a shorter text, and a loss per character counts letters that no token stands for.
# Version: tokenizers 0.23.3
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install tokenizers==0.23.3
observe <<'PYTHON'
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers


def trained(**options):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, **options)
    tokenizer.train_from_iterator(["the cat sat on the mat\n"] * 100, trainer)
    return tokenizer


text = "the dog sat, at 9\n"
for name, tokenizer in (("as it is", trained()),
                        ("with all bytes", trained(initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))):
    print(f"{name}: {text!r} becomes {tokenizer.decode(tokenizer.encode(text).ids)!r}")
PYTHON
expect <<'TEXT'
as it is: 'the dog sat, at 9\n' becomes 'the o sat at \n'
with all bytes: 'the dog sat, at 9\n' becomes 'the dog sat, at 9\n'
TEXT
