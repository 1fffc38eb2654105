// The room below a memory limit. tests/pipeline shows that a run survives one.
#include "core/runtime/memory_reserve.h"

#include <sys/resource.h>

#include <limits>

#include <gtest/gtest.h>

namespace xlm {
namespace {

constexpr const char* kStatm = "1000 300 200 50 0 400 0\n";  // pages: mapped, resident, shared, code, 0, data, 0

TEST(MemoryReserve, RoomIsTheLesserOfBothLimits) {
  EXPECT_EQ(room_below(kStatm, 4096, 1500 * 4096, RLIM_INFINITY), 500 * 4096);
  EXPECT_EQ(room_below(kStatm, 4096, RLIM_INFINITY, 450 * 4096), 50 * 4096);
  EXPECT_EQ(room_below(kStatm, 4096, 1500 * 4096, 450 * 4096), 50 * 4096);
  EXPECT_EQ(room_below(kStatm, 4096, 1500 * 4096, 950 * 4096), 500 * 4096);
  EXPECT_EQ(room_below(kStatm, 4096, 900 * 4096, RLIM_INFINITY), -100 * 4096);
}

TEST(MemoryReserve, WithoutALimitOrAnAnswerThereIsRoom) {
  constexpr std::int64_t kAll = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(room_below(kStatm, 4096, RLIM_INFINITY, RLIM_INFINITY), kAll);
  EXPECT_EQ(room_below("", 4096, 4096, 4096), kAll);
}

}  // namespace
}  // namespace xlm
