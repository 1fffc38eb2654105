// xlm runs cost: what runs cost, one by one and in all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cmd/command.h"

namespace xlm {

struct CostCommand {
  std::vector<std::string> where;
  std::string format = "text";
};

void declare_cost(CLI::App& app, CostCommand& command);
int show_cost(const CostCommand& command, const GlobalOptions& global);

}  // namespace xlm
