// xlm runs log: what a line of tries remembers.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/try_text.h"

namespace xlm {

std::function<int()> declare_runs_log(CLI::App& app, const GlobalOptions& global) {
  const auto name = std::make_shared<std::string>();
  app.add_option("--line", *name, "The line (default: all of them, one after another)")->type_name("NAME");
  app.footer(
      "Shows each try below the change that it was tried against: verdict, gain, what differed, what it cost, and its "
      "note.\n\nExample:\n  xlm runs log --line night");
  return [name, &global] {
    std::vector<std::string> names = line_names(global.runs);
    if (!name->empty()) {
      if (!TryLine(global.runs, *name).exists()) {
        throw DataError(
            fmt::format("there is no line '{}'{}\nxlm try --line NAME begins one", *name, did_you_mean(*name, names)));
      }
      names = {*name};
    }
    Json all = Json::array();
    std::string text;
    for (const std::string& one : names) {
      const TryLine line(global.runs, one);
      if (global.json) all.push_back(line_json(line));
      text += (text.empty() ? "" : "\n") + line_text(line);
    }
    if (names.empty() && !global.json) say("there are no lines yet: xlm try --line NAME begins one\n");
    print(global.json ? json_text(name->empty() ? all : all.front()) : text);
    return static_cast<int>(kDone);
  };
}

}  // namespace xlm
