// YAML trees: positions, merging, overrides, printing, and everything that is refused.
#include "base/yaml.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "base/words.h"
#include "tests/growth.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

std::string message_of(const std::string& text) {
  return thrown_message([&] { parse_yaml(text, "file.yaml"); });
}

TEST(Yaml, RemembersThePositionsOfValues) {
  const Yaml tree = parse_yaml("a: 1\nb:\n  c: [x, y]\n", "file.yaml");
  EXPECT_EQ(tree.find("a")->where(), "file.yaml:1");
  EXPECT_EQ(tree.find("b")->find("c")->where(), "file.yaml:3");
  EXPECT_EQ(tree.find("b")->find("c")->items.at(1).scalar, "y");
}

/// As Python's json module writes them.
TEST(Yaml, ReadsCharactersBeyondU_FFFFOfJson) {
  const auto value = [](const std::string& text) { return parse_yaml(text, "a.json").find("a")->scalar; };
  EXPECT_EQ(value(R"({"a": "\ud83d\ude00"})"), "😀");
  EXPECT_EQ(value(R"({"a": "\uD83D\uDE00 and \ud800\udc00\n\u00e9"})"), "😀 and 𐀀\né");
  EXPECT_EQ(value(R"({"a": "\\ud83d\\ude00 \ud83d\ude00"})"), R"(\ud83d\ude00 😀)") << "backslashes that are text";
  EXPECT_EQ(value(R"({a: '\ud83d\ude00'})"), R"(\ud83d\ude00)") << "text of YAML";
  EXPECT_EQ(value(R"({"a": "\udbff\udfff"})"), "\U0010FFFF");
  EXPECT_THROW(value(R"({"a": "\ud83d"})"), UsageError) << "half a character";
  EXPECT_THROW(value(R"({"a": "\ude00\ud83d"})"), UsageError);
}

TEST(Yaml, RefusesEverythingButOneMap) {
  EXPECT_EQ(message_of("a: 1\na: 2\n"), "file.yaml:2: the key 'a' is given twice");
  EXPECT_TRUE(message_of("a: [1\n").starts_with("file.yaml:"));
  EXPECT_TRUE(message_of("[1, 2]: 3\n").find("not text") != std::string::npos);
  EXPECT_TRUE(message_of("a: 1\n---\nb: 2\n").find("more than one") != std::string::npos);
  // The LoadAll of yaml-cpp before 0.9 never returns for these.
  for (const std::string endless : {",", "[],", "{},", ", b: 1"}) {
    EXPECT_TRUE(message_of(endless).starts_with("file.yaml:")) << endless << message_of(endless);
  }
  EXPECT_TRUE(message_of(std::string("a: \0b", 5)).find("zero byte") != std::string::npos);
  for (const std::string& key : {std::string(401, 'k'), std::string("\"a\\u0001\"")}) {
    EXPECT_EQ(message_of(key + ": 1\n"), "file.yaml:1: a key that is longer than a line, or has control characters");
  }
  EXPECT_EQ(message_of("a: 1\nb: !path x\n"), "file.yaml:2: the tag '!path'; values have no tags here");
  EXPECT_EQ(message_of("a: 1\nb: \xC1\n"), "file.yaml:2: byte 9 of the text is not UTF-8; save it as UTF-8");
  EXPECT_TRUE(message_of(std::string(2'000'000, 'a')).find("longer") != std::string::npos);
}

