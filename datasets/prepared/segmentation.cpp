// Segmentations of a prepared text.
#include "datasets/prepared/segmentation.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "base/side_work.h"
#include "base/text.h"
#include "base/version.h"
#include "datasets/prepared/split_plan.h"
#include "datasets/prepared/staging_folder.h"
#include "datasets/prepared/verified_files.h"
#include "datasets/tokens/unigram.h"

namespace xlm {
namespace {

constexpr std::int64_t kTokensAtATime = std::int64_t{1} << 16U;
constexpr std::int64_t kMaxWord = std::int64_t{1} << 20U;  // characters
constexpr std::uintmax_t kMaxModelBytes = std::uintmax_t{64} << 20U;
constexpr std::uintmax_t kMaxDescriptionBytes = std::uintmax_t{1} << 20U;

constexpr std::string_view kUnigramPrefix = "unigram-";  // of a segmentation's name, before its number of pieces

fs::path segmentations_of(const fs::path& data) { return data / "segmentations"; }
fs::path model_of(const fs::path& segmentation) { return segmentation / "tokenizer.model"; }
std::string bits_name(const std::string& split) { return split + ".bits"; }

/// N of a segmentation called "unigram-N"; 0 for any other name.
std::int64_t pieces_in(std::string_view name) {
  std::int64_t pieces = 0;
  const bool is_ours = name.starts_with(kUnigramPrefix) && parse_integer(name.substr(kUnigramPrefix.size()), pieces);
  return is_ours ? std::max<std::int64_t>(pieces, 0) : 0;
}

/// Flags packed into bytes.
class PackedFlags {
 public:
  void add(bool flag) { add(flag ? 1 : 0, 1); }
  /// `count` flags, up to 32, the first in the lowest bit.
  void add(std::uint64_t flags, std::size_t count) {
    begun_ |= flags << size_;
    for (size_ += count; size_ >= 8; size_ -= 8) {
      bytes_.push_back(static_cast<char>(begun_));
      begun_ >>= 8U;
    }
  }
  void add(const PackedFlags& others) {
    for (const char eight : others.bytes_) add(static_cast<unsigned char>(eight), 8);
    add(others.begun_, others.size_);
  }
  std::string take() {
    if (size_ > 0) bytes_.push_back(static_cast<char>(begun_));
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::uint64_t begun_ = 0;
  std::size_t size_ = 0;  // flags that are begun
};

/// Flags in a file or in memory.
class SegmentationFlags final : public TokenFlags {
 public:
  explicit SegmentationFlags(MappedFile file) : file_(std::make_unique<MappedFile>(std::move(file))) {
    bytes_ = file_->text();
  }
  explicit SegmentationFlags(std::string bytes) : memory_(std::move(bytes)) { bytes_ = memory_; }
  SegmentationFlags(const SegmentationFlags&) = delete;
  SegmentationFlags& operator=(const SegmentationFlags&) = delete;
  ~SegmentationFlags() override = default;

  void copy(std::int64_t begin, std::int64_t count, bool* out) const override {
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::uint64_t>(begin + i);
      out[i] = (static_cast<unsigned char>(bytes_[at / 8]) >> (at % 8) & 1U) != 0;
    }
  }

 private:
  std::unique_ptr<MappedFile> file_;
  std::string memory_;
  std::string_view bytes_;
};

/// The id of the space.
std::int64_t space_of(const PreparedData& data) {
  const std::vector<std::string>& symbols = data.vocabulary.symbols;
  if (data.vocabulary.unit != Vocabulary::Unit::kCharacter) {
    throw UsageError(
        fmt::format("{} does not consist of characters, which a unigram segmentation needs\n"
                    "prepare the text again with --unit character",
                    data.path.string()));
  }
  const std::int64_t space = std::ranges::find(symbols, " ") - symbols.begin();
  if (space == data.vocabulary.size()) {
    throw UsageError(
        fmt::format("{} has no space, but a unigram segmentation cuts words between spaces\n"
                    "use another type of boundaries, such as gumbel",
                    data.path.string()));
  }
  return space;
}

/// A part of a split that ends with a space, or with the split: a word is never cut.
struct Stretch {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  std::int64_t size() const { return end - begin; }
};

/// The words of a split, between spaces. Several threads may read it.
class SplitWords {
 public:
  SplitWords(const PreparedData& data, const Split& split)
      : data_(&data), tokens_(&split.tokens), space_(space_of(data)), first_(behind_next(false, 0)) {
    for (const std::string& symbol : data.vocabulary.symbols) {
      auto& [bytes, size] = symbols_.emplace_back();
      size = symbol.copy(bytes.data(), kMaxBytes);
    }
  }

