// The whole program with each kind of model: trained, evaluated, and read by other programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/text.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/experiments/program.h"
#include "tests/needs.h"
#include "tests/pipeline/pipeline_fixture.h"
#include "tests/readers.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

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
  EXPECT_EQ(xlm({"train", "unigram.yaml"}).code, 3) << "the segmentation does not exist yet";
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
  EXPECT_EQ(recurrent.code, 3) << "the run is in another folder of runs";
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

TEST_F(Pipeline, TransformersReadsAGpt2AsItIs) {
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  if (!python_opens_torch()) GTEST_SKIP() << needs::kCuda;
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

}  // namespace
}  // namespace xlm
