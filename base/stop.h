// Polite stopping: SIGTERM, SIGUSR1, and SIGINT and SIGHUP (unless they are ignored, as a shell's background and nohup
// have it) set a flag that long work looks at; a second SIGINT stops at once.
#pragma once

#include <csignal>

namespace xlm {

/// Installs the handlers (once per process, by main or a worker), and takes the signals that were held back until then.
/// A reader of standard error that goes away ends nothing any more either: SIGPIPE is ignored.
void install_stop_handlers();

/// Those that whoever starts a worker holds back until it can take them: they are not the death of a program that has
/// hardly begun.
sigset_t stop_signals();

/// True once a signal has asked to stop.
bool stop_requested();

}  // namespace xlm
