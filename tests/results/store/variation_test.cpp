// What runs behind one number differ in, and how that is said.
#include "results/store/variation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/results/run_maker.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CountedOver, NamesColumnsThatAreNotTheSeed) {
  EXPECT_EQ(counted_over(1, "seed"), "1 seed");
  EXPECT_EQ(counted_over(3, "seed"), "3 seeds");
  EXPECT_EQ(counted_over(1, "model.span"), "1 value of model.span");
}

class Variations : public ::testing::Test {
 protected:
  /// Rows of runs in the order of their ids.
  std::vector<std::size_t> rows(std::size_t count) const {
    std::vector<std::size_t> all(count);
    for (std::size_t row = 0; row < count; ++row) all[row] = row;
    return all;
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(Variations, KeysThatSayWhereARunWasMadeAreNoDifference) {
  maker_.make({.id = "a", .seed = 1});
  maker_.make({.id = "b", .seed = 1});
  const fs::path config = RunPaths{maker_.folder("b")}.config();
  write_file(config, read_file(config) + "device: cuda\n");
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(differing_keys(runs, rows(2)), IsEmpty());
  Variation variation(runs, "seed");
  variation.add(rows(2));
  EXPECT_TRUE(variation.is_mixed()) << "one seed, two runs";
  EXPECT_EQ(variation.text(), "2 runs");
}

TEST_F(Variations, WhereWeightsOfOneContentLieIsNoDifference) {
  const auto make = [&](const std::string& id, const std::string& content) {
    maker_.make({.id = id});
    const fs::path config = RunPaths{maker_.folder(id)}.config();
    write_file(config, read_file(config) + fmt::format("weights: /{}/weights\n", id));
    const Json data = {
        {"dataset", "text8"}, {"language", ""}, {"fingerprint", "f00d"}, {"contents", {{"weights", content}}}};
    write_file(RunPaths{maker_.folder(id)}.environment(), data.dump());
  };
  make("a", "one");
  make("b", "one");
  make("c", "other");
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(differing_keys(runs, {0, 1}), IsEmpty());
  EXPECT_THAT(differing_keys(runs, {0, 2}), ElementsAre("weights"));
}

TEST_F(Variations, AFingerprintIsADifferenceOnlyBelowOneName) {
  const auto make = [&](const std::string& id, const std::string& name, char digit) {
    maker_.make({.id = id});
    const Json data = {{"dataset", name}, {"language", ""}, {"fingerprint", std::string(64, digit)}};
    write_file(RunPaths{maker_.folder(id)}.environment(), data.dump());
  };
  make("a", "text8", 'a');
  make("b", "pg-19", 'b');
  make("c", "text8", 'c');
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(differing_keys(runs, {0, 1}), ElementsAre("data.name"));
  EXPECT_THAT(differing_keys(runs, {0, 2}), ElementsAre("data.fingerprint"));
  EXPECT_THAT(differing_keys(runs, {0, 1, 2}), ElementsAre("data.fingerprint", "data.name"));
  EXPECT_EQ(shown_text(runs.column("data.fingerprint")[2]), "cccccccc");
  EXPECT_EQ(shown_hash(std::string(63, 'c')), std::string(63, 'c'));
}

TEST_F(Variations, AKeyThatSomeRunsLackIsADifference) {
  maker_.make({.id = "a"});
  maker_.make({.id = "b"});
  const fs::path config = RunPaths{maker_.folder("b")}.config();
  write_file(config, read_file(config) + "note: {of: mine}\n");
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(differing_keys(runs, rows(2)), ElementsAre("note.of"));
}

TEST_F(Variations, SeedsOfOneSettingAreADifferenceBesideAnotherSetting) {
  maker_.make({.id = "a", .span = 64, .seed = 1});
  maker_.make({.id = "b", .span = 64, .seed = 2});
  maker_.make({.id = "c", .span = 256, .seed = 1});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(differing_keys(runs, rows(3)), ElementsAre("model.span", "seed"));
}

TEST_F(Variations, EvaluationsDifferInTheSettingsTheyWereMadeWith) {
  maker_.make({.id = "a"});
  maker_.evaluate({.id = "a"}, "test", 3, {{"eval.batch", 1}});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(differing_keys(runs, rows(2)), ElementsAre("at.eval.batch"));
}

TEST_F(Variations, OnlyWhatWasMeasuredIsOfACorpus) {
  maker_.make({.id = "a"});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  const auto corpus = [&](const std::string& column) { return corpora_of(runs, rows(1), {column, "params"}).front(); };
  for (const char* measured : {"test.bpc", "valid.loss", "=test.bpc*params"}) EXPECT_EQ(corpus(measured), "text8");
  for (const char* set : {"train.steps", "eval.batch", "=2*train.steps", "test.bpc@data.name=pg-19"}) {
    EXPECT_EQ(corpus(set), "") << set;
  }
}

TEST_F(Variations, APartOfACorpusIsAnotherText) {
  maker_.make({.id = "a"});
  maker_.evaluate({.id = "a"}, "test", 3, {{"eval.max_windows", 5}});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(corpora_of(runs, rows(2), {"test.bpc"}), ElementsAre("text8", "text8 (its first 5 windows)"));
}

/// Numbers for each byte of one text are of one corpus, whatever its unit and its name; all others are not.
TEST_F(Variations, ATextInOtherUnitsIsOneCorpusForEachByte) {
  const auto write_data = [&](const std::string& id, const std::string& name, const Json& texts) {
    maker_.make({.id = id});
    write_file(RunPaths{maker_.folder(id)}.environment(),
               Json{{"dataset", name}, {"language", ""}, {"fingerprint", "of " + name}, {"texts", texts}}.dump());
  };
  const Json text = {{"valid", "aaaa"}, {"test", "bbbb"}};
  write_data("a", "mine-char", text);
  write_data("b", "mine-bpe", text);
  write_data("c", "mine-bytes", {{"valid", "aaaa"}, {"test", "cccc"}});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  EXPECT_THAT(corpora_of(runs, rows(3), {"test.bits_per_byte", "params"}),
              ElementsAre("mine-char", "mine-char", "mine-bytes"));
  EXPECT_THAT(corpora_of(runs, rows(3), {"valid.bits_per_byte"}), ElementsAre("mine-char", "mine-char", "mine-char"));
  EXPECT_THAT(corpora_of(runs, rows(3), {"test.bpc"}), ElementsAre("mine-char", "mine-bpe", "mine-bytes"));
  EXPECT_THAT(corpora_of(runs, rows(3), {"test.bits_per_byte", "test.bpc"}),
              ElementsAre("mine-char", "mine-bpe", "mine-bytes"));
  EXPECT_EQ(differing_keys(runs, rows(2)), std::vector<std::string>{"data.name"})
      << "the texts themselves are no setting";
}

TEST_F(Variations, SayWhatAllNumbersTogetherAreMadeOf) {
  maker_.make_sweep({"fixed"}, {64, 256}, {1, 2});
  store_.sync(maker_.runs());
  RunTable runs(store_);
  Variation seeds(runs, "seed");
  EXPECT_EQ(seeds.text(), "");
  EXPECT_THAT(seeds.add({0}), IsEmpty());
  EXPECT_EQ(seeds.text(), "") << "a run is its own number";
  EXPECT_THAT(seeds.add({0, 1}), IsEmpty());
  EXPECT_EQ(seeds.text(), "up to 2 seeds");
  EXPECT_FALSE(seeds.is_mixed());
  EXPECT_THAT(seeds.add({0, 2}), ElementsAre("model.span"));
  EXPECT_TRUE(seeds.is_mixed());
  EXPECT_EQ(seeds.text(), "up to 2 runs that differ in model.span and seed");
  Variation spans(runs, "model.span");
  EXPECT_THAT(spans.add({0, 2}), IsEmpty());
  EXPECT_EQ(spans.text(), "2 values of model.span");
}

}  // namespace
}  // namespace xlm
