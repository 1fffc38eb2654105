// `resources` of a file: what a worker needs from a cluster.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/yaml.h"

namespace xlm {

/// A value and its origin. The origin is empty if the value is unset.
struct Need {
  double value = 0;
  std::string source;

  bool known() const { return !source.empty(); }
};

struct Resources {
  Need cpus;
  Need gpus;
  std::string gpu_type;           // "a100"; empty: any
  Need memory;                    // bytes
  Need time;                      // seconds
  std::int64_t runs_per_gpu = 0;  // in parallel; 0: as many as fit, judging by the memory that runs take
};

/// Reads a map `resources: {cpus: 8, gpus: a100:1, memory: 32GB, time: 4h, runs_per_gpu: auto}`. Null gives unset
/// values. Throws UsageError with file:line.
Resources read_resources(const Yaml* given);

/// "4h", "90min", "1d12h" in seconds; "32GB" in bytes (powers of 1000). Both throw UsageError with file:line.
double read_duration(const Yaml& node, std::string_view what);
double read_memory(const Yaml& node, std::string_view what);

}  // namespace xlm
