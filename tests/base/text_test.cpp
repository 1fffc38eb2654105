// Texts for users: numbers, durations, suggestions, tables, progress.
#include "base/text.h"

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdlib>
#include <limits>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/progress.h"
#include "base/random.h"
#include "base/terminal.h"
#include "tests/growth.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

TEST(Text, HumanNumbers) {
  EXPECT_EQ(human_count(950), "950");
  EXPECT_EQ(human_count(38'100'000), "38.1M");
  EXPECT_EQ(human_count(999'600), "1.00M");
  EXPECT_EQ(human_count(0.5), "0.5");
  EXPECT_EQ(human_bytes(512), "512 B");
  EXPECT_EQ(human_bytes(3'100'000), "3.10 MB");
  EXPECT_EQ(human_duration(3.21), "3.2 s");
  EXPECT_EQ(human_duration(250), "4 min 10 s");
  EXPECT_EQ(human_duration(7500), "2 h 05 min");
  EXPECT_EQ(human_duration(60.0 * 60 * 24 * 3), "3 d 00 h");
  EXPECT_EQ(human_duration(-1), "?");
}

TEST(Text, DurationsAreRoundedAndChangeTheirUnitsAtWholeOnes) {
  EXPECT_EQ(human_duration(59.94), "59.9 s");
  EXPECT_EQ(human_duration(59.95), "1 min 00 s") << "not 60.0 s";
  EXPECT_EQ(human_duration(3599.4), "59 min 59 s");
  EXPECT_EQ(human_duration(3599.5), "1 h 00 min");
  EXPECT_EQ(human_duration(7529), "2 h 05 min");
  EXPECT_EQ(human_duration(7530), "2 h 06 min");
  EXPECT_EQ(human_duration(48.0 * 3600 - 31), "47 h 59 min");
  EXPECT_EQ(human_duration(48.0 * 3600 - 30), "2 d 00 h");
  EXPECT_EQ(human_duration(77.0 * 3600), "3 d 05 h");
  EXPECT_EQ(human_duration(std::numeric_limits<double>::infinity()), "?");
}

TEST(Text, SuggestsOnlySimilarWords) {
  EXPECT_EQ(did_you_mean("tarin", {"train", "eval"}), " (did you mean 'train'?)");
  EXPECT_EQ(did_you_mean("zebra", {"train", "eval"}), "");
  EXPECT_EQ(did_you_mean("lr", {"ls", "optimizer.lr"}), " (did you mean 'optimizer.lr'?)");
  EXPECT_EQ(did_you_mean("r", {"optimizer.lr"}), "");
  EXPECT_EQ(did_you_mean("list", {"rm", "ls"}), " (did you mean 'ls'?)");
  EXPECT_EQ(did_you_mean("listing", {"ls", "li"}), "");
  EXPECT_EQ(which_instead("tarin", {"train", "eval"}), " (did you mean 'train'?)");
  EXPECT_EQ(which_instead("zebra", {"train", "eval"}), "; it takes train, eval");
  EXPECT_EQ(which_instead("zebra", {}), "");
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3U);
  EXPECT_EQ(edit_distance("ab", "ba"), 1U);
}

TEST(Text, ParsesWholeNumbersOnly) {
  std::int64_t integer = 0;
  double real = 0;
  EXPECT_TRUE(parse_integer("-12", integer) && integer == -12);
  EXPECT_FALSE(parse_integer("12x", integer) || parse_integer("", integer) ||
               parse_integer("99999999999999999999", integer));
  EXPECT_TRUE(parse_real("2.5e-4", real) && real == 2.5e-4);
  EXPECT_FALSE(parse_real("inf", real) || parse_real("nan", real) || parse_real("1 ", real));
}

TEST(Text, SplitsTrimsAndMeasures) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  EXPECT_EQ(split("a,,b", ','), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(trim(" \t x y \n"), "x y");
  EXPECT_EQ(display_width("näïve"), 5U);
  EXPECT_EQ(display_width("日本"), 4U);
  EXPECT_EQ(display_width("\xff\xfe"), 2U);
  EXPECT_EQ(display_width("\033[31mred\033[0m"), 3U);
  EXPECT_EQ(display_width("\033[3"), 1U) << "no colour sequence ends there";
}

TEST(Terminal, CutsALineBetweenCharacters) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const Terminal narrow{.is_terminal = true, .width = 11};
  EXPECT_EQ(cut_to_line(narrow, "0123456789"), "0123456789");
  EXPECT_EQ(cut_to_line(narrow, "01234567890"), "0123456789");
  EXPECT_EQ(cut_to_line(narrow, "日本日本日本"), "日本日本日");
  EXPECT_EQ(cut_to_line({.width = 0}, "0123456789"), "012345678");
}

