// xlm compare over documents: two trained models on the same text.
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cmd/results_commands_fixture.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class CompareDocuments : public ResultsCommands {
 protected:
  static constexpr int kDocuments = 150;
  static constexpr const char* kSides = "compare model.span_type=fixed model.span_type=adaptive ";

  /// A run whose losses of documents are `shift` nats a token above those of the text itself, up and down by 0.1.
  void make_run(const std::string& type, int seed, double shift, const Json& other = Json::object()) {
    const MadeRun run{.id = fmt::format("{}-{}", type, seed), .type = type, .seed = seed, .bpc = 1.5 + shift};
    maker_.make(run);
    Json record = {{"step", 100}, {"split", "test"}, {"of", "documents"}, {"each", 1}};
    record["tokens"] = Json::array();
    record["sums"] = Json::array();
    for (int i = 0; i < kDocuments; ++i) {
      const int tokens = 50 + i % 7;
      const double hardness = 1 + 0.5 * std::sin(i);
      record["tokens"].push_back(tokens);
      record["sums"].push_back(tokens * (hardness + shift + (shift == 0 ? 0 : 0.1 * std::cos(3 * i))));
    }
    record.update(other);
    maker_.journal(run).append("losses", record);
  }

  /// The mean loss of a token that make_run gives to `shift`, less that of 0.
  static double expected(double shift) {
    double sum = 0;
    double tokens = 0;
    for (int i = 0; i < kDocuments; ++i) {
      sum += (50 + i % 7) * (shift + 0.1 * std::cos(3 * i));
      tokens += 50 + i % 7;
    }
    return sum / tokens;
  }
};

TEST_F(CompareDocuments, TellsApartWhatOneSeedCannot) {
  make_run("fixed", 1, 0.03);
  make_run("adaptive", 1, 0);
  const Json compared = json(std::string(kSides) + "--value test.loss");
  EXPECT_TRUE(compared["p"].is_null()) << "one seed of each";
  const Json& documents = compared["documents"];
  EXPECT_EQ(documents["parts"], kDocuments);
  EXPECT_EQ(documents["of"], "150 documents");
  EXPECT_NEAR(documents["difference"].get<double>(), expected(0.03), 1e-9);
  const double half = 1.96 * 0.1 / std::sqrt(2.0) / std::sqrt(kDocuments);  // of a cosine's deviation
  EXPECT_NEAR(documents["low"].get<double>(), expected(0.03) - half, 0.3 * half);
  EXPECT_NEAR(documents["high"].get<double>(), expected(0.03) + half, 0.3 * half);
  EXPECT_LT(documents["p"].get<double>(), 0.001);
  const Json in_bits = json(kSides)["documents"];
  EXPECT_NEAR(in_bits["difference"].get<double>(), expected(0.03) / std::numbers::ln2, 1e-9) << "of test.bpc";
  const std::string text = xlm(kSides).out;
  EXPECT_THAT(text, HasSubstr("\nover documents: A − B = +0.0"));
  EXPECT_THAT(text, HasSubstr(" by Student's t over 150 documents\n"));
  EXPECT_THAT(text, HasSubstr("these trained models differ on this text; whether new seeds would, only seeds tell\n"));
}

TEST_F(CompareDocuments, AveragesSeedsDocumentByDocument) {
  make_run("fixed", 1, 0.03);
  make_run("fixed", 2, 0.05);
  make_run("adaptive", 1, 0);
  make_run("adaptive", 2, 0);
  const Json compared = json(std::string(kSides) + "--value test.loss");
  EXPECT_NEAR(compared["documents"]["difference"].get<double>(), (expected(0.03) + expected(0.05)) / 2, 1e-9);
  EXPECT_EQ(compared["pairs"], 2) << "the test over seeds is there too";
}

TEST_F(CompareDocuments, NeedsNoSeedInCommon) {
  make_run("fixed", 1, 0.03);
  make_run("adaptive", 2, 0);
  const Json compared = json(std::string(kSides) + "--value test.loss");
  EXPECT_TRUE(compared["test"].is_null());
  EXPECT_TRUE(compared["p"].is_null());
  EXPECT_NEAR(compared["difference"].get<double>(), 0.03 * 0.6931, 1e-9) << "of what the evaluations say";
  EXPECT_NEAR(compared["documents"]["difference"].get<double>(), expected(0.03), 1e-9);
  EXPECT_THAT(xlm(kSides).out,
              HasSubstr("undecided: single seeds do not show how much seeds differ: train more seeds\n"));
  maker_.make({.id = "adaptive-2", .type = "adaptive", .seed = 2});
  make_run("adaptive", 2, 0, {{"step", 50}});
  EXPECT_EQ(xlm(kSides).code, 3) << "without losses nothing can be tested";
}

TEST_F(CompareDocuments, SaysIfTheyAreNotToldApart) {
  make_run("fixed", 1, 0.0005);
  make_run("adaptive", 1, 0);
  EXPECT_THAT(xlm(kSides).out, HasSubstr("these trained models are not told apart on this text"));
}

