#include "experiments/configuration/configuration.h"

#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/recipe_keys.h"
#include "base/text.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "experiments/configuration/yielding_defaults.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kSmallest = "data: {path: d}\nmodel: {type: adaptive-span}\ntrain: {steps: 10}\n";

RunOptions read(const std::string& text) { return read_run_options(parse_yaml(text, "run.yaml")); }

std::string complaint(const std::string& text) {
  return thrown_message([&] { read(text); });
}

std::string configuration_complaint(const fs::path& file, const std::string& profile,
                                    const std::vector<std::string>& overrides = {}) {
  return thrown_message([&] { read_configuration(file, profile, overrides); });
}

TEST(Configuration, FillsInThePapersDefaultsOfTheModel) {
  const RunOptions options = read(kSmallest);
  EXPECT_EQ(options.optimizer.type, OptimizerOptions::Type::kAdagrad);
  EXPECT_DOUBLE_EQ(options.optimizer.lr, 0.07);
  EXPECT_EQ(options.train.batch, 64);
  EXPECT_EQ(options.train.steps, 10);
  EXPECT_EQ(options.seed, 1);
}

TEST(Configuration, ResolvedConfigurationReadsBackAsTheSameRun) {
  const RunOptions options = read(std::string(kSmallest) + "optimizer: {lr: 2.5e-4}\nseed: 7\n");
  const std::string text = to_text(resolved(options));
  EXPECT_EQ(to_text(resolved(read(text))), text);
  EXPECT_THAT(text, AllOf(HasSubstr("lr: 0.00025"), HasSubstr("span_type: adaptive"), HasSubstr("init_from: \"\"")));
}

TEST(Configuration, NamesFileLineAndNearestKey) {
  EXPECT_THAT(complaint("data: {path: d}\nmodel:\n  type: adaptive-span\n  spam: 3\ntrain: {steps: 1}\n"),
              AllOf(HasSubstr("run.yaml:4"), HasSubstr("unknown key 'spam' in 'model'"), HasSubstr("'span'")));
  EXPECT_THAT(complaint(std::string(kSmallest) + "sed: 3\n"), AllOf(HasSubstr("run.yaml:4"), HasSubstr("'seed'")));
  EXPECT_THAT(complaint(std::string(kSmallest) + "sweeps: {grid: {seed: [1]}}\n"), HasSubstr("did you mean 'sweep'?"));
}

TEST(Configuration, RefusesAWrongOrMissingModel) {
  EXPECT_THAT(complaint("data: {path: d}\ntrain: {steps: 1}\n"),
              AllOf(HasSubstr("model.type is missing"), HasSubstr("adaptive-span")));
  EXPECT_THAT(complaint("data: {path: d}\nmodel: {type: adaptiv-span}\ntrain: {steps: 1}\n"),
              AllOf(HasSubstr("run.yaml:2"), HasSubstr("did you mean 'adaptive-span'")));
  EXPECT_THAT(complaint("data: {path: d}\nmodel: adaptive-span\ntrain: {steps: 1}\n"),
              AllOf(HasSubstr("run.yaml:2"), HasSubstr("model.type is missing")));
  EXPECT_THAT(complaint("[1, 2]\n"), HasSubstr("expected a map"));
}

TEST(Configuration, RefusesWhatIsMissing) {
  EXPECT_THAT(complaint("model: {type: adaptive-span}\ntrain: {steps: 1}\n"), HasSubstr("data.path is missing"));
  EXPECT_THAT(complaint("data: {path: d}\nmodel: {type: adaptive-span}\n"), HasSubstr("train.steps is missing"));
}

TEST(Configuration, RefusesWrongTypesAndRanges) {
  EXPECT_THAT(complaint(std::string(kSmallest) + "seed: one\n"),
              AllOf(HasSubstr("run.yaml:4"), HasSubstr("whole number")));
  EXPECT_THAT(complaint(std::string(kSmallest) + "optimizer: {lr: 0}\n"), HasSubstr("must be > 0"));
  EXPECT_THAT(complaint(std::string(kSmallest) + "eval: {select: first}\n"), HasSubstr("one of last, best"));
}

