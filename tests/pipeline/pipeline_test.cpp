// The whole program on real input: text in, runs, tables and figures out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/experiments/program.h"
#include "tests/pipeline/pipeline_fixture.h"
#include "tests/readers.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

/// Words of four syllables, enough for a tokenizer of 10,000 pieces.
std::string many_words() {
  std::string words;
  for (std::uint32_t i = 0; words.size() < 250'000; ++i) {
    std::uint32_t bits = i * 2654435761U;
    for (int syllable = 0; syllable < 4; ++syllable, bits >>= 7U) {
      words += {"bcdfghklmnprstvz"[bits & 15U], "aeiouy"[(bits >> 4U) % 6]};
    }
    words += ' ';
  }
  return words;
}

TEST_F(Pipeline, FromSweepToTableParetoAndFigure) {
  write_file(folder_.path() / "sweep.yaml", std::string(kRun) + R"(
experiment: spans
sweep:
  grid: {model.span_type: [fixed, adaptive, dynamic], seed: [1, 2]}
tables:
  - table: By span type
    rows: model.span_type
    columns: data.name
    cells: {value: test.bpc, aggregate: mean, spread: sd, over: seed, digits: 3}
)");
  const ProgramResult sweep = xlm({"sweep", "sweep.yaml", "train.steps=40", "--jobs", "2"});
  ASSERT_EQ(sweep.code, 0) << sweep.err;
  EXPECT_NE(sweep.out.find("6 of 6 runs done"), std::string::npos) << sweep.out;

  const Json runs = parse_json(xlm({"runs", "ls", "--json"}).out, "runs ls");
  ASSERT_EQ(runs.size(), 6U);
  for (const Json& run : runs) EXPECT_EQ(run.at("status"), "done");

  const ProgramResult table = xlm({"table", "sweep.yaml", "--format", "csv"});
  ASSERT_EQ(table.code, 0) << table.err;
  for (const auto* type : {"fixed", "adaptive", "dynamic"})
    EXPECT_NE(table.out.find(type), std::string::npos) << table.out;

  const Json front = parse_json(xlm({"pareto", "--x", "flops_per_token", "--y", "test.bpc", "--json"}).out, "pareto");
  EXPECT_EQ(front.at("front").size() + front.at("dominated").size(), 6U);

  write_file(folder_.path() / "figure.yaml",
             "figure: bpc\nkind: scatter\nx: flops_per_token\ny: test.bpc\nseries: model.span_type\nfront: true\n");
  const ProgramResult figure = xlm({"figure", "figure.yaml", "--out", "bpc.html"});
  ASSERT_EQ(figure.code, 0) << figure.err;
  EXPECT_NE(read_file(folder_.path() / "bpc.html").find("data-figure"), std::string::npos);

  // The attention of every run's heads: weights that sum to one, and a mask if it is learnt.
  const std::string heads =
      "SELECT g.name, count(DISTINCT g.run_id), round(sum(value) / count(DISTINCT g.run_id), 3), max(column) "
      "FROM last_grids g WHERE name <> 'spans' GROUP BY g.name";
  const std::vector<std::string> grids = split(xlm({"runs", "sql", heads, "--format", "csv"}).out, '\n');
  EXPECT_EQ(grids.at(1), "attention,6,4.0,48") << "two layers of two heads";
  EXPECT_EQ(grids.at(2).substr(0, 7), "mask,4,");
  write_file(folder_.path() / "heads.yaml", "figure: heads\nkind: line\ngrid: attention\n");
  ASSERT_EQ(xlm({"figure", "heads.yaml", "--out", "heads.html"}).code, 0);

  // Only dynamic spans are traced along the text.
  const std::string count = "SELECT count(DISTINCT run_id), count(*) FROM traces WHERE split = 'test'";
  EXPECT_EQ(split(xlm({"runs", "sql", count, "--format", "csv"}).out, '\n').at(1), "2,1024");
  write_file(folder_.path() / "text.yaml", "figure: spans\nkind: text\ny: span\n");
  const ProgramResult text = xlm({"figure", "text.yaml", "--out", "text.html"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(read_file(folder_.path() / "text.html").find("standard deviation over 2 seeds"), std::string::npos);

  // The store is an index: rebuilt from the run folders it is the same.
  const std::string dump = "SELECT run_id, split, metric, value FROM evaluations ORDER BY 1, 2, 3, 4";
  const std::string before = xlm({"runs", "sql", dump, "--format", "csv"}).out;
  fs::remove(folder_.path() / "runs/results.db");
  EXPECT_EQ(xlm({"runs", "sync"}).code, 0);
  EXPECT_EQ(xlm({"runs", "sql", dump, "--format", "csv"}).out, before);
  EXPECT_GT(split(before, '\n').size(), 30U);
}

/// Every recipe in its smoke profile, cut short: the sweep, its tables, its figures and its page.
TEST_F(Pipeline, EveryRecipesSmokeProfileGivesItsTablesFiguresAndPage) {
  write_file(folder_.path() / "words.txt", many_words());
  const std::string words = "data/text8";  // table-1.yaml has separate settings for each folder that it names
  ASSERT_EQ(xlm({"prepare-data", "text", "--from", "words.txt", "--out", words, "--train-unigram", "200,10000"}).code,
            0);
  const std::string encoding = write_small_bpe(folder_.path() / "bpe").string();
  ASSERT_EQ(
      xlm({"prepare-data", "text", "--from", "corpus.txt", "--out", "tokens", "--unit", "bpe", "--bpe", encoding}).code,
      0);
  ::setenv("PYTHONPATH", XLM_READERS, 1);
  int recipes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(XLM_SOURCE_DIR) / "experiments/recipes")) {
    if (entry.path().extension() != ".yaml") continue;
    ++recipes;
    const std::string recipe = entry.path().string();
    const std::string name = entry.path().stem().string();
    const std::string data = entry.path().parent_path().filename() == "recurrence" ? "tokens" : words;
    const auto expect_done = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin() + 2, {"--profile", "smoke"});
      const ProgramResult result = xlm(arguments);
      EXPECT_EQ(result.code, 0) << arguments.front() << " " << recipe << "\n" << result.err;
      return result.out;
    };
    expect_done({"sweep", recipe, "--jobs", "2", "data.path=" + data, "device=cpu", "train.steps=4", "train.batch=2",
                 "train.block=16", "train.eval_every=2", "eval.batch=2", "optimizer.warmup_steps=1", "seed=1"});
    const Json tables = parse_json(expect_done({"table", recipe, "--format", "json"}), name);
    bool any_value = false;
    for (const Json& row : tables.at(0)["rows"]) {
      for (const Json& cell : row["cells"]) any_value = any_value || cell["value"].is_number();
    }
    EXPECT_TRUE(any_value) << recipe;
    for (const std::string format : {readers_are_installed() ? "svg" : "py", "html"}) {
      std::size_t files = 0;
      for (const std::string& file :
           split(expect_done({"figure", recipe, "--format", format, "--out", name + "/"}), '\n')) {
        if (file.empty()) continue;
        ++files;
        EXPECT_GT(fs::file_size(folder_.path() / file), 1000U) << file;
      }
      EXPECT_GT(files, 0U) << recipe;
    }
    if (read_file(recipe).find("\ncontinuation:") != std::string::npos) {
      const Json texts = parse_json(expect_done({"continuation", recipe, "--json", "device=cpu"}), name).at(0);
      ASSERT_FALSE(texts["passages"].empty()) << recipe;
      for (const Json& passage : texts["passages"]) {
        EXPECT_EQ(passage["continuations"].size(), texts["models"].size()) << recipe;
        for (const Json& text : passage["continuations"]) EXPECT_FALSE(text.get<std::string>().empty()) << recipe;
      }
    }
    expect_done({"report", recipe, "--out", name + ".html"});
    EXPECT_NE(read_file(folder_.path() / (name + ".html")).find(tables.at(0)["table"].get<std::string>()),
              std::string::npos);
  }
  ::unsetenv("PYTHONPATH");
  EXPECT_GE(recipes, 18);
}

