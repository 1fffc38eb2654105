// YAML as a plain tree, on yaml-cpp.
#include "base/yaml.h"

#include <algorithm>
#include <charconv>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include "base/argument_file.h"
#include "base/core_schema.h"
#include "base/error.h"
#include "base/json.h"
#include "base/lookup.h"
#include "base/text.h"
#include "base/utf8.h"

namespace xlm {
namespace {

using Source = std::shared_ptr<const std::string>;

constexpr std::size_t kMaximumBytes = 1'000'000;
constexpr int kMaximumDepth = 100;
constexpr int kMaximumNodes = 200'000;
constexpr std::size_t kMaximumKeyBytes = 400;  // YAML allows a key of 1024 characters, with escapes

[[noreturn]] void fail(const Source& source, int line, const std::string& message) {
  throw UsageError(line > 0 ? fmt::format("{}:{}: {}", *source, line, message)
                            : fmt::format("{}: {}", *source, message));
}

/// yaml-cpp 0.7 recurses on nested flow collections and block indents: refuses deep nesting before it runs.
void check_nesting(std::string_view text, const Source& source) {
  int depth = 0;
  int line = 1;
  std::size_t column = 0;
  std::vector<std::size_t> indents;
  bool at_line_start = true;
  for (const char c : text) {
    if (c == '\0') fail(source, line, "a zero byte; this is not a YAML text");
    if (c == '\n') {
      ++line;
      column = 0;
      at_line_start = true;
      continue;
    }
    if (at_line_start && c != ' ') {
      while (!indents.empty() && indents.back() >= column) indents.pop_back();
      indents.push_back(column);
      at_line_start = false;
    }
    ++column;
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (depth > kMaximumDepth || indents.size() > static_cast<std::size_t>(kMaximumDepth)) {
      fail(source, line, fmt::format("nested more than {} levels deep", kMaximumDepth));
    }
  }
}

/// Text that is not UTF-8 could be neither printed nor recorded as it was written.
void check_utf8(std::string_view text, const Source& source) {
  Utf8Repair repair;
  std::string repaired;
  repair.write(text, repaired);
  repair.finish(repaired);
  if (repair.replaced() == 0) return;
  const auto before = text.substr(0, static_cast<std::size_t>(repair.first_replaced()));
  const auto line = static_cast<int>(std::ranges::count(before, '\n')) + 1;
  fail(source, line, fmt::format("byte {} of the text is not UTF-8; save it as UTF-8", repair.first_replaced() + 1));
}

/// The lines at which the documents of a text begin.
class DocumentStarts final : public YAML::EventHandler {
 public:
  std::vector<int> lines;  // counted from 1

  void OnDocumentStart(const YAML::Mark& mark) override { lines.push_back(mark.line + 1); }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

/// The only document; an undefined node if there is none. yaml-cpp's own LoadAll would find documents without end in a
/// text such as ",": it does not move past a token that begins no document.
YAML::Node only_document(const std::string& text, const Source& source) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (starts.lines.size() < 2 && parser.HandleNextDocument(starts)) {
  }
  if (starts.lines.size() > 1) {
    fail(source, starts.lines[1], "more than one YAML document, or text outside of any, such as a comma");
  }
  return starts.lines.empty() ? YAML::Node(YAML::NodeType::Undefined) : YAML::Load(text);
}

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

class Converter {
 public:
  explicit Converter(Source source) : source_(std::move(source)) {}

  Yaml convert(const YAML::Node& node, int depth = 0) {
    Yaml result;
    result.source = source_;
    result.line = node.Mark().line + 1;
    if (depth > kMaximumDepth)
      fail(source_, result.line, fmt::format("nested more than {} levels deep", kMaximumDepth));
    if (++nodes_ > kMaximumNodes) fail(source_, result.line, fmt::format("more than {} values", kMaximumNodes));
    refuse_tag(node, result.line);
    switch (node.Type()) {
      case YAML::NodeType::Undefined:
      case YAML::NodeType::Null:
        break;
      case YAML::NodeType::Scalar:
        result.kind = Yaml::Kind::kScalar;
        result.scalar = node.Scalar();
        result.quoted = node.Tag() == kQuoted || node.Tag() == kString;
        break;
      case YAML::NodeType::Sequence:
        result.kind = Yaml::Kind::kSequence;
        for (const YAML::Node& item : node) result.items.push_back(convert(item, depth + 1));
        break;
      case YAML::NodeType::Map:
        result.kind = Yaml::Kind::kMap;
        convert_entries(node, depth, result);
        break;
    }
    return result;
  }

