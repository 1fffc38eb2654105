// Counts which of libtorch's operations are called.
#pragma once

#include <map>
#include <string>

#include <ATen/record_function.h>

namespace xlm {

/// Counts the operations that this thread calls during its life, also those inside others. Only one may exist at a
/// time.
class CalledOperations {
 public:
  CalledOperations() {
    counts().clear();
    handle_ = at::addThreadLocalCallback(
        at::RecordFunctionCallback([](const at::RecordFunction& called) -> std::unique_ptr<at::ObserverContext> {
          ++counts()[called.name()];
          return nullptr;
        }).scopes({at::RecordScope::FUNCTION}));
  }
  ~CalledOperations() { at::removeCallback(handle_); }
  CalledOperations(const CalledOperations&) = delete;
  CalledOperations& operator=(const CalledOperations&) = delete;

  /// `name` as "aten::matmul".
  std::int64_t of(const std::string& name) const {
    const auto found = counts().find(name);
    return found == counts().end() ? 0 : found->second;
  }

 private:
  static std::map<std::string, std::int64_t>& counts() {
    thread_local std::map<std::string, std::int64_t> counted;
    return counted;
  }

  at::CallbackHandle handle_ = 0;
};

}  // namespace xlm
