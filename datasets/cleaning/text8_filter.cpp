// The text8 filter: the published rules of markup by RE2, whose time is linear in the text, and a loop over letters.
#include "datasets/cleaning/text8_filter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/utf8.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxRecordBytes = std::size_t{64} << 20;
constexpr std::array<std::string_view, 10> kDigitNames{"zero", "one", "two",   "three", "four",
                                                       "five", "six", "seven", "eight", "nine"};

constexpr char kDigit = 1;  // among the letters and spaces that bytes become

constexpr std::array<char, 256> make_classes() {
  std::array<char, 256> classes{};
  classes.fill(' ');
  for (int c = 'a'; c <= 'z'; ++c) classes[static_cast<std::size_t>(c)] = static_cast<char>(c);
  for (int c = 'A'; c <= 'Z'; ++c) classes[static_cast<std::size_t>(c)] = static_cast<char>(c - 'A' + 'a');
  for (int c = '0'; c <= '9'; ++c) classes[static_cast<std::size_t>(c)] = kDigit;
  return classes;
}
constexpr std::array<char, 256> kClasses = make_classes();

bool is_letter_or_digit_of_ascii(char c) {
  const auto within = [](int byte, char first, unsigned char count) {
    return static_cast<unsigned char>(byte - first) < count;
  };
  return (static_cast<unsigned>(within(c | 0x20, 'a', 26)) | static_cast<unsigned>(within(c, '0', 10))) !=
         0;  // both, which is faster than one at a time
}

/// A rule of the published filter: what its pattern fits is replaced, everywhere.
struct MarkupRule {
  const char* pattern;
  const char* replacement;
};

/// In the order of the published filter. "&amp;lt;" becomes '<', because the wiki text was encoded twice.
constexpr std::array<MarkupRule, 18> kMarkupRules{{
    {"&amp;", "&"},
    {"&lt;", "<"},
    {"&gt;", ">"},
    {"<ref[^<]*</ref>", ""},
    {"<[^>]*>", ""},
    {R"(\[http:[^\] ]*)", "["},  // "[http://address text]" becomes "[ text]"
    {R"((?i)\|thumb)", ""},
    {R"((?i)\|left)", ""},
    {R"((?i)\|right)", ""},
    {R"((?i)\|[0-9]+px)", ""},
    {R"((?i)\[\[image:[^\[\]]*\|)", ""},                       // up to the last '|' before a bracket
    {R"((?i)\[\[category:([^|\]]*)[^\]]*\]\])", R"([[\1]])"},  // "[[Category:Name|sort key]]"
    {R"(\[\[[a-z-]*:[^\]]*\]\])", ""},                         // "[[fr:Anarchisme]]"
    {R"(\[\[[^|\]]*\|)", "[["},                                // "[[page|anchor" becomes "[[anchor"
    {R"(\{\{[^}]*\}\})", ""},
    {R"(\{[^}]*\})", ""},
    {R"([\[\]])", ""},
    {"&[^;]*;", " "},
}};

std::unique_ptr<RE2> compiled(const char* pattern) {
  RE2::Options options;
  options.set_encoding(RE2::Options::EncodingLatin1);  // rules are about bytes
  return std::make_unique<RE2>(pattern, options);
}

void drop_markup(std::string& text) {
  static const std::vector<std::unique_ptr<RE2>> expressions = [] {
    std::vector<std::unique_ptr<RE2>> all;
    for (const MarkupRule& rule : kMarkupRules) all.push_back(compiled(rule.pattern));
    return all;
  }();
  for (std::size_t i = 0; i < kMarkupRules.size(); ++i) {
    RE2::GlobalReplace(&text, *expressions[i], kMarkupRules[i].replacement);
  }
}

bool contains_redirect(const std::string& text) {
  static const std::unique_ptr<RE2> expression = compiled("(?i)#redirect");
  return RE2::PartialMatch(text, *expression);
}

/// Drops the tag that ends the record, from the first '<' on its last line.
void drop_last_tag(std::string& text) {
  if (text.empty() || text.back() != '>') return;
  const std::size_t line_end = text.rfind('\n');
  const std::size_t tag = text.find('<', line_end == std::string::npos ? 0 : line_end);
  if (tag != std::string::npos) text.resize(tag);
}

