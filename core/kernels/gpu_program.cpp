// NVRTC, opened if it is available. Its functions are declared here, so that building needs no header of it.
#include "core/kernels/gpu_program.h"

#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/shared_library.h"
#include "core/kernels/gpu_sources.h"
#include "core/runtime/cuda_libraries.h"

namespace xlm {
namespace {

using Program = struct _nvrtcProgram*;  // NOLINT(bugprone-reserved-identifier): as nvrtc.h names it

struct Compiler {
  int (*version)(int* major, int* minor) = nullptr;
  int (*create)(Program*, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*compile)(Program, int options, const char* const* option) = nullptr;
  int (*log_size)(Program, std::size_t*) = nullptr;
  int (*log)(Program, char*) = nullptr;
  int (*binary_size)(Program, std::size_t*) = nullptr;
  int (*binary)(Program, char*) = nullptr;
  int (*destroy)(Program*) = nullptr;

  explicit Compiler(const fs::path& file) {
    open_compiler_headers();
    void* library = open_library(file, Symbols::kOwn, "install the CUDA libraries with `make setup CUDA=1`");
    const auto get = [&](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
      if (function == nullptr) throw Error(fmt::format("'{}' has no {}", file.string(), name));
    };
    get(version, "nvrtcVersion");
    get(create, "nvrtcCreateProgram");
    get(compile, "nvrtcCompileProgram");
    get(log_size, "nvrtcGetProgramLogSize");
    get(log, "nvrtcGetProgramLog");
    get(binary_size, "nvrtcGetCUBINSize");
    get(binary, "nvrtcGetCUBIN");
    get(destroy, "nvrtcDestroyProgram");
  }
};

struct Header {
  const char* name;
  const char* text;
};

/// All that programs include.
std::array<Header, 11> headers() {
  return {{{"core/cuda/kernels/band_arguments.h", kBandArgumentsText},
           {"core/cuda/kernels/gpu_block.cuh", kGpuBlockText},
           {"core/cuda/kernels/dropout.cuh", kDropoutText},
           {"core/cuda/kernels/band_tiles.cuh", kBandTilesText},
           {"core/cuda/kernels/band_forward.cuh", kBandForwardText},
           {"core/cuda/kernels/band_backward_queries.cuh", kBandBackwardQueriesText},
           {"core/cuda/kernels/band_backward_keys.cuh", kBandBackwardKeysText},
           {"core/cuda/kernels/loss_arguments.h", kLossArgumentsText},
           {"core/cuda/kernels/loss_rows.cuh", kLossRowsText},
           {"core/cuda/kernels/norm_arguments.h", kNormArgumentsText},
           {"core/cuda/kernels/norm_rows.cuh", kNormRowsText}}};
}

constexpr const char* kIncludeBlock = "#include \"core/cuda/kernels/gpu_block.cuh\"\n";

std::vector<std::string> compiler_options(int capability) {
  return {fmt::format("--gpu-architecture=sm_{}", capability), "--std=c++17", "--ptxas-options=--verbose"};
}

/// A hash of all that a binary follows from. Builds of one version of the compiler differ in their sizes.
std::string key_of_program(const Compiler& nvrtc, const fs::path& library, const std::string& text, int capability) {
  int major = 0;
  int minor = 0;
  nvrtc.version(&major, &minor);
  std::vector<std::string> parts{fmt::format("NVRTC {}.{}, {} bytes", major, minor, fs::file_size(library)), text};
  for (const Header& header : headers()) parts.emplace_back(header.text);
  for (std::string& option : compiler_options(capability)) parts.push_back(std::move(option));
  Sha256 hash;
  for (const std::string& part : parts) hash.update(fmt::format("{}\n{}\n", part.size(), part));
  return hash.finish();
}

fs::path nvrtc_library() {
  const std::optional<fs::path> file = find_nvrtc();
  if (!file) throw Error(fmt::format("there is no run-time compiler in '{}'", cuda_library_folder().string()));
  return *file;
}

GpuProgram compile_by(const Compiler& nvrtc, const std::string& source, int capability) {
  std::vector<const char*> texts;
  std::vector<const char*> names;
  for (const Header& header : headers()) {
    texts.push_back(header.text);
    names.push_back(header.name);
  }
  Program program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "kernels.cu", static_cast<int>(texts.size()), texts.data(),
                   names.data()) != 0) {
    throw Error("the run-time compiler takes no program");
  }
  const std::vector<std::string> options = compiler_options(capability);
  std::vector<const char*> option_texts;
  for (const std::string& option : options) option_texts.push_back(option.c_str());
  const int result = nvrtc.compile(program, static_cast<int>(option_texts.size()), option_texts.data());
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
    throw Error(fmt::format("the GPU kernels do not compile for compute capability {}.{}:\n{}", capability / 10,
                            capability % 10, made.log));
  }
  return made;
}

}  // namespace

std::optional<fs::path> find_nvrtc() {
  const fs::path file = cuda_library_folder() / "libnvrtc.so.13";
  return fs::exists(file) ? std::optional(file) : std::nullopt;
}

std::string program_text(const band::Kind& kind) {
  std::string text = kIncludeBlock;
  for (const char* pass : {"forward", "backward_queries", "backward_keys"}) {
    text += fmt::format(
        "#include \"core/cuda/kernels/band_{0}.cuh\"\n"
        "extern \"C\" __global__ void __launch_bounds__({1}) attention_{0}(const __grid_constant__ "
        "xlm::band::Arguments "
        "a) {{ xlm::band::{0}<{2}, {3}, {4}, {5}, {6}>(a); }}\n",
        pass, band::kThreads, kind.width, kind.two_queries, kind.masked, kind.dropped, kind.compact);
  }
  return text;
}

std::string program_text(const norm::Kind& kind) {
  const std::string choice = fmt::format("<{}, {}>", kind.width, kind.centred);
  return fmt::format(
      "{0}#include \"core/cuda/kernels/norm_rows.cuh\"\n"
      "extern \"C\" __global__ void __launch_bounds__({1}) norm_forward(const __grid_constant__ xlm::norm::Arguments "
      "a) "
      "{{ xlm::norm::forward{2}(a); }}\n"
      "extern \"C\" __global__ void __launch_bounds__({1}) norm_backward(const __grid_constant__ xlm::norm::Arguments "
      "a, "
      "int blocks) {{ xlm::norm::backward{2}(a, blocks); }}\n",
      kIncludeBlock, band::kThreads, choice);
}

std::string loss_program_text() {
  return fmt::format(
      "{0}#include \"core/cuda/kernels/loss_rows.cuh\"\n"
      "extern \"C\" __global__ void __launch_bounds__({1}) losses(const __grid_constant__ xlm::loss::Arguments a) "
      "{{ xlm::loss::write_losses(a); }}\n",
      kIncludeBlock, band::kThreads);
}

GpuProgram compile_program(const std::string& text, int capability) {
  return compile_by(Compiler(nvrtc_library()), text, capability);
}

std::string program_binary(const std::string& text, int capability, const DiskCache& cache) {
  const fs::path library = nvrtc_library();
  const Compiler nvrtc(library);
  const std::string key = key_of_program(nvrtc, library, text, capability);
  if (std::optional<std::string> kept = cache.find(key)) return *std::move(kept);
  std::string binary = compile_by(nvrtc, text, capability).binary;
  cache.keep(key, binary);
  return binary;
}

}  // namespace xlm