TEST(Configuration, RefusesValuesThatDoNotGoTogether) {
  const std::string head = "data: {path: d}\nmodel: {type: adaptive-span}\n";
  EXPECT_THAT(complaint(head + "train: {steps: 1, batch: 8, micro_batch: 3}\n"),
              AllOf(HasSubstr("run.yaml:3"), HasSubstr("micro_batch (3) must divide train.batch (8)")));
  EXPECT_THAT(complaint(head + "train: {steps: 1, batch: 4, micro_batch: 8}\n"), HasSubstr("must divide"));
  EXPECT_THAT(complaint(head + "train: {steps: 10}\noptimizer: {schedule: cosine, warmup_steps: 10}\n"),
              AllOf(HasSubstr("run.yaml:4"), HasSubstr("must be less than train.steps")));
  EXPECT_THAT(complaint("data: {path: d}\nmodel:\n  type: adaptive-span\n  width: 10\n  heads: 3\ntrain: {steps: 1}\n"),
              AllOf(HasSubstr("run.yaml:5"), HasSubstr("multiple of model.heads")));
}

// What the file does not say itself must not be blamed, and no worker may be the first to see it.
TEST(Configuration, WhatFollowsFromOtherValuesIsCheckedAndTheirsIsTheBlame) {
  const auto gpt2 = [](const std::string& values) {
    return complaint("data: {path: d}\ntrain: {steps: 1}\nmodel:\n  type: gpt2\n" + values);
  };
  EXPECT_THAT(gpt2("  window: 16\n  windows: 1000000\n"),
              AllOf(HasSubstr("run.yaml:6: model.windows (1000000)"), HasSubstr("16000000 tokens")));
  EXPECT_THAT(gpt2("  windows: 40000\n"), HasSubstr("run.yaml:5: model.windows (40000) of model.window (300)"));
  EXPECT_THAT(gpt2("  window: 16\n  overlap: 1000000\n"), HasSubstr("run.yaml:6: model.overlap (1000000)"));
  EXPECT_THAT(gpt2("  window: 16\n  overlap: 16\n  windows: 1\n"), HasSubstr("run.yaml:6: model.overlap (16)"));
  for (const char* huge : {"1000000000000", "9000000000000000000", "9223372036854775807"}) {
    EXPECT_THAT(gpt2(fmt::format("  overlap: {}\n", huge)), HasSubstr("run.yaml:5: model.overlap is ")) << huge;
  }
  EXPECT_EQ(gpt2("  window: 16\n  overlap: 15\n  windows: 1000000\n"), "");
  const TemporaryFolder folder;
  for (const auto& [key, option] : std::vector<std::pair<std::string, std::string>>{
           {"n_layer", "layers"}, {"n_embd", "width"}, {"n_positions", "positions"}}) {
    write_file(folder.path() / "config.json", fmt::format(R"({{"n_embd": 73728, "n_head": 1, "{}": 90000000}})", key));
    EXPECT_THAT(gpt2(fmt::format("  pretrained: {}\n", folder.path().string())),
                AllOf(HasSubstr("run.yaml:"), HasSubstr("as other values say"), HasSubstr("it must be ≥ 0, ≤ ")))
        << option;
  }
}

