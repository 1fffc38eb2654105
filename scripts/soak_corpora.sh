#!/usr/bin/env bash
# soak_corpora.sh BUILD [GIGABYTES [GIGABYTES]]: prepares a made text of 2 GB in every way, and one of 20 GB that stands
# compressed in a small file. Prints the speed and the peak memory of each, and fails if one takes more than 300 MB
# (and 75 bytes for each document, as docs/data.md says).
#
# Byte pairs need GPT-2's vocabulary in XLM_REAL_TEXTS/gpt2 (default: ../shared/data). Without it they are left out, and
# the largest text is prepared as bytes. The disk of TMPDIR needs twice its size.
set -euo pipefail
cd "$(dirname "$0")/.."
xlm=$(realpath "$1")/bin/xlm
small=${2:-2} large=${3:-20}
pairs=$(realpath -m "${XLM_REAL_TEXTS:-../shared/data}/gpt2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Words of a made language, as often as those of a real one, and stretches of them in any order.
cat >text.py <<'END'
import json, random, sys

random.seed(1)
letters = "etaoinshrdlucmfwypvbgkjqxzäöé"
kinds = ["".join(random.choices(letters, range(len(letters), 0, -1), k=random.randint(1, 12))) for _ in range(200_000)]
words = random.choices(kinds, [1 / (rank + 1) for rank in range(len(kinds))], k=6_000_000)
for place in range(0, len(words), 17):
    words[place] = words[place].capitalize() + random.choice([".\n", ",", "", " 1987"])
block = " ".join(words).encode()
stretch, left = 1 << 20, int(float(sys.argv[1]) * 1e9)
while left > 0:
    begin = random.randrange(len(block) - stretch)
    text = block[begin : begin + min(stretch, left)]
    left -= len(text)
    if sys.argv[2] == "jsonl":
        for row in range(0, len(text), 4096):
            print(json.dumps({"id": row, "text": text[row : row + 4096].decode(errors="ignore")}))
    else:
        sys.stdout.buffer.write(text)
END

failed=0
# prepare LABEL GIGABYTES MEGABYTES ARGUMENTS…
prepare() {
  local label=$1 size=$2 most=$3
  shift 3
  /usr/bin/time -o time -f '%e %U %S %M' "$xlm" prepare-data text --split 90%,5%,5% --out out --quiet "$@" >/dev/null
  awk -v label="$label" -v size="$size" -v most="$most" '
    {printf "%-40s %5.0f MB/s on the clock, %5.0f MB a second of the processor, %4.0f MB of memory\n", label,
       size * 1e3 / $1, size * 1e3 / ($2 + $3), $4 / 1024; exit $4 / 1024 > most}' time || failed=1
  rm -rf out
}

echo "== corpora of $small GB ($(nproc) threads)"
python3 text.py "$small" text >text.txt
prepare "bytes" "$small" 300 --from text.txt --unit byte
prepare "bytes, one thread" "$small" 300 --from text.txt --unit byte --threads 1
prepare "characters" "$small" 300 --from text.txt
prepare "the alphabet of text8" "$small" 300 --from text.txt --clean text8
prepare "the alphabet of Finnish" "$small" 300 --from text.txt --clean text8 --lang fi
if [ -e "$pairs/vocab.json" ]; then prepare "byte pairs" "$small" 300 --from text.txt --unit bpe --bpe "$pairs"; fi
gzip -1 <text.txt >text.txt.gz
prepare "bytes from gzip" "$small" 300 --from text.txt.gz --unit byte
rm text.txt.gz
tar -cf text.tar text.txt
rm text.txt
prepare "bytes from tar" "$small" 300 --from text.tar --unit byte
rm text.tar
python3 text.py "$small" jsonl >rows.jsonl
documents=$(wc -l <rows.jsonl)
prepare "bytes of $documents rows of JSON" "$small" $((300 + documents * 75 / 1000000)) --from rows.jsonl --column text --unit byte
rm rows.jsonl

echo "== a corpus of $large GB from zstd"
python3 text.py "$large" text | zstd -q --long=27 >text.txt.zst
ls -l text.txt.zst | awk '{printf "%.0f MB compressed\n", $5 / 1e6}'
if [ -e "$pairs/vocab.json" ]; then
  prepare "byte pairs of $large GB" "$large" 300 --from text.txt.zst --unit bpe --bpe "$pairs"
else
  prepare "bytes of $large GB" "$large" 300 --from text.txt.zst --unit byte
fi
exit $failed
