"""The program, as a Python environment has it: `xlm` on its PATH, with the libtorch of its torch wheel."""
import importlib.util
import os
import sys


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    torch = importlib.util.find_spec("torch")  # found, not imported: that takes seconds
    if torch is not None and torch.submodule_search_locations:
        os.environ.setdefault("XLM_LIBTORCH", os.path.join(torch.submodule_search_locations[0], "lib"))
    program = os.path.join(here, "bin", "xlm")
    os.execv(program, [program, *sys.argv[1:]])