TEST(TextTable, CutsLongTextsInLinearTime) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const auto render = [](const std::string& piece, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += piece;
    TextTable table({{"name"}, {"text"}});
    table.add({"a", text});
    return [table, text] {
      table.render(TextTable::Format::kText, 80);
      cut_cell(text, 20);
      cut_to_line({.is_terminal = true, .width = 80}, text);
    };
  };
  for (const char* piece : {"a", "日本", "é ", "\033[31ma\033[0m", "\xff"}) {
    EXPECT_LT(growth(render(piece, 2000), render(piece, 32000)), 64) << piece;
  }
  EXPECT_EQ(cut_cell("日本日本", 5), "日本…");
  EXPECT_EQ(cut_cell("日本日本", 4), "日…");
  EXPECT_EQ(cut_cell("\xff\xff\xff\xff", 3), "\xff\xff…");
  EXPECT_EQ(cut_cell("abc", 1), "…");
}

TEST(TextTable, AlignsShortensAndQuotes) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  TextTable table({{"name"}, {"bpc", true}});
  table.add({"a long name of a run", "1.25"});
  table.add({"x,\"y\"", "10"});
  EXPECT_EQ(table.render(TextTable::Format::kText),
            "name                   bpc\n────────────────────  ────\na long name of a run  1.25\nx,\"y\"               "
            "    10\n");
  EXPECT_TRUE(table.render(TextTable::Format::kText, 18).starts_with("name           bpc\n─"));
  EXPECT_NE(table.render(TextTable::Format::kText, 18).find("a long name…"), std::string::npos)
      << table.render(TextTable::Format::kText, 18);
  EXPECT_EQ(table.render(TextTable::Format::kCsv), "name,bpc\na long name of a run,1.25\n\"x,\"\"y\"\"\",10\n");
  EXPECT_NE(table.render(TextTable::Format::kMarkdown).find("| a long name of a run | 1.25 |"), std::string::npos);
}

TEST(Terminal, UsesColoursOnlyIfAvailable) {
  EXPECT_EQ(paint({}, Colour::kRed, "x"), "x");
  EXPECT_EQ(paint({.is_terminal = true, .colour = true}, Colour::kRed, "x"), "\033[31mx\033[0m");
}

/// The output of a progress bar with a clock that the test sets.
std::string progress_output(Terminal terminal) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&buffer, &size);
  {
    double now = 0;
    Progress progress({.label = "training", .total = 100}, out, terminal, [&] { return now; });
    for (int step = 1; step <= 100; ++step) {
      now += 0.5;
      progress.update(step, "1.5 bpc");
    }
  }
  std::fclose(out);
  std::string text(buffer, size);
  std::free(buffer);
  return text;
}

TEST(Progress, WithoutATerminalPrintsPlainLines) {
  const std::string text = progress_output({});
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);  // 50 seconds
  EXPECT_NE(text.find("training  20 %  20/100 steps  1.5 bpc  2 steps/s  40.0 s left\n"), std::string::npos) << text;
}

