// Streams, and the rules of recording them.
#pragma once

#include <cstddef>

namespace null_cuda {

struct Stream {
  bool capturing = false;
  bool spoiled = false;  // what it did cannot be recorded
  unsigned long long id = 0;
  std::size_t nodes = 0;
};

/// The default stream for CUDA's three handles of it.
Stream& stream_of(void* handle);
bool is_default(void* handle);

/// Work goes into a stream: into its recording, if it is recorded. It may not go elsewhere while another is recorded.
void enqueue(void* handle, const char* what);

/// Whether a call may not be made because a stream is recorded. Such a call spoils the recording, and is a violation.
bool is_refused(const char* call);
/// The same for a call about one stream.
bool is_refused_of(const Stream& stream, const char* call);

/// How many streams are recorded.
int captures();
void begin_capture(Stream& stream);
void end_capture(Stream& stream);

/// This thread's mode: whether calls that could disturb a recording are refused. Returns the mode before.
bool exchange_strict(bool strict);

}  // namespace null_cuda
