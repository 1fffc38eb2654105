// The safetensors format, good and bad.
#include "core/runtime/safetensors.h"

#include <cstring>

#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

/// A file with this header text and `bytes` zero bytes of tensors.
fs::path file_with(const TemporaryFolder& folder, const std::string& header, std::size_t bytes) {
  const fs::path path = folder.path() / "x.safetensors";
  const std::uint64_t length = header.size();
  std::string content(sizeof(length), '\0');
  std::memcpy(content.data(), &length, sizeof(length));
  write_file(path, content + header + std::string(bytes, '\0'));
  return path;
}

TEST(Safetensors, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const NamedTensors tensors{{"a", torch::randn({2, 3})},
                             {"empty", torch::zeros({0, 4})},
                             {"b.c", torch::randn({5}).to(torch::kBFloat16)},
                             {"transposed", torch::randn({3, 2}).t()},
                             {"scalar", torch::tensor(7, torch::kLong)}};
  write_safetensors(folder.path() / "t", tensors, {{"key", "välue"}});
  const TensorFile read = read_safetensors(folder.path() / "t");
  EXPECT_EQ(read.metadata.at("key"), "välue");
  ASSERT_EQ(read.tensors.size(), tensors.size());
  const std::map<std::string, torch::Tensor> by_name(read.tensors.begin(), read.tensors.end());
  for (const auto& [name, tensor] : tensors) EXPECT_TRUE(torch::equal(by_name.at(name), tensor)) << name;
}

TEST(Safetensors, RefusesMalformedFiles) {
  const TemporaryFolder folder;
  const auto entry = [](const std::string& shape, int begin, int end) {
    return R"({"dtype":"F32","shape":)" + shape + R"(,"data_offsets":[)" + std::to_string(begin) + "," +
           std::to_string(end) + "]}";
  };
  const std::vector<std::pair<std::string, std::size_t>> bad{
      {"not json", 0},
      {"[]", 0},
      {R"({"a":1})", 0},
      {R"({"a":{"dtype":"F31","shape":[1],"data_offsets":[0,4]}})", 4},
      {R"({"a":)" + entry("[2]", 0, 4) + "}", 4},  // offsets and shape disagree
      {R"({"a":)" + entry("[-1]", 0, 4) + "}", 4},
      {R"({"a":)" + entry("[4611686018427387904,8]", 0, 4) + "}", 4},                  // the product overflows
      {R"({"a":)" + entry("[1]", 0, 4) + R"(,"b":)" + entry("[1]", 2, 6) + "}", 6},    // overlap
      {R"({"a":)" + entry("[1]", 0, 4) + R"(,"b":)" + entry("[1]", 6, 10) + "}", 10},  // gap
      {R"({"a":)" + entry("[2]", 0, 8) + "}", 4},                                      // outside
      {R"({"a":)" + entry("[1]", 0, 4) + "}", 9},                                      // bytes left over
      {R"({"a":)" + entry("[1]", 4, 0) + "}", 4},
      {R"({"__metadata__":{"a":1}})", 0},
  };
  for (const auto& [header, bytes] : bad)
    EXPECT_THROW(read_safetensors(file_with(folder, header, bytes)), DataError) << header;
}

TEST(Safetensors, RefusesHeadersThatAreNestedTooDeep) {
  const TemporaryFolder folder;
  constexpr std::size_t kDepth = 100'000;  // a recursive reader overflows its stack
  const std::string lists = std::string(kDepth, '[') + std::string(kDepth, ']');
  std::string maps;
  for (std::size_t i = 0; i < kDepth; ++i) maps += R"({"a":)";
  maps += "1" + std::string(kDepth, '}');
  for (const std::string& header :
       {lists, maps, R"({"a":)" + lists + "}", R"({"__metadata__":{"a":)" + lists + "}}",
        R"({"a":{"dtype":"F32","shape":)" + lists + R"(,"data_offsets":[0,4]}})", std::string(kDepth, '[')}) {
    try {
      read_safetensors(file_with(folder, header, 4));
      ADD_FAILURE() << header.substr(0, 40);
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("x.safetensors"), std::string::npos) << error.what();
      EXPECT_LT(std::string(error.what()).size(), 500U) << "the message must not contain the file";
    }
  }
}

TEST(Safetensors, ChangedBytesAreNoticed) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "t";
  write_safetensors(path, {{"a", torch::randn({20})}, {"b", torch::ones({3})}}, {{"step", "7"}});
  const std::string whole = read_file(path);
  for (const std::string& part : {whole.substr(whole.size() - 1), std::string("\"7\"")}) {
    std::string damaged = whole;
    damaged[damaged.rfind(part) + part.size() / 2] ^= 1;
    write_file(path, damaged);
    try {
      read_safetensors(path);
      ADD_FAILURE() << "a change of '" << part << "' was not noticed";
    } catch (const DataError& error) {
      EXPECT_NE(std::string(error.what()).find("does not have the hash"), std::string::npos) << error.what();
    }
  }
}

TEST(Safetensors, OtherProgramsFilesHaveNoHash) {
  const TemporaryFolder folder;
  const fs::path path = file_with(folder, R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
  EXPECT_EQ(read_safetensors(path).tensors.size(), 1);
}

TEST(Safetensors, RefusesAbsurdHeaders) {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "x";
  write_file(path, "abc");
  EXPECT_THROW(read_safetensors(path), DataError);
  write_file(path, std::string(8, '\xff') + "{}");
  EXPECT_THROW(read_safetensors(path), DataError);
  EXPECT_THROW(read_safetensors(folder.path() / "absent"), DataError);
}

}  // namespace
}  // namespace xlm
