// The text around a position, for messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xlm {

constexpr std::size_t kExcerptBehind = 30;  // bytes that are shown from the position on

/// Part of the line around `text[position]`: whole characters, without control characters.
std::string excerpt(std::string_view text, std::size_t position);

}  // namespace xlm
