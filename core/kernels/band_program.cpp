// NVRTC, opened if it is available. Its functions are declared here, so that building needs no header of it.
#include "core/kernels/band_program.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>

#include <torch/torch.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/shared_library.h"
#include "core/kernels/band_sources.h"

namespace xlm {
namespace {

using Program = struct _nvrtcProgram*;  // NOLINT(bugprone-reserved-identifier): as nvrtc.h names it

struct Compiler {
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*compile)(Program, int options, const char* const* option) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*binary_size)(Program, std::size_t*) = nullptr;
  int (*binary)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;

  explicit Compiler(const fs::path& file) {
    constexpr const char* kAdvice = "install the CUDA libraries with `make setup CUDA=1`";
    // NVRTC opens this library by its bare name, which works only next to the machine's own toolkit, or if it is open
    // already.
    for (const auto& entry : fs::directory_iterator(file.parent_path())) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("libnvrtc-builtins.so.")) open_library(entry.path(), Symbols::kOwn, kAdvice);
    }
    void* library = open_library(file, Symbols::kOwn, kAdvice);
    const auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      if (function == nullptr) throw Error(fmt::format("'{}' has no {}", file.string(), name));
    };
    get(create, "nvrtcCreateProgram");
    get(compile, "nvrtcCompileProgram");
    get(log_size, "nvrtcGetProgramLogSize");
    get(log, "nvrtcGetProgramLog");
    get(binary_size, "nvrtcGetCUBINSize");
    get(binary, "nvrtcGetCUBIN");
    get(destroy, "nvrtcDestroyProgram");
  }
};

/// libtorch's wheel is next to those of CUDA.
fs::path cuda_libraries() {
  Dl_info info{};
  if (::dladdr(reinterpret_cast<const void*>(&torch::cuda::is_available), &info) == 0) return {};
  return fs::path(info.dli_fname).parent_path().parent_path().parent_path() / "nvidia" / "cu13" / "lib";
}

std::string program_text(const band::Kind& kind) {
  std::string text = "#include \"gpu_block.cuh\"\n#include \"band_attention.cuh\"\n";
  for (const char* pass : {"forward", "backward"}) {
    text += fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}) attention_{}(const __grid_constant__ xlm::band::Arguments "
        "a) "
        "{{ xlm::band::{}<{}, {}, {}, {}>(a); }}\n",
        band::kThreads, pass, pass, kind.width, kind.two_queries, kind.masked, kind.dropped);
  }
  return text;
}

}  // namespace

std::optional<fs::path> find_nvrtc() {
  const fs::path file = cuda_libraries() / "libnvrtc.so.13";
  return fs::exists(file) ? std::optional(file) : std::nullopt;
}

GpuProgram compile_band_program(const band::Kind& kind, int capability) {
  const std::optional<fs::path> file = find_nvrtc();
  if (!file) throw Error(fmt::format("there is no run-time compiler in '{}'", cuda_libraries().string()));
  const Compiler nvrtc(*file);
  const std::array<const char*, 3> texts{kBandArgumentsText, kGpuBlockText, kBandAttentionText};
  const std::array<const char*, 3> names{"core/cuda/kernels/band_arguments.h", "gpu_block.cuh", "band_attention.cuh"};
  Program program = nullptr;
  if (nvrtc.create(&program, program_text(kind).c_str(), "attention.cu", static_cast<int>(texts.size()), texts.data(),
                   names.data()) != 0) {
    throw Error("the run-time compiler takes no program");
  }
  const std::string architecture = fmt::format("--gpu-architecture=sm_{}", capability);
  const std::array<const char*, 3> options{architecture.c_str(), "--std=c++17", "--ptxas-options=--verbose"};
  const int result = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  const auto text_of = [program](auto size_of, auto read) {
    std::size_t size = 0;
    size_of(program, &size);
    std::string text(size, '\0');
    if (size > 0) read(program, text.data());
    return text;
  };
  GpuProgram made{.binary = "", .log = text_of(nvrtc.log_size, nvrtc.log)};
  if (result == 0) made.binary = text_of(nvrtc.binary_size, nvrtc.binary);
  nvrtc.destroy(&program);
  if (result != 0) {
    throw Error(fmt::format("the kernels of attention do not compile for compute capability {}.{}:\n{}",
                            capability / 10, capability % 10, made.log));
  }
  return made;
}

}  // namespace xlm