/// Appends `text` in the alphabet of text8 to `clean`. Every byte is written: a letter stays, and another byte is a
/// space, which the next byte overwrites if a space stands before it. So most bytes need no decision.
void append_letters(std::string_view text, bool& space_pending, std::string& clean) {
  constexpr std::size_t kLongest = 8;  // " three ", and a byte that is overwritten
  const std::size_t before = clean.size();
  // Most records have few digits: room for the text, and more if a digit needs it.
  if (clean.capacity() < before + text.size() + kLongest) clean.reserve(before + text.size() + text.size() / 8 + 64);
  clean.resize(before + text.size() + kLongest);
  char* out = clean.data() + before;
  char* limit = clean.data() + clean.size() - kLongest;
  const char* const end = text.data() + text.size();
  if (space_pending) *out++ = ' ';
  char last = space_pending ? ' ' : 'a';
  for (const char* in = text.data(); in != end; ++in) {
    const char kind = kClasses[static_cast<unsigned char>(*in)];
    if (kind >= ' ') {
      *out = kind;
      out += static_cast<std::ptrdiff_t>((kind != ' ') | (last != ' '));
      last = kind;
      continue;
    }
    if (last != ' ') *out++ = ' ';
    last = ' ';
    if (out + (end - in) + kLongest > limit) {
      const auto used = static_cast<std::size_t>(out - clean.data());
      clean.resize(used + 2 * static_cast<std::size_t>(end - in) + 64 * kLongest);
      out = clean.data() + used;
      limit = clean.data() + clean.size() - kLongest;
    }
    const std::string_view name = kDigitNames[static_cast<std::size_t>(*in - '0')];
    std::memcpy(out, name.data(), name.size());
    out += name.size();
    *out++ = ' ';
  }
  space_pending = last == ' ';
  if (space_pending) --out;  // the next letter brings it
  clean.resize(static_cast<std::size_t>(out - clean.data()));
}

}  // namespace

WikipediaFilter::WikipediaFilter(std::string source, TextSink sink)
    : source_(std::move(source)), sink_(std::move(sink)) {}

void WikipediaFilter::write(std::string_view xml) {
  while (!xml.empty()) {
    const std::size_t close = xml.find('>');
    const std::size_t bytes = close == std::string_view::npos ? xml.size() : close + 1;
    record_.append(xml.substr(0, bytes));
    xml.remove_prefix(bytes);
    if (close != std::string_view::npos) {
      take_record();
    } else if (record_.size() > kMaxRecordBytes) {
      throw DataError(
          fmt::format("{} is not a Wikipedia XML dump: {} MB without a '>'", source_, record_.size() >> 20U));
    }
  }
}

void WikipediaFilter::finish() {
  take_record();
  inside_text_ = false;
}

void WikipediaFilter::take_record() {
  if (record_.find("<text ") != std::string::npos) inside_text_ = true;
  if (inside_text_ && contains_redirect(record_)) inside_text_ = false;
  if (inside_text_) {
    if (record_.find("</text>") != std::string::npos) inside_text_ = false;
    drop_last_tag(record_);
    drop_markup(record_);
    clean_.clear();
    bool space_pending = true;
    append_letters(record_, space_pending, clean_);
    if (!clean_.empty()) sink_(clean_);
  }
  record_.clear();
}

void Text8Cleaner::note_foreign(std::string_view text) {
  std::string joined;
  if (!begun_.empty()) {
    joined = std::exchange(begun_, {});
    joined += text;
    text = joined;
  }
  foreign_.kept += count_bytes(text, is_letter_or_digit_of_ascii);
  foreign_.begin_text();
  for (std::size_t position = 0; (position = after_ascii(text, position)) < text.size();) {
    const Utf8Character character = decode_utf8(text.substr(position));
    if (character.kind == Utf8Character::Kind::kIncomplete) {
      begun_ = text.substr(position);
      return;
    }
    const bool valid = character.kind == Utf8Character::Kind::kValid;
    if (!valid || is_letter_or_digit(character.code_point)) foreign_.lose(text, position);
    position += static_cast<std::size_t>(character.bytes);
  }
}

void Text8Cleaner::write(std::string_view text) {
  note_foreign(text);
  clean_.clear();
  append_letters(text, space_pending_, clean_);
  if (!clean_.empty()) sink_(clean_);
}

}  // namespace xlm
