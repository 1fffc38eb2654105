// The header of safetensors files: types of every version, and linear time in the number of tensors.
#include "base/safetensors_header.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::string safetensors_file(const std::string& header, std::size_t bytes) {
  const std::uint64_t length = header.size();
  std::string file(sizeof(length), '\0');
  std::memcpy(file.data(), &length, sizeof(length));
  return file + header + std::string(bytes, '\0');
}

std::string tensor_of(const std::string& type, std::size_t elements, std::size_t bytes) {
  return fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[0,{}]}})", type, elements, bytes);
}

TEST(SafetensorsHeader, KnowsTheSizeOfEveryType) {
  for (const auto& [type, elements, bytes] :
       std::vector<std::tuple<std::string, std::size_t, std::size_t>>{{"BOOL", 3, 3},
                                                                      {"U8", 3, 3},
                                                                      {"F8_E4M3", 3, 3},
                                                                      {"F16", 3, 6},
                                                                      {"BF16", 3, 6},
                                                                      {"U16", 3, 6},
                                                                      {"U32", 3, 12},
                                                                      {"F32", 3, 12},
                                                                      {"U64", 3, 24},
                                                                      {"I64", 3, 24},
                                                                      {"C64", 3, 24},
                                                                      {"F4", 6, 3},
                                                                      {"F64", 3, 24},
                                                                      {"F6_E2M3", 4, 3},
                                                                      {"F8_E8M0", 3, 3},
                                                                      {"I8", 3, 3}}) {
    const std::string right = safetensors_file("{\"a\":" + tensor_of(type, elements, bytes) + "}", bytes);
    const SafetensorsHeader header = parse_safetensors_header(right, "x");
    ASSERT_EQ(header.entries.size(), 1U) << type;
    EXPECT_EQ(header.entries.front().type, type);
    const std::string wrong = safetensors_file("{\"a\":" + tensor_of(type, elements + 8, bytes) + "}", bytes);
    EXPECT_THAT([&] { parse_safetensors_header(wrong, "x"); },
                ThrowsMessage<DataError>(HasSubstr("'a' has offsets that do not fit its shape")))
        << type;
  }
  EXPECT_THAT([] { parse_safetensors_header(safetensors_file("{\"a\":" + tensor_of("F4", 5, 2) + "}", 2), "x"); },
              ThrowsMessage<DataError>(HasSubstr("do not fit")));
  const std::string later = safetensors_file("{\"a\":" + tensor_of("X3_OF_LATER", 5, 2) + "}", 2);
  EXPECT_EQ(parse_safetensors_header(later, "x").entries.front().type, "X3_OF_LATER") << "an error only if it is read";
}

TEST(SafetensorsHeader, HasNoMetadataIfNull) {
  for (const char* header : {R"({"__metadata__":null})", R"({"__metadata__":{}})", "{}"}) {
    EXPECT_TRUE(parse_safetensors_header(safetensors_file(header, 0), "x").metadata.empty()) << header;
  }
  EXPECT_EQ(parse_safetensors_header(safetensors_file(R"({"__metadata__":{"format":"pt"}})", 0), "x").metadata.size(),
            1U);
  for (const char* header : {R"({"__metadata__":7})", R"({"__metadata__":[]})", R"({"__metadata__":{"a":null}})"}) {
    EXPECT_THROW(parse_safetensors_header(safetensors_file(header, 0), "x"), DataError) << header;
  }
}

/// The least seconds of three for a header with so many tensors and lines of metadata.
double seconds_of_header(std::size_t tensors) {
  std::string header = R"({"__metadata__":{"format":"pt")";
  for (std::size_t i = 0; i < tensors; ++i) header += fmt::format(R"(,"key{}":"")", i);
  header += "}";
  for (std::size_t i = 0; i < tensors; ++i) {
    header += fmt::format(R"(,"t{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})", i, i, i + 1);
  }
  const std::string file = safetensors_file(header + "}", tensors);
  double least = 1e9;
  for (int i = 0; i < 3; ++i) {
    const auto start = std::chrono::steady_clock::now();
    EXPECT_EQ(parse_safetensors_header(file, "x").entries.size(), tensors);
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

// In a quadratic reader sixteen times as many tensors take 256 times as long.
TEST(SafetensorsHeader, TakesTimeInProportionToItsTensors) {
  const double few = seconds_of_header(2'000);
  EXPECT_LT(seconds_of_header(32'000), 64 * few) << "linear time is 16, quadratic time 256";
}

}  // namespace
}  // namespace xlm
