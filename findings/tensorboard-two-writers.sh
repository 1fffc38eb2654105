#!/usr/bin/env bash
# Most would expect: TensorBoard shows what two processes write to one folder, because it lists both of their files.
# What happens: its reader for Python follows one file. Numbers that arrive in the other one are missing, with a warning
#   in the log, until the folder is read from the start.
# Version: tensorboard 2.21.0
set -euo pipefail
source "$(dirname "$0")/lib.sh"
install tensorboard==2.21.0 numpy==2.4.6 protobuf==7.36.2
observe <<'PYTHON'
import logging
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

logging.disable(logging.WARNING)


def add(writer, step):
    value = Summary.Value(tag="loss", simple_value=1.0)
    writer.add_event(Event(step=step, wall_time=1e9 + step, summary=Summary(value=[value])))
    writer.flush()


def steps(reader):
    reader.Reload()
    return sorted(event.step for event in reader.Scalars("loss"))


first = EventFileWriter("run", filename_suffix=".a")
second = EventFileWriter("run", filename_suffix=".b")
add(first, 1)
add(second, 2)
running = EventAccumulator("run")
print("while both write:", steps(running))
add(first, 3)
add(second, 4)
print("two numbers later:", steps(running))
print("read again from the start:", steps(EventAccumulator("run")))
PYTHON
expect <<'TEXT'
while both write: [1, 2]
two numbers later: [1, 2, 4]
read again from the start: [1, 2, 3, 4]
TEXT
