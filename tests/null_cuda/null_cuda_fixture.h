// Programs on the stand-in for CUDA (stand_in/): the real libtorch_cuda, and GPUs that compute nothing.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/pipeline/pipeline_fixture.h"

namespace xlm {

/// What the processes of a run report together.
struct NullCudaReport {
  int processes = 0;  // that used CUDA
  std::int64_t launches = 0;
  std::int64_t graph_launches = 0;
  std::int64_t sums = 0;
  std::vector<std::string> violations;
  std::vector<std::string> fired;   // faults that were made
  std::vector<std::string> own;     // starts of the program's own kernels
  std::vector<std::int64_t> peaks;  // bytes of each GPU, the largest of any process
};

inline NullCudaReport read_reports(const fs::path& folder) {
  NullCudaReport all;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".access") all.violations.push_back("the host reads or writes a GPU's memory");
    if (entry.path().extension() != ".json") continue;
    const Json one = read_json(entry.path());
    ++all.processes;
    all.launches += one["launches"].get<std::int64_t>();
    all.graph_launches += one["graph_launches"].get<std::int64_t>();
    all.sums += one["sums"].get<std::int64_t>();
    for (const auto& [key, list] :
         {std::pair("violations", &all.violations), std::pair("fired", &all.fired), std::pair("own", &all.own)}) {
      for (const Json& text : one[key]) list->push_back(text.get<std::string>());
    }
    const auto peaks = one["peaks"].get<std::vector<std::int64_t>>();
    all.peaks.resize(std::max(all.peaks.size(), peaks.size()));
    for (std::size_t i = 0; i < peaks.size(); ++i) all.peaks[i] = std::max(all.peaks[i], peaks[i]);
  }
  return all;
}

class NullCuda : public Pipeline {
 protected:
  /// Compute capability 8.6: none of the program's own kernels fits it, so none is compiled.
  static constexpr const char* kWithoutOwnKernels = "capability=86;memory=10e9";

  /// Runs a program on the stand-in. The name of the reports' folder is `name`, which must be new.
  ProgramResult on_gpu(const std::string& name, const std::string& settings, std::vector<std::string> program) {
    const auto process = start_on_gpu(name, settings, std::move(program));
    return process->wait();
  }

  std::unique_ptr<BackgroundProgram> start_on_gpu(const std::string& name, const std::string& settings,
                                                  std::vector<std::string> program) {
    const fs::path folder = folder_.path() / (name + ".reports");
    create_folders(folder);
    std::vector<std::string> words{
        "/usr/bin/env", fmt::format("LD_LIBRARY_PATH={}", XLM_NULL_CUDA_FOLDER),
        "LD_PRELOAD=libcudart.so.13:libcublas.so.13:libcublasLt.so.13:libcuda.so.1:libnccl.so.2",
        fmt::format("XDG_CACHE_HOME={}/cache", XLM_NULL_CUDA_FOLDER),
        fmt::format("XLM_NULL_CUDA={};report={}", settings, folder.string())};
    for (std::string& word : program) words.push_back(std::move(word));
    return std::make_unique<BackgroundProgram>(std::move(words), folder_.path());
  }

  NullCudaReport report(const std::string& name) const { return read_reports(folder_.path() / (name + ".reports")); }

  /// What reading spans of one or two layers of two heads brings in `train_on_gpu`.
  static constexpr const char* kAnswers = "answer=16:real:0.25;answer=32:real:0.25";

  /// xlm train run.yaml with its runs in `name`.
  ProgramResult train_on_gpu(const std::string& name, const std::string& settings,
                             const std::vector<std::string>& overrides = {}) {
    std::vector<std::string> words{XLM_BINARY, "train", "run.yaml", "--runs", name};
    words.insert(words.end(), overrides.begin(), overrides.end());
    return on_gpu(name, fmt::format("{};{}", kAnswers, settings), std::move(words));
  }
};

}  // namespace xlm
