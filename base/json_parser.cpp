// Parses many JSON texts with simdjson.
#include "base/json_parser.h"

#include <cstdint>
#include <string>

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
};

JsonParser::JsonParser() : buffers_(std::make_unique<Buffers>()) {}
JsonParser::~JsonParser() = default;

std::optional<Json> JsonParser::parse(std::string_view text) {
  simdjson::dom::parser& parser = buffers_->parser;
  if (text.size() > buffers_->capacity) {
    buffers_->capacity = 2 * text.size();
    if (parser.allocate(buffers_->capacity, kDeepestQuick) != simdjson::SUCCESS) return parse_json_if_any(text);
  }
  simdjson::dom::element element;
  // simdjson may refuse valid JSON: numbers beyond 64 bits, deeper nesting. The other parser decides.
  if (parser.parse(text.data(), text.size()).get(element) != simdjson::SUCCESS) return parse_json_if_any(text);
  return value_of(element);
}

}  // namespace xlm