 private:
  // yaml-cpp's tag of a quoted scalar, of a plain scalar, and of one with !!str.
  static constexpr std::string_view kQuoted = "!";
  static constexpr std::string_view kPlain = "?";
  static constexpr std::string_view kString = "tag:yaml.org,2002:str";

  void refuse_tag(const YAML::Node& node, int line) const {
    const std::string& tag = node.Tag();
    if (tag.empty() || tag == kPlain || (node.IsScalar() && (tag == kQuoted || tag == kString))) return;
    fail(source_, line, fmt::format("the tag '{}'; values have no tags here", tag));
  }

  void convert_entries(const YAML::Node& node, int depth, Yaml& map) {
    std::unordered_set<std::string> keys;
    for (const auto& entry : node) {
      const int line = entry.first.Mark().line + 1;
      if (!entry.first.IsScalar()) fail(source_, line, "a key that is not text");
      const std::string& key = entry.first.Scalar();
      if (key.size() > kMaximumKeyBytes || std::ranges::any_of(key, is_control)) {
        fail(source_, line, "a key that is longer than a line, or has control characters");
      }
      if (key == "<<" && entry.first.Tag() == kPlain) {
        fail(source_, line, "'<<' merges maps in YAML 1.1 alone, and this is YAML 1.2\nwrite the keys out");
      }
      if (!keys.insert(key).second) fail(source_, line, fmt::format("the key '{}' is given twice", key));
      Yaml value = convert(entry.second, depth + 1);
      if (value.line <= 0 || value.is_null()) value.line = line;
      map.entries.emplace_back(key, std::move(value));
    }
  }

