// From clean text to token files.
#include "datasets/prepared/encoding.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <tuple>
#include <utility>

#include "base/sha256.h"
#include "base/side_work.h"
#include "base/utf8.h"
#include "datasets/input/sources.h"
#include "datasets/prepared/split_plan.h"
#include "datasets/tokens/decoder.h"

namespace xlm {
namespace {

bool is_blank(char byte) {  // in a form that the compiler takes side by side
  return static_cast<bool>((byte == ' ') | (static_cast<unsigned char>(byte - '\t') <= '\r' - '\t'));
}

bool is_line_end(char byte) { return byte == '\n'; }

/// The words that begin in `text`, the first byte of which continues one if it is `in_word`.
std::int64_t words_beginning(std::string_view text, bool in_word) {
  if (text.empty()) return 0;
  auto words = static_cast<std::int64_t>(!is_blank(text.front()) && !in_word);
  const char* const before = text.data();
  text.remove_prefix(1);
  constexpr std::size_t kStretch = 128;  // as in count_bytes
  for (std::size_t begin = 0; begin < text.size(); begin += kStretch) {
    const std::size_t count = std::min(kStretch, text.size() - begin);
    std::uint8_t some = 0;
    for (std::size_t i = begin; i < begin + count; ++i) {
      const int begins = static_cast<int>(is_blank(before[i])) & static_cast<int>(!is_blank(text[i]));
      some = static_cast<std::uint8_t>(some + begins);
    }
    words += some;
  }
  return words;
}

/// An output file: written, hashed, and whole at its end.
class OutputFile {
 public:
  OutputFile(const fs::path& folder, std::string name, bool aside)
      : name_(std::move(name)),
        file_(folder / name_),
        writing_(aside, {[this](std::string_view bytes) { hash_.update(bytes); },
                         [this](std::string_view bytes) { file_.write(bytes); }}) {}

  void write(std::string_view bytes) { writing_.write(bytes); }
  void commit(EncodedText& result) {
    writing_.finish();
    file_.commit_for_now();
    result.outputs[name_] = hash_.finish();
  }

 private:
  std::string name_;
  AtomicFile file_;
  Sha256 hash_;
  SideSink writing_;  // last: it ends before what it uses
};

/// Symbols to ids, as a table over code points or bytes; `unknown` for all others.
std::vector<std::uint32_t> id_table(const Vocabulary& vocabulary, std::uint32_t unknown) {
  if (vocabulary.unit == Vocabulary::Unit::kBpe) return {};  // the text consists of ids already
  const bool bytes = vocabulary.unit == Vocabulary::Unit::kByte;
  std::vector<std::uint32_t> ids(bytes ? 256 : std::size_t{kLastCodePoint} + 1, unknown);
  std::uint32_t id = 0;
  for (const std::string& symbol : vocabulary.symbols) {
    ids[bytes ? static_cast<unsigned char>(symbol[0]) : decode_utf8(symbol).code_point] = id++;
  }
  return ids;
}

std::string replacement_symbol() {
  std::string symbol;
  append_utf8(symbol, kReplacementCharacter);
  return symbol;
}

/// The symbols that get ids, and the id of U+FFFD if unknown symbols become it.
std::pair<Vocabulary, std::uint32_t> choose_vocabulary(const CleanText& text, const std::vector<SplitPart>& parts,
                                                       VocabularyScope scope) {
  if (scope == VocabularyScope::kAll) return {text.vocabulary(text.tokens()), 0};
  Vocabulary vocabulary = text.vocabulary(parts.front().tokens);
  const std::string unknown = replacement_symbol();
  // UTF-8 sorts like its code points.
  auto place = std::lower_bound(vocabulary.symbols.begin(), vocabulary.symbols.end(), unknown);
  if (place == vocabulary.symbols.end() || *place != unknown) place = vocabulary.symbols.insert(place, unknown);
  const auto id = static_cast<std::uint32_t>(place - vocabulary.symbols.begin());
  return {std::move(vocabulary), id};
}

/// What the bytes of a byte-pair token add to counts.
struct TokenCounts {
  std::uint32_t bytes = 0;
  std::uint32_t words : 30;  // that begin behind its first byte; and line ends, if these are words
  std::uint32_t begins_word : 1;
  std::uint32_t ends_in_word : 1;
};

std::vector<TokenCounts> counts_of(const std::vector<std::string>& symbols, bool line_ends_are_words) {
  std::vector<TokenCounts> counts;
  for (const std::string& text : symbols) {
    const std::int64_t words = words_beginning(text, true) + (line_ends_are_words ? count_bytes(text, is_line_end) : 0);
    counts.push_back({.bytes = static_cast<std::uint32_t>(text.size()),
                      .words = static_cast<std::uint32_t>(words) & 0x3FFFFFFFU,
                      .begins_word = !text.empty() && !is_blank(text.front()),
                      .ends_in_word = !text.empty() && !is_blank(text.back())});
  }
  return counts;
}

/// Reads the clean file in pieces that end between two symbols.
class SymbolReader {
 public:
  /// `width`: bytes of a symbol; 0: symbols are characters.
  SymbolReader(const fs::path& file, std::size_t width) : file_(file), width_(width) {}

