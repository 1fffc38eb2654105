// From clean text to token files.
#include "datasets/prepared/encoding.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "base/sha256.h"
#include "base/utf8.h"
#include "datasets/input/sources.h"
#include "datasets/prepared/split_plan.h"
#include "datasets/tokens/decoder.h"

namespace xlm {
namespace {

bool is_blank(char32_t symbol) { return symbol == ' ' || (symbol >= '\t' && symbol <= '\r'); }

/// An output file: written, hashed, and whole at its end.
class OutputFile {
 public:
  OutputFile(const fs::path& folder, std::string name) : name_(std::move(name)), file_(folder / name_) {}

  void write(std::string_view bytes) {
    hash_.update(bytes);
    file_.write(bytes);
  }
  void commit(EncodedText& result) {
    file_.commit();
    result.outputs[name_] = hash_.finish();
  }

 private:
  std::string name_;
  AtomicFile file_;
  Sha256 hash_;
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

/// Reads the clean file in pieces that end between two symbols.
class SymbolReader {
 public:
  /// `width`: bytes of a symbol; 0: symbols are characters.
  SymbolReader(const fs::path& file, std::size_t width) : file_(file), width_(width) {}

  /// The next piece; empty at the end.
  std::string_view next() {
    buffer_.erase(0, used_);
    const std::size_t begun = buffer_.size();
    constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
    buffer_.resize(begun + kBlockBytes);
    const std::size_t count = file_.read(buffer_.data() + begun, kBlockBytes);
    buffer_.resize(begun + count);
    used_ = width_ > 0 ? buffer_.size() - buffer_.size() % width_ : whole_characters(buffer_);
    return std::string_view(buffer_).substr(0, used_);
  }

 private:
  static std::size_t whole_characters(std::string_view text) {
    std::size_t end = text.size();
    for (std::size_t back = 1; back <= 4 && back <= text.size(); ++back) {
      const auto byte = static_cast<unsigned char>(text[text.size() - back]);
      if ((byte & 0xC0U) == 0x80U) continue;  // inside a character: its first byte is earlier
      const bool incomplete = decode_utf8(text.substr(text.size() - back)).kind == Utf8Character::Kind::kIncomplete;
      if (incomplete) end = text.size() - back;
      break;
    }
    return end;
  }

  InputFile file_;
  std::size_t width_;
  std::string buffer_;
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
    if (result_.vocabulary.unit == Vocabulary::Unit::kBpe) token_bytes_ = symbol_bytes(result_.vocabulary);
    start_next_split();
  }

  /// Takes a piece of text; returns false once every split is full.
  bool take(std::string_view text) {
    std::size_t position = 0;
    while (position < text.size() && split_ != nullptr) position = take_segment(text, position);
    return split_ != nullptr;
  }

  EncodedText result() { return std::move(result_); }

 private:
  /// Takes text up to the end of the split or the start of the next document, whichever comes first.
  std::size_t take_segment(std::string_view text, std::size_t begin) {
    if (next_document_ < documents_->size() && (*documents_)[next_document_] == offset_) {
      ++next_document_;
      in_word_ = false;
      if (split_->tokens > 0) begin_document();
    }
    std::int64_t room = split_end_ - offset_;
    if (next_document_ < documents_->size()) room = std::min(room, (*documents_)[next_document_] - offset_);
    const std::string_view rest = text.substr(begin);
    const auto [count, used] = encode_symbols(rest, room);
    const bool ids = result_.vocabulary.unit == Vocabulary::Unit::kBpe;
    take_counts(count, ids ? std::string_view(decoded_) : rest.substr(0, used));
    if (offset_ == split_end_) finish_split();
    return begin + used;
  }

  void take_counts(std::int64_t tokens, std::string_view text) {
    tokens_file_->write(encoded_);
    if (text_file_) text_file_->write(text);
    if (settings_.line_ends_are_words) words_ += std::count(text.begin(), text.end(), '\n');
    const auto bytes = static_cast<std::int64_t>(text.size());
    split_->tokens += tokens;
    split_->words += words_;
    split_->bytes += bytes;
    split_->document_words.back() += words_;
    split_->document_bytes.back() += bytes;
    offset_ += tokens;
  }

  void begin_document() {
    split_->documents.push_back(split_->tokens);
    split_->document_words.push_back(0);
    split_->document_bytes.push_back(0);
  }

