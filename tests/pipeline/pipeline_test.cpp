// The whole program on real input: text in, runs, tables and figures out, through kills, corruption and bad input.
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <regex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/json.h"
#include "base/sha256.h"
#include "base/text.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/experiments/program.h"
#include "tests/readers.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

constexpr const char* kRun = R"(
data: {path: data}
model: {type: adaptive-span, width: 16, heads: 2, feed_forward: 32, layers: 2, span: 48, span_ramp: 8, dropout: 0.1}
optimizer: {warmup_steps: 20}
train: {steps: 160, batch: 4, block: 16, eval_every: 50, checkpoint_every: 7, threads: 1}
device: cpu
)";

/// Words of four syllables, so many that a tokenizer of 10,000 pieces can be made of them.
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

class Pipeline : public testing::Test {
 protected:
  void SetUp() override {
    std::string text;
    for (int i = 0; i < 900; ++i)
      text += "line " + std::to_string(i * i % 1009) + " of a text that says little, and says it again\n";
    write_file(folder_.path() / "corpus.txt", text);
    ASSERT_EQ(xlm({"prepare-data", "text", "--from", "corpus.txt", "--out", "data"}).code, 0);
    write_file(folder_.path() / "run.yaml", kRun);
  }

  ProgramResult xlm(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_BINARY);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait();
  }

  std::unique_ptr<BackgroundProgram> start(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), XLM_BINARY);
    return std::make_unique<BackgroundProgram>(std::move(arguments), folder_.path());
  }

  /// The only run folder below `runs`.
  fs::path run_folder(const std::string& runs) const {
    for (const auto& entry : fs::directory_iterator(folder_.path() / runs)) {
      if (fs::exists(entry.path() / "config.yaml")) return entry.path();
    }
    return {};
  }

  std::string model_hash(const std::string& runs) const {
    return sha256_file(run_folder(runs) / "model/model.safetensors");
  }

  TemporaryFolder folder_;
};

/// What a run was doing when it made each of its calls that change a file: the names of the phases, with the numbers of
/// the calls. Lines of the journal say it by themselves, other files by their place.
std::map<std::string, std::vector<int>> phases_of(const std::string& calls, const std::string& journal) {
  const std::vector<std::string> records = split(journal, '\n');
  std::size_t record = 0;
  std::map<std::string, std::vector<int>> phases;
  for (const std::string& call : split(calls, '\n')) {
    const std::vector<std::string> words = split(call, ' ');
    if (words.size() != 3) continue;
    const std::string& path = words[2];
    std::string phase;
    if (path.find("/checkpoints/") != std::string::npos) {
      phase = "saving";
    } else if (path.find("/model/") != std::string::npos || path.find("/.model") != std::string::npos) {
      phase = "finishing";
    } else if (path.find("/results.db") != std::string::npos) {
      phase = "syncing";
    } else if (path.ends_with("/journal.jsonl") && words[1] == "write" && record < records.size()) {
      const std::string type = parse_json(records[record++], "journal").value("type", "");
      if (type == "metric") phase = "stepping";
      if (type == "evaluation") phase = "evaluating";
    }
    if (!phase.empty()) phases[phase].push_back(std::stoi(words[0]));
  }
  return phases;
}

