// The fast parser of JSON agrees with the thorough one on every text.
#include "base/json_parser.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;

/// With the type of every value, because an integer must stay one.
std::string with_types(const Json& value) {
  std::string text = fmt::format("{} {} ", value.type_name(), value.is_number_integer());
  if (!value.is_structured()) return text + value.dump(-1, ' ', true);
  for (const auto& [key, item] : value.items()) text += fmt::format("({} {})", key, with_types(item));
  return text;
}

TEST(JsonParser, AgreesWithTheOtherParser) {
  JsonParser parser;
  std::vector<std::string> texts{"",
                                 " ",
                                 "1",
                                 "-1",
                                 "-0",
                                 "-0.0",
                                 "1.5",
                                 "1e400",
                                 "-1e400",
                                 "1e-400",
                                 "18446744073709551615",
                                 "18446744073709551616",
                                 "-9223372036854775808",
                                 "-9223372036854775809",
                                 "9223372036854775808",
                                 "123456789012345678901234567890",
                                 "01",
                                 "+1",
                                 ".5",
                                 "1.",
                                 "0x1",
                                 "NaN",
                                 "Infinity",
                                 "nan",
                                 "null",
                                 "true",
                                 "nul",
                                 "\"a\"",
                                 "\"\\u00e9\\n\\u0000\"",
                                 "\"\\ud83d\\ude00\"",
                                 "\"\\ud83d\"",
                                 "\"\xe9\"",
                                 "\"\xc3\xa9\"",
                                 "\"\x01\"",
                                 "\"a",
                                 "[1, 2,]",
                                 "[1 2]",
                                 "[]",
                                 "{}",
                                 "{\"a\":1,\"b\":[1,null]}",
                                 "{\"a\":1,\"b\":2,\"a\":3}",
                                 "{\"a\":1}x",
                                 "{\"a\":1} ",
                                 "{a:1}",
                                 "{\"a\" 1}",
                                 "{\"\":{\"\":[]}}",
                                 "[1,[2,[3,[4]]]]",
                                 "{\"x\":1.7976931348623157e308,\"y\":5e-324,\"z\":0.1}",
                                 "\xef\xbb\xbf{}",
                                 std::string("{\"a\":1}\0", 8)};
  for (const int depth : {49, 50, 51, 99, 100, 101, 200}) {
    texts.push_back(std::string(static_cast<std::size_t>(depth), '[') +
                    std::string(static_cast<std::size_t>(depth), ']'));
  }
  for (const std::string& text : texts) {
    const std::optional<Json> expected = parse_json_if_any(text);
    const std::optional<Json> found = parser.parse(text);
    ASSERT_EQ(found.has_value(), expected.has_value()) << text;
    if (found) {
      EXPECT_EQ(with_types(*found), with_types(*expected)) << text;
    }
  }
}

TEST(JsonParser, NumbersReadBackToTheLastBit) {
  JsonParser parser;
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    const double value = std::bit_cast<double>(random_bits(7, 1, i));
    if (!std::isfinite(value)) continue;
    EXPECT_EQ(parser.parse(json_number(value))->get<double>(), value);
  }
}

TEST(JsonParser, FindsTheTextOfAFieldOrLeavesItToTheOtherParser) {
  JsonParser parser;
  const auto field = [&](std::string_view object) { return parser.text_field(object, "text"); };
  EXPECT_EQ(field(R"({"id": 7, "text": "a\u00e9\nb", "more": {"text": 1}})"), "a\xc3\xa9\nb");
  EXPECT_EQ(field(R"({"text": ""})"), "");
  for (const char* other : {R"({"text": "a", "text": "b"})", R"({"text": null})", R"({"text": 1})", R"({"id": 1})",
                            R"(["text"])", R"({"text": "a)", R"({"text": "a", "n": 123456789012345678901234567890})"}) {
    EXPECT_EQ(field(other), std::nullopt) << other;
  }
}

TEST(JsonParser, GivesNamesByTheirNumbers) {
  JsonParser parser;
  EXPECT_THAT(parser.numbered_names(R"({"b": 1, "\u0120a": 0, "": 2})"), Optional(ElementsAre("\xc4\xa0"
                                                                                              "a",
                                                                                              "b", "")));
  for (const char* other : {"{}", "[]", R"({"a": 0, "b": 2})", R"({"a": 0, "b": 0})", R"({"a": 0, "a": 1})",
                            R"({"a": "0"})", R"({"a": -1})", R"({"a": 0.0})", R"({"a": 4000000000})", R"({"a": 0)"}) {
    EXPECT_EQ(parser.numbered_names(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace xlm
