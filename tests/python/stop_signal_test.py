"""SIGTERM in programs: those that ask, those that do not, and the processes that they fork."""
import os
import signal
import subprocess

from conftest import lines_of, python, until

LOOP = """
import time, xlm
run = xlm.run()
for step in range(100000):
    run.log(step, loss=1)
    if run.should_stop():
        (run.checkpoints / "last").write_text(str(step))
        run.stop()
    time.sleep(0.001)
"""


def started(folder, script):
    process = python(script, stdout=subprocess.PIPE, text=True)
    until(lambda: (folder / "metrics.jsonl").exists() and len(lines_of(folder)) >= 3)
    return process


def test_a_program_saves_and_ends_with_75(inside):
    process = started(inside, LOOP)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 75
    assert int((inside / "checkpoints" / "last").read_text()) == lines_of(inside)[-1]["step"]


def test_a_program_that_never_asks_is_ended_at_once(inside):
    process = started(inside, LOOP.replace("if run.should_stop():", "if False:"))
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == -signal.SIGTERM


EARLIER = """
import signal, sys
signal.signal(signal.SIGTERM, lambda number, frame: print("earlier", number, flush=True))
""" + LOOP


def test_an_earlier_handler_is_called_too(inside):
    process = started(inside, EARLIER)
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60)[0] == f"earlier {int(signal.SIGTERM)}\n"
    assert process.returncode == 75


FORK = """
import os, signal, time, xlm
run = xlm.run()
assert not run.should_stop()
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
time.sleep(0.05)
os.kill(child, signal.SIGTERM)
assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGTERM
assert not run.should_stop(), "the signal was for the child"
os.kill(os.getpid(), signal.SIGTERM)
assert run.should_stop()
run.stop()
"""


def test_a_forked_process_ends_by_the_signal(inside):
    assert python(FORK).wait(60) == 75


THREAD = """
import os, signal, threading, xlm
run = xlm.run()
answers = []
def ask(): answers.append(run.should_stop())
def asked():
    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
asked()
assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "only the main thread can watch"
run.should_stop()
os.kill(os.getpid(), signal.SIGTERM)
asked()
assert answers == [False, True], answers
"""


def test_a_thread_hears_what_the_main_thread_watches_for(inside):
    assert python(THREAD).wait(60) == 0


RANK = LOOP.replace("for step", """run.should_stop()
(run.folder / "began").touch()
for step""")


def test_ranks_of_torchrun_all_hear_it(inside):
    scripts = [RANK.replace("last", f"last-{rank}").replace("began", f"began-{rank}") for rank in (0, 1)]
    group = [python(script, env={"RANK": str(rank)}) for rank, script in enumerate(scripts)]
    until(lambda: all((inside / f"began-{rank}").exists() for rank in (0, 1)))
    for process in group:
        os.kill(process.pid, signal.SIGTERM)
    assert [process.wait(60) for process in group] == [75, 75]
    assert sorted(path.name for path in (inside / "checkpoints").iterdir()) == ["last-0", "last-1"]