TEST_F(Pipeline, KilledInEveryPhaseARunEndsWithTheSameBits) {
  const auto train = [&](const std::string& runs, const std::vector<std::string>& settings) {
    std::vector<std::string> arguments{"/usr/bin/env"};
    arguments.insert(arguments.end(), settings.begin(), settings.end());
    for (const char* word : {XLM_BINARY, "train", "run.yaml", "--runs"}) arguments.emplace_back(word);
    arguments.push_back(runs);
    return BackgroundProgram(std::move(arguments), folder_.path()).wait().code;
  };
  // By its name alone: a list of libraries is cut at spaces.
  const fs::path library = XLM_FAULT_POINTS;
  const std::string preload = "LD_PRELOAD=" + library.filename().string();
  const std::string place = "LD_LIBRARY_PATH=" + library.parent_path().string();
  const std::string below = "XLM_FAULT_FOLDER=" + folder_.path().string();
  ASSERT_EQ(train("whole", {preload, place, below, "XLM_FAULT_LOG=" + (folder_.path() / "calls").string()}), 0);
  const auto phases = phases_of(read_file(folder_.path() / "calls"), read_file(run_folder("whole") / "journal.jsonl"));
  const char* asked = std::getenv("XLM_KILLS");
  const int kills = asked == nullptr ? 15 : std::atoi(asked);
  std::mt19937 generator(5);
  std::map<std::string, int> killed;
  for (int kill = 0; kill < kills;) {
    for (const char* phase : {"stepping", "saving", "evaluating", "finishing", "syncing"}) {
      ASSERT_TRUE(phases.contains(phase)) << phase;
      const std::vector<int>& calls = phases.at(phase);
      const std::vector<std::string> moments{"kill@", "killed@", "later@"};
      const std::string fault = moments[generator() % 3] + std::to_string(calls[generator() % calls.size()]);
      SCOPED_TRACE(std::string(phase) + " " + fault);
      const std::string runs = "killed" + std::to_string(kill++);
      const int code = train(runs, {preload, place, below, "XLM_FAULT=" + fault});
      // Two milliseconds after one of the last calls there may be nothing left to kill.
      ASSERT_TRUE(code == 128 + SIGKILL || (code == 0 && fault.starts_with("later"))) << code;
      killed[phase] += code == 0 ? 0 : 1;
      ASSERT_EQ(train(runs, {}), 0);
      EXPECT_EQ(model_hash(runs), model_hash("whole"));
      fs::remove_all(folder_.path() / runs);
    }
  }
  std::string counts;
  for (const auto& [phase, count] : killed) counts += " " + std::to_string(count) + " " + phase;
  std::cout << "campaign: bits:" << counts << std::endl;
  EXPECT_EQ(killed.size(), 5U);
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
  const ProgramResult figure = xlm({"figure", "figure.yaml", "--out", "bpc.svg"});
  ASSERT_EQ(figure.code, 0) << figure.err;
  EXPECT_NE(read_file(folder_.path() / "bpc.svg").find("<svg"), std::string::npos);

  // What heads attend to, of every run: weights that sum to one, and a mask where it is learnt.
  const std::string heads =
      "SELECT g.name, count(DISTINCT g.run_id), round(sum(value) / count(DISTINCT g.run_id), 3), max(column) "
      "FROM last_grids g WHERE name <> 'spans' GROUP BY g.name";
  const std::vector<std::string> grids = split(xlm({"runs", "sql", heads, "--format", "csv"}).out, '\n');
  EXPECT_EQ(grids.at(1), "attention,6,4.0,48") << "two layers of two heads";
  EXPECT_EQ(grids.at(2).substr(0, 7), "mask,4,");
  write_file(folder_.path() / "heads.yaml", "figure: heads\nkind: line\ngrid: attention\n");
  ASSERT_EQ(xlm({"figure", "heads.yaml", "--out", "heads.svg"}).code, 0);

  // Dynamic spans, and they alone, are traced along the text.
  const std::string count = "SELECT count(DISTINCT run_id), count(*) FROM traces WHERE split = 'test'";
  EXPECT_EQ(split(xlm({"runs", "sql", count, "--format", "csv"}).out, '\n').at(1), "2,1024");
  write_file(folder_.path() / "text.yaml", "figure: spans\nkind: text\ny: span\n");
  const ProgramResult text = xlm({"figure", "text.yaml", "--out", "text.svg"});
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(read_file(folder_.path() / "text.svg").find("standard deviation over 2 seeds"), std::string::npos);

  // The store is an index: made anew from the run folders it says the same.
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
  const std::string words = "data/text8";  // table-1.yaml has settings of its own for each folder that it names
  ASSERT_EQ(xlm({"prepare-data", "text", "--from", "words.txt", "--out", words, "--train-unigram", "200,10000"}).code,
            0);
  const std::string encoding = write_small_bpe(folder_.path() / "bpe").string();
  ASSERT_EQ(
      xlm({"prepare-data", "text", "--from", "corpus.txt", "--out", "tokens", "--unit", "bpe", "--bpe", encoding}).code,
      0);
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
    for (const std::string format : {"svg", "html"}) {
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
  EXPECT_GE(recipes, 18);
}

TEST_F(Pipeline, AnHourglassTrainsAndIsEvaluatedAlike) {
  write_file(folder_.path() / "hourglass.yaml",
             "data: {path: data}\ndevice: cpu\n"
             "model: {type: hourglass, width: 16, heads: 2, feed_forward: 32, layers: [1, 1, 1], boundaries: {type: "
             "whitespace}}\n"
             "optimizer: {warmup_steps: 5, lr: 5e-3}\ntrain: {steps: 30, batch: 8, block: 64, threads: 1}\n"
             "eval: {batch: 4, context: 128, stride: 32}\n");
  const ProgramResult trained = xlm({"train", "hourglass.yaml"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json runs = parse_json(xlm({"runs", "ls", "--json"}).out, "runs ls");
  const std::string id = runs.at(0).at("run_id").get<std::string>();
  const Json evaluated = parse_json(xlm({"eval", id, "--json"}).out, "eval");
  EXPECT_GT(evaluated.at("shortening_factor").get<double>(), 4);
  const ProgramResult sql = xlm({"runs", "sql", "--format", "csv",
                                 "SELECT value FROM evaluations WHERE split = 'test' AND metric = 'loss' LIMIT 1"});
  EXPECT_NEAR(std::stod(split(sql.out, '\n').at(1)), evaluated.at("loss").get<double>(), 1e-5) << sql.out;

  const ProgramResult shown = xlm({"segment", id, "--text", "line 12 of a text"});
  ASSERT_EQ(shown.code, 0) << shown.err;
  EXPECT_EQ(shown.out, "line |12 |of |a |text\n");
  const Json segmented = parse_json(xlm({"segment", id, "--text", "line 12 of a text", "--json"}).out, "segment");
  EXPECT_EQ(segmented.at("groups").size(), 5U);
  EXPECT_EQ(segmented.at("boundaries"), 4);
  EXPECT_EQ(segmented.at("shortening_factor"), 17 / 4.0);
  EXPECT_EQ(xlm({"segment", id, "--text", "LINE"}).code, 3);
  EXPECT_EQ(xlm({"segment", id}).code, 2);
}

TEST_F(Pipeline, DeterministicTrainingOnACpuHasTheBitsOfAnyOther) {
  write_file(folder_.path() / "hourglass.yaml",
             "data: {path: data}\ndevice: cpu\noptimizer: {warmup_steps: 2}\n"
             "model: {type: hourglass, layers: [1, 1, 1], width: 16, heads: 2, feed_forward: 32, boundaries: {type: "
             "gumbel}}\ntrain: {steps: 5, batch: 4, block: 32, threads: 1}\n");
  ASSERT_EQ(xlm({"train", "hourglass.yaml", "--runs", "any"}).code, 0);
  const ProgramResult fixed = xlm({"train", "hourglass.yaml", "--runs", "fixed", "train.deterministic=true"});
  ASSERT_EQ(fixed.code, 0) << fixed.err;
  EXPECT_EQ(model_hash("fixed"), model_hash("any"));
  EXPECT_EQ(run_folder("fixed").filename(), run_folder("any").filename());
}

TEST_F(Pipeline, AnHourglassLearnsFromASegmentation) {
  write_file(folder_.path() / "unigram.yaml",
             "data: {path: data}\ndevice: cpu\n"
             "model: {type: hourglass, width: 16, heads: 2, feed_forward: 32, layers: [1, 1, 1], boundaries: {type: "
             "unigram, tokenizer: unigram-30}}\n"
             "optimizer: {warmup_steps: 5, lr: 1e-2}\ntrain: {steps: 120, batch: 8, block: 64, threads: 1}\n"
             "eval: {batch: 4, context: 128, stride: 32}\n");
  EXPECT_THAT(xlm({"train", "unigram.yaml"}).err, HasSubstr("'unigram-30' is neither a file nor a segmentation"));
  EXPECT_EQ(xlm({"train", "unigram.yaml"}).code, 3) << "there is no such segmentation yet";
  EXPECT_THAT(xlm({"train", "unigram.yaml", "data.path=nowhere"}).err, HasSubstr("there is no prepared data folder"));
  EXPECT_EQ(xlm({"train", "unigram.yaml", "model.boundaries.tokenizer="}).code, 2);
  ASSERT_EQ(xlm({"prepare-data", "text", "--from", "corpus.txt", "--out", "data", "--train-unigram", "30"}).code, 0);
  const ProgramResult trained = xlm({"train", "unigram.yaml", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json runs = parse_json(xlm({"runs", "ls", "--json"}).out, "runs ls");
  const std::string id = runs.at(0).at("run_id").get<std::string>();
  const Json evaluated = parse_json(xlm({"eval", id, "--json"}).out, "eval");
  EXPECT_GT(evaluated.at("boundary_accuracy").get<double>(), 0.9);
  EXPECT_GT(evaluated.at("boundary_recall").get<double>(), 0.5);

  // The same tokenizer under the name of its file is the same run.
  fs::copy_file(folder_.path() / "data/segmentations/unigram-30/tokenizer.model", folder_.path() / "pieces.model");
  EXPECT_EQ(xlm({"train", "unigram.yaml", "model.boundaries.tokenizer=pieces.model"}).code, 0);
  EXPECT_EQ(parse_json(xlm({"runs", "ls", "--json"}).out, "runs ls").size(), 1U);
}

TEST_F(Pipeline, EvalGivesTheLossThatTrainingReported) {
  const ProgramResult trained = xlm({"train", "run.yaml", "train.steps=30", "--json"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const fs::path folder = run_folder("runs");
  const Json journal_test = parse_json(
      xlm({"runs", "sql", "--json", "SELECT value FROM evaluations WHERE split='test' AND metric='bpc'"}).out, "sql");
  fs::copy(folder / "model", folder_.path() / "elsewhere", fs::copy_options::recursive);
  for (const std::string& model : {folder.filename().string(), folder.string(), std::string("elsewhere")}) {
    const ProgramResult result = xlm({"eval", model, "--data", "data", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const Json evaluation = parse_json(result.out, "eval");
    EXPECT_NEAR(evaluation.at("bpc").get<double>(), journal_test.at(0).at("value").get<double>(), 1e-6) << model;
    for (const auto* field :
         {"model", "split", "tokens", "loss", "average_span", "max_span", "flops_per_token", "params", "seconds"}) {
      EXPECT_TRUE(evaluation.contains(field)) << field;
    }
  }
}

TEST_F(Pipeline, AGpt2GetsRecurrenceIsEvaluatedByOverlapAndContinuesAText) {
  write_file(folder_.path() / "gpt2.yaml",
             "data: {path: data}\ndevice: cpu\n"
             "model: {type: gpt2, width: 16, heads: 2, layers: 2, positions: 32, window: 16, windows: 4}\n"
             "optimizer: {warmup_steps: 5, lr: 5e-3}\ntrain: {steps: 30, batch: 4, threads: 1}\n");
  ASSERT_EQ(xlm({"train", "gpt2.yaml"}).code, 0);
  const std::string base = run_folder("runs").filename().string();
  const ProgramResult recurrent = xlm({"train", "gpt2.yaml", "model.recurrence.pool=mean", "model.overlap=4",
                                       "model.init_from=" + base, "train.checkpoint_windows=true", "--runs", "runs2"});
  EXPECT_EQ(recurrent.code, 3) << "the run lies in another folder of runs";
  ASSERT_EQ(xlm({"train", "gpt2.yaml", "model.recurrence.pool=mean", "model.overlap=4", "model.init_from=runs/" + base,
                 "train.checkpoint_windows=true", "--runs", "runs2"})
                .code,
            0);
  const std::string model = run_folder("runs2").string();

  const auto evaluate = [&](const std::string& windows) {
    const ProgramResult result = xlm({"eval-overlap", model, "--data", "data", "--window", windows, "--overlap",
                                      "0,4,15", "eval.batch=4", "--json", "--runs", "runs2"});
    EXPECT_EQ(result.code, 0) << result.err;
    return parse_json(result.out, "eval-overlap");
  };
  const Json first = evaluate("16");
  ASSERT_EQ(first.size(), 3U);
  for (const Json& row : first) {
    for (const auto* field : {"window", "overlap", "tokens", "words", "bytes", "loss", "token_perplexity",
                              "word_perplexity", "bits_per_byte", "flops_per_token", "seconds"}) {
      EXPECT_TRUE(row.contains(field)) << field;
    }
    EXPECT_FALSE(row.at("measured_before").get<bool>());
  }
  EXPECT_GT(first[1].at("flops_per_token").get<double>(), first[0].at("flops_per_token").get<double>());
  const Json again = evaluate("16,32");
  ASSERT_EQ(again.size(), 6U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(again[i].at("measured_before").get<bool>()) << i;
    EXPECT_EQ(again[i].at("loss"), first[i].at("loss"));
    EXPECT_FALSE(again[i + 3].at("measured_before").get<bool>()) << i;
  }
  const ProgramResult explained =
      xlm({"eval-overlap", model, "--data", "data", "--window", "16", "--runs", "runs2", "--explain", "eval.batch=4"});
  EXPECT_NE(explained.out.find("predicted exactly once"), std::string::npos) << explained.out << explained.err;
  for (const auto& [window, overlap] :
       std::vector<std::pair<std::string, std::string>>{{"33", "0"}, {"16", "16"}, {"16", "-1"}, {"0", "0"}}) {
    EXPECT_EQ(xlm({"eval-overlap", model, "--data", "data", "--window", window, "--overlap", overlap}).code, 2);
  }

  const std::vector<std::string> ask{"sample", model, "--prompt", "line 1 of a text that", "--tokens", "30"};
  const ProgramResult streamed = xlm(ask);
  ASSERT_EQ(streamed.code, 0) << streamed.err;
  std::vector<std::string> as_json = ask;
  as_json.emplace_back("--json");
  const Json sample = parse_json(xlm(as_json).out, "sample");
  EXPECT_EQ(sample.at("tokens").size(), 30U);
  EXPECT_EQ(streamed.out, "line 1 of a text that" + sample.at("text").get<std::string>() + "\n");
  EXPECT_EQ(xlm({"sample", model, "--prompt", "€"}).code, 3);
  EXPECT_EQ(xlm({"sample", model, "--prompt", "€"}).out, "");
  EXPECT_EQ(xlm({"sample", model, "--prompt", "line", "--temperature", "nan"}).code, 2);
  std::vector<std::string> in_wider_windows = as_json;
  in_wider_windows.emplace_back("model.window=32");
  const Json wider = parse_json(xlm(in_wider_windows).out, "sample");
  EXPECT_EQ(wider.at("tokens").size(), 30U);
  EXPECT_NE(wider.at("tokens"), sample.at("tokens"));
  EXPECT_EQ(xlm({"sample", model, "--prompt", "line", "model.window=33"}).code, 2) << "there are 32 positions";
  EXPECT_THAT(xlm({"sample", model, "--prompt", "line", "model.width=32"}).err, HasSubstr("cannot be changed here"));
}

TEST_F(Pipeline, CorruptAndMissingInputsHaveTheDocumentedCodes) {
  ASSERT_EQ(xlm({"train", "run.yaml", "train.steps=8"}).code, 0);
  const fs::path model = run_folder("runs") / "model";
  const auto copy_of_model = [&](const std::string& name) {
    fs::copy(model, folder_.path() / name, fs::copy_options::recursive);
    return folder_.path() / name;
  };
  const auto code_of_eval = [&](const std::string& name) { return xlm({"eval", name, "--data", "data"}).code; };

  const fs::path cut = copy_of_model("cut");
  fs::resize_file(cut / "model.safetensors", fs::file_size(cut / "model.safetensors") - 10);
  EXPECT_EQ(code_of_eval("cut"), 3);
  write_file(copy_of_model("garbled") / "vocab.json", "{\"unit\": \"character\", \"symbols\": [1, 2");
  EXPECT_EQ(code_of_eval("garbled"), 3);
  write_file(copy_of_model("other") / "vocab.json", R"({"unit": "character", "symbols": ["z"]})");
  EXPECT_EQ(code_of_eval("other"), 3);
  write_file(copy_of_model("shape") / "config.yaml", "model: {type: adaptive-span, width: 32, heads: 2}\n");
  EXPECT_EQ(code_of_eval("shape"), 3);

  fs::copy(folder_.path() / "data", folder_.path() / "short", fs::copy_options::recursive);
  fs::resize_file(folder_.path() / "short/train.bin", 100);
  EXPECT_EQ(xlm({"train", "run.yaml", "data.path=short", "seed=2"}).code, 3);

  EXPECT_EQ(xlm({"train", "run.yaml", "train.block=100000"}).code, 3);
  EXPECT_EQ(xlm({"train", "run.yaml", "model.heads=3"}).code, 2);
  EXPECT_EQ(xlm({"train", "run.yaml", "device=cuda:99"}).code, 1);
  EXPECT_EQ(xlm({"train", "run.yaml", "optimizer.type=adam", "optimizer.lr=1e30"}).code, 4);
  EXPECT_EQ(xlm({"eval", "no-such-run", "--data", "data"}).code, 3);
  fs::remove(copy_of_model("without-vocabulary") / "vocab.json");
  EXPECT_EQ(code_of_eval("without-vocabulary"), 3) << "the symbols of the data are not the model's";
  const fs::path not_finite = copy_of_model("not-finite") / "model.safetensors";
  std::string weights = read_file(not_finite);
  weights.replace(weights.size() - 64, 4, "\xff\xff\xff\x7f");  // NaN
  write_file(not_finite, weights);
  EXPECT_THAT(xlm({"eval", "not-finite", "--data", "data"}).err, HasSubstr("does not have the hash it was saved with"));
  const std::string hash = "xlm.sha256";
  ASSERT_NE(weights.find(hash), std::string::npos);
  weights.replace(weights.find(hash), hash.size(), "no.hash...");  // as other programs save them
  write_file(not_finite, weights);
  EXPECT_THAT(xlm({"eval", "not-finite", "--data", "data"}).err, HasSubstr("values that are not finite"));
  EXPECT_THAT(xlm({"eval", "not-finite", "--data", "data", "word"}).err, HasSubstr("'word' is not KEY=VALUE"));
  const ProgramResult unknown = xlm({"evla"});
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("did you mean 'eval'"), std::string::npos) << unknown.err;
}

TEST_F(Pipeline, DataThatAreCutShortWhileARunReadsThemAreAnErrorAfterWhichItGoesOn) {
  const auto command = [](const std::string& runs) {
    return std::vector<std::string>{
        "train", "run.yaml", "--runs", runs, "train.steps=1500", "train.checkpoint_every=50", "train.eval_every=0"};
  };
  ASSERT_EQ(xlm(command("whole")).code, 0);
  const fs::path text = folder_.path() / "data/train.bin";
  const std::string bytes = read_file(text);
  ASSERT_GT(bytes.size(), 5 * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)));
  const auto training = start(command("cut"));
  const auto has_checkpoint = [&] {  // any: the first does not stay
    if (!fs::exists(folder_.path() / "cut") || run_folder("cut").empty()) return false;
    std::error_code not_yet;
    const fs::directory_iterator files(run_folder("cut") / "checkpoints", not_yet);
    return std::any_of(begin(files), end(files),
                       [](const auto& file) { return file.path().filename().string().starts_with("step-"); });
  };
  while (training->is_running() && !has_checkpoint()) ::usleep(1000);
  training->kill(SIGSTOP);
  ASSERT_TRUE(training->is_running()) << "it was over before its text could be cut";
  ASSERT_EQ(::truncate(text.c_str(), ::sysconf(_SC_PAGESIZE)), 0) << "as a copy that begins anew does";
  training->kill(SIGCONT);
  const ProgramResult cut = training->wait();
  EXPECT_EQ(cut.code, 3) << cut.err;
  EXPECT_THAT(cut.err, HasSubstr("error: a file was cut short while it was read (data, weights or a journal)"));
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path() / "cut")) {
    const std::string name = entry.path().filename().string();
    EXPECT_FALSE(name.starts_with(".")) << entry.path() << " was left behind";
  }

  const ProgramResult refused = xlm(command("cut"));
  EXPECT_EQ(refused.code, 3) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("train.bin"));
  write_file(text, bytes);
  const ProgramResult resumed = xlm(command("cut"));
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_THAT(resumed.err, HasSubstr("going on from step"));
  EXPECT_EQ(model_hash("cut"), model_hash("whole"));
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

TEST_F(Pipeline, NoMessageIsABacktrace) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"train", "run.yaml", "device=cuda:99"},  // which no machine has
                                             {"train", "absent.yaml"},
                                             {"eval", "data", "--data", "data"},
                                             {"table", "run.yaml"}}) {
    const ProgramResult result = xlm(arguments);
    EXPECT_NE(result.code, 0);
    EXPECT_LE(split(trim(result.err), '\n').size(), 4U) << result.err;
    EXPECT_EQ(result.err.find("frame #"), std::string::npos) << result.err;
  }
}

