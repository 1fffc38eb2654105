// Shared by tests of prepare-data: files in a temporary folder, a request, and its result.
#pragma once

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "datasets/prepare.h"
#include "datasets/prepared/prepared.h"
#include "tests/datasets/input/archives.h"
#include "tests/temporary_folder.h"

namespace xlm {

inline PrepareResult prepare(const PrepareRequest& request, const PrepareObserver& observer) {
  return prepare(check_request(request), observer);
}

class Preparing : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  fs::path file(const std::string& name, const std::string& content) const {
    create_folders(path(name).parent_path());
    return write_quickly(path(name), content);
  }
  PrepareRequest request(const std::string& dataset, std::vector<fs::path> from) const {
    return {.dataset = dataset, .from = std::move(from), .out = path("out")};
  }
  static PreparedData make(const PrepareRequest& request) {
    prepare(request, {});
    return open_prepared(request.out, true);
  }
  /// The text of a split, decoded from its ids.
  static std::string text(const PreparedData& data, const std::string& split) {
    std::string text;
    const TokenFile& tokens = data.split(split).tokens;
    for (std::int64_t i = 0; i < tokens.size(); ++i) {
      text += data.vocabulary.symbols[static_cast<std::size_t>(tokens.at(i))];
    }
    return text;
  }
  /// Expects that the request fails and leaves no output.
  template <class Failure>
  void expect_error(const PrepareRequest& request, const std::string& complaint) const {
    const bool was_there = fs::exists(path("out"));
    EXPECT_THAT([&] { prepare(request, {}); }, ::testing::ThrowsMessage<Failure>(::testing::HasSubstr(complaint)));
    EXPECT_EQ(fs::exists(path("out")), was_there);
    EXPECT_FALSE(fs::exists(path("out") / "meta.json"));
    EXPECT_FALSE(fs::exists(path(".out.preparing")));
    EXPECT_FALSE(fs::exists(path(".out.lock")));
  }
  /// The same for a request that makes a separate folder.
  template <class Failure>
  static void expect_error_in(const PrepareRequest& request, const std::string& complaint) {
    EXPECT_THAT([&] { prepare(request, {}); }, ::testing::ThrowsMessage<Failure>(::testing::HasSubstr(complaint)));
    EXPECT_FALSE(fs::exists(request.out));
  }

  TemporaryFolder folder_;
};

}  // namespace xlm
