// Exceptions of other libraries as messages.
#include "base/foreign_error.h"

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <regex>
#include <system_error>
#include <typeinfo>
#include <variant>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"

namespace xlm {
namespace {

Error file_error(const fs::filesystem_error& error) {
  try {
    throw_file_error("use", error.path1(), error.code().value());
  } catch (const Error& in_words) {
    return in_words;
  }
}

Error system_error(const std::system_error& error) {
  const bool lacks = error.code() == std::errc::resource_unavailable_try_again ||  // no more threads
                     error.code() == std::errc::not_enough_memory || error.code() == std::errc::too_many_files_open;
  return Error(fmt::format("the system refused something: {}", error.code().message()),
               lacks ? kOutOfResources : kFailed);
}

template <class... Kinds>
bool is_one_of(const std::exception& error) {
  return (... || (dynamic_cast<const Kinds*>(&error) != nullptr));
}

/// Exceptions that only a bug throws, or a file whose content no check expects. A logic_error is also out_of_range,
/// invalid_argument, length_error, …
bool is_unforeseen(const std::exception& error) {
  return is_one_of<std::logic_error, std::range_error, std::overflow_error, std::regex_error, std::bad_cast,
                   std::bad_optional_access, std::bad_variant_access, std::bad_function_call, std::bad_weak_ptr,
                   std::bad_exception>(error);
}

}  // namespace

Error as_error(const std::exception& error) {
  if (const auto* ours = dynamic_cast<const Error*>(&error)) return *ours;
  if (const auto* file = dynamic_cast<const fs::filesystem_error*>(&error)) return file_error(*file);
  if (const auto* json = dynamic_cast<const nlohmann::json::exception*>(&error)) {
    return DataError(fmt::format("a file contains unexpected JSON: {}", reason_of(*json)));
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return ResourceError("out of memory");
  if (const auto* system = dynamic_cast<const std::system_error*>(&error)) return system_error(*system);
  const std::string what = first_line(error.what());
  if (!is_unforeseen(error)) return Error(what);
  return Error(
      fmt::format("unexpected internal error ({})\n"
                  "this is a bug, or a damaged input: leave out one option or file after the other to "
                  "find which",
                  what));
}

}  // namespace xlm