TEST_F(Pipeline, AGpuThatIsHiddenIsNotHadAndNotMissed) {
  const std::string hidden = fmt::format("CUDA_VISIBLE_DEVICES= '{}' train run.yaml train.steps=1 device=", XLM_BINARY);
  const ProgramResult asked = shell(folder_.path(), hidden + "cuda --runs asked");
  EXPECT_EQ(asked.code, 1) << asked.out;
  EXPECT_THAT(asked.err, HasSubstr("device cuda cannot be had: CUDA_VISIBLE_DEVICES hides every GPU"));
  const ProgramResult left_open = shell(folder_.path(), hidden + "auto optimizer.warmup_steps=1 --runs open");
  EXPECT_EQ(left_open.code, 0) << left_open.err;
  EXPECT_THAT(read_file(run_folder("open") / "environment.json"), HasSubstr(R"("device": "cpu")"));
}

TEST_F(Pipeline, AModelLargerThanTheMachineIsCountedAndNotBegun) {
  write_file(folder_.path() / "sweep.yaml", std::string(kRun) + "sweep: {grid: {seed: [1, 2]}}\n");
  const std::vector<std::string> large{"model.width=65536", "model.feed_forward=262144", "model.layers=24"};
  std::vector<std::string> arguments{"sweep", "sweep.yaml", "--dry-run"};
  arguments.insert(arguments.end(), large.begin(), large.end());
  const ProgramResult counted = xlm(arguments);
  EXPECT_EQ(counted.code, 0) << counted.err;
  EXPECT_THAT(counted.out, HasSubstr("1.24T")) << "24 · 12 · 65536² parameters";
  arguments = {"train", "run.yaml"};
  arguments.insert(arguments.end(), large.begin(), large.end());
  const ProgramResult begun = xlm(arguments);
  EXPECT_EQ(begun.code, 5);
  EXPECT_THAT(begun.err, HasSubstr("GB, and this process may use"));
}

