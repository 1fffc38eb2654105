// The quick reader of plain YAML: what it reads is what yaml-cpp reads, and the rest it leaves alone.
#include "base/plain_yaml.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace xlm {
namespace {

const auto kSource = std::make_shared<const std::string>("config.yaml");

TEST(PlainYaml, ReadsWhatYamlCppReads) {
  for (const char* text :
       {"a: 1\n", "a: 1", "a:\n  b: x\n  c:\n    d: -1e-06\nb: true\n", "a: null\nb: Null\n",
        "a: \"\"\nb: \"x: [y] # z\"\n", "a: [1, 2.5, -3]\nb: []\nc: {}\n", "a: [null, \"1\", x/y.z]\n",
        "a: \"null\"\nb: \"12\"\n", "1: 2\n1.5: 3\n", "a: 0x10\nb: 007\nc: .5\nd: +1\ne: 1-2\n",
        "path: /data/text8\nother: a-b_c/x.y\nname: a+b\n", "a:\n  b:\n    c:\n      d: 1\n  e: 2\nf: 3\n",
        "true: 1\nyes: no\n"}) {
    const std::optional<Yaml> plain = parse_plain_yaml(text, kSource);
    ASSERT_TRUE(plain.has_value()) << text;
    EXPECT_TRUE(*plain == parse_any_yaml(text, kSource)) << text;
  }
}

TEST(PlainYaml, LeavesTheRestToYamlCpp) {
  for (const char* text : {"",
                           "\n",
                           "a",
                           "a:",
                           "a:\n",
                           "a:1",
                           "a: \n",
                           "a: b c\n",
                           "a: b # c\n",
                           "# c\na: 1\n",
                           "a: 1\n\nb: 2\n",
                           "a: 'x'\n",
                           "a: \"x\\n\"\n",
                           "a: \"x\ny\"\n",
                           "a: \"x\n",
                           "a: x\"y\"\n",
                           "a: |\n  x\n",
                           "- a\n- b\n",
                           "a:\n- b\n",
                           "a:\n  - b\n",
                           "a: *b\n",
                           "a: &b 1\n",
                           "a: !!str 1\n",
                           "a: [1, [2]]\n",
                           "a: [1,2]\n",
                           "a: [1, ]\n",
                           "a: [1\n",
                           "a: {b: 1}\n",
                           "a: 1\n  b: 2\n",
                           "a:\n    b: 1\n",
                           "a:\n   b: 1\n",
                           "a:\n  b: 1\n c: 2\n",
                           " a: 1\n",
                           "a: 1\na: 2\n",
                           "null: 1\n",
                           "~: 1\n",
                           "a: ~\n",
                           "? a\n",
                           "a: 1\r\n",
                           "a:\t1\n",
                           "\ta: 1\n",
                           "a: é\n",
                           "é: 1\n",
                           "---\na: 1\n",
                           "a: 1\n---\n",
                           "a: 1\n...\n",
                           "a: -\n",
                           "a: --- \n",
                           "a: .\n",
                           "a: ...\n",
                           "-a: 1\n",
                           ".a: 1\n",
                           "a b: 1\n",
                           "\"a\": 1\n",
                           "<<: 1\n",
                           "a: @x\n",
                           "a: ./b\n",
                           "a: 1:2\n",
                           "a: b: c\n",
                           "a: \"\x01\"\n"}) {
    EXPECT_FALSE(parse_plain_yaml(text, kSource).has_value()) << text;
  }
  std::string deep;
  std::string wide;
  for (int i = 0; i < 30; ++i) deep += std::string(static_cast<std::size_t>(2 * i), ' ') + "a:\n";
  for (int i = 0; i < 300; ++i) wide += "key" + std::to_string(i) + ": 1\n";
  EXPECT_FALSE(parse_plain_yaml(deep + std::string(60, ' ') + "b: 1\n", kSource).has_value());
  EXPECT_FALSE(parse_plain_yaml(wide, kSource).has_value());
  EXPECT_EQ(parse_yaml(wide, "config.yaml").entries.size(), 300U);
}

TEST(PlainYaml, ReadsWhatIsPrinted) {
  const Json tree = {{"experiment", "spans"},
                     {"model", {{"span", 256}, {"lr", 0.07}, {"layers", {2, 8, 2}}, {"init", ""}}},
                     {"train", {{"tf32", false}, {"empty", Json::object()}, {"nothing", nullptr}}},
                     {"seed", 1}};
  const std::string text = to_text(yaml_from_json(tree, "tree"));
  const std::optional<Yaml> plain = parse_plain_yaml(text, kSource);
  ASSERT_TRUE(plain.has_value()) << text;
  EXPECT_EQ(to_json(*plain), tree);
}

}  // namespace
}  // namespace xlm
