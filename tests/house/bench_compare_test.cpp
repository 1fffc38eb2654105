// scripts/bench_compare.py compares two outputs of `make bench`.
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class BenchCompare : public ::testing::Test {
 protected:
  std::string compare(const std::string& here, const std::string& there, int expected_status = 0) {
    write_file(folder_.path() / "here.txt", here);
    write_file(folder_.path() / "there.txt", there);
    const std::string at = folder_.path().string();
    const int status = std::system(("python3 -B '" XLM_SOURCE_DIR "/scripts/bench_compare.py' '" + at + "/here.txt' '" +
                                    at + "/there.txt' >'" + at + "/said' 2>&1")
                                       .c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == expected_status) << status;
    return read_file(folder_.path() / "said");
  }

  TemporaryFolder folder_;
};

const char* const kHere = R"(xlm 0.1.0 (abc)
2 cores, a processor
== training steps (bench/step_time.cpp)
2 threads, float32, fastest product 200 GFLOP/s
row            ms/step  tokens/s  peak MB  limit ms  of limit
s256              50.0     18000      500      25.0      50 %
s1024            100.0     10000      700      60.0      60 %
== data preparation of 200 MB (hashing)
text8                   120 MB/s
)";

TEST_F(BenchCompare, AboveOneTheFirstFileIsBetter) {
  const std::string said = compare(kHere, R"(xlm 0.0.9 (def)
4 cores, another
== training steps (bench/step_time.cpp)
2 threads, float32, fastest product 100 GFLOP/s
s256             100.0      9000     1000      50.0      50 %
== data preparation of 200 MB (hashing)
text8                    60 MB/s
)");
  EXPECT_THAT(said, HasSubstr("there.txt: xlm 0.0.9 (def); 4 cores, another"));
  EXPECT_THAT(said, ContainsRegex("step, float32: s256 +50 +100 +ms +2\\.00\n"));
  EXPECT_THAT(said, ContainsRegex("step, float32: s256, memory +500 +1000 +MB +2\\.00\n"));
  EXPECT_THAT(said, ContainsRegex("step, float32: fastest product +200 +100 +GFLOP/s +2\\.00\n"));
  EXPECT_THAT(said, ContainsRegex("data preparation of 200 MB: text8 +120 +60 +MB/s +2\\.00\n"));
  EXPECT_THAT(said, ContainsRegex("only in [^\n]*here.txt: step, float32: s1024, step, float32: s1024, memory\n"));
  EXPECT_THAT(said, Not(HasSubstr("only in " + (folder_.path() / "there.txt").string())));
}

TEST_F(BenchCompare, OtherFilesAreRefused) {
  EXPECT_THAT(compare(kHere, "nothing\n", 1), HasSubstr("there.txt is not an output of `make bench`"));
}

}  // namespace
}  // namespace xlm
