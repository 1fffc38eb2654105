// Segmentations: the ends of a tokenizer's pieces in a prepared text, as bits parallel to its tokens.
//
// They are in DATA/segmentations/NAME/: tokenizer.model, train.bits, valid.bits, test.bits (bit t % 8 of byte t / 8 is
// the flag of token t) and meta.json.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "datasets/input/sources.h"
#include "datasets/prepared/prepared.h"
#include "datasets/tokens/token_flags.h"

namespace xlm {

/// Names of the segmentations of a prepared data folder, sorted.
std::vector<std::string> segmentation_names(const fs::path& data);

/// Hashes the files of all segmentations again. Throws DataError for the first that differs.
void verify_segmentations(const PreparedData& data);

/// The SentencePiece model that `tokenizer` names: that of a segmentation of the data folder, or a file; nullopt if it
/// is neither.
std::optional<fs::path> find_tokenizer(const fs::path& data, const std::string& tokenizer);
/// The same; throws DataError if it is neither.
fs::path tokenizer_file(const fs::path& data, const std::string& tokenizer);

/// Flags of a split: 1 on the last character of every piece but a word's last, and on the space after each word (Nawrot
/// et al. 2023, §3.1.2). Read from the folder if it has them for this tokenizer, otherwise computed in memory. Throws
/// DataError for a tokenizer that is missing, damaged or does not cover the text, UsageError for data that does not
/// consist of characters, or has no space.
std::shared_ptr<const TokenFlags> open_segmentation(const PreparedData& data, const std::string& split,
                                                    const std::string& tokenizer);

/// Trains a unigram tokenizer of `pieces` pieces on the training split and adds its segmentation, "unigram-PIECES".
/// Does nothing and returns false if it exists. Throws as open_segmentation and train_unigram do. The result does not
/// depend on `threads`.
bool train_segmentation(const PreparedData& data, std::int64_t pieces, const PrepareObserver& observer,
                        int threads = 1);

/// Adds the segmentation by a SentencePiece model, named after its file. Does nothing and returns false if it exists;
/// throws UsageError if another one has its name.
bool add_segmentation(const PreparedData& data, const fs::path& model, const PrepareObserver& observer,
                      int threads = 1);

}  // namespace xlm
