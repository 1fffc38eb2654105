// Stopping on request: SIGTERM, SIGUSR1, SIGINT and SIGHUP set a flag that long work checks; a second SIGINT stops at
// once. SIGINT and SIGHUP are left alone if they are ignored, as in a shell's background jobs and under nohup.
#pragma once

#include <csignal>

namespace xlm {

/// Installs the handlers (once per process, by main or a worker), and delivers signals that were blocked until then.
/// SIGPIPE is ignored from then on: work does not end with the reader of standard error.
void install_stop_handlers();

/// The signals that the parent of a worker blocks until the worker can handle them: an early signal must not kill it.
sigset_t stop_signals();

/// True once a signal has asked to stop.
bool stop_requested();

}  // namespace xlm