TEST_F(Pipeline, ARunThatPausedAtRungsEndsWithTheSameBits) {
  write_file(folder_.path() / "search.yaml",
             std::string(kRun) +
                 "sweep: {grid: {optimizer.lr: [0.07, 1e-6, 1e-7]}, early_stopping: {rungs: [50, 100], keep: 1/3}}\n");
  const ProgramResult paused = xlm({"sweep", "search.yaml", "--runs", "paused"});
  EXPECT_EQ(paused.code, 0) << paused.err;
  EXPECT_THAT(paused.out, HasSubstr("1 of 3 runs done, 2 pruned"));
  ASSERT_EQ(xlm({"sweep", "search.yaml", "--runs", "whole", "sweep.early_stopping=null"}).code, 0);
  int models = 0;
  for (const auto& entry : fs::directory_iterator(folder_.path() / "paused")) {
    const fs::path model = entry.path() / "model/model.safetensors";
    if (!fs::exists(model)) continue;
    EXPECT_EQ(sha256_file(model),
              sha256_file(folder_.path() / "whole" / entry.path().filename() / "model/model.safetensors"));
    ++models;
  }
  EXPECT_EQ(models, 1);
}

/// The commands of a Markdown file's code blocks that begin with "xlm ".
std::vector<std::string> documented_commands(const fs::path& file) {
  std::vector<std::string> commands;
  for (const std::string& line : split(read_file(file), '\n')) {
    if (line.starts_with("xlm ")) commands.push_back(line.substr(0, line.find("  #")));
  }
  return commands;
}

