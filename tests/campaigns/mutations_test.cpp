// Bytes of every kind of file are changed, and every command is run. It must fail, report the damage, or print only
// numbers that it also prints for whole files.
#include <random>

#include "tests/campaigns/campaign.h"
#include "tests/mutation.h"

namespace xlm {
namespace {

constexpr const char* kRestore = "rm -rf data runs run.yaml sweep.yaml && cp -a whole/. .";

/// The numbers with a decimal point: losses and values computed from them.
std::set<std::string> values_in(const std::string& text) {
  static const std::regex value(R"([0-9]+\.[0-9]+)");
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), value), end; match != end; ++match) {
    found.insert(match->str());
  }
  return found;
}

class MutationTest : public Campaign {
 protected:
  std::mt19937 random_{19};
};

TEST_F(MutationTest, DamageIsAnErrorOrMakesNoDifference) {
  write_sweep(
      "sweep: {grid: {seed: [1, 2], model.span: [8, 16]}}\n"
      "tables:\n"
      "  - table: Means\n"
      "    rows: model.span_type\n"
      "    columns: data.name\n"
      "    cells: {value: test.bpc, aggregate: mean, digits: 3}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--jobs", "2"}).code, 0);
  const std::string id = run_folders().front().filename();
  // There is also a run of a model that reads windows, so that evaluations at overlaps exist.
  write_file(config(), window_config("data"));
  ASSERT_EQ(run({"train", "run.yaml", "--runs", "more"}).code, 0);
  std::string windows;
  for (const auto& entry : fs::directory_iterator(folder_.path() / "more")) {
    if (fs::exists(entry.path() / "journal.jsonl")) windows = entry.path().filename();  // the store is there, too
  }
  ASSERT_NE(windows, "");
  ASSERT_EQ(run({"runs", "merge", "more"}).code, 0);
  write_file(config(), run_config("data"));
  const std::vector<std::string> commands{"runs ls --json",
                                          "runs show " + id,
                                          "runs sync --rebuild",
                                          "table sweep.yaml",
                                          "pareto --x flops_per_token --y "
                                          "test.bpc",
                                          "train run.yaml --print-config",
                                          "sweep sweep.yaml --dry-run",
                                          "sweep sweep.yaml --jobs 2",
                                          "eval " + id,
                                          "sample " + id + " --prompt ab --tokens 3",
                                          "data show data --verify",
                                          "segment " + id + " --text abab",
                                          "compare model.span=8 model.span=16 --json",
                                          "runs export --format csv --out exported",
                                          "report sweep.yaml --out report.html",
                                          "runs pack --out packed.tar.zst",
                                          "runs merge whole/runs",
                                          "eval-overlap " + windows + " --window 8 --overlap 0,2 --json",
                                          "runs sql \"SELECT * FROM results\""};
  // The undamaged files; each mutation starts from them.
  ASSERT_EQ(shell(folder_.path(), "mkdir whole && cp -a data runs run.yaml sweep.yaml whole/").code, 0);
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "whole")) {
    const std::string name = entry.path().lexically_relative(folder_.path() / "whole").string();
    if (entry.is_regular_file() && name.find(".programs") == std::string::npos) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  std::map<std::string, std::set<std::string>> undamaged;
  for (const std::string& command : commands) {
    ASSERT_EQ(shell(folder_.path(), kRestore).code, 0);
    const ProgramResult result = run_with("", command);
    ASSERT_EQ(result.code, 0) << command << "\n" << result.err;
    undamaged[command] = values_in(result.out);
  }
  std::map<int, int> codes;
  const int mutations = campaign_size(40, 2000);
  for (int i = 0; i < mutations; ++i) {
    const std::string& name = names[static_cast<std::size_t>(i) % names.size()];
    const std::string& command = commands[random_() % commands.size()];
    ASSERT_EQ(shell(folder_.path(), kRestore).code, 0);
    const std::string damaged = mutated(read_file(folder_.path() / name), random_);
    std::ofstream(folder_.path() / name, std::ios::binary) << damaged;
    const ProgramResult result = run_with("timeout 20", command);
    ++codes[result.code];
    SCOPED_TRACE(fmt::format("mutation {} of {}: xlm {}", i, name, command));
    EXPECT_TRUE(result.code == 0 || result.code == 1 || result.code == kUsage || result.code == kBadData ||
                result.code == kDiverged)
        << "exit code " << result.code << "\n"
        << result.err;
    // `pack` prints the size of an archive, which depends on every file's. Users may change configurations. The real
    // core compares data and weights with their hashes. A run without some records is no longer done: it is missing in
    // a table's means, and a sweep counts it as work.
    const bool checked = !name.ends_with(".yaml") && !name.ends_with(".safetensors") && !name.ends_with(".bin") &&
                         !command.starts_with("table") && !command.starts_with("sweep") &&
                         !command.starts_with("compare") && !command.starts_with("report") &&
                         !command.starts_with("runs pack");
    if (result.code == 0 && checked && result.err.empty()) {
      for (const std::string& value : values_in(result.out)) {
        EXPECT_TRUE(undamaged[command].contains(value)) << value << " is wrong without an error\n" << result.out;
      }
    }
    if (result.code != 0) {
      EXPECT_NE(result.err, "") << result.out;
      EXPECT_EQ(raw_words_in(result.err), nullptr) << result.err;
    }
  }
  std::string by_code;
  for (const auto& [code, count] : codes) by_code += fmt::format(", {} with exit code {}", count, code);
  report(
      fmt::format("mutations: {} of {} files under {} commands{}", mutations, names.size(), commands.size(), by_code));
}

}  // namespace
}  // namespace xlm
