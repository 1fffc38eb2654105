// Continuations: how a token is chosen, and that every kind of reader agrees with computing the text at once.
#include "core/eval/sampling.h"
#include "bench/rerun_recorder.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/sha256.h"
#include "core/api/adaptive_span_options.h"
#include "core/api/gpt2_options.h"
#include "core/api/hourglass_options.h"
#include "core/models/model_folder.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

constexpr std::int64_t kLetters = 9;

Vocabulary nine_letters() {
  Vocabulary letters;
  for (const char* symbol : {"a", "b", "c", "d", " ", "é", "f", "g", "h"}) letters.symbols.emplace_back(symbol);
  return letters;
}

TEST(ChooseToken, IsGreedyAtTemperatureZero) {
  EXPECT_EQ(choose_token(torch::tensor({0.1, 2.0, 2.0, -1.0}), {}, 0), 1);
}

std::map<std::int64_t, double> shares(const TokenChoice& choice) {
  const torch::Tensor logits = torch::tensor({0.5, 0.1, 0.3, 0.1}).log();
  std::map<std::int64_t, double> counts;
  constexpr int kDraws = 4000;
  for (int place = 0; place < kDraws; ++place) counts[choose_token(logits, choice, place)] += 1.0 / kDraws;
  return counts;
}

TEST(ChooseToken, DrawsWithTheModelsProbabilities) {
  constexpr double kSpread = 0.03;  // four standard deviations of 4000 draws
  auto plain = shares({.temperature = 1});
  EXPECT_NEAR(plain[0], 0.5, kSpread);
  EXPECT_NEAR(plain[1], 0.1, kSpread);
  EXPECT_NEAR(plain[2], 0.3, kSpread);
  auto sharper = shares({.temperature = 0.5});
  EXPECT_NEAR(sharper[0], 0.25 / 0.36, kSpread);
  auto two = shares({.temperature = 1, .top_k = 2});
  EXPECT_EQ(two.size(), 2U);
  EXPECT_NEAR(two[2], 0.3 / 0.8, kSpread);
  EXPECT_EQ(shares({.temperature = 1, .top_p = 0.5}).size(), 1U);
  EXPECT_EQ(shares({.temperature = 1, .top_p = 0.7}).size(), 2U);
  EXPECT_EQ(shares({.temperature = 1, .seed = 1}), shares({.temperature = 1, .seed = 1}));
  EXPECT_NE(shares({.temperature = 1, .seed = 1}), shares({.temperature = 1, .seed = 2}));
}

std::vector<ModelOptions> sampled_models() {
  const Gpt2Options gpt2{.width = 16, .heads = 2, .layers = 2, .positions = 16, .window = 6, .overlap = 2};
  Gpt2Options recurrent = gpt2;
  recurrent.recurrence = {.pool = RecurrenceOptions::Pool::kMean, .hidden = {8}};
  Gpt2Options cache = gpt2;
  cache.memory = {.type = WindowMemoryOptions::Type::kCache, .windows = 2};
  Gpt2Options tokens = gpt2;
  tokens.memory = {.type = WindowMemoryOptions::Type::kTokens, .tokens = 3};
  return {AdaptiveSpanOptions{.width = 16, .heads = 2, .feed_forward = 32, .layers = 2, .span = 8, .span_ramp = 4},
          HourglassOptions{.width = 16,
                           .heads = 2,
                           .feed_forward = 32,
                           .layers = {1, 1, 1},
                           .boundaries = {.type = BoundaryOptions::Type::kFixed, .factor = 3}},
          gpt2,
          cache,
          tokens,
          recurrent};
}

/// Reads its window again for every token. A full window passes its state and its last O tokens to the next one.
class WindowReader final : public TextReader {
 public:
  explicit WindowReader(std::shared_ptr<LanguageModel> model)
      : model_(std::move(model)), state_(model_->initial_state(1)) {}

