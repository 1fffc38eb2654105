// The fast parser of JSON agrees with the thorough one on every text.
#include "base/json_parser.h"

#include <bit>
#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"

namespace xlm {
namespace {

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

}  // namespace
}  // namespace xlm
