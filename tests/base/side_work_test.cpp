// Work on other threads: results in order, failures on the thread that asked, nothing lost.
#include "base/side_work.h"

#include <numeric>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

namespace xlm {
namespace {

TEST(OrderedWork, TakesResultsInOrder) {
  std::vector<int> expected(200);
  std::iota(expected.begin(), expected.end(), 0);
  for (const int threads : {1, 2, 7}) {
    std::vector<int> taken;
    OrderedWork<int> work(threads, [&](int result) { taken.push_back(result); });
    for (int i = 0; i < 200; ++i) {
      work.add(
          [i] {
            volatile int wait = (i % 7) * 1000;
            while (wait > 0) wait = wait - 1;
            return i;
          },
          i % 3 == 0);
    }
    work.finish();
    EXPECT_EQ(taken, expected) << threads;
  }
}

TEST(OrderedWork, ThrowsWhatTheWorkThrew) {
  for (const int threads : {1, 3}) {
    int taken = 0;
    OrderedWork<int> work(threads, [&](int) { ++taken; });
    const auto all = [&] {
      work.add([] { return 1; });
      work.add([]() -> int { throw std::runtime_error("bad"); });
      work.add([] { return 1; });
      work.finish();
    };
    EXPECT_THROW(all(), std::runtime_error);
    EXPECT_EQ(taken, 1) << "what comes before it is whole";
  }
}

TEST(SideSink, PassesEveryByteOn) {
  for (const bool aside : {false, true}) {
    std::string all;
    std::string passed;
    std::string passed_too;
    SideSink sink(aside, {[&](std::string_view bytes) { passed += bytes; },
                          [&](std::string_view bytes) { passed_too += bytes; }});
    for (int i = 0; i < 400; ++i) {
      const std::string piece(static_cast<std::size_t>(i) * 37, static_cast<char>('a' + i % 26));
      all += piece;
      sink.write(piece);
    }
    sink.finish();
    EXPECT_EQ(passed, all);
    EXPECT_EQ(passed_too, all);
    sink.finish();
    EXPECT_EQ(passed, all) << "nothing is left";
  }
}

TEST(SideSink, ThrowsWhatTheSinkThrew) {
  SideSink sink(true,
                {[](std::string_view) {}, [](std::string_view) { throw std::runtime_error("the disk is full"); }});
  sink.write("some");
  EXPECT_THROW(sink.finish(), std::runtime_error);
}

}  // namespace
}  // namespace xlm