  /// The next piece; empty at the end.
  std::string_view next() {
    filled_ -= used_;
    std::memmove(buffer_.data(), buffer_.data() + used_, filled_);
    filled_ += file_.read(buffer_.data() + filled_, buffer_.size() - filled_);
    const std::string_view text = std::string_view(buffer_).substr(0, filled_);
    used_ = width_ > 0 ? filled_ - filled_ % width_ : whole_characters(text);
    return text.substr(0, used_);
  }

 private:
  InputFile file_;
  std::size_t width_;
  std::string buffer_ = std::string(std::size_t{256} << 10, '\0');
  std::size_t filled_ = 0;
  std::size_t used_ = 0;
};

/// Encodes symbol after symbol. Moves to the next split or document when their offsets are reached.
class Encoder {
 public:
  Encoder(const CleanText& text, const std::vector<SplitPart>& parts, const EncodeSettings& settings, fs::path folder)
      : documents_(&text.documents()), parts_(&parts), settings_(settings), folder_(std::move(folder)) {
    std::tie(result_.vocabulary, unknown_) = choose_vocabulary(text, parts, settings.scope);
    ids_ = id_table(result_.vocabulary, kNoId);
    id_bytes_ = result_.vocabulary.id_bytes();
    is_bytes_ = result_.vocabulary.unit == Vocabulary::Unit::kByte;
    is_all_known_ = settings.scope == VocabularyScope::kAll;
    if (result_.vocabulary.unit == Vocabulary::Unit::kBpe) {
      token_bytes_ = symbol_bytes(result_.vocabulary);
      token_counts_ = counts_of(token_bytes_, settings.line_ends_are_words);
    }
    start_next_part();
  }

  /// Takes a piece of text; returns false once every split is full.
  bool take(std::string_view text) {
    std::size_t position = 0;
    while (position < text.size() && split_ != nullptr) position = take_segment(text, position);
    return split_ != nullptr;
  }

  EncodedText result() {
    for (auto* files : {&tokens_files_, &text_files_}) {
      for (std::optional<OutputFile>& file : *files) {
        if (file) file->commit(result_);
      }
    }
    return std::move(result_);
  }

 private:
  /// Takes text up to the end of the part or the start of the next document, whichever comes first.
  std::size_t take_segment(std::string_view text, std::size_t begin) {
    if (next_document_ < documents_->size() && (*documents_)[next_document_] == offset_) {
      ++next_document_;
      in_word_ = false;
      if (!begun_) begin_document();
    }
    begun_ = false;
    std::int64_t room = part_end_ - offset_;
    if (next_document_ < documents_->size()) room = std::min(room, (*documents_)[next_document_] - offset_);
    const std::string_view rest = text.substr(begin);
    const auto [count, used] = token_counts_.empty() ? take_symbols(rest, room) : take_ids(rest, room);
    take_counts(count);
    if (offset_ == part_end_) start_next_part();
    return begin + used;
  }

