// Fields of records that people and other programs may have changed: one of another type counts as missing.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.h"

namespace xlm {

/// "" if it is missing.
inline std::string text_field(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_string() ? found->get<std::string>() : "";
}

/// 0 if it is missing, as below.
inline std::int64_t integer_field(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_number() ? found->get<std::int64_t>() : 0;
}

inline double number_field(const Json& record, const char* key) {
  const auto found = record.find(key);
  return found != record.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace xlm