  std::int64_t size() const { return tokens_->size(); }
  /// About kTokensAtATime tokens from `begin` on.
  Stretch stretch(std::int64_t begin) const {
    const std::int64_t end = std::min(begin + kTokensAtATime, size());
    return {begin, end == size() ? end : behind_next(true, end - 1)};
  }
  /// Whether a word ends in front of `begin`, where a stretch begins.
  bool has_word_before(std::int64_t begin) const { return first_ <= begin; }

  /// Calls `each(word, space)` for every word of a stretch; `space`: a space follows. Words between two spaces are
  /// empty. 16 bytes can be read where a word begins.
  template <class Each>
  void for_each_word(const Stretch& stretch, const Each& each) const {
    constexpr std::size_t kPadding = 16;
    const auto count = static_cast<std::size_t>(stretch.size());
    const auto ids = std::make_unique_for_overwrite<std::int64_t[]>(count);
    tokens_->copy(stretch.begin, stretch.size(), ids.get());
    const auto text = std::make_unique_for_overwrite<char[]>(kMaxBytes * count + kPadding);
    char* out = text.get();
    for (std::size_t i = 0; i < count; ++i) {
      const auto& [bytes, size] = symbols_[static_cast<std::size_t>(ids[i])];
      std::memcpy(out, bytes.data(), kMaxBytes);  // a fixed number, which is faster
      out += size;
    }
    std::string_view rest(text.get(), static_cast<std::size_t>(out - text.get()));
    for (std::size_t end = 0; (end = rest.find(' ')) != std::string_view::npos; rest.remove_prefix(end + 1)) {
      each(rest.substr(0, end), true);
    }
    if (!rest.empty()) each(rest, false);
  }

 private:
  static constexpr std::size_t kMaxBytes = 4;  // of a character

  /// The place behind the first token from `begin` on that is a space, or that is none; or the end.
  std::int64_t behind_next(bool space, std::int64_t begin) const {
    for (std::int64_t place = begin; place < size(); ++place) {
      if ((tokens_->at(place) == space_) == space) return place + 1;
      if (!space || place - begin < kMaxWord) continue;
      throw DataError(
          fmt::format("{} has a word of more than a million characters: this text is not separated by spaces\n"
                      "use another type of boundaries, such as gumbel",
                      data_->path.string()));
    }
    return size();
  }

  const PreparedData* data_;
  const TokenFile* tokens_;
  std::int64_t space_;
  std::int64_t first_;  // behind the first character of the first word
  std::vector<std::pair<std::array<char, kMaxBytes>, std::size_t>> symbols_;
};

PackedFlags flags_of(const SplitWords& words, const Stretch& stretch, const UnigramTokenizer& tokenizer) {
  PackedFlags flags;
  bool before = words.has_word_before(stretch.begin);  // SentencePiece leaves blanks before a text out
  words.for_each_word(stretch, [&](std::string_view word, bool space) {
    if (!word.empty() && word.size() <= UnigramTokenizer::kShortBytes) {
      const auto [ends, characters] = tokenizer.piece_ends(word.data(), word.size(), before, space);
      flags.add(ends, characters);
    } else if (!word.empty()) {
      const std::vector<int> lengths = tokenizer.piece_lengths(std::string(word), before, space);
      for (std::size_t piece = 0; piece < lengths.size(); ++piece) {
        for (int character = 1; character <= lengths[piece]; ++character) {
          flags.add(character == lengths[piece] && piece + 1 < lengths.size());
        }
      }
    }
    if (space) flags.add(true);
    before = before || (space && !word.empty());
  });
  return flags;
}

std::string segment(const PreparedData& data, const Split& split, const UnigramTokenizer& tokenizer, int threads,
                    const std::function<void(std::int64_t done)>& progress) {
  const SplitWords words(data, split);
  Spares<UnigramTokenizer> tokenizers([&] { return tokenizer.for_another_thread(); });
  PackedFlags flags;
  OrderedWork<std::pair<PackedFlags, std::int64_t>> work(threads, [&](const auto& found) {
    flags.add(found.first);
    progress(found.second);
  });
  for (Stretch stretch; stretch.end < words.size();) {
    stretch = words.stretch(stretch.end);
    work.add([&, stretch] {
      PackedFlags found;
      tokenizers.with([&](const UnigramTokenizer& own) { found = flags_of(words, stretch, own); });
      return std::pair(std::move(found), stretch.end);
    });
  }
  work.finish();
  return flags.take();
}

/// The lines of a split, one after the other.
class SplitLines {
 public:
  SplitLines(const PreparedData& data, const Split& split)
      : symbols_(&data.vocabulary.symbols), tokens_(&split.tokens) {}

