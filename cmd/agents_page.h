// docs/agents.md, as the program has it inside.
#pragma once

#include <string>
#include <string_view>

namespace xlm {

std::string_view agents_page();

/// The page as a skill file: a head with a name and a description, and the page.
std::string skill_file();

}  // namespace xlm
