// Polite stopping: SIGTERM, SIGINT and SIGUSR1 set a flag that long work looks at; a second SIGINT stops at once.
#pragma once

namespace xlm {

/// Installs the handlers (once per process, by main or a worker).
void install_stop_handlers();

/// True once a signal has asked to stop.
bool stop_requested();

}  // namespace xlm