TEST_F(CompareDocuments, SaysWhyThereIsNoTest) {
  make_run("fixed", 1, 0.03);
  maker_.make({.id = "adaptive-1", .type = "adaptive"});
  EXPECT_THAT(xlm(kSides).out, HasSubstr("no test over documents: 1 of 2 runs kept the losses of documents\n"
                                         "`xlm eval RUN --split test eval.by_document=true` adds them\n"));
  make_run("adaptive", 1, 0, {{"of", "tokens"}, {"each", 5000}});
  EXPECT_THAT(json(kSides)["documents"]["problem"].get<std::string>(), HasSubstr("different tokens of the text"));
  make_run("adaptive", 1, 0, {{"step", 50}});
  EXPECT_THAT(json(kSides)["documents"]["problem"].get<std::string>(), HasSubstr("1 of 2 runs"))
      << "of weights that are not the model";
}

/// The test splits of two texts may have equally many tokens, as those of text8 and enwik8 do.
TEST_F(CompareDocuments, ComparesNoDifferentTextsOfOneSize) {
  make_run("fixed", 1, 0.03);
  for (const auto& [name, fingerprint] : {std::pair("text8", "f00d"), {"enwik8", "beef"}, {"text8", "beef"}}) {
    make_run("adaptive", 1, 0);
    write_file(RunPaths{maker_.folder("adaptive-1")}.environment(),
               Json{{"dataset", name}, {"language", ""}, {"fingerprint", fingerprint}}.dump());
    const Json documents = json(kSides)["documents"];
    const bool same = name == std::string("text8") && fingerprint == std::string("f00d");
    EXPECT_EQ(documents.contains("p"), same) << name;
    EXPECT_THAT(documents.value("problem", ""), HasSubstr(same ? "" : "or on different texts")) << name;
  }
}

/// Journals have the losses of a run's own evaluations alone.
TEST_F(CompareDocuments, TakesNoLossesOfRunsForThoseOfOtherEvaluations) {
  make_run("fixed", 1, 0.03);
  maker_.evaluate({.id = "fixed-1"}, "test", 1.6, {{"eval.batch", 16}});
  maker_.evaluate({.id = "fixed-1"}, "test", 1.7, {{"eval.batch", 32}});
  for (const char* sides : {"at.eval.batch=16 at.eval.batch=8", "at.eval.batch=16 at.eval.batch=32"}) {
    const std::string arguments = fmt::format("compare {}", sides);
    EXPECT_THAT(xlm(arguments).out, HasSubstr("no test over documents: evaluations with other settings than their "
                                              "run's own keep no losses of documents\n"))
        << sides;
    EXPECT_EQ(json(arguments)["pairs"], 1) << sides;
  }
  make_run("adaptive", 1, 0);
  maker_.evaluate({.id = "adaptive-1"}, "test", 1.5, {{"eval.batch", 16}});
  EXPECT_FALSE(json(std::string(kSides) + "--value test.bpc@eval.batch=16").contains("documents"));
  EXPECT_EQ(json(std::string(kSides) + "--where at.eval.batch=8")["documents"]["parts"], kDocuments)
      << "those are the runs' own";
}

TEST_F(CompareDocuments, NeedsThirtyScoredParts) {
  const auto make = [&](int scored) {
    Json few = {{"tokens", Json::array({0})}, {"sums", Json::array({0})}};
    for (int i = 0; i < scored; ++i) {
      few["tokens"].push_back(50);
      few["sums"].push_back(60 + i);
    }
    make_run("fixed", 1, 0.03, few);
    for (Json& sum : few["sums"]) sum = sum.get<double>() - 1;
    make_run("adaptive", 1, 0, few);
  };
  make(1);
  EXPECT_THAT(xlm(kSides).out, HasSubstr("no test over documents: 1 part of the text has scored tokens, and an "
                                         "interval takes 30 or more\n"));
  make(29);
  const Json too_few = json(kSides)["documents"];
  EXPECT_FALSE(too_few.contains("p"));
  EXPECT_THAT(too_few.value("problem", ""), HasSubstr("29 parts of the text have scored tokens"));
  make(30);
  EXPECT_EQ(json(kSides)["documents"]["parts"], 30);
}

/// A long wave over the text: its parts say little more than a few of them would.
TEST_F(CompareDocuments, PartsThatAreAlikeCountForLess) {
  Json waves = {{"tokens", Json::array()}, {"sums", Json::array()}};
  for (int i = 0; i < kDocuments; ++i) {
    waves["tokens"].push_back(50);
    waves["sums"].push_back(60 + std::sin(i / 20.0));
  }
  make_run("fixed", 1, 0.03, waves);
  for (Json& sum : waves["sums"]) sum = 60;
  make_run("adaptive", 1, 0, waves);
  EXPECT_THAT(xlm(kSides).out, HasSubstr("no test over documents: neighbours among 150 documents are so alike that"));
}

TEST_F(CompareDocuments, IsOfSumsOverTokensAlone) {
  make_run("fixed", 1, 0.03);
  make_run("adaptive", 1, 0);
  for (const char* column : {"test.average_span", "valid.bpc", "params"}) {
    EXPECT_FALSE(json(fmt::format("{}--value {}", kSides, column)).contains("documents")) << column;
  }
  EXPECT_THAT(xlm(std::string(kSides) + "--value valid.bpc").out, Not(HasSubstr("documents")));
}

}  // namespace
}  // namespace xlm
