// The table of schemes.
#include "core/api/text_scheme.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "base/text.h"

namespace xlm {
namespace {

std::int64_t blocks_in(std::int64_t predictions, std::int64_t block) { return (predictions + block - 1) / block; }

/// Predictions of each of `batch` rows that a text is cut into.
std::int64_t predictions_of_row(std::int64_t batch, const std::vector<std::int64_t>& documents) {
  const std::int64_t tokens = std::accumulate(documents.begin(), documents.end(), std::int64_t{0});
  return std::max<std::int64_t>(0, tokens / batch - 1);
}

/// Rows in whole blocks: a short last one is skipped.
Epoch epoch_in_blocks(std::int64_t batch, std::int64_t block, const std::vector<std::int64_t>& documents) {
  const std::int64_t blocks = predictions_of_row(batch, documents) / block;
  return {static_cast<double>(blocks), static_cast<double>(blocks * block * batch)};
}

/// Rows in chunks, of which the last may be short.
Epoch epoch_in_chunks(std::int64_t batch, std::int64_t block, const std::vector<std::int64_t>& documents) {
  const std::int64_t predictions = predictions_of_row(batch, documents);
  return {static_cast<double>(blocks_in(predictions, block)), static_cast<double>(predictions * batch)};
}

/// As many predictions as the text has tokens, drawn with replacement.
Epoch epoch_in_draws(std::int64_t batch, std::int64_t block, const std::vector<std::int64_t>& documents) {
  const std::int64_t tokens = std::accumulate(documents.begin(), documents.end(), std::int64_t{0});
  if (tokens < block) return {};
  return {static_cast<double>(tokens) / static_cast<double>(batch * block), static_cast<double>(tokens)};
}

/// Documents in sequences, a row each.
Epoch epoch_in_sequences(std::int64_t batch, std::int64_t block, const std::vector<std::int64_t>& documents) {
  std::int64_t sequences = 0;
  std::int64_t predictions = 0;
  for (const std::int64_t tokens : documents) {
    const std::int64_t of_document = std::max<std::int64_t>(0, tokens - 1);
    predictions += of_document;
    sequences += blocks_in(of_document, block);
  }
  return {static_cast<double>(sequences) / static_cast<double>(batch), static_cast<double>(predictions)};
}

struct SchemeFacts {
  Epoch (*epoch)(std::int64_t batch, std::int64_t block, const std::vector<std::int64_t>& documents);
  std::string evaluation;  // keys of options, separated by blanks
  std::string reading;
};

const std::vector<SchemeFacts>& facts_of_all() {
  static const std::vector<SchemeFacts> table{
#define XLM_SCHEME(kind, name, epoch, evaluation, reading) {epoch, evaluation, reading},
#include "core/api/schemes.def"
#undef XLM_SCHEME
  };
  return table;
}

const SchemeFacts& facts_of(TextScheme scheme) { return facts_of_all()[static_cast<std::size_t>(scheme)]; }

bool names_key(const std::string& keys, std::string_view key) {
  const std::vector<std::string> all = split(keys, ' ');
  return std::ranges::find(all, key) != all.end();
}

}  // namespace

Epoch epoch_of(TextScheme scheme, std::int64_t batch, std::int64_t block, const std::vector<std::int64_t>& documents) {
  return facts_of(scheme).epoch(batch, block, documents);
}

bool is_scheme_option(std::string_view key) {
  return std::any_of(facts_of_all().begin(), facts_of_all().end(), [key](const SchemeFacts& facts) {
    return names_key(facts.evaluation, key) || names_key(facts.reading, key);
  });
}

bool uses_option(TextScheme scheme, std::string_view key, TextUse use) {
  const SchemeFacts& facts = facts_of(scheme);
  return names_key(use == TextUse::kEvaluation ? facts.evaluation : facts.reading, key);
}

}  // namespace xlm
