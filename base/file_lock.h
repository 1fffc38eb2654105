// Locks on open files and folders (flock). A lock ends with the process. A network file system may keep it on one
// machine, and some file systems have none.
#pragma once

namespace xlm {

enum class FileLock { kShared, kExclusive };

/// Waits for the lock. Does nothing if the file system has no locks.
void lock_file(int descriptor, FileLock lock);

enum class LockResult { kHeld, kBusy, kUnsupported };  // kUnsupported: errno says why

/// Takes the exclusive lock without waiting.
LockResult try_lock_file(int descriptor);

void unlock_file(int descriptor);

}  // namespace xlm
