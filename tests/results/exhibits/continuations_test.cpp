// Continuations: their description, the runs that make them, and their text.
#include "results/exhibits/continuations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "results/exhibits/exhibits.h"
#include "results/pages/exhibit_pages.h"
#include "tests/results/run_maker.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

constexpr const char* kTwo =
    "continuation: Both sides\n"
    "rows:\n"
    "  - {label: Fixed, where: {model.span_type: fixed}}\n"
    "  - {label: Adaptive, where: {model.span_type: adaptive}}\n"
    "prompts: [{document: 2, first: 11}, {document: 1}]\n"
    "prompt_tokens: 5\n";

ContinuationDescription described(const std::string& yaml) {
  return read_continuation_description(
      find_exhibits(parse_yaml(yaml, "recipe.yaml"), ExhibitKind::kContinuation).front());
}

std::string refused(const std::string& yaml) {
  return thrown_message([&] { described(yaml); });
}

TEST(ContinuationDescriptions, AreReadFromARecipe) {
  const ContinuationDescription description = described(std::string("experiment: e\nsweep: {}\n") + kTwo);
  EXPECT_EQ(description.title, "Both sides");
  EXPECT_EQ(description.name, "both-sides");
  ASSERT_EQ(description.rows.size(), 2U);
  EXPECT_EQ(description.rows[1].where[0].text(), "model.span_type=adaptive");
  ASSERT_EQ(description.prompts.size(), 2U);
  EXPECT_EQ(description.prompts[0].document, 2);
  EXPECT_EQ(description.prompts[0].first, 11);
  EXPECT_EQ(description.prompts[1].first, 1);
  EXPECT_EQ(description.split, "valid");
  EXPECT_EQ(description.prompt_tokens, 5);
  EXPECT_EQ(
      described("continuations:\n  - {continuation: T, rows: [{label: a}], prompts: [{first: 2}]}\n").prompt_tokens,
      300);
}

TEST(ContinuationDescriptions, ErrorsNameTheLine) {
  EXPECT_THAT(refused("continuation: T\nrows: [{label: a}]\n"), HasSubstr("need 'prompts', such as [{document: 1"));
  EXPECT_THAT(refused("continuation: T\nprompts: [{first: 1}]\n"), HasSubstr("need 'rows'"));
  EXPECT_THAT(refused("continuation: T\nrows: [{where: {seed: 1}}]\nprompts: [{first: 1}]\n"),
              HasSubstr("recipe.yaml:2: a row of 'rows' has no label"));
  EXPECT_THAT(refused("continuation: T\nrows: [{label: a}]\nprompts:\n  - {documents: 1}\n"),
              AllOf(HasSubstr("recipe.yaml:4"), HasSubstr("'document'")));
  EXPECT_THAT(refused("continuation: T\nrows: [{label: a}]\nprompts: [{first: 0}]\n"), HasSubstr("first"));
  EXPECT_THAT(refused("continuation: T\nrows: [{label: a}]\nprompts: []\n"), HasSubstr("must be a list"));
  EXPECT_THAT(refused("continuation: T\nrows: [{label: a}]\nprompts: [{first: 1}]\ntoken: 3\n"),
              HasSubstr("unknown key 'token'"));
  EXPECT_THAT(refused("table: T\nrows: a\n"), HasSubstr("describes no continuation"));
}

class ContinuationsTest : public ::testing::Test {
 protected:
  ContinuationsTest() {
    maker_.make({.id = "fixed-old", .type = "fixed", .time = 1000});
    maker_.make({.id = "fixed-new", .type = "fixed", .seed = 2, .time = 2000});
    maker_.make({.id = "fixed-running", .type = "fixed", .seed = 3, .state = "running", .time = 3000});
    maker_.make({.id = "adaptive", .type = "adaptive", .time = 1500});
    store_.sync(maker_.runs());
  }

  std::variant<Continuations, NothingToShow> found(const std::string& yaml) {
    RunTable runs(store_);
    return find_models(runs, described(yaml), {});
  }

  /// With possible texts of the models.
  Continuations answered() {
    Continuations both = std::get<Continuations>(found(kTwo));
    both.passages = {{{.document = 2, .first = 11}, "the <house> |\n", {"was\nold", "is & was"}},
                     {{.document = 1, .first = 1}, std::string(500, 'x') + " the end", {"", "b"}}};
    return both;
  }

  TemporaryFolder temporary_;
  RunMaker maker_{temporary_.path() / "runs"};
  Store store_ = Store::in_memory();
};

