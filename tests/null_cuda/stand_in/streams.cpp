// The rules of recording streams, as the CUDA programming guide states them ("CUDA Graphs", "Prohibited and Unhandled
// Operations").
#include "tests/null_cuda/stand_in/streams.h"

#include <set>
#include <string>
#include <utility>

#include "tests/null_cuda/stand_in/ledger.h"

namespace null_cuda {
namespace {

std::set<Stream*>& captured() {
  static std::set<Stream*>& streams = *new std::set<Stream*>;
  return streams;
}

thread_local bool strict_here = true;

void spoil() {
  for (Stream* stream : captured()) stream->spoiled = true;
}

}  // namespace

bool is_default(void* handle) { return reinterpret_cast<std::size_t>(handle) <= 2; }

Stream& stream_of(void* handle) {
  static Stream& default_stream = *new Stream;
  return is_default(handle) ? default_stream : *static_cast<Stream*>(handle);
}

void enqueue(void* handle, const char* what) {
  Stream& stream = stream_of(handle);
  if (stream.capturing) {
    ++stream.nodes;
    return;
  }
  if (captures() == 0) return;
  violation(std::string(what) + " goes into a stream that is not recorded, while another is");
  spoil();
}

bool is_refused(const char* call) {
  if (captures() == 0 || !strict_here) return false;
  violation(std::string(call) + " while a stream is recorded");
  spoil();
  return true;
}

bool is_refused_of(const Stream& stream, const char* call) {
  if (!stream.capturing) return false;
  violation(std::string(call) + " of a stream that is recorded");
  spoil();
  return true;
}

int captures() { return static_cast<int>(captured().size()); }

void begin_capture(Stream& stream) {
  static unsigned long long next = 1;
  stream = {.capturing = true, .spoiled = false, .id = next++, .nodes = 0};
  captured().insert(&stream);
}

void end_capture(Stream& stream) {
  stream.capturing = false;
  captured().erase(&stream);
}

bool exchange_strict(bool strict) { return std::exchange(strict_here, strict); }

}  // namespace null_cuda
