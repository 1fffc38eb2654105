// Typed options from one description: strict reading, listing.
#include "base/options.h"

#include <gtest/gtest.h>

#include "tests/thrown_message.h"

namespace xlm {
namespace {

enum class Shade { kDark, kLight };
constexpr std::array<std::string_view, 2> kShadeNames{"dark", "light"};

struct Inner {
  double rate = 0.5;
  void visit(OptionVisitor& v) {
    v.field({.name = "rate", .help = "a rate", .min = 0, .max = 1, .open_max = true}, rate);
  }
};

struct Options {
  std::int64_t count = 3;
  bool flag = false;
  std::string name = "x";
  std::vector<std::int64_t> layers{12};
  Shade shade = Shade::kDark;
  Inner inner;
  void visit(OptionVisitor& v) {
    v.field({.name = "count", .help = "how many", .min = 1}, count);
    v.field({.name = "flag", .help = "whether"}, flag);
    v.field({.name = "name", .help = "what", .affects_result = false}, name);
    v.field({.name = "layers", .help = "one or three", .min = 0}, layers);
    v.field({.name = "shade", .help = "which"}, shade, kShadeNames);
    v.group("inner", "nested", inner);
  }
};

Options read(const std::string& text) {
  const Yaml tree = parse_yaml(text, "f.yaml");
  Options options;
  OptionReader reader(tree);
  options.visit(reader);
  reader.finish();
  return options;
}

std::string complaint(const std::string& text) {
  return thrown_message([&] { read(text); });
}

TEST(Options, ReadsEveryType) {
  const Options options =
      read("count: 2e3\nflag: true\nname: '7'\nlayers: [2, 8, 2]\nshade: light\ninner: {rate: 0.25}\n");
  EXPECT_EQ(options.count, 2000);
  EXPECT_TRUE(options.flag);
  EXPECT_EQ(options.name, "7");
  EXPECT_EQ(options.layers, (std::vector<std::int64_t>{2, 8, 2}));
  EXPECT_EQ(options.shade, Shade::kLight);
  EXPECT_EQ(options.inner.rate, 0.25);
}

TEST(Options, KeepsDefaultsAndTakesASingleNumberAsAList) {
  EXPECT_EQ(read("").count, 3);
  EXPECT_EQ(read("layers: 4").layers, (std::vector<std::int64_t>{4}));
  EXPECT_EQ(read("inner:").inner.rate, 0.5);
}

TEST(Options, ComplaintsNameFileLineKeyAndTheNearestRightOne) {
  EXPECT_EQ(complaint("flag: true\ncuont: 1\n"), "f.yaml:2: unknown key 'cuont' (did you mean 'count'?)");
  EXPECT_EQ(complaint("inner:\n  rat: 1\n"), "f.yaml:2: unknown key 'rat' in 'inner' (did you mean 'rate'?)");
  EXPECT_EQ(complaint("rate: 1\ninner: {rate: 0.25}\n"), "f.yaml:1: unknown key 'rate' (did you mean 'inner.rate'?)");
  EXPECT_EQ(complaint("count: 0"), "f.yaml:1: count is 0, it must be ≥ 1");
  EXPECT_EQ(complaint("inner: {rate: 1}"), "f.yaml:1: inner.rate is 1, it must be ≥ 0, < 1");
  EXPECT_EQ(complaint("count: many"), "f.yaml:1: count must be a whole number, not 'many'");
  EXPECT_EQ(complaint("count: 1.5"), "f.yaml:1: count must be a whole number, not '1.5'");
  EXPECT_EQ(complaint("count: '1'"), "f.yaml:1: count must be a whole number, not '1'");
  EXPECT_EQ(complaint("flag: yes"), "f.yaml:1: flag must be true or false, not 'yes'");
  EXPECT_EQ(complaint("name: [a]"), "f.yaml:1: name must be text, not a list");
  EXPECT_EQ(complaint("inner: 3"), "f.yaml:1: inner must be a map of options, not '3'");
  EXPECT_EQ(complaint("shade: lihgt"),
            "f.yaml:1: shade must be one of dark, light, not 'lihgt' (did you mean 'light'?)");
  EXPECT_EQ(complaint("layers: [1, x]"), "f.yaml:1: layers must be a whole number or a list of them, not 'x'");
  EXPECT_EQ(complaint("inner: {rate: nan}"), "f.yaml:1: inner.rate must be a number, not 'nan'");
  EXPECT_EQ(complaint("[1]"), "f.yaml:1: expected a map of options");
}

TEST(Options, NumbersFollowYaml12AndOthersAreNamed) {
  EXPECT_EQ(read("count: 0x10").count, 16);
  EXPECT_EQ(read("count: 0o17").count, 15);
  EXPECT_EQ(read("count: 017").count, 17);
  EXPECT_TRUE(read("flag: True").flag);
  EXPECT_EQ(read("name: 1_000").name, "1_000");
  EXPECT_EQ(complaint("count: 1_000"),
            "f.yaml:1: count must be a whole number, not '1_000' (YAML 1.2 has no _ in numbers)");
  EXPECT_EQ(complaint("count: 1:30"),
            "f.yaml:1: count must be a whole number, not '1:30' (YAML 1.2 has no numbers to the base 60)");
  EXPECT_EQ(complaint("layers: [0b1]"),
            "f.yaml:1: layers must be a whole number or a list of them, not '0b1' (YAML 1.2 has no binary numbers)");
  EXPECT_EQ(complaint("inner: {rate: -.Inf}"),
            "f.yaml:1: inner.rate must be a number, not '-.Inf' (numbers are finite here)");
  EXPECT_EQ(complaint("inner: {rate: '0.5'}"), "f.yaml:1: inner.rate must be a number, not '0.5'");
}

TEST(Options, AreListedWithDottedKeys) {
  Options options;
  OptionLister lister;
  options.visit(lister);
  ASSERT_EQ(lister.entries().size(), 6U);
  EXPECT_EQ(lister.entries()[0].key, "count");
  EXPECT_EQ(lister.entries()[0].range, "≥ 1");
  EXPECT_FALSE(lister.entries()[2].affects_result);
  EXPECT_EQ(lister.entries()[3].value, Json(12));
  EXPECT_EQ(lister.entries()[4].range, "one of dark, light");
  EXPECT_EQ(lister.entries()[5].key, "inner.rate");
}

}  // namespace
}  // namespace xlm