TEST_F(Pipeline, ARunThatIsRefusedMemoryGoesOnWithFewerRowsOrHasFailed) {
  write_file(folder_.path() / "wide.yaml",
             "data: {path: data}\ndevice: cpu\n"
             "model: {type: adaptive-span, width: 128, heads: 4, feed_forward: 256, layers: 3, span: 128, dropout: 0}\n"
             "train: {steps: 3, batch: 64, block: 256, threads: 1}\n");
  const auto journal = [&](const std::string& runs) {
    std::vector<Json> records;
    for (const std::string& line : split(read_file(run_folder(runs) / "journal.jsonl"), '\n')) {
      if (!line.empty()) records.push_back(parse_json(line, "journal"));
    }
    return records;
  };
  const auto number = [&](const std::string& runs, const char* name) {
    double last = std::nan("");
    for (const Json& record : journal(runs)) {
      last = record.value(name, record.contains("values") ? record["values"].value(name, last) : last);
    }
    return last;
  };
  const auto train_within = [&](double bytes, const std::string& runs) {
    return shell(folder_.path(),
                 fmt::format("ulimit -d {:.0f}; exec '{}' train wide.yaml --runs {}", bytes / 1024, XLM_BINARY, runs));
  };
  ASSERT_EQ(xlm({"train", "wide.yaml", "--runs", "whole"}).code, 0);
  ASSERT_EQ(xlm({"train", "wide.yaml", "--runs", "parts", "train.micro_batch=8"}).code, 0);
  const double whole = number("whole", "peak_memory");
  const double parts = number("parts", "peak_memory");
  ASSERT_LT(parts, 0.6 * whole);

  const ProgramResult less = train_within((whole + parts) / 2, "less");
  ASSERT_EQ(less.code, 0) << less.err;
  EXPECT_THAT(less.err, HasSubstr("and goes on with 32"));
  std::vector<std::string> states;
  for (const Json& record : journal("less")) {
    if (record.at("type") == "state")
      states.push_back(record.at("state").get<std::string>() + record.value("cause", ""));
  }
  EXPECT_THAT(states, testing::IsSupersetOf({"queuedmemory", "done"}));
  EXPECT_NEAR(number("less", "loss"), number("whole", "loss"), 1e-5);

  const ProgramResult none = train_within(110e6, "none");
  EXPECT_EQ(none.code, 5) << none.err;
  EXPECT_THAT(none.err, HasSubstr("out of memory"));
  EXPECT_EQ(journal("none").back().value("state", ""), "failed");
}