  void take_counts(std::int64_t tokens) {
    tokens_file_->write(encoded_);
    split_->tokens += tokens;
    split_->words += piece_.words;
    split_->bytes += piece_.bytes;
    split_->document_words.back() += piece_.words;
    split_->document_bytes.back() += piece_.bytes;
    offset_ += tokens;
  }

  void begin_document() {
    split_->documents.push_back(split_->tokens);
    split_->document_words.push_back(0);
    split_->document_bytes.push_back(0);
  }

  /// Counts up to `room` ids, and notes their text in `decoded_` if it is kept.
  std::pair<std::int64_t, std::size_t> take_ids(std::string_view ids, std::int64_t room) {
    return with_id_type(id_bytes_, [&]<class Id>(Id id) {
      const std::int64_t count = std::min(room, static_cast<std::int64_t>(ids.size() / sizeof id));
      const std::size_t used = static_cast<std::size_t>(count) * sizeof id;
      // In local variables: a store to a member would make the loop read all members again.
      const TokenCounts* const token_counts = token_counts_.data();
      std::int64_t bytes = 0;
      std::int64_t words = 0;
      std::uint32_t in_word = in_word_ ? 1 : 0;
      for (std::size_t position = 0; position < used; position += sizeof id) {
        std::memcpy(&id, ids.data() + position, sizeof id);
        const TokenCounts counts = token_counts[id];
        bytes += counts.bytes;
        words += counts.words + (counts.begins_word & (in_word ^ 1U));
        in_word = counts.ends_in_word;
      }
      piece_ = {.bytes = bytes, .words = words};
      in_word_ = in_word != 0;
      decoded_.clear();
      for (std::size_t position = 0; text_file_ && position < used; position += sizeof id) {
        std::memcpy(&id, ids.data() + position, sizeof id);
        decoded_ += token_bytes_[id];
      }
      encoded_ = ids.substr(0, used);
      if (text_file_) text_file_->write(decoded_);
      return std::pair{count, used};
    });
  }

  /// Encodes up to `room` symbols of `text`. Returns their number and their bytes.
  std::pair<std::int64_t, std::size_t> take_symbols(std::string_view text, std::int64_t room) {
    if (is_bytes_) {
      text = text.substr(0, static_cast<std::size_t>(std::min(room, static_cast<std::int64_t>(text.size()))));
    } else if (room < static_cast<std::int64_t>(text.size())) {  // a symbol has one byte or more
      std::size_t end = 0;
      for (; room > 0 && end < text.size(); --room) next_code_point(text, end);
      text = text.substr(0, end);
    }
    const std::int64_t count = with_id_type(id_bytes_, [&]<class Id>(Id) {
      return is_bytes_ ? encode_symbols<true, Id>(text) : encode_symbols<false, Id>(text);
    });
    piece_ = {.bytes = static_cast<std::int64_t>(text.size()), .words = words_beginning(text, in_word_)};
    if (settings_.line_ends_are_words) piece_.words += count_bytes(text, is_line_end);
    if (!text.empty()) in_word_ = !is_blank(text.back());
    if (text_file_) text_file_->write(text);
    return {count, text.size()};
  }

  /// Encodes `text` to `buffer_`. Returns the number of symbols.
  template <bool kBytes, class Id>
  std::int64_t encode_symbols(std::string_view text) {
    if (buffer_.size() < text.size() * sizeof(Id)) buffer_.resize(text.size() * sizeof(Id));
    char* out = buffer_.data();
    std::array<Id, kBytes ? 256 : 128> of_bytes;  // ids of symbols of one byte; a few lines of the cache
    std::copy_n(ids_.begin(), of_bytes.size(), of_bytes.begin());
    for (std::size_t position = 0; position < text.size();) {
      std::uint64_t eight = 0;
      if (is_all_known_ && position + sizeof eight <= text.size()) {
        std::memcpy(&eight, text.data() + position, sizeof eight);
        if (kBytes || (eight & kHighBits) == 0) {
          std::array<Id, sizeof eight> ids;
          for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = of_bytes[eight >> 8 * i & 0xFFU];
          std::memcpy(out, ids.data(), sizeof ids);
          out += sizeof ids;
          position += sizeof eight;
          continue;
        }
      }
      out = encode_symbol<kBytes, Id>(text, position, out);
    }
    encoded_ = {buffer_.data(), out};
    return static_cast<std::int64_t>(encoded_.size() / sizeof(Id));
  }