/// The commands of README's example, each with the beginnings of lines that it prints.
std::vector<std::pair<std::string, std::vector<std::string>>> readme_example() {
  std::vector<std::pair<std::string, std::vector<std::string>>> commands;
  for (const std::string& line : split(read_file(fs::path(XLM_SOURCE_DIR) / "README.md"), '\n')) {
    if (line.starts_with("$ xlm ")) {
      commands.push_back({line.substr(2), {}});
    } else if (line.starts_with("```")) {
      if (commands.size() == 4) return commands;
    } else if (!commands.empty() && !line.empty()) {
      commands.back().second.push_back(line);
    }
  }
  return commands;
}

TEST_F(Pipeline, TheReadmesExamplePrintsWhatStandsThere) {
  const fs::path source = XLM_SOURCE_DIR;
  fs::create_directory(folder_.path() / "examples");
  fs::copy(source / "examples/own", folder_.path() / "examples/own", fs::copy_options::recursive);
  fs::copy_file(source / "LICENSE", folder_.path() / "LICENSE");
  EXPECT_THAT(read_file(source / "README.md"),
              HasSubstr("```yaml\n" + read_file(source / "examples/own/sweep.yaml") + "```\n"));
  const auto commands = readme_example();
  ASSERT_EQ(commands.size(), 4U);
  for (const auto& [command, lines] : commands) {
    std::vector<std::string> words = split(command, ' ');
    words.erase(words.begin());
    const ProgramResult result = xlm(words);
    ASSERT_EQ(result.code, 0) << command << "\n" << result.err;
    for (const std::string& line : lines) EXPECT_THAT("\n" + result.out, HasSubstr("\n" + line)) << command;
  }
}

TEST_F(Pipeline, TheCommandsOfTheTourWork) {
  fs::create_directory(folder_.path() / "notes");
  write_file(folder_.path() / "notes/a.txt", many_words());
  fs::copy(fs::path(XLM_SOURCE_DIR) / "experiments", folder_.path() / "experiments", fs::copy_options::recursive);
  fs::create_directory_symlink(fs::path(XLM_BINARY).parent_path(), folder_.path() / "bin");
  const std::vector<std::string> commands = documented_commands(fs::path(XLM_SOURCE_DIR) / "docs/demo.md");
  ASSERT_GE(commands.size(), 5U);
  for (const std::string& command : commands) {
    const ProgramResult result =
        BackgroundProgram({"/bin/bash", "-c", "PATH=$PWD/bin:$PATH; " + command}, folder_.path()).wait();
    EXPECT_EQ(result.code, 0) << command << "\n" << result.err;
  }
}

}  // namespace
}  // namespace xlm
