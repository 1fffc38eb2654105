#!/usr/bin/env bash
# The demo's corpus: the English in libtorch's own headers, which every machine with the build has.
#   scripts/demo_corpus.sh OUT.txt
# Takes the comments (// and /* */) of every header under .deps/python/torch/include (or $XLM_TORCH_DIR/include), files
# in byte order of their paths, each distinct line once, where it first occurs: half of the lines repeat (licences,
# generated files), and repeats would leak from training into test. Same headers, same bytes, on any machine. A line
# counts as English when, stripped of comment decoration, at least 60 % of its parts (between blanks) are plain words,
# with or without punctuation, and it neither ends like code (; { } \) nor begins with a keyword such as "namespace".
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

# xargs calls awk as often as the system's limit on arguments demands, so the first awk only joins the files (a byte 1
# marks where one begins), and the second, which remembers lines, is one process.
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
        # The next comment, or the next string, which may hold what only looks like one.
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
