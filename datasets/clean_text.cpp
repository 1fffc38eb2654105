// The clean text of a corpus on its way to token files.
#include "datasets/clean_text.h"

#include <algorithm>
#include <utility>

#include "base/sha256.h"
#include "datasets/sources.h"

namespace xlm {
namespace {

bool is_blank(char32_t symbol) { return symbol == ' ' || (symbol >= '\t' && symbol <= '\r'); }

/// A file of the result: written, hashed, and whole at its end.
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

/// Symbols to ids, as a table over code points or bytes.
std::vector<std::uint32_t> id_table(const Vocabulary& vocabulary) {
  const bool bytes = vocabulary.unit == Vocabulary::Unit::kByte;
  std::vector<std::uint32_t> ids(bytes ? 256 : std::size_t{kLastCodePoint} + 1);
  std::uint32_t id = 0;
  for (const std::string& symbol : vocabulary.symbols) {
    ids[bytes ? static_cast<unsigned char>(symbol[0]) : decode_utf8(symbol).code_point] = id++;
  }
  return ids;
}

/// The clean file in pieces that end between two symbols.
class SymbolReader {
 public:
  SymbolReader(const fs::path& file, bool bytes) : file_(file), bytes_(bytes) {}

  /// The next piece; empty at the end.
  std::string_view next() {
    buffer_.erase(0, used_);
    const std::size_t begun = buffer_.size();
    constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
    buffer_.resize(begun + kBlockBytes);
    const std::size_t count = file_.read(buffer_.data() + begun, kBlockBytes);
    buffer_.resize(begun + count);
    used_ = bytes_ ? buffer_.size() : whole_characters(buffer_);
    return std::string_view(buffer_).substr(0, used_);
  }

 private:
  static std::size_t whole_characters(std::string_view text) {
    std::size_t end = text.size();
    for (std::size_t back = 1; back <= 4 && back <= text.size(); ++back) {
      const auto byte = static_cast<unsigned char>(text[text.size() - back]);
      if ((byte & 0xC0U) == 0x80U) continue;  // inside a character: its first byte is further back
      const bool incomplete = decode_utf8(text.substr(text.size() - back)).kind == Utf8Character::Kind::kIncomplete;
      if (incomplete) end = text.size() - back;
      break;
    }
    return end;
  }

  InputFile file_;
  bool bytes_;
  std::string buffer_;
  std::size_t used_ = 0;
};

/// Encodes symbol after symbol, going from split to split and from document to document as their offsets are reached.
class Encoder {
 public:
  Encoder(const CleanText& text, const SplitSizes& sizes, bool keep_text, fs::path folder)
      : vocabulary_(text.vocabulary()),
        ids_(id_table(vocabulary_)),
        id_bytes_(vocabulary_.id_bytes()),
        documents_(&text.documents()),
        sizes_(sizes),
        keep_text_(keep_text),
        folder_(std::move(folder)) {
    start_next_split();
  }

  /// Takes a piece of text; false when every split is full.
  bool take(std::string_view text) {
    std::size_t position = 0;
    while (position < text.size() && split_ != nullptr) position = take_segment(text, position);
    return split_ != nullptr;
  }

  EncodedText result() { return std::move(result_); }

 private:
  /// Up to the end of the split or the start of the next document, whichever comes first.
  std::size_t take_segment(std::string_view text, std::size_t begin) {
    if (next_document_ < documents_->size() && (*documents_)[next_document_] == offset_) {
      ++next_document_;
      in_word_ = false;
      if (split_->tokens > 0) split_->documents.push_back(split_->tokens);
    }
    std::int64_t room = split_end_ - offset_;
    if (next_document_ < documents_->size()) room = std::min(room, (*documents_)[next_document_] - offset_);
    const std::string_view rest = text.substr(begin);
    const bool bytes = vocabulary_.unit == Vocabulary::Unit::kByte;
    const auto [count, used] = bytes ? encode_symbols<true>(rest, room) : encode_symbols<false>(rest, room);
    const std::size_t position = begin + used;
    tokens_file_->write(encoded_);
    if (text_file_) text_file_->write(text.substr(begin, position - begin));
    split_->tokens += count;
    split_->bytes += static_cast<std::int64_t>(position - begin);
    offset_ += count;
    if (offset_ == split_end_) finish_split();
    return position;
  }

