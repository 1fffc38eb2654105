// Locks on open files and folders.
#include "base/file_lock.h"

#include <sys/file.h>

#include <cerrno>

namespace xlm {
namespace {

int retried_flock(int descriptor, int operation) {
  int result = 0;
  do {
    result = ::flock(descriptor, operation);
  } while (result != 0 && errno == EINTR);
  return result;
}

}  // namespace

void lock_file(int descriptor, FileLock lock) {
  retried_flock(descriptor, lock == FileLock::kShared ? LOCK_SH : LOCK_EX);
}

LockResult try_lock_file(int descriptor) {
  if (retried_flock(descriptor, LOCK_EX | LOCK_NB) == 0) return LockResult::kHeld;
  return errno == EWOULDBLOCK ? LockResult::kBusy : LockResult::kUnsupported;
}

void unlock_file(int descriptor) { retried_flock(descriptor, LOCK_UN); }

}  // namespace xlm
