// Polite stopping: SIGTERM, SIGINT, SIGUSR1 and SIGHUP (unless it is ignored, as nohup has it) set a flag that long
// work looks at; a second SIGINT stops at once.
#pragma once

namespace xlm {

/// Installs the handlers (once per process, by main or a worker). A reader of standard error that goes away ends
/// nothing any more either: SIGPIPE is ignored.
void install_stop_handlers();

/// True once a signal has asked to stop.
bool stop_requested();

}  // namespace xlm