TEST_F(Pipeline, TransformersReadsAGpt2AsItIs) {
  if (!readers_are_installed()) GTEST_SKIP() << kNoReaders;
  if (!python_opens_torch()) GTEST_SKIP() << kNoPythonTorch;
  const fs::path encoding = write_small_bpe(folder_.path() / "bpe");
  ASSERT_EQ(xlm({"prepare-data", "text", "--from", "corpus.txt", "--unit", "bpe", "--bpe", encoding.string(), "--out",
                 "pairs"})
                .code,
            0);
  write_file(folder_.path() / "gpt2.yaml",
             "data: {path: pairs}\ndevice: cpu\n"
             "model: {type: gpt2, width: 16, heads: 2, layers: 2, positions: 32, window: 16, windows: 4}\n"
             "optimizer: {warmup_steps: 5, lr: 5e-3}\ntrain: {steps: 30, batch: 4, threads: 1}\n");
  ASSERT_EQ(xlm({"train", "gpt2.yaml"}).code, 0);
  const std::string model = (run_folder("runs") / "model").string();
  const Json ours = parse_json(xlm({"eval-overlap", model, "--data", "pairs", "--window", "16", "--json"}).out, "eval");
  // Windows of 16 tokens, each read by itself; every token but the first is predicted once.
  const Json theirs = Json::parse(
      read_with_python(folder_.path(),
                       "import json, math, sys\nimport torch\nfrom transformers import AutoTokenizer, GPT2LMHeadModel\n"
                       "model = GPT2LMHeadModel.from_pretrained('" +
                           model +
                           "').eval()\n"
                           "tokenizer = AutoTokenizer.from_pretrained('" +
                           model +
                           "')\n"
                           "meta = json.load(open('pairs/meta.json'))\n"
                           "width = 1 if len(json.load(open('pairs/vocab.json'))['symbols']) <= 256 else 2\n"
                           "raw = open('pairs/test.bin', 'rb').read()\n"
                           "ids = [int.from_bytes(raw[i:i + width], 'little') for i in range(0, len(raw), width)]\n"
                           "nats = 0\n"
                           "for begin in range(0, len(ids) - 1, 16):\n"
                           "    window = torch.tensor(ids[begin:begin + 17])\n"
                           "    with torch.no_grad():\n"
                           "        scores = torch.log_softmax(model(window[None, :-1]).logits[0].double(), -1)\n"
                           "    nats -= scores.gather(1, window[1:, None]).sum().item()\n"
                           "made = model.generate(torch.tensor([ids[:4]]), max_new_tokens=3)\n"
                           "text = 'a text that says'\n"
                           "print(json.dumps({'loss': nats / (len(ids) - 1), 'made': made.shape[1], 'text': "
                           "tokenizer.decode(tokenizer(text).input_ids),\n"
                           "                  'end': model.generation_config.eos_token_id}))\n"));
  EXPECT_NEAR(theirs["loss"].get<double>(), ours[0]["loss"].get<double>(), 1e-5) << "float32 sums in another order";
  EXPECT_GE(theirs["made"], 5);
  EXPECT_EQ(theirs["text"], "a text that says");
}

