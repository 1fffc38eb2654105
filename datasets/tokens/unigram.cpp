// SentencePiece unigram tokenizers.
#include "datasets/tokens/unigram.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include "base/command.h"
#include "base/error.h"
#include "base/pointer_file.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/tokens/vocabulary.h"

namespace xlm {
namespace {

using sentencepiece::SentencePieceProcessor;

constexpr std::size_t kKnownWords = std::size_t{1} << 20U;
constexpr std::size_t kKnownShortWords = std::size_t{1} << 19;  // 12 MB: nearly all words of a text
constexpr unsigned kLoadingSeconds = 60;
constexpr std::string_view kFine = "fine\n";

/// SentencePiece's, up to 0.2.1, or Abseil's.
using Status = decltype(std::declval<const sentencepiece::SentenceIterator&>().status());

class Lines final : public sentencepiece::SentenceIterator {
 public:
  explicit Lines(const NextLine& next_line) : next_line_(next_line) { Next(); }
  bool done() const override { return done_; }
  void Next() override { done_ = !next_line_(line_); }
  const std::string& value() const override { return line_; }
  Status status() const override { return {}; }

 private:
  const NextLine& next_line_;
  std::string line_;
  bool done_ = false;
};

/// White space other than the space: tokenizers have no pieces for it.
bool is_line_space(char32_t character) { return character >= U'\t' && character <= U'\r'; }

/// SentencePiece 0.1 ends the process on some malformed models, so a child process tries `model` first.
bool survives_loading(const std::string& model) {
  const auto answer = in_child_process(
      [&] {
        ::alarm(kLoadingSeconds);
        SentencePieceProcessor processor;
        if (!processor.LoadFromSerializedProto(model).ok()) return std::string();
        static_cast<void>(processor.EncodeAsPieces("a"));
        return std::string(kFine);
      },
      {});
  return answer == kFine;
}

/// Returns kFine and a model, or the error.
std::string train(const NextLine& next_line, std::int64_t pieces) {
  Lines lines(next_line);
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train({{"model_type", "unigram"},
                                                                  {"vocab_size", fmt::format("{}", pieces)},
                                                                  {"character_coverage", "1.0"},
                                                                  {"max_sentence_length", "1000000000"},
                                                                  {"max_sentencepiece_length", "16"},
                                                                  {"split_by_whitespace", "true"},
                                                                  {"split_by_unicode_script", "true"},
                                                                  {"split_digits", "true"},
                                                                  {"normalization_rule_name", "identity"},
                                                                  {"num_threads", "1"},
                                                                  {"minloglevel", "2"}},
                                                                 &lines, &model);
  if (status.ok()) return std::string(kFine) + model;
  // "Internal: src/unigram_model_trainer.cc(582) [size] Vocabulary size too high (900). Please set it to a value <= 8."
  const std::string full = status.ToString();
  if (const std::size_t fewer = full.find("required_chars. "); fewer != std::string::npos) {  // "… 20 vs 71."
    const std::string needed = full.substr(full.find("vs ", fewer) + 3);
    return fmt::format("each of its {} characters needs a piece", needed.substr(0, needed.find('.')));
  }
  const std::size_t bracket = full.rfind("] ");
  const std::string why = bracket == std::string::npos ? full : full.substr(bracket + 2);
  if (trim(why).empty()) return "SentencePiece gives no reason";
  return why.substr(0, why.find(" Increase vocab_size"));  // its advice names options that do not exist here
}

}  // namespace

std::string train_unigram(const NextLine& next_line, std::int64_t pieces, const std::function<void()>& waiting) {
  const auto answer = in_child_process([&] { return train(next_line, pieces); }, waiting);
  if (answer && answer->starts_with(kFine)) return answer->substr(kFine.size());
  throw UsageError(
      fmt::format("a unigram tokenizer of {} pieces cannot be trained on this text: {}\n"
                  "ask for another number with --train-unigram",
                  pieces, answer.value_or("SentencePiece ended without a message; memory may be too small")));
}

/// What tokenizers of several threads share.
struct UnigramTokenizer::Model {
  std::string source;
  SentencePieceProcessor processor;
  bool marks_words = false;  // a word by itself is cut as one in a text: the model marks where it begins, or ends
  /// Lengths of pieces by the text around and in a word: words recur. Several, so that threads rarely wait.
  struct Known {
    std::mutex lock;
    std::unordered_map<std::string, std::vector<int>> lengths;
  };
  std::array<Known, 64> known;

