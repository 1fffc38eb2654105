// Where libtorch's CUDA libraries are.
#include "core/runtime/cuda_libraries.h"

#include <dlfcn.h>

#include <string>
#include <system_error>

#include <torch/torch.h>

#include "base/shared_library.h"

namespace xlm {
namespace {

/// The folder of the library that has libtorch's own functions; empty if the system does not say.
fs::path torch_folder() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&torch::cuda::is_available), &info) == 0) return {};
  return fs::path(info.dli_fname).parent_path();
}

}  // namespace

fs::path torch_cuda_library() { return torch_folder() / "libtorch_cuda.so"; }

fs::path cuda_library_folder() {
  const fs::path folder = torch_folder();
  if (folder.empty()) return {};  // not a folder below the current one
  return folder.parent_path().parent_path() / "nvidia" / "cu13" / "lib";
}

void open_compiler_headers() {
  std::error_code absent;
  for (const auto& entry : fs::directory_iterator(cuda_library_folder(), absent)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with("libnvrtc-builtins.so.")) continue;
    open_library(entry.path(), Symbols::kOwn, "install the CUDA libraries with `make setup CUDA=1`");
  }
}

}  // namespace xlm
