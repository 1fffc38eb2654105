#!/usr/bin/env bash
# Writes the demo's corpus: the English in libtorch's headers, which every machine with the build has.
#   scripts/demo_corpus.sh OUT.txt
# Takes the comments (// and /* */) of every header under .deps/python/torch/include (or $XLM_TORCH_DIR/include), in byte
# order of the paths. The same headers give the same bytes on any machine. Each distinct line is kept once. Half of the
# lines repeat (licences, generated files), and repeats would leak from training into test. A line is English if at
# least 60 % of its words are plain words, with or without punctuation, after its comment decoration is removed. It must
# not end like code (; { } \) or begin with a keyword such as "namespace".
set -euo pipefail
export LC_ALL=C

if [ $# -ne 1 ]; then
  echo "usage: scripts/demo_corpus.sh OUT.txt" >&2
  exit 2
fi
out=$(realpath -m -- "$1")
include=${XLM_TORCH_DIR:-$(dirname "$0")/../.deps/python/torch}/include
if [ ! -d "$include" ]; then
  echo "demo_corpus: $include is missing: run 'make setup' first" >&2
  exit 3
fi
mkdir -p "$(dirname "$out")"
trap 'rm -f "$out.part"' EXIT
cd "$include"

# xargs may call awk several times, because arguments are limited. So the first awk only joins the files and marks where
# one begins by a byte 1. The second awk is one process and remembers lines.
find . -type f \( -name '*.h' -o -name '*.hpp' -o -name '*.cuh' \) -print0 | sort -z |
  xargs -0 awk 'FNR == 1 { print "\001" } { print }' | awk '
  # One line of a comment: print it if it is English and new.
  function emit(line,   parts, count, plain, i) {
    sub("^[ \t*/!<>~=#+|-]+", "", line)
    sub("[ \t\r*/~=#+|-]+$", "", line)
    if (line == "" || line in seen) return
    if (line ~ /[;{}\\]$/ || line ~ /^(namespace|end namespace|using|struct|class|template) /) return
    count = split(line, parts, /[ \t]+/)
    plain = 0
    for (i = 1; i <= count; ++i) {
      if (parts[i] ~ /^[("'\''`]*[A-Za-z][a-z'\''-]*[]).,:;?!"'\''`]*$/) ++plain
    }
    if (plain < 0.6 * count) return
    seen[line] = 1
    print line
  }

  /^\001$/ { inside = 0; next }
  {
    rest = $0
    while (rest != "") {
      if (inside) {
        end = index(rest, "*/")
        if (end == 0) { emit(rest); break }
        emit(substr(rest, 1, end - 1))
        rest = substr(rest, end + 2)
        inside = 0
      } else {
        # The next comment, or the next string, which may contain something like a comment.
        if (!match(rest, /\/\/|\/\*|"/)) break
        mark = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (mark == "//") { emit(rest); break }
        if (mark == "/*") { inside = 1; continue }
        if (!match(rest, /^([^"\\]|\\.)*"/)) break
        rest = substr(rest, RLENGTH + 1)
      }
    }
  }
' > "$out.part"
mv "$out.part" "$out"
