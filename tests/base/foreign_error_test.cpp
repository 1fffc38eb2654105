// Exceptions of libraries become messages and exit codes.
#include "base/foreign_error.h"

#include <any>
#include <functional>
#include <map>
#include <new>
#include <optional>
#include <regex>
#include <system_error>

#include <gmock/gmock.h>

#include "base/files.h"
#include "base/json.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

/// The error that a user sees if `work` throws.
Error told_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const std::exception& error) {
    return as_error(error);
  }
  throw std::logic_error("nothing was thrown");
}

TEST(ForeignError, OurOwnAreUnchanged) {
  const Error told = told_of([] { throw DataError("x.bin is damaged\nfetch it again"); });
  EXPECT_STREQ(told.what(), "x.bin is damaged\nfetch it again");
  EXPECT_EQ(told.code(), kBadData);
}

TEST(ForeignError, ProgrammingMistakesAreReportedAsBugs) {
  const std::vector<std::function<void()>> mistakes{
      [] { (void)std::map<std::string, int>{}.at("tokens"); },
      [] { (void)std::stoll("ten"); },
      [] { (void)std::stoll("99999999999999999999"); },
      [] { (void)std::string("ab").substr(3); },
      [] { (void)std::vector<int>{}.at(0); },
      [] { (void)std::optional<int>{}.value(); },
      [] { (void)std::any_cast<int>(std::any()); },
      [] { std::function<void()>{}(); },
      [] { std::vector<char>().reserve(SIZE_MAX); },
      [] { std::regex("("); },
  };
  for (std::size_t i = 0; i < mistakes.size(); ++i) {
    const Error told = told_of(mistakes[i]);
    EXPECT_THAT(told.what(), AllOf(HasSubstr("unexpected internal error ("), HasSubstr("\nthis is a bug"))) << i;
    EXPECT_EQ(told.code(), kFailed) << i;
  }
}

TEST(ForeignError, FilesMemoryJsonAndTheSystemHaveTheirCodes) {
  const Error file = told_of([] { (void)fs::file_size("/no/such/place"); });
  EXPECT_THAT(file.what(), AllOf(HasSubstr("/no/such/place"), Not(HasSubstr("filesystem error"))));
  EXPECT_EQ(file.code(), kBadData);
  const Error memory = told_of([] { throw std::bad_alloc(); });
  EXPECT_STREQ(memory.what(), "out of memory");
  EXPECT_EQ(memory.code(), kOutOfResources);
  const Error json = told_of([] { (void)Json("text").get<int>(); });
  EXPECT_THAT(json.what(), AllOf(HasSubstr("type must be number"), Not(HasSubstr("json.exception"))));
  EXPECT_EQ(json.code(), kBadData);
  const Error threads = told_of([] { throw std::system_error(EAGAIN, std::generic_category(), "thread"); });
  EXPECT_THAT(threads.what(), HasSubstr("Resource temporarily unavailable"));
  EXPECT_EQ(threads.code(), kOutOfResources);
}

TEST(ForeignError, OfOtherLibrariesKeepsTheFirstLine) {
  const Error told = told_of([] { throw std::runtime_error("no kernel for this\nframe #0: …"); });
  EXPECT_STREQ(told.what(), "no kernel for this");
  EXPECT_EQ(told.code(), kFailed);
}

}  // namespace
}  // namespace xlm
