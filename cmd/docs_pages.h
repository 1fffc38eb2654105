// The pages of docs/, which are part of the program.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace xlm {

/// The Markdown of every page by its name: "sweeps".
const std::map<std::string, std::string_view>& docs_pages();

}  // namespace xlm