  bool next(std::string& line) {
    line.clear();
    if (place_ >= tokens_->size()) return false;
    for (; place_ < tokens_->size(); ++place_) {
      const std::string& symbol = (*symbols_)[static_cast<std::size_t>(tokens_->at(place_))];
      if (symbol == "\n") break;
      line += symbol;
    }
    ++place_;
    return true;
  }

 private:
  const std::vector<std::string>* symbols_;
  const TokenFile* tokens_;
  std::int64_t place_ = 0;
};

std::string read_model(const fs::path& file) { return read_file(file, kMaxModelBytes); }

/// What meta.json of a segmentation must contain to belong to these data, besides its results.
Json describe_text(const PreparedData& data) { return {{"data_fingerprint", data.fingerprint}}; }

/// Throws DataError if the segmentation in `folder` is damaged or belongs to other data.
Json read_description(const PreparedData& data, const fs::path& folder) {
  const fs::path file = folder / "meta.json";
  Json meta = parse_json(read_file(file, kMaxDescriptionBytes), file.string());
  const auto bad = [&](const std::string& what) {
    return DataError(
        fmt::format("{}: {}\nremove the folder and prepare the segmentation again", folder.string(), what));
  };
  if (!meta.is_object()) throw bad("meta.json is malformed");
  if (meta.value("data_fingerprint", Json()) != data.fingerprint) throw bad("it was made for other data");
  if (!meta.value("tokenizer_sha256", Json()).is_string()) throw bad("meta.json has no text 'tokenizer_sha256'");
  if (meta.contains("outputs") && !meta["outputs"].is_object()) throw bad("meta.json has no object 'outputs'");
  for (const auto& [name, split] : data.splits) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(folder / bits_name(name), error);
    if (error || size != static_cast<std::uintmax_t>((split.tokens.size() + 7) / 8)) {
      throw bad(fmt::format("{} is missing or has the wrong size", bits_name(name)));
    }
  }
  return meta;
}

void check_segmentation_file(const fs::path& folder, const std::string& file, const Json& hash, bool again = false) {
  if (hash.is_string() && VerifiedFiles(folder).has_hash(file, hash.get<std::string>(), again)) return;
  throw DataError(
      fmt::format("{} is damaged: its sha256 differs from the one in meta.json\n"
                  "remove the folder and prepare the segmentation again",
                  (folder / file).string()));
}

/// Makes segmentations/NAME, whole or not at all.
void write_segmentation(const PreparedData& data, const std::string& name, const std::string& model,
                        const std::string& source, const PrepareObserver& observer, int threads) {
  const UnigramTokenizer tokenizer(model, source);
  StagingFolder staging(segmentations_of(data.path) / name);
  Json meta = describe_text(data);
  meta["tokenizer_sha256"] = sha256(model);
  meta["xlm"] = kVersion;
  Json& outputs = meta["outputs"];
  for (const char* split_name : kSplitNames) {
    const auto split = data.splits.find(split_name);
    if (split == data.splits.end()) continue;
    const std::string bits = segment(data, split->second, tokenizer, threads, [&](std::int64_t done) {
      observer.at(fmt::format("segment {}", split_name), static_cast<std::uint64_t>(done),
                  static_cast<std::uint64_t>(split->second.tokens.size()));
    });
    write_file(staging.path() / bits_name(split_name), bits);
    outputs[bits_name(split_name)] = sha256(bits);
  }
  write_file(model_of(staging.path()), model);
  write_file(staging.path() / "meta.json", meta.dump(1) + "\n");
  staging.commit();
}

}  // namespace