  torch::Tensor read(const torch::Tensor& tokens) override {
    const WindowShape shape = windows_of(*model_);
    torch::Tensor logits;
    for (std::int64_t begin = 0; begin < tokens.size(0);) {
      if (size() == shape.window) {
        state_ = next_;
        window_ = window_.narrow(0, shape.window - shape.overlap, shape.overlap);
      }
      const std::int64_t count = std::min(tokens.size(0) - begin, shape.window - size());
      const torch::Tensor added = tokens.narrow(0, begin, count);
      window_ = window_.defined() ? torch::cat({window_, added}) : added;
      ModelOutput output = model_->forward(ModelInput{.tokens = window_.unsqueeze(0), .scored = 1}, state_);
      logits = output.logits()[0][-1];
      next_ = std::move(output.state);
      begin += count;
    }
    return logits;
  }

 private:
  std::int64_t size() const { return window_.defined() ? window_.size(0) : 0; }

  std::shared_ptr<LanguageModel> model_;
  State state_;
  State next_;
  torch::Tensor window_;
};

TEST(Readers, GiveTheSameForAnyPieces) {
  for (const ModelOptions& options : sampled_models()) {
    torch::manual_seed(3);
    const auto model = make_model(options, nine_letters());
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor text = torch::randint(kLetters, {20});
    const torch::Tensor whole = model->scheme() == TextScheme::kWindows
                                    ? WindowReader(model).read(text)
                                    : scheme_of(*model).reader(model, {.block = 5, .context = 64})->read(text);
    const auto reader = make_reader(model, {.block = 7, .context = 64});
    torch::Tensor last;
    for (const auto& [begin, count] : std::vector<std::pair<std::int64_t, std::int64_t>>{{0, 9}, {9, 1}, {10, 10}}) {
      last = reader->read(text.narrow(0, begin, count));
    }
    EXPECT_TRUE(torch::allclose(last, whole, 1e-4, 1e-5)) << options.type();
  }
}

TEST(Readers, GiveTheSameByRecordings) {
  for (const ModelOptions& options : sampled_models()) {
    torch::manual_seed(3);
    const auto model = make_model(options, nine_letters());
    model->eval();
    const torch::NoGradGuard no_grad;
    const torch::Tensor text = torch::randint(kLetters, {60});
    const auto plain = make_reader(model, {.block = 7, .context = 64});
    const auto recorded =
        make_reader(model, {.block = 7, .context = 64, .recorder = [] { return std::make_unique<RerunRecorder>(); }});
    for (std::int64_t t = 0; t < text.size(0); t = t == 0 ? 9 : t + 1) {
      const torch::Tensor next = text.narrow(0, t, t == 0 ? 9 : 1);
      EXPECT_TRUE(torch::allclose(recorded->read(next), plain->read(next), 1e-4, 1e-5)) << options.type() << " " << t;
    }
  }
}

class SampleTest : public testing::Test {
 protected:
  SampleJob job(const ModelOptions& options) {
    torch::manual_seed(5);
    const auto model = make_model(options, nine_letters());
    write_model_folder(folder_.path() / "model", *model, nine_letters(), "model: {}\n");
    SampleJob job{.model = folder_.path() / "model", .prompt = "a cé", .tokens = 25};
    job.options.model = options;
    job.options.device = "cpu";
    return job;
  }
  TemporaryFolder folder_;
};

TEST_F(SampleTest, EveryModelContinuesAndStreamsWhatItReturns) {
  for (const ModelOptions& options : sampled_models()) {
    SampleJob asked = job(options);
    for (const double temperature : {0.0, 1.0}) {
      asked.temperature = temperature;
      std::string shown;
      const auto show = [&](const std::string& text) { return shown += text, true; };
      const Sample first = sample(asked, show);
      EXPECT_EQ(first.tokens.size(), 25U);
      EXPECT_EQ(first.prompt_tokens, 4);
      EXPECT_EQ(shown, first.text);
      EXPECT_EQ(sample(asked, show).tokens, first.tokens) << options.type();
    }
  }
}

