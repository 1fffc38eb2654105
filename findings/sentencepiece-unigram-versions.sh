#!/usr/bin/env bash
# Most would expect: the same text and the same options train the same unigram vocabulary with every 0.2 of SentencePiece, or nearly.
# What happens: 0.2.2 learns the whole words "in" and "fact", where 0.2.1 and 0.2.3 learn three words with a common middle.
# Version: sentencepiece 0.2.3, next to 0.2.2 and 0.2.1
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install sentencepiece==0.2.3
for version in 0.2.1 0.2.2; do
  python3 -m pip --python "$folder/python/bin/python" install --quiet --disable-pip-version-check --no-compile \
    --target "$folder/input/$version" "sentencepiece==$version"
done
observe <<'PYTHON'
import subprocess, sys

TRAIN = """
import io, sys
sys.path[:0] = sys.argv[1:]
import sentencepiece
lines = [f"{begin}qrs{end} in fact {begin}" for begin in "abde" for end in "klmo"]
model = io.BytesIO()
try:
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, model_type="unigram", vocab_size=26,
                                             character_coverage=1.0, normalization_rule_name="identity", num_threads=1, minloglevel=2)
    pieces = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    names = [pieces.id_to_piece(i) for i in range(3, len(pieces))]
    print(sentencepiece.__version__, "longer than a letter:", sorted(name for name in names if len(name.lstrip("\\u2581")) > 1))
except RuntimeError as error:
    print(sentencepiece.__version__, str(error).split("] ")[-1])
"""
for folder in (["0.2.1"], ["0.2.2"], []):
    print(subprocess.run([sys.executable, "-I", "-c", TRAIN, *folder], capture_output=True, text=True, check=True).stdout, end="")
PYTHON
expect <<'TEXT'
0.2.1 longer than a letter: ['▁bqrs', '▁dqrs', '▁eqrs']
0.2.2 longer than a letter: ['▁fact', '▁in']
0.2.3 longer than a letter: ['▁bqrs', '▁dqrs', '▁eqrs']
TEXT