std::vector<std::string> segmentation_names(const fs::path& data) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(segmentations_of(data), error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.front() != '.' && fs::is_regular_file(model_of(entry->path()))) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void verify_segmentations(const PreparedData& data) {
  for (const std::string& name : segmentation_names(data.path)) {
    const fs::path folder = segmentations_of(data.path) / name;
    const Json meta = read_description(data, folder);
    Json hashes = meta.value("outputs", Json::object());
    hashes[model_of(folder).filename().string()] = meta["tokenizer_sha256"];
    for (const auto& [file, hash] : hashes.items()) check_segmentation_file(folder, file, hash, /*again=*/true);
  }
}

std::optional<fs::path> find_tokenizer(const fs::path& data, const std::string& tokenizer) {
  const std::vector<std::string> names = segmentation_names(data);
  if (std::ranges::find(names, tokenizer) != names.end()) {
    return model_of(segmentations_of(data) / tokenizer);
  }
  return fs::is_regular_file(tokenizer) ? std::optional<fs::path>(tokenizer) : std::nullopt;
}

fs::path tokenizer_file(const fs::path& data, const std::string& tokenizer) {
  if (const auto found = find_tokenizer(data, tokenizer)) return *found;
  const std::vector<std::string> names = segmentation_names(data);
  throw DataError(fmt::format(
      "the tokenizer '{}' is neither a file nor a segmentation of {}{}\n{}make {}: "
      "xlm prepare-data … --out {} --train-unigram {}",
      tokenizer, data.string(), did_you_mean(tokenizer, names),
      names.empty() ? "" : fmt::format("available: {}; ", join(names, ", ")), pieces_in(tokenizer) > 0 ? "it" : "one",
      data.string(), pieces_in(tokenizer) > 0 ? fmt::to_string(pieces_in(tokenizer)) : "N"));
}

std::shared_ptr<const TokenFlags> open_segmentation(const PreparedData& data, const std::string& split,
                                                    const std::string& tokenizer) {
  const fs::path file = tokenizer_file(data.path, tokenizer);
  const std::string model = read_model(file);
  const std::string hash = sha256(model);
  for (const std::string& name : segmentation_names(data.path)) {
    const fs::path folder = segmentations_of(data.path) / name;
    const Json meta = read_description(data, folder);
    if (meta["tokenizer_sha256"] != hash) continue;
    check_segmentation_file(folder, bits_name(split),
                            meta.value("outputs", Json::object()).value(bits_name(split), Json()));
    return std::make_shared<SegmentationFlags>(MappedFile(folder / bits_name(split)));
  }
  return std::make_shared<SegmentationFlags>(
      segment(data, data.split(split), UnigramTokenizer(model, file.string()), 1, [](std::int64_t) {}));
}

bool train_segmentation(const PreparedData& data, std::int64_t pieces, const PrepareObserver& observer, int threads) {
  const std::string name = fmt::format("{}{}", kUnigramPrefix, pieces);
  const fs::path folder = segmentations_of(data.path) / name;
  if (fs::exists(folder)) {
    read_description(data, folder);
    return false;
  }
  space_of(data);  // an error shows before any work
  SplitLines lines(data, data.split("train"));
  observer.say(fmt::format("training a unigram tokenizer of {} pieces", pieces));
  const std::string model = train_unigram([&](std::string& line) { return lines.next(line); }, pieces,
                                          [&] { observer.at("train a tokenizer", 0, 0); });
  write_segmentation(data, name, model, name, observer, threads);
  return true;
}

bool add_segmentation(const PreparedData& data, const fs::path& model, const PrepareObserver& observer, int threads) {
  const std::string content = read_model(model);
  const fs::path folder = segmentations_of(data.path) / model.stem();
  if (fs::exists(folder)) {
    if (read_description(data, folder)["tokenizer_sha256"] == sha256(content)) return false;
    throw UsageError(fmt::format("{} exists already, made with another tokenizer\nrename {} or remove the folder",
                                 folder.string(), model.string()));
  }
  write_segmentation(data, model.stem().string(), content, model.string(), observer, threads);
  return true;
}

}  // namespace xlm
