// What tests of prepare-data share: files in a temporary folder, a request, what came out.
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
  /// The text of a split, through its ids.
  static std::string text(const PreparedData& data, const std::string& split) {
    std::string text;
    const TokenFile& tokens = data.split(split).tokens;
    for (std::int64_t i = 0; i < tokens.size(); ++i) {
      text += data.vocabulary.symbols[static_cast<std::size_t>(tokens.at(i))];
    }
    return text;
  }
  /// The request fails and leaves nothing of what it would have made.
  template <class Failure>
  void expect_error(const PrepareRequest& request, const std::string& complaint) const {
    const bool was_there = fs::exists(path("out"));
    EXPECT_THAT([&] { prepare(request, {}); }, ::testing::ThrowsMessage<Failure>(::testing::HasSubstr(complaint)));
    EXPECT_EQ(fs::exists(path("out")), was_there);
    EXPECT_FALSE(fs::exists(path("out") / "meta.json"));
    EXPECT_FALSE(fs::exists(path(".out.preparing")));
    EXPECT_FALSE(fs::exists(path(".out.lock")));
  }
  /// The same for a request that has a folder of its own to make.
  template <class Failure>
  static void expect_error_in(const PrepareRequest& request, const std::string& complaint) {
    EXPECT_THAT([&] { prepare(request, {}); }, ::testing::ThrowsMessage<Failure>(::testing::HasSubstr(complaint)));
    EXPECT_FALSE(fs::exists(request.out));
  }

  TemporaryFolder folder_;
};

}  // namespace xlm