  template <bool kBytes, class Id>
  char* encode_symbol(std::string_view text, std::size_t& position, char* out) {
    const char32_t symbol = kBytes ? static_cast<unsigned char>(text[position++]) : next_code_point(text, position);
    std::uint32_t id = ids_[symbol];
    if (id == kNoId) {
      id = unknown_;
      ++split_->unknown;
    }
    const Id narrow = static_cast<Id>(id);
    std::memcpy(out, &narrow, sizeof narrow);
    return out + sizeof narrow;
  }

  void start_next_part() {
    split_ = nullptr;
    while (next_part_ < parts_->size() && (*parts_)[next_part_].tokens == 0) ++next_part_;
    if (next_part_ == parts_->size()) return;
    const SplitPart& part = (*parts_)[next_part_++];
    const std::string name = kSplitNames.at(part.split);
    const auto file_of = [&](std::array<std::optional<OutputFile>, kSplitNames.size()>& files, const char* ending) {
      std::optional<OutputFile>& file = files.at(part.split);
      if (!file) file.emplace(folder_, name + ending, settings_.threads > 1);
      return &*file;
    };
    tokens_file_ = file_of(tokens_files_, ".bin");
    if (settings_.keep_text) text_file_ = file_of(text_files_, ".txt");
    split_ = &result_.splits[name];
    begin_document();
    begun_ = true;
    part_end_ = offset_ + part.tokens;
    in_word_ = false;
  }

  static constexpr std::uint32_t kNoId = UINT32_MAX;
  static constexpr std::uint64_t kHighBits = 0x8080808080808080U;
  std::vector<std::uint32_t> ids_;
  std::uint32_t unknown_ = 0;
  int id_bytes_ = 0;
  const std::vector<std::int64_t>* documents_;
  const std::vector<SplitPart>* parts_;
  EncodeSettings settings_;
  fs::path folder_;
  bool is_bytes_ = false;
  bool is_all_known_ = false;              // every symbol of the text has an id
  std::vector<std::string> token_bytes_;   // of byte pairs
  std::vector<TokenCounts> token_counts_;  // likewise; the text consists of ids then

  EncodedText result_;
  std::string buffer_;
  std::string_view encoded_;  // the ids of the last piece
  std::string decoded_;       // the text of ids
  struct {
    std::int64_t bytes = 0, words = 0;
  } piece_;                  // what the last piece has
  std::int64_t offset_ = 0;  // in the whole text
  std::size_t next_document_ = 0;
  std::size_t next_part_ = 0;
  std::int64_t part_end_ = 0;
  EncodedSplit* split_ = nullptr;  // the one being filled
  bool in_word_ = false;
  bool begun_ = false;  // the part has just begun, and with it a document
  std::array<std::optional<OutputFile>, kSplitNames.size()> tokens_files_;
  std::array<std::optional<OutputFile>, kSplitNames.size()> text_files_;
  OutputFile* tokens_file_ = nullptr;  // of the part
  OutputFile* text_file_ = nullptr;    // if text is kept
};

}  // namespace

EncodedText encode(const CleanText& text, const std::vector<SplitPart>& parts, const EncodeSettings& settings,
                   const fs::path& folder, const PrepareObserver& observer) {
  SymbolReader reader(text.file(), text.symbol_width());
  Encoder encoder(text, parts, settings, folder);
  const std::uint64_t total = fs::file_size(text.file());
  std::uint64_t done = 0;
  for (std::string_view piece = reader.next(); !piece.empty(); piece = reader.next()) {
    if (!encoder.take(piece)) break;
    done += piece.size();
    observer.at("encoding", done, total);
  }
  return encoder.result();
}

}  // namespace xlm