  std::pair<std::int64_t, std::size_t> encode_symbols(std::string_view text, std::int64_t room) {
    switch (result_.vocabulary.unit) {
      case Vocabulary::Unit::kByte:
        return encode_symbols<true>(text, room);
      case Vocabulary::Unit::kBpe:
        return take_ids(text, room);
      case Vocabulary::Unit::kCharacter:
        break;
    }
    return encode_symbols<false>(text, room);
  }

  /// Appends up to `room` ids to `encoded_`, and their text to `decoded_`.
  std::pair<std::int64_t, std::size_t> take_ids(std::string_view ids, std::int64_t room) {
    const auto width = static_cast<std::size_t>(id_bytes_);
    const std::int64_t count = std::min(room, static_cast<std::int64_t>(ids.size() / width));
    const std::size_t used = static_cast<std::size_t>(count) * width;
    encoded_.assign(ids.substr(0, used));
    decoded_.clear();
    for (std::size_t position = 0; position < used; position += width) {
      std::uint32_t id = 0;
      for (std::size_t b = 0; b < width; ++b) {
        id |= std::uint32_t{static_cast<unsigned char>(ids[position + b])} << static_cast<unsigned>(8 * b);
      }
      decoded_ += token_bytes_[id];
    }
    words_ = 0;
    for (const char c : decoded_) {
      const bool blank = is_blank(static_cast<unsigned char>(c));
      words_ += static_cast<std::int64_t>(!blank && !in_word_);
      in_word_ = !blank;
    }
    return {count, used};
  }

  /// Appends up to `room` symbols of `text` to `encoded_`. Returns their number and their bytes.
  template <bool kBytes>
  std::pair<std::int64_t, std::size_t> encode_symbols(std::string_view text, std::int64_t room) {
    const auto most = std::min(text.size(), static_cast<std::size_t>(room));  // a symbol has one byte or more
    encoded_.resize(most * static_cast<std::size_t>(id_bytes_));
    char* out = encoded_.data();
    std::size_t position = 0;
    std::int64_t count = 0;
    std::int64_t words = 0;
    bool in_word = in_word_;
    for (; count < room && position < text.size(); ++count) {
      const char32_t symbol = kBytes ? static_cast<unsigned char>(text[position++]) : next_code_point(text, position);
      std::uint32_t id = ids_[symbol];
      if (id == kNoId) {
        id = unknown_;
        ++split_->unknown;
      }
      *out++ = static_cast<char>(id & 0xFFU);
      for (int b = 1; b < id_bytes_; ++b) *out++ = static_cast<char>(id >> static_cast<unsigned>(8 * b) & 0xFFU);
      const bool blank = is_blank(symbol);
      words += static_cast<std::int64_t>(!blank && !in_word);
      in_word = !blank;
    }
    in_word_ = in_word;
    words_ = words;
    encoded_.resize(static_cast<std::size_t>(out - encoded_.data()));
    return {count, position};
  }

  void start_next_split() {
    split_ = nullptr;
    while (next_part_ < parts_->size() && (*parts_)[next_part_].tokens == 0) ++next_part_;
    if (next_part_ == parts_->size()) return;
    const SplitPart& part = (*parts_)[next_part_++];
    const std::string name = kSplitNames.at(part.split);
    tokens_file_.emplace(folder_, name + ".bin");
    if (settings_.keep_text) text_file_.emplace(folder_, name + ".txt");
    split_ = &result_.splits[name];
    begin_document();
    split_end_ = offset_ + part.tokens;
    in_word_ = false;
  }

  void finish_split() {
    tokens_file_->commit(result_);
    if (text_file_) text_file_->commit(result_);
    start_next_split();
  }

  static constexpr std::uint32_t kNoId = UINT32_MAX;
  std::vector<std::uint32_t> ids_;
  std::uint32_t unknown_ = 0;
  int id_bytes_ = 0;
  const std::vector<std::int64_t>* documents_;
  const std::vector<SplitPart>* parts_;
  EncodeSettings settings_;
  fs::path folder_;
  std::vector<std::string> token_bytes_;

  EncodedText result_;
  std::string encoded_;
  std::string decoded_;      // the text of ids
  std::int64_t words_ = 0;   // that began in the last piece
  std::int64_t offset_ = 0;  // in the whole text
  std::size_t next_document_ = 0;
  std::size_t next_part_ = 0;
  std::int64_t split_end_ = 0;
  EncodedSplit* split_ = nullptr;  // the one being filled
  bool in_word_ = false;
  std::optional<OutputFile> tokens_file_;
  std::optional<OutputFile> text_file_;
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
