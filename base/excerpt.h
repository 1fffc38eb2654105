// What stands around a place of a text, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xlm {

constexpr std::size_t kExcerptBehind = 30;  // bytes that are shown from the place on

/// Part of the line around `text[position]`, whole characters, without what a terminal would obey.
std::string excerpt(std::string_view text, std::size_t position);

}  // namespace xlm