TEST(Configuration, RefusesAnHourglassThatDoesNotGoTogether) {
  const auto with = [](const std::string& model, const std::string& rest = "train: {steps: 10}\n") {
    return complaint("data: {path: d}\noptimizer: {warmup_steps: 0}\nmodel:\n  type: hourglass\n" + model + rest);
  };
  EXPECT_EQ(with("  layers: [2, 8, 2]\n  boundaries: {type: whitespace}\n"), "");
  EXPECT_EQ(with("  layers: 12\n  boundaries: {type: none}\n"), "");
  EXPECT_THAT(with("  boundaries: {type: none}\n"), HasSubstr("no boundaries to pool by"));
  EXPECT_THAT(with("  layers: [2, 8]\n"), AllOf(HasSubstr("run.yaml:5"), HasSubstr("one number, or three")));
  EXPECT_THAT(with("  layers: [0, 0, 0]\n"), HasSubstr("sum to nothing"));
  EXPECT_THAT(with("  boundaries: {type: fixed, factor: 0}\n"),
              AllOf(HasSubstr("run.yaml:5"), HasSubstr("model.boundaries.factor")));
  EXPECT_THAT(with("  boundaries: {type: fixed, factor: 100}\n", "train: {steps: 10, block: 64}\n"),
              AllOf(HasSubstr("run.yaml:5"), HasSubstr("more than the tokens of a block")));
  EXPECT_THAT(with("  boundaries: {type: entropy}\n", "train: {steps: 10, block: 1}\n"), HasSubstr("train.block=1"));
  EXPECT_THAT(with("  boundaries: {type: gumbel}\n  pooling: subsample\n"), HasSubstr("no gradient to the boundaries"));
  EXPECT_THAT(with("  boundaries: {typ: entropy}\n"), HasSubstr("did you mean 'type'"));
  EXPECT_THAT(with("", "train: {steps: 10}\neval: {stride: 512, context: 100}\n"),
              AllOf(HasSubstr("run.yaml:6"), HasSubstr("must not be more than eval.context")));
}

/// Windows that are longer than any in training would give a loss of what the model never saw.
TEST(Configuration, WindowsOfEvaluationAreAsLongAsThoseOfTraining) {
  const auto eval = [](const std::string& type, const std::string& rest) {
    const RunConfiguration run =
        read("data: {path: d}\ntrain: {steps: 10, block: 96}\noptimizer: {warmup_steps: 0}\nmodel: {type: " + type +
             "}\n" + rest);
    return std::pair(run.eval.context, run.eval.stride);
  };
  EXPECT_EQ(eval("transformer", ""), std::pair(std::int64_t{96}, std::int64_t{96}));
  EXPECT_EQ(eval("byte-patches", ""), std::pair(std::int64_t{96}, std::int64_t{96}));
  EXPECT_EQ(eval("transformer", "eval: {context: 64}\n"), std::pair(std::int64_t{64}, std::int64_t{64}));
  EXPECT_EQ(eval("transformer", "eval: {stride: 32}\n"), std::pair(std::int64_t{96}, std::int64_t{32}));
  EXPECT_EQ(eval("transformer", "eval: {context: 128, stride: 16}\n"), std::pair(std::int64_t{128}, std::int64_t{16}));
  EXPECT_EQ(eval("hourglass", "").first, 2048) << "as published";
}

/// 32,000 steps of warm-up in a run of 1,000 would end at a thirtieth of the learning rate.
TEST(Configuration, AWarmUpThatIsNotWrittenTakesATenthOfTheStepsAtMost) {
  const auto warmup = [](const std::string& type, const std::string& steps, const std::string& rest = "") {
    return read("data: {path: d}\ntrain: {steps: " + steps + "}\nmodel: {type: " + type + "}\n" + rest)
        .optimizer.warmup_steps;
  };
  EXPECT_EQ(warmup("adaptive-span", "1000"), 100);
  EXPECT_EQ(warmup("adaptive-span", "320000"), 32000) << "as published";
  EXPECT_EQ(warmup("gpt2", "500"), 50);
  EXPECT_EQ(warmup("gpt2", "5000"), 100);
  EXPECT_EQ(warmup("hourglass", "200"), 20) << "a cosine takes more steps than its warm-up";
  EXPECT_EQ(warmup("adaptive-span", "1000", "optimizer: {warmup_steps: 32000}\n"), 32000);
  EXPECT_EQ(warmup("adaptive-span", "1000", "optimizer: {warmup_ratio: 0.05}\n"), 0);
}

TEST(Configuration, ALongWarmUpIsRemarkedOnWithTheRateThatIsReached) {
  EXPECT_EQ(warmup_note({.lr = 0.07, .warmup_steps = 32000}, 1000),
            "the warm-up takes 32000 of 1000 steps: the highest learning rate is 0.00219, and optimizer.lr is 0.07\n"
            "a tenth of the steps is usual: optimizer.warmup_steps=100");
  EXPECT_THAT(warmup_note({.lr = 0.5, .warmup_ratio = 0.75}, 100), HasSubstr("takes 0.75 of 100 steps"));
  EXPECT_EQ(warmup_note({.lr = 0.07, .warmup_steps = 500}, 1000), "");
  EXPECT_EQ(warmup_note({.lr = 0.07, .warmup_steps = 32000}, 0), "") << "the number of steps is not known";
}

