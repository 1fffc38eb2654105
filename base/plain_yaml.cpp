// A simple subset of YAML.
#include "base/plain_yaml.h"

#include <algorithm>

namespace xlm {
namespace {

constexpr std::size_t kMaxBytes = 50'000;  // far below parse_yaml's limits on nodes
constexpr std::size_t kMaxKeyBytes = 100;  // the same
constexpr std::size_t kMaxKeys = 200;      // of one map, which is searched for each of them
constexpr std::size_t kDeepest = 20;
constexpr std::size_t kIndent = 2;

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'); }

bool is_of_words(char c) { return is_letter_or_digit(c) || c == '_' || c == '.' || c == '/' || c == '+' || c == '-'; }

bool is_word_for_nothing(std::string_view text) { return text == "null" || text == "Null" || text == "NULL"; }

/// A word that YAML always reads as itself.
bool is_word(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_of_words)) return false;
  const bool is_signed = text.front() == '-' || text.front() == '+' || text.front() == '.';
  return is_signed ? text.size() > 1 && is_letter_or_digit(text[1]) : true;
}

bool is_key(std::string_view text) {
  return is_word(text) && is_letter_or_digit(text.front()) && text.size() <= kMaxKeyBytes && !is_word_for_nothing(text);
}

bool is_plain_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

class PlainYamlReader {
 public:
  PlainYamlReader(std::string_view text, const std::shared_ptr<const std::string>& source)
      : text_(text), source_(source) {}

  /// Reads the map whose lines begin with `depth` indents; returns false if a line is not of the subset.
  bool read_map(std::size_t depth, Yaml& map) {
    if (depth > kDeepest) return false;
    map = node(Yaml::Kind::kMap);
    while (!text_.empty()) {
      const std::size_t spaces = std::min(text_.find_first_not_of(' '), text_.size());
      if (spaces < depth * kIndent && spaces % kIndent == 0 && !map.entries.empty()) return true;
      if (spaces != depth * kIndent || !read_entry(depth, map)) return false;
    }
    return !map.entries.empty();
  }

 private:
  Yaml node(Yaml::Kind kind) const {
    Yaml made;
    made.kind = kind;
    made.source = source_;
    made.line = line_;
    return made;
  }

  bool read_entry(std::size_t depth, Yaml& map) {
    const std::string_view line = text_.substr(depth * kIndent, text_.find('\n') - depth * kIndent);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return false;
    const std::string_view key = line.substr(0, colon);
    if (!is_key(key) || map.entries.size() == kMaxKeys || map.find(key) != nullptr) return false;
    Yaml& value = map.entries.emplace_back(std::string(key), node(Yaml::Kind::kNull)).second;
    text_.remove_prefix(std::min(text_.size(), depth * kIndent + line.size() + 1));
    if (colon + 1 < line.size()) {
      const bool read = line[colon + 1] == ' ' && read_value(line.substr(colon + 2), value);
      ++line_;
      return read;
    }
    ++line_;
    return read_map(depth + 1, value);
  }

  bool read_value(std::string_view text, Yaml& value) const {
    if (text == "{}") {
      value.kind = Yaml::Kind::kMap;
      return true;
    }
    if (!text.starts_with('[')) return read_scalar(text, value);
    if (!text.ends_with(']')) return false;
    value.kind = Yaml::Kind::kSequence;
    text = text.substr(1, text.size() - 2);
    while (!text.empty()) {
      const std::size_t comma = text.find(", ");
      if (!read_scalar(text.substr(0, comma), value.items.emplace_back(node(Yaml::Kind::kNull)))) return false;
      if (comma == std::string_view::npos) break;
      text.remove_prefix(comma + 2);
      if (text.empty()) return false;
    }
    return true;
  }

  static bool read_scalar(std::string_view text, Yaml& value) {
    value.quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
    if (value.quoted) text = text.substr(1, text.size() - 2);
    if (value.quoted ? !is_plain_text(text) : !is_word(text)) return false;
    if (!value.quoted && is_word_for_nothing(text)) return true;
    value.kind = Yaml::Kind::kScalar;
    value.scalar = text;
    return true;
  }

  std::string_view text_;  // not read yet
  const std::shared_ptr<const std::string>& source_;
  int line_ = 1;
};

}  // namespace

std::optional<Yaml> parse_plain_yaml(std::string_view text, const std::shared_ptr<const std::string>& source) {
  Yaml tree;
  if (text.size() > kMaxBytes || !PlainYamlReader(text, source).read_map(0, tree)) return std::nullopt;
  return tree;
}

}  // namespace xlm