/// The commands of a Markdown file's code blocks that begin with "xlm ".
std::vector<std::string> documented_commands(const fs::path& file) {
  std::vector<std::string> commands;
  for (const std::string& line : split(read_file(file), '\n')) {
    if (line.starts_with("xlm ")) commands.push_back(line.substr(0, line.find("  #")));
  }
  return commands;
}

TEST_F(Pipeline, TheReadmesCommandsWork) {
  fs::create_directory(folder_.path() / "notes");
  write_file(folder_.path() / "notes/a.txt", many_words());
  fs::copy(fs::path(XLM_SOURCE_DIR) / "experiments", folder_.path() / "experiments", fs::copy_options::recursive);
  fs::create_directory_symlink(fs::path(XLM_BINARY).parent_path(), folder_.path() / "bin");
  const std::vector<std::string> commands = documented_commands(fs::path(XLM_SOURCE_DIR) / "README.md");
  ASSERT_GE(commands.size(), 5U);
  for (const std::string& command : commands) {
    const ProgramResult result =
        BackgroundProgram({"/bin/bash", "-c", "PATH=$PWD/bin:$PATH; " + command}, folder_.path()).wait();
    EXPECT_EQ(result.code, 0) << command << "\n" << result.err;
  }
}

}  // namespace
}  // namespace xlm