TEST(Configuration, NoDefaultOfAnOptimizerContradictsWhatIsWritten) {
  const auto optimizer = [](const std::string& values) {
    return read("data: {path: d}\ntrain: {steps: 100}\nmodel: {type: transformer}\noptimizer: " + values).optimizer;
  };
  EXPECT_EQ(optimizer("{schedule: constant}").min_lr_ratio, 0);
  EXPECT_EQ(optimizer("{schedule: linear}").min_lr_ratio, 0.1);
  EXPECT_EQ(optimizer("{warmup_steps: 7}").warmup_ratio, 0);
  EXPECT_EQ(optimizer("{type: adagrad}").beta2, 0);
  EXPECT_EQ(optimizer("{type: adam}").weight_decay, 0);
  EXPECT_THROW(optimizer("{schedule: constant, min_lr_ratio: 0.1}"), UsageError);
  EXPECT_THROW(optimizer("{warmup_steps: 7, warmup_ratio: 0.1}"), UsageError);
  const RunOptions gpt2 = read("data: {path: d}\ntrain: {steps: 100}\nmodel: {type: gpt2}\neval: {context: 8}\n");
  EXPECT_EQ(gpt2.eval.stride, 8);
}

TEST(Configuration, AShorterWindowOfWeightsShortensItsStride) {
  const TemporaryFolder folder;
  write_file(folder.path() / "config.yaml", "model: {type: transformer}\neval: {context: 96, stride: 48}\n");
  EXPECT_EQ(read_model_folder(folder.path(), {"eval.context=32"}).eval.stride, 32);
  EXPECT_EQ(read_model_folder(folder.path(), {"eval.context=64"}).eval.stride, 48);
  EXPECT_THROW(read_model_folder(folder.path(), {"eval.context=32", "eval.stride=48"}), UsageError);
}

TEST(Configuration, AGpt2OfAnotherProgramIsReadInWindowsOfAllItsPositions) {
  const TemporaryFolder folder;
  write_file(folder.path() / "config.json",
             R"({"model_type": "gpt2", "n_embd": 16, "n_head": 2, "n_layer": 1, "n_positions": 512})");
  const auto window = [&](const std::vector<std::string>& overrides) {
    return read_model_folder(folder.path(), overrides).model.get<Gpt2Options>().window;
  };
  EXPECT_EQ(window({}), 512);
  EXPECT_EQ(window({"model.window=100"}), 100);
  write_file(folder.path() / "config.yaml", "model: {type: gpt2, positions: 512, window: 300}\n");
  EXPECT_EQ(window({}), 300) << "one of this program says it";
}

/// Positions follow from train.block: training must not be the first to end there.
TEST(Configuration, RefusesWindowsOfEvaluationWithMoreBytesThanPositions) {
  const auto with = [](const std::string& model, const std::string& rest) {
    return complaint("data: {path: d}\ntrain: {steps: 10, block: 1024}\nmodel:\n  type: byte-patches\n" + model + rest);
  };
  EXPECT_THAT(with("", "eval: {context: 6144}\n"),
              AllOf(HasSubstr("model.positions (1024)"), HasSubstr("eval.context=6144")));
  EXPECT_EQ(with("", ""), "");
  EXPECT_EQ(with("  learnt_positions: false\n", ""), "");
  EXPECT_THAT(with("  positions: 512\n", ""), AllOf(HasSubstr("run.yaml:5"), HasSubstr("train.block=1024")));
}