  /// Encodes up to `room` symbols of `text` to `encoded_`. Returns how many, and of how many bytes.
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
      const std::uint32_t id = ids_[symbol];
      *out++ = static_cast<char>(id & 0xFFU);
      for (int b = 1; b < id_bytes_; ++b) *out++ = static_cast<char>(id >> static_cast<unsigned>(8 * b) & 0xFFU);
      const bool blank = is_blank(symbol);
      words += static_cast<std::int64_t>(!blank && !in_word);
      in_word = !blank;
    }
    in_word_ = in_word;
    split_->words += words;
    encoded_.resize(static_cast<std::size_t>(out - encoded_.data()));
    return {count, position};
  }

  void start_next_split() {
    split_ = nullptr;
    while (next_split_ < sizes_.size() && sizes_[next_split_] == 0) ++next_split_;
    if (next_split_ == sizes_.size()) return;
    const std::string name = kSplitNames[next_split_];
    tokens_file_.emplace(folder_, name + ".bin");
    if (keep_text_) text_file_.emplace(folder_, name + ".txt");
    split_ = &result_.splits[name];
    split_->documents.push_back(0);
    split_end_ = offset_ + sizes_[next_split_++];
    in_word_ = false;
  }

  void finish_split() {
    tokens_file_->commit(result_);
    if (text_file_) text_file_->commit(result_);
    start_next_split();
  }

  Vocabulary vocabulary_;
  std::vector<std::uint32_t> ids_;
  int id_bytes_;
  const std::vector<std::int64_t>* documents_;
  SplitSizes sizes_;
  bool keep_text_;
  fs::path folder_;

  EncodedText result_;
  std::string encoded_;
  std::int64_t offset_ = 0;  // in the whole text
  std::size_t next_document_ = 0;
  std::size_t next_split_ = 0;
  std::int64_t split_end_ = 0;
  EncodedSplit* split_ = nullptr;  // the one being filled
  bool in_word_ = false;
  std::optional<OutputFile> tokens_file_;
  std::optional<OutputFile> text_file_;
};

}  // namespace

CleanText::CleanText(fs::path file, Vocabulary::Unit unit)
    : file_(std::move(file)),
      unit_(unit),
      out_(file_),
      seen_(unit == Vocabulary::Unit::kByte ? 256 : std::size_t{kLastCodePoint} + 1) {}

void CleanText::begin_document() {
  end_document();
  if (documents_.empty() || documents_.back() != tokens_) documents_.push_back(tokens_);
}

void CleanText::end_document() {
  if (unit_ == Vocabulary::Unit::kByte) return;
  repaired_.clear();
  repair_.finish(repaired_);
  count(repaired_);
}

void CleanText::write(std::string_view text) {
  if (unit_ == Vocabulary::Unit::kByte) {
    count(text);
    return;
  }
  repaired_.clear();
  repair_.write(text, repaired_);
  count(repaired_);
}

void CleanText::count(std::string_view clean) {
  if (unit_ == Vocabulary::Unit::kByte) {
    for (const char c : clean) seen_[static_cast<unsigned char>(c)] = true;
    tokens_ += static_cast<std::int64_t>(clean.size());
  } else {
    for (std::size_t position = 0; position < clean.size(); ++tokens_) seen_[next_code_point(clean, position)] = true;
  }
  out_.write(clean);
}

void CleanText::finish() {
  end_document();
  if (!documents_.empty() && documents_.back() == tokens_) documents_.pop_back();
  out_.commit();
}

Vocabulary CleanText::vocabulary() const {
  Vocabulary vocabulary;
  vocabulary.unit = unit_;
  for (std::size_t symbol = 0; symbol < seen_.size(); ++symbol) {
    if (!seen_[symbol]) continue;
    std::string text;
    if (unit_ == Vocabulary::Unit::kByte) {
      text += static_cast<char>(symbol);
    } else {
      append_utf8(text, static_cast<char32_t>(symbol));
    }
    vocabulary.symbols.push_back(std::move(text));
  }
  return vocabulary;
}

EncodedText encode(const CleanText& text, const SplitSizes& sizes, bool keep_text, const fs::path& folder,
                   const PrepareObserver& observer) {
  SymbolReader reader(text.file(), text.unit() == Vocabulary::Unit::kByte);
  Encoder encoder(text, sizes, keep_text, folder);
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
