// Polite stopping.
#include "base/stop.h"

#include <csignal>
#include <initializer_list>

namespace xlm {
namespace {

// The one piece of global state: a signal handler has nowhere else to write.
volatile std::sig_atomic_t requested = 0;

extern "C" void handle_stop(int signal) {
  if (requested != 0 && signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  requested = 1;
}

}  // namespace

void install_stop_handlers() {
  struct sigaction action {};
  action.sa_handler = handle_stop;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaction(signal, &action, nullptr);
  struct sigaction present {};
  sigaction(SIGHUP, nullptr, &present);
  if (present.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

bool stop_requested() { return requested != 0; }

}  // namespace xlm