/// A transformer's evaluation comes after hours of training, too.
TEST(Configuration, RefusesWindowsWithMoreTokensThanATransformerHasPositions) {
  const auto with = [](const std::string& rest) {
    return complaint("data: {path: d}\nmodel: {type: transformer, positions: 32}\n" + rest);
  };
  EXPECT_THAT(with("train: {steps: 10, block: 16}\neval: {context: 1024}\n"),
              AllOf(HasSubstr("run.yaml:2"), HasSubstr("model.positions (32)"), HasSubstr("eval.context=1024")));
  EXPECT_THAT(with("train: {steps: 10, block: 33}\n"), HasSubstr("train.block=33"));
  EXPECT_EQ(with("train: {steps: 10, block: 32}\neval: {context: 32, stride: 32}\n"), "");
}

TEST(Configuration, ChecksTheDevice) {
  for (const char* device : {"cpu", "cuda", "cuda:1", "auto"}) {
    EXPECT_EQ(complaint(std::string(kSmallest) + "device: " + device + "\n"), "") << device;
  }
  for (const char* device : {"gpu", "cuda:", "cuda:-1", "cuda:x", "cudax"}) {
    EXPECT_THAT(complaint(std::string(kSmallest) + "device: '" + device + "'\n"),
                AllOf(HasSubstr("run.yaml:4"), HasSubstr("cpu, cuda, cuda:N or auto")))
        << device;
  }
}

TEST(Configuration, ProfileLiesOverTheFileAndOverridesOverTheProfile) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "spans.yaml";
  write_file(file, std::string(kSmallest) +
                       "seed: 3\nsweep: {grid: {seed: [1, 2], model.span: [8, 16]}}\nprofiles:\n"
                       "  smoke: {train: {steps: 5}, seed: 4, sweep: {grid: {seed: [1]}}}\n");
  const Yaml tree = read_configuration(file, "smoke", {"seed=9", "sweep.grid.model.span=[4]"});
  EXPECT_EQ(find_path(tree, "train.steps")->scalar, "5");
  EXPECT_EQ(find_path(tree, "seed")->scalar, "9");
  EXPECT_EQ(find_path(tree, "sweep.grid")->find("seed")->items.size(), 1U);
  EXPECT_EQ(find_path(tree, "sweep.grid")->find("model.span")->items.front().scalar, "4");
  EXPECT_EQ(tree.find("profiles"), nullptr);
  const RunOptions options = read_run_options(run_part(tree));
  EXPECT_EQ(options.experiment, "spans");
  EXPECT_EQ(options.seed, 9);
}

TEST(Configuration, RefusesAnUnknownProfileAndWrongOverrides) {
  const TemporaryFolder folder;
  const fs::path file = folder.path() / "run.yaml";
  write_file(file, std::string(kSmallest) + "profiles: {smoke: {}, paper: 3}\n");
  EXPECT_THAT(configuration_complaint(file, "smok"),
              AllOf(HasSubstr("did you mean 'smoke'"), HasSubstr("it has smoke, paper")));
  EXPECT_THAT(configuration_complaint(file, "paper"), HasSubstr("must be a map"));
  EXPECT_THAT(configuration_complaint(file, "", {"seed"}), HasSubstr("not KEY=VALUE"));
  EXPECT_THAT(configuration_complaint(folder.path() / "nothing.yaml", ""), HasSubstr("nothing.yaml"));
  write_file(file, kSmallest);
  EXPECT_THAT(configuration_complaint(file, "smoke"), HasSubstr("has no profiles"));
}

TEST(Configuration, WhatIsWrongWithAnAxisNamesTheAssignmentThatGaveIt) {
  Yaml tree = parse_yaml("sweep: {grid: {seed: [1]}}\n", "sweep.yaml");
  tree =
      configuration_of(std::move(tree), "sweep.yaml", "", {"sweep.grid.model.span=[64, [0, 1]]", "sweep.grid.seed=[]"});
  const Yaml& grid = *find_path(tree, "sweep.grid");
  EXPECT_EQ(grid.find("model.span")->where(), "'sweep.grid.model.span=[64, [0, 1]]'");
  EXPECT_EQ(grid.find("model.span")->items[1].items[0].where(), "'sweep.grid.model.span=[64, [0, 1]]'");
  EXPECT_EQ(grid.find("seed")->where(), "'sweep.grid.seed=[]'");
}