  /// The word is text[begin, begin + size).
  std::vector<int> cut(const std::string& text, std::size_t begin, std::size_t size) const;
};

UnigramTokenizer::UnigramTokenizer(const std::string& model, std::string source)
    : UnigramTokenizer(std::make_shared<Model>()) {
  refuse_pointer(model, source);
  if (!survives_loading(model) || !model_->processor.LoadFromSerializedProto(model).ok()) {
    throw DataError(
        fmt::format("{} is not a SentencePiece model, or it is damaged\n"
                    "train one for a corpus: xlm prepare-data --train-unigram",
                    source));
  }
  model_->source = std::move(source);
  const std::string marked = join(model_->processor.EncodeAsPieces("a"), "");
  model_->marks_words = marked.find("\xE2\x96\x81") != std::string::npos;
}

UnigramTokenizer::UnigramTokenizer(std::shared_ptr<Model> model)
    : model_(std::move(model)), known_short_(kKnownShortWords) {}

UnigramTokenizer::~UnigramTokenizer() = default;

std::unique_ptr<UnigramTokenizer> UnigramTokenizer::for_another_thread() const {
  return std::unique_ptr<UnigramTokenizer>(new UnigramTokenizer(model_));
}

std::vector<int> UnigramTokenizer::piece_lengths(const std::string& word, bool before, bool behind) const {
  std::string text = word;
  std::size_t begin = 0;
  if (!model_->marks_words && (before || behind)) {  // the word between others, which are its own first character
    std::size_t end = 0;
    next_code_point(word, end);
    const std::string other = word.substr(0, end);
    if (before) text = other + " " + text;
    if (before) begin = end + 1;
    if (behind) text += " " + other;
  }
  Model::Known& known = model_->known.at(std::hash<std::string>()(text) % model_->known.size());
  {
    const std::lock_guard lock(known.lock);
    const auto found = known.lengths.find(text);
    if (found != known.lengths.end()) return found->second;
  }
  std::vector<int> lengths = model_->cut(text, begin, word.size());
  const std::lock_guard lock(known.lock);
  if (known.lengths.size() >= kKnownWords / model_->known.size()) known.lengths.clear();
  known.lengths.emplace(std::move(text), lengths);
  return lengths;
}

UnigramTokenizer::PieceEnds UnigramTokenizer::piece_ends(const char* word, std::size_t bytes, bool before,
                                                         bool behind) const {
  TextKey<16> key = short_key(word, bytes, /*padded=*/true);
  if (!model_->marks_words)
    key.back() |= std::uint64_t{before ? 1U : 0U} << 60U | std::uint64_t{behind ? 1U : 0U} << 61U;
  KnownWord& known = known_short_[slot_of(key, known_short_.size())];
  if (same(known.key, key)) return known.ends;
  PieceEnds ends;
  for (const int length : piece_lengths({word, bytes}, before, behind)) {
    if (ends.characters > 0) ends.bits |= 1U << (ends.characters - 1);
    ends.characters += static_cast<std::uint32_t>(length);
  }
  known = {key, ends};
  return ends;
}

std::vector<int> UnigramTokenizer::Model::cut(const std::string& text, std::size_t begin, std::size_t size) const {
  const auto encoded = processor.EncodeAsImmutableProto(text);
  const std::string word = text.substr(begin, size);
  std::vector<int> lengths;
  std::string covered;
  std::size_t place = 0;  // in the text
  for (std::size_t i = 0; i < encoded.pieces_size(); ++i) {
    const auto piece = encoded.pieces(static_cast<int>(i));
    // The part that lies in the word, without the mark of its beginning.
    const std::size_t first = std::max(place, begin);
    place += piece.surface().size();
    if (std::min(place, begin + size) <= first) continue;
    const std::string surface =
        piece.surface().substr(first + piece.surface().size() - place, std::min(place, begin + size) - first);
    covered += surface;
    if (!processor.IsUnknown(static_cast<int>(piece.id()))) {
      lengths.push_back(static_cast<int>(count_characters(surface)));
      continue;
    }
    for (std::size_t position = 0; position < surface.size();) {
      const std::size_t at = position;
      const char32_t character = next_code_point(surface, position);
      if (!is_line_space(character)) {
        throw DataError(
            fmt::format("{} does not cover the text: no piece has {}\n"
                        "it was made from other text, or from the training split alone (--train-unigram): clean the "
                        "text with --clean, or use --split so that training has every character",
                        source, symbol_name(Vocabulary::Unit::kCharacter, surface.substr(at, position - at))));
      }
      lengths.push_back(1);
    }
  }
  if (covered != word) {
    throw DataError(
        fmt::format("{} changes the text that it cuts: '{}' comes back as '{}'\n"
                    "use a tokenizer without normalisation (xlm prepare-data --train-unigram)",
                    source, word, covered));
  }
  return lengths;
}

}  // namespace xlm