TEST_F(SampleTest, AnEmptyPromptIsTheBeginningOfAText) {
  SampleJob asked = job(sampled_models().back());
  const auto show = [](const std::string&) { return true; };
  asked.prompt = "";
  const Sample sampled = sample(asked, show);
  EXPECT_EQ(sampled.prompt, "");
  EXPECT_EQ(sampled.prompt_tokens, 1) << "a blank, a line's end, or the end of the text before";
  EXPECT_EQ(sampled.tokens.size(), 25U);
}

TEST_F(SampleTest, PromptsThatCannotBeReadAreRefused) {
  SampleJob asked = job(sampled_models().back());
  const auto show = [](const std::string&) { return true; };
  for (const char* prompt : {"xyz", "a\xff"}) {
    asked.prompt = prompt;
    EXPECT_THROW(sample(asked, show), Error) << prompt;
  }
}

/// A model of nine letters in a folder, and a text of two documents in their ids.
class PassageTest : public testing::Test {
 protected:
  PassageTest() {
    const ModelOptions options = sampled_models().back();
    torch::manual_seed(3);
    write_model_folder(folder_.path() / "model", *make_model(options, kLetters), nine_letters(), "model: {}\n");
    job_.model = folder_.path() / "model";
    job_.options.model = options;
    job_.options.device = "cpu";
    job_.options.data.path = write_data().string();
    job_.tokens = 12;
  }

  /// Symbols in another order than the model's; the second document begins at token 5.
  fs::path write_data() {
    const fs::path data = folder_.path() / "data";
    create_folders(data);
    std::string ids;
    for (int i = 0; i < 40; ++i) ids += static_cast<char>(i * i % 9);
    const std::string vocabulary = R"({"unit": "character", "symbols": ["h", "g", "f", "é", " ", "d", "c", "b", "a"]})";
    Json meta = {{"dataset", "letters"}, {"language", ""}};
    meta["sizes"]["valid"] = ids.size();
    meta["documents"]["valid"] = {0, 5};
    meta["outputs"]["valid.bin"] = sha256(ids);
    meta["outputs"]["vocab.json"] = sha256(vocabulary);
    write_file(data / "valid.bin", ids);
    write_file(data / "vocab.json", vocabulary);
    write_file(data / "meta.json", meta.dump());
    return data;
  }

  Sample sampled() const {
    return sample(job_, [](const std::string&) { return true; });
  }

  std::string refusal(const Passage& passage) {
    job_.passage = passage;
    try {
      sampled();
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  }

  TemporaryFolder folder_;
  SampleJob job_;
};

TEST_F(PassageTest, ContinuesExactlyTheseTokensOfTheDocument) {
  job_.passage = Passage{.split = "valid", .document = 2, .first = 3, .tokens = 10};
  const Sample from_split = sampled();
  EXPECT_EQ(from_split.prompt_tokens, 10);
  const std::vector<std::string> symbols{"h", "g", "f", "é", " ", "d", "c", "b", "a"};
  std::string text;
  for (int i = 7; i < 17; ++i) text += symbols[static_cast<std::size_t>(i * i % 9)];
  EXPECT_EQ(from_split.prompt, text);
  job_.passage.reset();
  job_.prompt = text;
  const Sample from_text = sampled();
  EXPECT_EQ(from_split.tokens, from_text.tokens);
  EXPECT_EQ(from_split.text, from_text.text);
  EXPECT_EQ(from_text.prompt, text);
}

TEST_F(PassageTest, NamesWhatTheDataLack) {
  EXPECT_THAT(refusal({.document = 3, .tokens = 2}),
              testing::HasSubstr("there is no document 3: the valid split has 2"));
  EXPECT_THAT(refusal({.document = 1, .first = 2, .tokens = 5}),
              testing::HasSubstr("document 1 of the valid split has 5 tokens; the passage asks for 2 to 6"));
  EXPECT_THAT(refusal({.document = 0, .tokens = 2}), testing::HasSubstr("no document 0"));
  EXPECT_THAT(refusal({.split = "test", .tokens = 2}), testing::HasSubstr("test"));
  EXPECT_EQ(refusal({.document = 1, .first = 1, .tokens = 5}), "");
}

}  // namespace
}  // namespace xlm
