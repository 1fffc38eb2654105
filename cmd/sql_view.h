// Results of SQL queries for people and programs.
#pragma once

#include <string>

#include "base/terminal.h"
#include "results/store/sql_query.h"

namespace xlm {

/// "table", "csv" or "json". A table fits the terminal; ids of runs keep their ends there.
std::string sql_text(const SqlResult& result, const std::string& format, const Terminal& terminal);

}  // namespace xlm