TEST(Configuration, RecipePartsAreNoPartOfARun) {
  const std::string text = std::string(kSmallest) + "sweep: {}\ntable: t\ntables: []\nfigure: f\nfigures: []\n";
  EXPECT_NO_THROW(read_run_options(run_part(parse_yaml(text, "recipe.yaml"))));
}

TEST(Configuration, TheKeysOfARunAreThoseOfItsOptions) {
  RunConfiguration of_program;
  of_program.program = ProgramOptions{.options = {{"lr", 1}}};
  std::set<std::string> declared{"require"};
  for (const RunConfiguration& run : {RunConfiguration(default_run_options(0)), of_program}) {
    for (const OptionEntry& entry : option_entries(run)) declared.insert(split(entry.key, '.').front());
  }
  EXPECT_EQ(declared, std::set<std::string>(kRunKeys.begin(), kRunKeys.end()));
}

TEST(Configuration, ModelFolderNeedsItsModelAlone) {
  const TemporaryFolder folder;
  write_file(folder.path() / "config.yaml", "model: {type: adaptive-span, span: 64}\neval: {batch: 3}\ndevice: cpu\n");
  const RunOptions options = read_model_folder(folder.path(), {"eval.batch=4", "train.block=32"});
  EXPECT_EQ(options.model.get<AdaptiveSpanOptions>().span, 64);
  EXPECT_EQ(options.eval.batch, 4);
  EXPECT_EQ(options.train.block, 32);
  EXPECT_EQ(options.device, "cpu");
  EXPECT_THROW(read_model_folder(folder.path(), {"model.span=8"}), UsageError);
  EXPECT_THROW(read_model_folder(folder.path(), {"eval.select=best"}), UsageError) << "training has chosen";
  EXPECT_THROW(read_model_folder(folder.path() / "none", {}), DataError);
}

TEST(Configuration, ASettingThatMakesNoDifferenceToItsUseIsRefused) {
  const TemporaryFolder folder;
  const auto accepted = [&](const std::string& type, WeightsUse use) {
    write_file(folder.path() / "config.yaml", "model: {type: " + type + "}\n");
    std::string keys;
    for (const char* setting :
         {"train.block=600", "train.precision=bfloat16", "train.tf32=true", "eval.batch=3", "eval.context=2000",
          "eval.max_windows=5", "eval.by_document=true", "model.window=20"}) {
      try {
        read_model_folder(folder.path(), {setting}, use);
        keys += std::string(setting).substr(0, std::string(setting).find('=')) + " ";
      } catch (const UsageError&) {
        continue;
      }
    }
    return keys;
  };
  using Use = WeightsUse;
  EXPECT_EQ(accepted("adaptive-span", Use::kEval),
            "train.block train.precision train.tf32 eval.batch eval.max_windows eval.by_document ");
  EXPECT_EQ(accepted("hourglass", Use::kEval),
            "train.block train.precision train.tf32 eval.batch eval.context eval.max_windows eval.by_document ");
  EXPECT_EQ(accepted("gpt2", Use::kEval),
            "train.precision train.tf32 eval.batch eval.max_windows eval.by_document model.window ");
  EXPECT_EQ(accepted("gpt2", Use::kEvalOverlap), "train.precision train.tf32 eval.batch eval.max_windows ");
  EXPECT_EQ(accepted("hourglass", Use::kSegment), "train.precision train.tf32 eval.context ");
  EXPECT_EQ(accepted("adaptive-span", Use::kSample), "train.block train.tf32 ");
  EXPECT_EQ(accepted("hourglass", Use::kSample), "train.tf32 eval.context ");
  EXPECT_EQ(accepted("gpt2", Use::kContinuation), "train.tf32 model.window ");
  EXPECT_EQ(accepted("adaptive-span", Use::kAnything),
            "train.block train.precision train.tf32 eval.batch eval.context eval.max_windows ");
}