TEST(Yaml, RefusesAbsurdNestingAndExplodingAliases) {
  EXPECT_TRUE(message_of(std::string(100'000, '[')).find("levels deep") != std::string::npos);
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  EXPECT_TRUE(message_of(deep).find("levels deep") != std::string::npos);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before;
    for (int j = 0; j < 9; ++j) bomb += ", " + before;
    bomb += "]\n";
  }
  EXPECT_TRUE(message_of(bomb).find("more than 200000 values") != std::string::npos);
}

TEST(Yaml, AMissingFileIsAUsageError) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_yaml(folder.path() / "absent.yaml"), UsageError);
}

TEST(Yaml, MergeReplacesLeavesAndListsAndMergesMaps) {
  const Yaml base = parse_yaml("a: {b: 1, c: [1, 2]}\nd: 3\n", "base");
  const Yaml over = parse_yaml("a: {c: [9]}\ne: 4\n", "over");
  EXPECT_EQ(to_json(merge(base, over)).dump(), R"({"a":{"b":1,"c":[9]},"d":3,"e":4})");
}

TEST(Yaml, OverridesSetDottedPaths) {
  Yaml tree = parse_yaml("optimizer: {lr: 0.1}\n", "file");
  apply_override(tree, "optimizer.lr=0.01");
  apply_override(tree, "model.layers=[2,8,2]");
  apply_override(tree, "name=a=b");
  EXPECT_EQ(to_json(tree).dump(), R"({"optimizer":{"lr":0.01},"model":{"layers":[2,8,2]},"name":"a=b"})");
  EXPECT_THROW(apply_override(tree, "optimizer"), UsageError);
  EXPECT_THROW(apply_override(tree, "=1"), UsageError);
  EXPECT_THROW(apply_override(tree, "optimizer.lr.x=1"), UsageError);
}

// Recursive functions walk, copy and destroy a tree, so its depth must be limited.
TEST(Yaml, NoTextAndNoPathMakesATreeTooDeep) {
  const auto repeated = [](const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  };
  for (const int times : {200, 60'000}) {
    Yaml tree = parse_yaml("a: {b: 1}\n", "file");
    EXPECT_THROW(apply_override(tree, repeated("a.", times) + "a=1"), UsageError) << times;
    EXPECT_THROW(apply_override(tree, "x." + repeated("y.", times) + "z=1"), UsageError) << times;
    EXPECT_EQ(to_json(tree).dump(), R"({"a":{"b":1}})");
    for (const char* nested : {"[", "{", "{a: ", "- ", "? ", "a:\n ", "&a ", "!!map {"}) {
      EXPECT_THROW(parse_yaml(repeated(nested, times), "file"), UsageError) << nested << times;
    }
  }
  EXPECT_NO_THROW({
    Yaml tree = make_map("file");
    apply_override(tree, repeated("a.", 50) + "a=1");
  });
}

TEST(Yaml, ScalarsFollowYaml12) {
  const Yaml tree = parse_yaml("[1, -2, 1.5, 1e-3, true, null, ~, '1', \"true\", !!str 1, word, 0x10]\n", "file");
  EXPECT_EQ(to_json(tree).dump(), R"([1,-2,1.5,0.001,true,null,null,"1","true","1","word",16])");
}

TEST(Yaml, ScalarsOfYaml11FollowYaml12) {
  const Yaml words = parse_yaml("[True, TRUE, False, FALSE, tRUE, yes, No, on, OFF, y, 'True']\n", "file");
  EXPECT_EQ(to_json(words).dump(), R"([true,true,false,false,"tRUE","yes","No","on","OFF","y","True"])");
  const Yaml numbers =
      parse_yaml("[017, 0o17, 0O17, 0xfF, 0xg, 1_000, 1:30, 0b11, +7, +-7, .5, 5., 1e3, .inf, 0o]\n", "file");
  EXPECT_EQ(to_json(numbers).dump(),
            R"([17,15,"0O17",255,"0xg","1_000","1:30","0b11",7,"+-7",0.5,5.0,1000.0,".inf","0o"])");
  EXPECT_EQ(to_text(parse_yaml("['0b11', '.inf', '.NaN', '0bx', 'on', '.x']", "file")),
            "[\"0b11\", \".inf\", \".NaN\", 0bx, \"on\", .x]\n")
      << "what others take for no text is in quotes";
  for (const Yaml& tree : {words, numbers}) {
    EXPECT_EQ(to_json(parse_yaml(to_text(tree), "printed")), to_json(tree)) << to_text(tree);
  }
}

TEST(Yaml, MergingKeysOfYaml11AreRefusedByName) {
  EXPECT_EQ(message_of("a: &a {x: 1}\nb:\n  <<: *a\n"),
            "file.yaml:3: '<<' merges maps in YAML 1.1 alone, and this is YAML 1.2\nwrite the keys out");
  EXPECT_EQ(message_of("a: {'<<': 1}\n"), "") << "in quotes it is a plain key";
}

std::string overridden(const std::string& value) {
  Yaml tree = make_map("file");
  try {
    apply_override(tree, "a=" + value);
  } catch (const UsageError& error) {
    return error.what();
  }
  return to_json(tree)["a"].dump();
}

TEST(Yaml, OverridesKeepEverythingInQuotes) {
  for (const std::string text :
       {"spans,v2", "a #b",  "#1",      "it's",       "say \"x\"", "a=b",  " x ", "*x", "a: b", "|",     "C:\\new",
        "- x",      "--- x", "!!str x", "two\nlines", "",          "true", "007", "é",  "[1]",  "{a: 1}"}) {
    EXPECT_EQ(overridden(quoted_word(text)), Json(text).dump());
    std::string single;
    for (const char c : text) single += c == '\'' ? "''" : std::string(1, c);
    EXPECT_EQ(overridden(" '" + single + "' "), Json(text).dump());
  }
}

TEST(Yaml, OverridesNeverDropUnquotedText) {
  for (const std::string text :
       {"a #b", "#1", "#", "--- x", "!!str x", "&x y", "|", "> ", "a\nb", "[1, 2] #3", "[1] #]"}) {
    EXPECT_THAT(overridden(text), ::testing::HasSubstr("YAML reads only a part of this")) << text;
  }
  EXPECT_EQ(overridden("a #b"),
            "'a=a #b': YAML reads only a part of this as the value\nput the value in quotes: \"a #b\"");
  EXPECT_THAT(overridden("'a' #b"), ::testing::HasSubstr("follows the quotes"));
  EXPECT_THAT(overridden("'a"), ::testing::HasSubstr("the quote is not closed"));
  for (const std::string text : {"a#b", "it's", "a,b", "say \"x\"", "/x/#1"})
    EXPECT_EQ(overridden(text), Json(text).dump());
  EXPECT_EQ(overridden("['a #b', c#d]"), R"(["a #b","c#d"])");
  EXPECT_EQ(overridden(" 5 "), "5");
}

TEST(Yaml, PrintedTreesReadBackTheSame) {
  const std::string text =
      "a: 1\nb:\n  c: [1, 2, [3, x]]\n  empty: {}\nlist:\n  - {x: 1, y: {z: \"a: b\"}}\n  - plain\n  - \"12\"\n"
      "none: null\nwords: \"two words\"\nquote: \"\\\"\"\n'odd key: ': 1\n";
  const Yaml tree = parse_yaml(text, "file");
  const std::string printed = to_text(tree);
  EXPECT_EQ(to_json(parse_yaml(printed, "printed")), to_json(tree)) << printed;
  EXPECT_EQ(to_text(parse_yaml(printed, "printed")), printed);
}

TEST(Yaml, QuotedWordsForNullStayText) {
  const Yaml tree = parse_yaml("[null, Null, NULL, ~, 'null', 'Null', 'NULL', '~', '', NuLL]\n", "file");
  const std::string meaning = R"([null,null,null,null,"null","Null","NULL","~","","NuLL"])";
  EXPECT_EQ(to_json(tree).dump(), meaning);
  EXPECT_EQ(to_json(parse_yaml(to_text(tree), "printed")).dump(), meaning) << to_text(tree);
  const Yaml keys = parse_yaml("'NULL': 1\n'': 2\n'~': 3\n", "file");
  EXPECT_EQ(to_json(parse_yaml(to_text(keys), "printed")), to_json(keys)) << to_text(keys);
}

/// PyYAML 6 reads each of the first row as a truth value, a date or a number where it stands without quotes.
TEST(Yaml, TextsThatAreNoneForOtherReadersAreQuoted) {
  for (const std::string text : {"no", "On", "2024-05-01", "1_000", "1e-05", "+1_000", "0x1_F", "0b1_0", ".5_0",
                                 "+.inf", ".NaN", "1.2.3", "12"}) {
    EXPECT_EQ(to_text(yaml_from_json({{"a", text}}, "json")), "a: \"" + text + "\"\n");
  }
  for (const std::string text : {"north", "gpt2", "0xg", "x.5", "a/b.c", "e5"}) {
    EXPECT_EQ(to_text(yaml_from_json({{"a", text}}, "json")), "a: " + text + "\n");
  }
}

TEST(Yaml, JsonSurvivesARoundTrip) {
  const Json value = {{"a", 1}, {"b", {1.5, "x", nullptr, true}}, {"s", "1"}};
  EXPECT_EQ(to_json(yaml_from_json(value, "json")), value);
}

/// PyYAML 6 takes 1e-05 for a text.
TEST(Yaml, NumbersAreNumbersForOtherReaders) {
  for (const auto& [number, text] :
       {std::pair(1e-5, "1.0e-05"), {-2e30, "-2.0e+30"}, {1.5e-7, "1.5e-07"}, {0.1, "0.1"}}) {
    EXPECT_EQ(to_text(yaml_from_json({{"a", number}}, "json")), fmt::format("a: {}\n", text));
    EXPECT_EQ(to_json(yaml_from_json({{"a", number}}, "json"))["a"], number);
  }
}

TEST(Yaml, ManyKeysTakeTimeInProportion) {
  const auto parse = [](int keys) {
    std::string text;
    for (int i = 0; i < keys; ++i) text += fmt::format("{:x}: 1\n", i);
    return [text] { parse_yaml(text, "f"); };
  };
  EXPECT_LT(growth(parse(5000), parse(80000)), 64);
  const auto merging = [](int keys) {
    Yaml base = make_map("f");
    Yaml over = make_map("f");
    for (int i = 0; i < keys; ++i) {
      base.entries.emplace_back(fmt::format("a{:x}", i), make_scalar("1", "f"));
      over.entries.emplace_back(fmt::format("b{:x}", i), make_scalar("1", "f"));
    }
    return [base, over] { merge(base, over); };
  };
  EXPECT_LT(growth(merging(2500), merging(40000)), 64);
}

}  // namespace
}  // namespace xlm
