// docs/tutorial.md and docs/cookbook.md are right: every command runs, and prints what the page shows.
#include <algorithm>
#include <cmath>
#include <optional>
#include <regex>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::IsEmpty;

/// A block of the page: its language, which is empty for commands with their output, and its text.
struct PageBlock {
  std::string language;
  std::string text;
};

std::vector<PageBlock> blocks_of(const std::string& page) {
  std::vector<PageBlock> blocks;
  bool open = false;
  for (const std::string& line : split(page, '\n')) {
    if (line.starts_with("```")) {
      open = !open;
      if (open) blocks.push_back({line.substr(3), ""});
    } else if (open) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string& word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

/// A word of the page with a number in it.
struct NumberWord {
  std::string before;
  double value = 0;
  std::string behind;
};

std::optional<NumberWord> number_word(const std::string& word) {
  static const std::regex form(R"(([^0-9+-]*)([-+]?[0-9][0-9,]*\.?[0-9]*(e[-+][0-9]+)?)([^0-9]*))");
  std::smatch parts;
  if (!std::regex_match(word, parts, form)) return std::nullopt;
  std::string digits = parts[2];
  std::erase(digits, ',');
  return NumberWord{parts[1], std::stod(digits), parts[4]};
}

bool are_near(double x, double y) { return std::abs(x - y) <= 0.25 * std::max(std::abs(x), std::abs(y)); }

/// The losses of a short training differ between processors. So a number must only be within a quarter of the printed
/// one.
bool is_nearly(const std::string& printed, const std::string& now) {
  const auto a = number_word(printed);
  const auto b = number_word(now);
  return a && b && a->before == b->before && a->behind == b->behind && are_near(a->value, b->value);
}

/// The middle of the interval "-0.176 to -0.105" that word k is an end of. Its width depends on the deviation of three
/// seeds, which differs between processors.
std::optional<double> middle_of_interval(const std::vector<std::string>& words, std::size_t k) {
  for (const std::size_t to : {k - 1, k + 1}) {
    if (to == 0 || to >= words.size() || to + 1 == words.size() || words[to] != "to") continue;
    const auto low = number_word(words[to - 1]);
    const auto high = number_word(words[to + 1]);
    if (low && high) return (low->value + high->value) / 2;
  }
  return std::nullopt;
}

bool has_nearly_the_middle(const std::vector<std::string>& printed, const std::vector<std::string>& now,
                           std::size_t k) {
  const auto a = middle_of_interval(printed, k);
  const auto b = middle_of_interval(now, k);
  return a && b && are_near(*a, *b);
}

/// Whether a word is the deviation of three seeds: a small difference of numbers, which varies more between processors
/// than these. It must only be a number like the printed one.
bool is_spread(const std::vector<std::string>& words, std::size_t k) {
  if (k == 0) return false;
  const bool is_deviation = words[k - 1] == "±" || words[k - 1] == "$\\pm$" || words[k - 1] == "effect";
  return is_deviation || (k > 1 && words[k - 2] == "p" && words[k - 1] == "=");
}

bool is_number_like(const std::string& printed, const std::string& now) {
  const auto a = number_word(printed);
  const auto b = number_word(now);
  return a && b && a->before == b->before && a->behind == b->behind && (a->value < 0) == (b->value < 0);
}

/// The lines that differ from the page; times may differ.
std::vector<std::string> differences(const std::string& printed, const std::string& now) {
  const std::vector<std::string> before = split(printed, '\n');
  const std::vector<std::string> after = split(now, '\n');
  if (before.size() != after.size()) return {"the page says:\n" + printed + "and now it is:\n" + now};
  std::vector<std::string> found;
  std::size_t seconds = std::string::npos;  // the place of a column of times
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::vector<std::string> a = words_of(before[i]);
    const std::vector<std::string> b = words_of(after[i]);
    if (const auto title = std::find(a.begin(), a.end(), "seconds"); title != a.end()) {
      seconds = static_cast<std::size_t>(title - a.begin());
    }
    bool same = a.size() == b.size();
    for (std::size_t k = 0; same && k < a.size(); ++k) {
      const bool is_time = k == seconds || (k + 1 < a.size() && a[k + 1] == "s");
      same = a[k] == b[k] || a[k].starts_with("──") || (is_time && !b[k].empty()) || is_nearly(a[k], b[k]) ||
             has_nearly_the_middle(a, b, k) || (is_spread(a, k) && is_number_like(a[k], b[k]));
    }
    if (!same) found.push_back(before[i] + "\nis now\n" + after[i]);
  }
  return found;
}

/// Follows a page from top to bottom in an empty folder.
class FollowedPage : public ::testing::Test {
 protected:
  /// Writes the page's YAML files, runs its `sh` blocks, and compares the output of its commands.
  void follow(const std::string& name, int least_commands) const {
    int commands = 0;
    for (const PageBlock& block : blocks_of(read_file(fs::path(XLM_SOURCE_DIR) / "docs" / name))) {
      if (block.language == "yaml") {
        ASSERT_TRUE(block.text.starts_with("# ")) << "the first line names the file";
        write_file(folder_.path() / block.text.substr(2, block.text.find('\n') - 2), block.text);
      } else if (block.language == "sh") {
        EXPECT_EQ(run(block.text).code, 0) << block.text;
      } else if (block.language.empty()) {
        check_commands(block.text);
        ++commands;
      }
    }
    EXPECT_GE(commands, least_commands);
  }

  ProgramResult run(const std::string& command) const {
    const std::string path = fs::path(XLM_BINARY).parent_path().string();
    return shell(folder_.path(), fmt::format("export PATH='{}':$PATH XLM='{}'\n{}", path, XLM_SOURCE_DIR, command));
  }

  /// `$ xlm …` with its output, several below each other with an empty line between them.
  void check_commands(const std::string& block) const {
    std::vector<std::string> parts;
    for (const std::string& line : split(block, '\n')) {
      if (line.starts_with("$ ")) parts.emplace_back();
      ASSERT_FALSE(parts.empty()) << "output without a command: " << line;
      parts.back() += line + "\n";
    }
    for (const std::string& part : parts) {
      const std::string command = part.substr(2, part.find('\n') - 2);
      const ProgramResult result = run(command);
      EXPECT_EQ(result.code, 0) << command << "\n" << result.err;
      std::string printed(trim(part.substr(part.find('\n') + 1)));
      std::string now(trim(result.out));
      if (command.starts_with("xlm sample ")) {  // samples depend on the last digit
        EXPECT_EQ(split(printed, '\n').size(), split(now, '\n').size()) << now;
        printed = printed.substr(0, printed.find("the type of ") + 12);
        now = now.substr(0, now.find("the type of ") + 12);
      }
      EXPECT_THAT(differences(printed, now), IsEmpty()) << command;
    }
  }

  TemporaryFolder folder_;
};

using Tutorial = FollowedPage;
using Cookbook = FollowedPage;

TEST_F(Tutorial, SaysWhatItsCommandsPrint) { follow("tutorial.md", 8); }

TEST_F(Cookbook, SaysWhatItsCommandsPrint) { follow("cookbook.md", 10); }

TEST(CookbookTest, FindsWrongOutputInAPage) {
  EXPECT_THAT(differences("loss 2.31 ± 0.02 in 3 s\ntrain,", "loss  2.40 ± 0.02 in 9 s\ntrain,"), IsEmpty());
  EXPECT_THAT(differences("run bpc seconds\na-1f2e 1.5 0.1", "run bpc seconds\na-1f2e 1.6 7.9"), IsEmpty());
  EXPECT_THAT(differences("95 % -0.176 to -0.105", "95 % -0.221 to -0.062"), IsEmpty()) << "the middle is the same";
  EXPECT_EQ(differences("95 % -0.176 to -0.105", "95 % -0.221 to +0.105").size(), 1U);
  EXPECT_EQ(differences("95 % -0.176 to -0.105", "95 % +0.062 to +0.221").size(), 1U);
  EXPECT_THAT(differences("p = 0.003, effect -9.8", "p = 2e-05, effect -36"), IsEmpty());
  EXPECT_EQ(differences("p = 0.003, effect -9.8", "p = 0.003, effect +9.8").size(), 1U);
  EXPECT_EQ(differences("loss 2.31", "loss 3.31").size(), 1U);
  EXPECT_EQ(differences("a-1f2e done", "a-1f2f done").size(), 1U);
  EXPECT_EQ(differences("3 runs done", "3 runs failed").size(), 1U);
  EXPECT_EQ(differences("one\ntwo", "one").size(), 1U);
}

}  // namespace
}  // namespace xlm