TEST(Configuration, EveryOptionThatASchemeNamesIsThere) {
  std::set<std::string> keys{""};
  for (const OptionEntry& entry : option_entries(default_run_options(0))) keys.insert(entry.key);
  for (const char* named : {
#define XLM_SCHEME(kind, name, epoch, evaluation, reading) evaluation, reading,
#include "core/api/schemes.def"
#undef XLM_SCHEME
       }) {
    for (const std::string& key : split(named, ' ')) EXPECT_TRUE(keys.contains(key)) << key;
  }
}

TEST(Configuration, ModelYamlReadsBackAsTheModel) {
  const RunOptions options = read(std::string(kSmallest) + "eval: {batch: 5}\n");
  const TemporaryFolder folder;
  write_file(folder.path() / "config.yaml", model_yaml(options));
  const RunOptions again = read_model_folder(folder.path(), {});
  EXPECT_EQ(model_yaml(again), model_yaml(options));
  EXPECT_EQ(again.eval.batch, 5);
}

TEST(Configuration, DocumentationIsWhatTheSchemaSays) {
  const std::string page = read_file(fs::path(XLM_SOURCE_DIR) / "docs" / "configuration.md");
  EXPECT_EQ(page, configuration_reference(page))
      << "make it again: xlm train --print-reference > docs/configuration.md";
}

TEST(Configuration, ReferenceHasEveryKey) {
  const std::string page = configuration_reference("");
  for (const OptionEntry& entry : option_entries(default_run_options(0)))
    EXPECT_THAT(page, HasSubstr("`" + entry.key + "`"));
}

TEST(Configuration, WhatAFileRequiresMustBeGiven) {
  constexpr const char* kDemanding =
      "data: {path: d}\nmodel: {type: gpt2}\ntrain: {steps: 1}\nrequire: [model.pretrained]\n";
  EXPECT_THAT(complaint(kDemanding), AllOf(HasSubstr("run.yaml:4: model.pretrained is missing"),
                                           HasSubstr("add model.pretrained=…"), HasSubstr("Hugging Face")));
  EXPECT_THAT(complaint("data: {path: d}\nmodel: {type: gpt2, pretrained: nowhere}\ntrain: {steps: 1}\n"),
              HasSubstr("there is no nowhere/config.json"));
  EXPECT_NO_THROW(read(std::string(kSmallest) + "require: []\n"));
  EXPECT_NO_THROW(read(std::string(kSmallest) + "require: null\n"));  // a profile's way to take it away
  EXPECT_NO_THROW(read(std::string(kSmallest) + "require: [data.path]\n"));
}

TEST(Configuration, ARequiredPretrainedModelNeedsWeightsAndNotAConfigurationAlone) {
  const TemporaryFolder folder;
  write_file(folder.path() / "config.json", R"({"n_embd": 16, "n_head": 2, "n_layer": 1, "n_positions": 32})");
  const std::string run =
      fmt::format("data: {{path: d}}\nmodel: {{type: gpt2, window: 16, pretrained: {}}}\ntrain: {{steps: 1}}\n",
                  folder.path().string());
  EXPECT_NO_THROW(read(run)) << "without `require` a shape alone is enough";
  EXPECT_THAT([&] { read(run + "require: [model.pretrained]\n"); },
              ::testing::ThrowsMessage<DataError>(AllOf(HasSubstr("holds no weights"), HasSubstr("run.yaml:4"))));
  write_file(folder.path() / "model.safetensors", "weights");
  EXPECT_NO_THROW(read(run + "require: [model.pretrained]\n"));
}

TEST(Configuration, RequireNamesOptionsThatMayBeEmpty) {
  EXPECT_THAT(complaint(std::string(kSmallest) + "require: [model.init_form]\n"),
              AllOf(HasSubstr("run.yaml:4"), HasSubstr("no option of this run (did you mean 'model.init_from'?)")));
  EXPECT_THAT(complaint(std::string(kSmallest) + "require: [model.span]\n"), HasSubstr("always has a value"));
  EXPECT_THAT(complaint(std::string(kSmallest) + "require: model.init_from\n"), HasSubstr("must be a list of keys"));
  EXPECT_THAT(complaint(std::string(kSmallest) + "require: [[model.init_from]]\n"),
              HasSubstr("must be a list of keys"));
}

}  // namespace
}  // namespace xlm
