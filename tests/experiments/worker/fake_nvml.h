// Cards of the stand-in for NVIDIA's library, and an environment that shows all of them.
#pragma once

#include <cstdlib>
#include <string>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {

class FakeNvml {
 public:
  FakeNvml() { forget(); }
  ~FakeNvml() { forget(); }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  /// A line for each card: see fake_nvml_library.cpp.
  void set(const std::string& cards) {
    const std::string file = (folder_.path() / "cards").string();
    write_file(file, cards);
    ::setenv("XLM_FAKE_NVML", file.c_str(), 1);
  }

  void unload_driver() { ::unsetenv("XLM_FAKE_NVML"); }

 private:
  static void forget() {
    for (const char* name : {"XLM_FAKE_NVML", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"}) ::unsetenv(name);
  }

  TemporaryFolder folder_;
};

}  // namespace xlm
