#!/usr/bin/env bash
# Most would expect: a value means the same in a configuration file of Hydra and behind KEY= on its command line.
# What happens: the file is read by YAML 1.1 with additions, the command line by a grammar that is Hydra's. A limit of
#   1:30:00 is 5400 in the file and text on the command line; a seed of 017 is 15 or text; off is false or text.
# Version: hydra-core 1.3.8, omegaconf 2.3.1, PyYAML 6.0.4
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install hydra-core==1.3.8 omegaconf==2.3.1 pyyaml==6.0.4
observe <<'PYTHON'
import os
from hydra import compose, initialize_config_dir

for text in ("1e-3", "true", "1:30:00", "017", "0x10", "off"):
    with open("run.yaml", "w") as file:
        file.write(f"value: {text}\n")
    with open("other.yaml", "w") as file:
        file.write("value: null\n")
    with initialize_config_dir(os.getcwd(), version_base="1.3"):
        in_file = compose("run").value
        on_command_line = compose("other", overrides=[f"value={text}"]).value
    same = "the same" if in_file == on_command_line and type(in_file) is type(on_command_line) else "not the same"
    print(f"{text}: {in_file!r} in the file, {on_command_line!r} on the command line: {same}")
PYTHON
expect <<'TEXT'
1e-3: 0.001 in the file, 0.001 on the command line: the same
true: True in the file, True on the command line: the same
1:30:00: 5400 in the file, '1:30:00' on the command line: not the same
017: 15 in the file, '017' on the command line: not the same
0x10: 16 in the file, '0x10' on the command line: not the same
off: False in the file, 'off' on the command line: not the same
TEXT