TEST(Progress, TheRateIsThatOfThisProcess) {
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&buffer, &size);
  {
    double now = 0;
    Progress progress({.label = "training", .total = 100}, out, {}, [&] { return now; });
    progress.start_at(60);
    now = 10;
    progress.update(80);
  }
  std::fclose(out);
  const std::string text(buffer, size);
  std::free(buffer);
  EXPECT_EQ(text, "training  80 %  80/100 steps  2 steps/s  10.0 s left\n");
}

TEST(Progress, OnATerminalOneLineIsRedrawnAndCleared) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  const std::string text = progress_output({.is_terminal = true, .colour = true, .width = 60});
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(text.ends_with("\r\033[K"));
}

TEST(Progress, TwoLinesFitAndAreClearedBelowNotes) {
  std::setlocale(LC_CTYPE, "C.UTF-8");
  char* buffer = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&buffer, &size);
  {
    double now = 0;
    Progress progress({.label = "train", .total = 100, .rate = false, .two_lines = true}, out,
                      {.is_terminal = true, .width = 40}, [&] { return now; });
    now = 1;
    progress.update(1, "2.345 bpc  span 314/8192  12.3k tok/s  saved at 90");
    progress.note("step 1 was good");
    progress.update(100, "2.3 bpc");  // at once, without a pause: the last state stays on the screen
  }
  std::fclose(out);
  const std::string text(buffer, size);
  std::free(buffer);
  EXPECT_EQ(text.find("saved"), std::string::npos) << "it does not fit";
  EXPECT_NE(text.find("\033[A\r\033[Jstep 1 was good\ntrain"), std::string::npos) << text;
  EXPECT_NE(text.find("100/100 steps\n      2.3 bpc"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("\033[A\r\033[J"));
}

TEST(Random, IsAFunctionOfItsPlaceAndUniform) {
  EXPECT_EQ(random_bits(1, 2, 3), random_bits(1, 2, 3));
  EXPECT_NE(random_bits(1, 2, 3), random_bits(1, 2, 4));
  EXPECT_NE(random_bits(1, 2, 3), random_bits(1, 3, 2));
  std::array<int, 10> counts{};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    const std::int64_t below = random_below(10, random_bits(7, 1, i));
    ASSERT_TRUE(below >= 0 && below < 10);
    ++counts[static_cast<std::size_t>(below)];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
  EXPECT_LT(random_unit(~0ULL), 1.0);
}

TEST(Random, OrdersArePermutationsThatAreAllLikely) {
  std::map<std::vector<std::int64_t>, int> counts;
  for (std::uint64_t seed = 0; seed < 24'000; ++seed) {
    std::vector<std::int64_t> order = random_order(4, seed);
    ++counts[order];
    std::sort(order.begin(), order.end());
    ASSERT_EQ(order, (std::vector<std::int64_t>{0, 1, 2, 3}));
  }
  EXPECT_EQ(counts.size(), 24U);
  for (const auto& [order, count] : counts) EXPECT_NEAR(count, 1000, 155);  // five deviations
  EXPECT_TRUE(random_order(0, 1).empty());
}

TEST(Text, QuotesWordsForTheShell) {
  EXPECT_EQ(shell_word("/plain/path-1.0"), "/plain/path-1.0");
  EXPECT_EQ(shell_word("it's"), R"('it'\''s')");
  EXPECT_EQ(shell_word(""), "''");
  EXPECT_EQ(shell_word(R"(a\b)"), R"('a'\\'b')");
}

/// Words as the shell itself reads them: every byte alone, before and after a letter, doubled, and all in one.
TEST(Text, AShellReadsAQuotedWordAsItWas) {
  std::vector<std::string> texts{"", "~", "a=b", "-n", "$(id)", "`id`", "a'\"\\\n$b"};
  std::string all;
  for (int byte = 1; byte < 256; ++byte) {
    const std::string c(1, static_cast<char>(byte));
    all += c;
    for (const std::string& text : {c, "a" + c, c + "a", c + c}) texts.push_back(text);
  }
  texts.push_back(all);
  std::string script = "printf '%s\\0'";
  for (const std::string& text : texts) script += " " + shell_word(text);
  const TemporaryFolder folder;
  write_file(folder.path() / "script", script + "\n");
  for (const char* shell : {"sh", "bash"}) {
    const std::string command = fmt::format("{0} '{1}/script' >'{1}/out'", shell, folder.path().string());
    ASSERT_EQ(std::system(command.c_str()), 0);
    std::vector<std::string> words = split(read_file(folder.path() / "out"), '\0');
    ASSERT_EQ(words.size(), texts.size() + 1) << shell;
    words.pop_back();
    EXPECT_EQ(words, texts) << shell;
  }
}

