// Parses many JSON texts with simdjson.
#include "base/json_parser.h"

#include <cstdint>
#include <unordered_set>

#include <simdjson.h>

namespace xlm {
namespace {

constexpr std::size_t kDeepestQuick = 50;  // far below the limit of parse_json_if_any

Json value_of(const simdjson::dom::element& element) {
  using Type = simdjson::dom::element_type;
  switch (element.type()) {
    case Type::OBJECT: {
      Json object = Json::object();
      const simdjson::dom::object members(element);
      object.get_ref<Json::object_t&>().reserve(members.size());
      for (const auto [key, value] : members) object[std::string(key)] = value_of(value);
      return object;
    }
    case Type::ARRAY: {
      Json array = Json::array();
      const simdjson::dom::array items(element);
      array.get_ref<Json::array_t&>().reserve(items.size());
      for (const simdjson::dom::element item : items) array.push_back(value_of(item));
      return array;
    }
    case Type::STRING:
      return std::string(std::string_view(element));
    case Type::INT64: {
      const std::int64_t number(element);
      if (number < 0) return number;
      return static_cast<std::uint64_t>(number);  // nlohmann keeps unsigned numbers so
    }
    case Type::UINT64:
      return std::uint64_t(element);
    case Type::DOUBLE:
      return double(element);
    case Type::BOOL:
      return bool(element);
    default:
      return nullptr;
  }
}

}  // namespace

struct JsonParser::Buffers {
  simdjson::dom::parser parser;
  std::size_t capacity = 0;

  /// nullopt also for valid JSON that simdjson refuses: numbers beyond 64 bits, deeper nesting.
  std::optional<simdjson::dom::element> parse(std::string_view text) {
    if (text.size() > capacity) {
      capacity = 2 * text.size();
      if (parser.allocate(capacity, kDeepestQuick) != simdjson::SUCCESS) return std::nullopt;
    }
    simdjson::dom::element element;
    if (parser.parse(text.data(), text.size()).get(element) != simdjson::SUCCESS) return std::nullopt;
    return element;
  }
  std::optional<simdjson::dom::object> parse_object(std::string_view text) {
    const std::optional<simdjson::dom::element> element = parse(text);
    if (!element || !element->is_object()) return std::nullopt;
    return simdjson::dom::object(*element);
  }
};

JsonParser::JsonParser() : buffers_(std::make_unique<Buffers>()) {}
JsonParser::~JsonParser() = default;

std::optional<Json> JsonParser::parse(std::string_view text) {
  const std::optional<simdjson::dom::element> element = buffers_->parse(text);
  return element ? value_of(*element) : parse_json_if_any(text);
}

std::optional<std::string_view> JsonParser::text_field(std::string_view text, std::string_view name) {
  const std::optional<simdjson::dom::object> object = buffers_->parse_object(text);
  if (!object) return std::nullopt;
  std::optional<std::string_view> found;
  for (const auto [key, value] : *object) {
    if (key != name) continue;
    if (found || !value.is_string()) return std::nullopt;
    found = std::string_view(value);
  }
  return found;
}

std::optional<std::vector<std::string>> JsonParser::numbered_names(std::string_view text) {
  const std::optional<simdjson::dom::object> object = buffers_->parse_object(text);
  if (!object) return std::nullopt;
  std::vector<std::string> names;
  std::vector<bool> taken;
  std::unordered_set<std::string_view> known;
  for (const auto [key, value] : *object) {
    std::uint64_t number = 0;
    if (!known.insert(key).second || value.get(number) != simdjson::SUCCESS || number > text.size())
      return std::nullopt;
    if (number >= names.size()) {
      names.resize(number + 1);
      taken.resize(number + 1);
    }
    if (taken[number]) return std::nullopt;
    taken[number] = true;
    names[number] = key;
  }
  if (names.empty() || names.size() != known.size()) return std::nullopt;
  return names;
}

}  // namespace xlm
