// How a text is fed to a model: the schemes, and what is known of them without torch (core/api/schemes.def). What they
// do is in core/schemes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace xlm {

enum class TextScheme {
#define XLM_SCHEME(kind, name, epoch, evaluation, reading) kind,
#include "core/api/schemes.def"
#undef XLM_SCHEME
};

/// One pass over a training split.
struct Epoch {
  double steps = 0;        // not always whole: a batch may take rows of two epochs
  double predictions = 0;  // that these steps score
};

/// `documents`: the tokens of each document of the split. A text that is too short for a step has an empty epoch. Rows
/// that are streamed begin at a random place from the second time on, and may then have a block less than is counted
/// here.
Epoch epoch_of(TextScheme scheme, std::int64_t batch, std::int64_t block, const std::vector<std::int64_t>& documents);

/// What is done with a text once the weights are there.
enum class TextUse { kEvaluation, kReading };

/// Whether only some schemes use the option `key`.
bool is_scheme_option(std::string_view key);
/// Whether such an option changes how a text is used.
bool uses_option(TextScheme scheme, std::string_view key, TextUse use);

}  // namespace xlm
