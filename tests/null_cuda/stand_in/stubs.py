#!/usr/bin/env python3
"""stubs.py OUT PREFIX OBJECT... -- LIBRARY...: writes a C++ source with the functions of CUDA that the LIBRARIES want and
the OBJECTS do not define, for names that match the regular expression PREFIX.

libtorch is opened with all its names resolved at once, hundreds of which no program of ours uses. A call of one of
these is reported as a broken rule, and succeeds."""

import os
import re
import subprocess
import sys


def names(kind: str, files: list[str]) -> set[str]:
    """The names that files define or want, without the versions of symbols."""
    found = set()
    for file in files:
        dynamic = ["-D"] if ".so" in os.path.basename(file) else []
        lines = subprocess.run(["nm", *dynamic, kind, file], capture_output=True, text=True).stdout.splitlines()
        found.update(line.split()[-1].split("@")[0] for line in lines if line.split())
    return found


def main() -> None:
    out, prefix, *files = sys.argv[1:]
    split = files.index("--")
    objects, libraries = files[:split], files[split + 1 :]
    wanted = {name for name in names("--undefined-only", libraries) if re.match(prefix, name)}
    missing = sorted(wanted - names("--defined-only", objects))
    if not wanted:
        sys.exit(f"stubs: no library wants a name like {prefix}: is the CUDA set of libtorch there?")
    lines = ["// Made by stubs.py.", 'extern "C" {', "void null_cuda_unknown_call(const char* name);"]
    lines += [f'int {name}() {{ null_cuda_unknown_call("{name}"); return 0; }}' for name in missing]
    lines.append('}  // extern "C"')
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