TEST_F(ContinuationsTest, ARowIsItsNewestRunThatIsDone) {
  const Continuations both = std::get<Continuations>(found(kTwo));
  ASSERT_EQ(both.models.size(), 2U);
  EXPECT_EQ(both.models[0].run, "fixed-new");
  EXPECT_EQ(both.models[1].run, "adaptive");
  ASSERT_EQ(both.notes.size(), 1U);
  EXPECT_EQ(both.notes[0], "Fixed: fixed-new, the newest of 2 runs; choose another with `where`");
}

TEST_F(ContinuationsTest, ARowWithoutAModelSaysWhy) {
  const Continuations some =
      std::get<Continuations>(found("continuation: T\nrows:\n  - {label: a}\n  - {label: b, where: {seed: 3}}\n"
                                    "  - {label: c, where: {model.span: 7}}\nprompts: [{first: 1}]\n"));
  EXPECT_EQ(some.models[1].missing, "none of 1 runs is done");
  EXPECT_EQ(some.models[2].missing, "no run yet");
  const auto none = found("continuation: T\nwhere: {seed: 3}\nrows: [{label: b}]\nprompts: [{first: 1}]\n");
  EXPECT_EQ(std::get<NothingToShow>(none).reason, "no run of 'T' is done");
}

TEST_F(ContinuationsTest, RunsOfDifferentDataHaveNoPromptInCommon) {
  maker_.make({.id = "elsewhere", .type = "dynamic"});
  write_file(RunPaths{maker_.folder("elsewhere")}.environment(),
             Json{{"dataset", "pg-19"}, {"language", ""}, {"fingerprint", "beef"}}.dump());
  store_ = Store::in_memory();
  store_.sync(maker_.runs());
  EXPECT_THAT(
      [&] {
        found(
            "continuation: T\nrows:\n  - {label: a, where: {model.span_type: fixed}}\n"
            "  - {label: b, where: {model.span_type: dynamic}}\nprompts: [{first: 1}]\n");
      },
      ThrowsMessage<UsageError>(AllOf(HasSubstr("different data (pg-19, text8)"), HasSubstr("where: {data.name: …}"))));
}

TEST_F(ContinuationsTest, TextNamesThePassageAndPutsTheModelsBelow) {
  const std::string text = continuations_text({answered()});
  EXPECT_THAT(text, HasSubstr("Both sides\n\nvalid split, document 2, tokens 11 to 15\n  the <house> |\n\n"
                              "  Fixed     was old\n  Adaptive  is & was\n"));
  EXPECT_THAT(text, HasSubstr("tokens 1 to 5\n  … the end\n"));
}

TEST_F(ContinuationsTest, JsonHoldsTheWholeOfThem) {
  const Json json = to_json(answered());
  EXPECT_EQ(json["models"][0]["run"], "fixed-new");
  EXPECT_EQ(json["passages"][0]["continuations"]["Fixed"], "was\nold");
  EXPECT_EQ(json["passages"][1]["prompt"].get<std::string>().size(), 508U);
  EXPECT_EQ(json["prompt_tokens"], 5);
}

TEST_F(ContinuationsTest, ALongPromptIsCutBetweenCharacters) {
  std::string prompt;
  for (int i = 0; i < 300; ++i) prompt += "é";  // no blank to cut at
  const std::string end = prompt_end(prompt);
  EXPECT_EQ(end, "… " + prompt.substr(200));
  EXPECT_EQ(prompt_end(prompt + "x"), "… " + prompt.substr(202) + "x") << "never in the middle of one";
}

TEST_F(ContinuationsTest, ThePageLinksToTheRunsAndHasTheWholePrompt) {
  const std::string page = continuations_page(store_, {answered()});
  EXPECT_THAT(page, HasSubstr("<h1>Both sides</h1>"));
  EXPECT_THAT(page,
              AllOf(HasSubstr("the &lt;house&gt; |"), HasSubstr("<td>is &amp; was</td>"), Not(HasSubstr("<house>"))));
  EXPECT_THAT(page, HasSubstr(std::string(500, 'x') + " the end</p>"));
  EXPECT_THAT(page, AllOf(HasSubstr("fixed-new"), HasSubstr("\"adaptive\"")));
  Continuations lacking = answered();
  lacking.models[0] = {.label = "Fixed", .run = "", .missing = "no run yet"};
  EXPECT_THAT(continuations_page(store_, {lacking}), HasSubstr("<td class=\"missing\">no run yet</td>"));
}

}  // namespace
}  // namespace xlm