  Source source_;
  int nodes_ = 0;
};

bool is_plain_safe(const std::string& text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return false;
  constexpr std::string_view kSafe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./+-";
  return text.find_first_not_of(kSafe) == std::string::npos && text.front() != '-' && text != "~";
}

/// Whether readers of YAML 1.1, such as PyYAML, take a text that is one here for a truth value, a number or a date.
bool is_no_text_elsewhere(const std::string& given) {
  const std::string text = lower_case(given.starts_with('+') ? given.substr(1) : given);
  for (const std::string_view word : {"yes", "no", "on", "off", ".inf", ".nan"}) {
    if (text == word) return true;
  }
  for (const auto& [sign, digits] : {std::pair("0b", "01_"), std::pair("0x", "0123456789abcdef_")}) {
    if (text.starts_with(sign) && text.find_first_not_of(digits, 2) == std::string::npos) return true;
  }
  const std::size_t digit = text.find_first_of("0123456789");
  return text.find_first_not_of("0123456789_.+-e") == std::string::npos && digit <= text.find_first_not_of('.');
}

Json scalar_value(const Yaml& node) { return node.quoted ? Json(node.scalar) : core_value(node.scalar); }

std::string scalar_text(const Yaml& node) {
  Yaml plain = node;
  plain.quoted = false;
  const bool would_change = node.quoted && (!scalar_value(plain).is_string() || is_no_text_elsewhere(node.scalar));
  std::int64_t integer = 0;
  double real = 0;
  if (!node.quoted && (parse_integer(node.scalar, integer) || parse_real(node.scalar, real))) return node.scalar;
  if (is_plain_safe(node.scalar) && !would_change) return node.scalar;
  return Json(node.scalar).dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool is_short_list(const Yaml& node) {
  return node.is_sequence() && std::ranges::all_of(node.items, [](const Yaml& item) {
           return item.is_scalar() || item.is_null() || is_short_list(item);
         });
}

std::string flow_text(const Yaml& node) {
  if (node.is_null()) return "null";
  if (node.is_scalar()) return scalar_text(node);
  return "[" + join(mapped(node.items, flow_text), ", ") + "]";
}

void write_block(const Yaml& node, int indent, std::string& out) {
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  if (node.is_map()) {
    for (const auto& [key, value] : node.entries) {
      Yaml key_node;
      key_node.kind = Yaml::Kind::kScalar;
      key_node.scalar = key;
      key_node.quoted = is_null_word(key) || is_no_text_elsewhere(key);
      out += margin + scalar_text(key_node) + ":";
      if ((value.is_map() && !value.entries.empty()) || (value.is_sequence() && !is_short_list(value))) {
        out += "\n";
        write_block(value, indent + 2, out);
      } else {
        out += " " + (value.is_map() ? std::string("{}") : flow_text(value)) + "\n";
      }
    }
  } else if (node.is_sequence() && !is_short_list(node)) {
    for (const Yaml& item : node.items) {
      if (item.is_map() && !item.entries.empty()) {
        std::string inner;
        write_block(item, indent + 2, inner);
        inner[static_cast<std::size_t>(indent)] = '-';
        out += inner;
      } else if (item.is_sequence() && !is_short_list(item)) {
        out += margin + "-\n";
        write_block(item, indent + 2, out);
      } else {
        out += margin + "- " + (item.is_map() ? std::string("{}") : flow_text(item)) + "\n";
      }
    }
  } else {
    out += margin + flow_text(node) + "\n";
  }
}

}  // namespace

const Yaml* Yaml::find(std::string_view key) const {
  for (const auto& [name, value] : entries) {
    if (name == key) return &value;
  }
  return nullptr;
}

const Yaml* Yaml::given(std::string_view key) const {
  const Yaml* value = find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

Yaml* Yaml::find(std::string_view key) { return const_cast<Yaml*>(std::as_const(*this).find(key)); }

void Yaml::set(std::string_view dotted_path, Yaml value) {
  Yaml* node = this;
  const std::vector<std::string> steps = split(dotted_path, '.');
  if (steps.size() > static_cast<std::size_t>(kMaximumDepth)) {
    throw UsageError(fmt::format("a key of {} parts: more than {} levels deep", steps.size(), kMaximumDepth));
  }
  for (const std::string& step : steps) {
    if (node->is_null()) node->kind = Kind::kMap;
    if (!node->is_map()) {
      throw UsageError(fmt::format("{}: '{}' cannot be set: its parent at {} is not a map", value.where(), dotted_path,
                                   node->where()));
    }
    Yaml* next = node->find(step);
    if (next == nullptr) {
      Yaml empty;
      empty.source = value.source;
      empty.line = value.line;
      node->entries.emplace_back(step, std::move(empty));
      next = &node->entries.back().second;
    }
    node = next;
  }
  *node = std::move(value);
}

Yaml Yaml::take(std::string_view key) {
  for (auto entry = entries.begin(); entry != entries.end(); ++entry) {
    if (entry->first != key) continue;
    Yaml value = std::move(entry->second);
    entries.erase(entry);
    return value;
  }
  return {};
}

void fail_at(const Yaml& node, const std::string& message) {
  throw UsageError(fmt::format("{}: {}", node.where(), message));
}

std::string Yaml::where() const {
  if (!source) return "configuration";
  return line > 0 ? fmt::format("{}:{}", *source, line) : *source;
}

namespace {

/// The number of four hexadecimal digits behind "\\u"; -1 if there are none.
std::int64_t code_unit(std::string_view text) {
  constexpr std::size_t kLength = 6;
  std::int64_t unit = 0;
  if (text.size() < kLength || !text.starts_with("\\u")) return -1;
  const char* end = text.data() + kLength;
  return std::from_chars(text.data() + 2, end, unit, 16).ptr == end ? unit : -1;
}

/// JSON may write a character beyond U+FFFF as two escapes, as Python does; YAML writes it as one of eight digits.
std::string with_whole_characters(std::string_view json) {
  std::string text;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::int64_t high = code_unit(json.substr(i));
    const std::int64_t low = high >= 0xD800 && high < 0xDC00 ? code_unit(json.substr(i + 6)) : -1;
    if (low >= 0xDC00 && low < 0xE000) {
      text += fmt::format("\\U{:08x}", 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00));
      i += 11;
    } else {
      text += json[i];
      if (json[i] == '\\' && i + 1 < json.size()) text += json[++i];
    }
  }
  return text;
}

bool has_pairs(std::string_view text) {
  const bool may_have = text.find("\\ud") != std::string_view::npos || text.find("\\uD") != std::string_view::npos;
  return may_have && parse_json_if_any(text).has_value();
}

Yaml read_yaml_by(std::string (*read)(const fs::path& path, std::uintmax_t limit), const fs::path& path) {
  try {
    return parse_yaml(read(path, kMaximumBytes), path.string());
  } catch (const DataError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace

Yaml parse_yaml(std::string_view text, const std::string& source_name) {
  const auto source = std::make_shared<const std::string>(source_name);
  if (text.size() > kMaximumBytes) fail(source, 0, fmt::format("longer than {} bytes", kMaximumBytes));
  check_utf8(text, source);
  check_nesting(text, source);
  try {
    const YAML::Node document =
        only_document(has_pairs(text) ? with_whole_characters(text) : std::string(text), source);
    if (document.IsDefined()) return Converter(source).convert(document);
    Yaml empty;
    empty.source = source;
    return empty;
  } catch (const YAML::Exception& error) {
    const bool is_escape = error.msg.starts_with(YAML::ErrorMsg::INVALID_ESCAPE);
    fail(source, error.mark.line + 1,
         fmt::format("not valid YAML: {}{}", error.msg,
                     is_escape ? "\nin \"…\" a \\ begins an escape; write the text in '…', where it is itself" : ""));
  }
}

Yaml read_yaml(const fs::path& path) { return read_yaml_by(read_file, path); }

Yaml read_yaml_argument(const fs::path& path) { return read_yaml_by(read_argument, path); }

Yaml merge(Yaml base, const Yaml& over) {
  if (!base.is_map() || !over.is_map()) return over;
  std::unordered_map<std::string, std::size_t> places;
  for (std::size_t i = 0; i < base.entries.size(); ++i) places.emplace(base.entries[i].first, i);
  for (const auto& [key, value] : over.entries) {
    const auto [place, is_new] = places.emplace(key, base.entries.size());
    if (is_new) {
      base.entries.emplace_back(key, value);
    } else {
      Yaml& present = base.entries[place->second].second;
      present = merge(std::move(present), value);
    }
  }
  return base;
}

Yaml make_scalar(std::string text, const std::string& source) {
  Yaml node;
  node.kind = Yaml::Kind::kScalar;
  node.scalar = std::move(text);
  node.source = std::make_shared<const std::string>(source);
  return node;
}

Yaml make_map(const std::string& source) {
  Yaml node;
  node.kind = Yaml::Kind::kMap;
  node.source = std::make_shared<const std::string>(source);
  return node;
}

Json to_json(const Yaml& node) {
  switch (node.kind) {
    case Yaml::Kind::kNull:
      return nullptr;
    case Yaml::Kind::kScalar:
      return scalar_value(node);
    case Yaml::Kind::kSequence: {
      Json list = Json::array();
      for (const Yaml& item : node.items) list.push_back(to_json(item));
      return list;
    }
    case Yaml::Kind::kMap: {
      Json map = Json::object();
      for (const auto& [key, value] : node.entries) map[key] = to_json(value);
      return map;
    }
  }
  return nullptr;
}

Yaml yaml_from_json(const Json& value, const std::string& source) {
  Yaml node;
  node.source = std::make_shared<const std::string>(source);
  if (value.is_object()) {
    node.kind = Yaml::Kind::kMap;
    for (const auto& [key, item] : value.items()) node.entries.emplace_back(key, yaml_from_json(item, source));
  } else if (value.is_array()) {
    node.kind = Yaml::Kind::kSequence;
    for (const Json& item : value) node.items.push_back(yaml_from_json(item, source));
  } else if (!value.is_null()) {
    node.kind = Yaml::Kind::kScalar;
    node.quoted = value.is_string();
    node.scalar = value.is_string() ? value.get<std::string>() : value.dump();
    // YAML 1.1, as PyYAML reads it, takes 1e-05 for a text and 1.0e-05 for a number.
    const std::size_t exponent = node.scalar.find('e');
    if (value.is_number_float() && exponent != std::string::npos && node.scalar.find('.') == std::string::npos) {
      node.scalar.insert(exponent, ".0");
    }
  }
  return node;
}

std::string to_text(const Yaml& node) {
  std::string out;
  if (node.is_map() && node.entries.empty()) return "{}\n";
  write_block(node, 0, out);
  return out;
}

std::string scalar_text(const Yaml& node, std::string_view what) {
  if (!node.is_scalar()) throw UsageError(fmt::format("{}: {} must be text or a number", node.where(), what));
  return node.scalar;
}

void refuse_unknown(const Yaml& map, const std::vector<std::string>& known) {
  for (const auto& [key, value] : map.entries) {
    if (contains(known, key)) continue;
    throw UsageError(fmt::format("{}: unknown key '{}'{}", value.where(), key, which_instead(key, known)));
  }
}

}  // namespace xlm