TEST(Text, AddressesAreShownWithoutUsersAndPasswords) {
  for (const auto& [text, shown] : std::vector<std::pair<std::string, std::string>>{
           {"http://bob:S3CRET@host/x", "http://host/x"},
           {"a https://bob@host:8/x b ftp://x:y@z", "a https://host:8/x b ftp://z"},
           {"--miror=HTTP://u:p@q@host", "--miror=HTTP://host"},
           {"https://host/~me@x?y@z#a@b", "https://host/~me@x?y@z#a@b"},
           {"'http://u:p@host'", "'http://host'"},
           {"http://u:p@", "http://"},
           {"http:// u@h", "http:// u@h"},
           {"a@b: //c@d", "a@b: //c@d"},
           {"://", "://"},
           {"", ""}}) {
    EXPECT_EQ(without_logins(text), shown);
  }
}

TEST(Text, PrintableShowsControlCharacters) {
  EXPECT_EQ(printable("a\tb\nä – λ"), "a\tb\nä – λ");
  EXPECT_EQ(printable("\x1b]0;title\x07\r\x7f"), "\\x1b]0;title\\x07\\x0d\\x7f");
  EXPECT_EQ(printable("\xC2\x9B[31m"), "\\x9b[31m");
  EXPECT_EQ(printable("\x1b[90mgrey\x1b[1m\x1b[35m\x1b[2m\x1b[310m"), "\x1b[90mgrey\x1b[1m\\x1b[35m\\x1b[2m\\x1b[310m");
  EXPECT_EQ(printable("\x1b[31mred\x1b[0m \x1b[1A"), "\x1b[31mred\x1b[0m \\x1b[1A") << "our own colours";
}

TEST(TextTables, NamesCannotChangeTheScreen) {
  TextTable table({{"na\nme"}, {"b"}});
  table.add({"two\nlines", "\x1b[2J"});
  EXPECT_EQ(table.render(TextTable::Format::kText), "na me      b\n─────────  ───────\ntwo lines  \\x1b[2J\n");
  EXPECT_EQ(table.render(TextTable::Format::kMarkdown),
            "| na me     | b       |\n| --------- | ------- |\n| two lines | \\x1b[2J |\n");
  EXPECT_EQ(table.render(TextTable::Format::kCsv), "\"na\nme\",b\n\"two\nlines\",\x1b[2J\n")
      << "CSV is data for programs";
}

TEST(Text, NamesAreListedAsASentenceDoes) {
  EXPECT_EQ(listed_names({}, 2), "");
  EXPECT_EQ(listed_names({"a"}, 2), "a");
  EXPECT_EQ(listed_names({"a", "b"}, 2), "a and b");
  EXPECT_EQ(listed_names({"a", "b", "c"}, 2), "a, b and c") << "'1 more' would be no shorter";
  EXPECT_EQ(listed_names({"a", "b", "c", "d"}, 2), "a, b and 2 more");
}

TEST(Text, TheFirstNamesAreListedAndTheOthersCounted) {
  EXPECT_EQ(some_listed({}, 2), "");
  EXPECT_EQ(some_listed({"a", "b"}, 2), "a, b");
  EXPECT_EQ(some_listed({"a", "b", "c"}, 2), "a, b and 1 more");
  EXPECT_EQ(some_listed({"a", "b", "c"}, 1), "a and 2 more");
}

}  // namespace
}  // namespace xlm
