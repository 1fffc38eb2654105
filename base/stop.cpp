// Stopping on request.
#include "base/stop.h"

#include <csignal>
#include <initializer_list>

namespace xlm {
namespace {

// The only global state: a signal handler cannot write elsewhere.
volatile std::sig_atomic_t requested = 0;
volatile std::sig_atomic_t interrupted = 0;

extern "C" void handle_stop(int signal) {
  if (interrupted != 0 && signal == SIGINT) {
    std::signal(SIGINT, SIG_DFL);
    std::raise(SIGINT);
  }
  if (signal == SIGINT) interrupted = 1;
  requested = 1;
}

}  // namespace

void install_stop_handlers() {
  struct sigaction action {};
  action.sa_handler = handle_stop;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGTERM, SIGUSR1}) sigaction(signal, &action, nullptr);
  for (const int signal : {SIGINT, SIGHUP}) {
    struct sigaction present {};
    sigaction(signal, nullptr, &present);
    if (present.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // a parent may have left it ignored: then no child's end is told
  const sigset_t held = stop_signals();
  ::pthread_sigmask(SIG_UNBLOCK, &held, nullptr);
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGUSR1, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

bool stop_requested() { return requested != 0; }

}  // namespace xlm
