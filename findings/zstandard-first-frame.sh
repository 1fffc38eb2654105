#!/usr/bin/env bash
# Most would expect: a corpus that was appended to, or made with cat from several .zst files, is decompressed whole.
# What happens: of two frames, decompress() and read_to_iter() of python-zstandard return the first alone, without an
#   error. open() and copy_stream() of the same package return both.
# Version: zstandard 0.25.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install zstandard==0.25.0
observe <<'PYTHON'
import io
import zstandard

packed = b"".join(zstandard.compress(text) for text in (b"first shard\n", b"second shard\n"))
reader = zstandard.ZstdDecompressor()
copy = io.BytesIO()
reader.copy_stream(io.BytesIO(packed), copy)
for name, text in (("decompress", reader.decompress(packed)), ("read_to_iter", b"".join(reader.read_to_iter(packed))),
                   ("open", zstandard.open(io.BytesIO(packed)).read()), ("copy_stream", copy.getvalue())):
    print(f"{name}: {text.decode().split(chr(10))[:-1]}")
PYTHON
expect <<'TEXT'
decompress: ['first shard']
read_to_iter: ['first shard']
open: ['first shard', 'second shard']
copy_stream: ['first shard', 'second shard']
TEXT
