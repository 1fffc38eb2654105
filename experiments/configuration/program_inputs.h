// What a program's run starts from: its code, and its data of any form.
#pragma once

#include <cstdint>
#include <vector>

#include "base/files.h"
#include "experiments/configuration/run_id.h"
#include "experiments/programs/code_snapshot.h"

namespace xlm {

/// Data with more bytes than this are known by names, sizes and times of change instead of their content.
inline constexpr std::uintmax_t kMaxHashedBytes = 256'000'000;

/// What a file or folder holds. A prepared data folder has its own fingerprint. Of anything else the content is hashed
/// or, if it is large, names, sizes and times. Throws DataError if there is none.
PreparedSummary summarize_any_data(const fs::path& path, std::uintmax_t most_hashed = kMaxHashedBytes);

/// The code of a program; `exclude` are folders that are none of it.
CodeRequest code_request(const ProgramOptions& program, std::vector<fs::path> exclude = {});

/// Where the copies of programs are in a folder of runs.
inline fs::path frozen_programs(const fs::path& runs) { return fs::absolute(runs).lexically_normal() / ".programs"; }

/// The run's inputs, with the program's code. Throws as read_code and summarize_any_data.
RunInputs read_program_inputs(const RunConfiguration& run, const std::vector<fs::path>& exclude = {});

/// The same inputs with the code of frozen copies in `runs` that differ only in files that are no code of training
/// (frozen_with_others): earlier runs of the same work may be called after those.
std::vector<RunInputs> earlier_program_inputs(const RunConfiguration& run, const RunInputs& inputs,
                                              const fs::path& runs);

}  // namespace xlm
