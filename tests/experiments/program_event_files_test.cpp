// Event files of a program, from the files to the store.
#include <gmock/gmock.h>

#include "tests/experiments/program_of_user_fixture.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

/// `write(file, [event, …])` of TensorBoard's files, with `scalar(tag, value, step)` and `start(step)`.
constexpr const char* kWriter = R"(import os, struct, sys
def crc(data):
    c = 0xFFFFFFFF
    for b in data:
        c ^= b
        for _ in range(8): c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    c ^= 0xFFFFFFFF
    return ((c >> 15 | c << 17 & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF
def field(key, content): return bytes([key, len(content)]) + content
def head(step): return b"\x09" + struct.pack("<d", 0) + b"\x10" + bytes([step])
def scalar(tag, value, step): return head(step) + field(0x2a, field(0x0a, field(0x0a, tag.encode()) + b"\x15" + struct.pack("<f", value)))
def start(step): return head(step) + b"\x3a\x02\x08\x01"
def write(name, events):
    os.makedirs(os.path.dirname(name), exist_ok=True)
    with open(name, "wb") as f:
        for e in events:
            n = struct.pack("<Q", len(e)); f.write(n + struct.pack("<I", crc(n)) + e + struct.pack("<I", crc(e)))
folder = sys.argv[1]
)";

class ProgramEventFiles : public ProgramOfUser {
 protected:
  xlm::Run trained(const std::string& script, const std::string& names = "") {
    write_script("train.py", kWriter + script);
    configure("[python3, train.py, '{run}/events']", "  metrics: [{tensorboard: '{run}/events'" + names + "}]\n");
    const ProgramResult result = run({"train", "run.yaml"});
    EXPECT_EQ(result.code, kDone) << result.err;
    return only_run();
  }
};

TEST_F(ProgramEventFiles, TrainingAndValidationAreTwoSeries) {
  const xlm::Run one = trained(R"(
for name, value in ("train", 1), ("validation", 11):
    write(f"{folder}/{name}/events.out.tfevents.1.host", [scalar("epoch_loss", value + s, s) for s in range(3)])
)",
                               ", names: {epoch_loss: loss}");
  EXPECT_THAT(one.metrics.at("loss"), ElementsAre(Pair(0, 1), Pair(1, 2), Pair(2, 3)));
  EXPECT_EQ(main_evaluation(one, "valid")->values.at("loss"), 13);
}

TEST_F(ProgramEventFiles, WhatAWriterGoesBackBehindIsVoid) {
  const xlm::Run one = trained(R"(
write(f"{folder}/events.out.tfevents.1.host", [scalar(tag, s, s) for s in range(10, 101, 10) for tag in ("loss", "val/loss")])
write(f"{folder}/events.out.tfevents.2.host", [start(60)] + [scalar("loss", 1, s) for s in (60, 70)] + [scalar("val/loss", 2, 60)])
)");
  EXPECT_THAT(one.metrics.at("loss"), ElementsAre(Pair(10, 10), Pair(20, 20), Pair(30, 30), Pair(40, 40), Pair(50, 50),
                                                  Pair(60, 1), Pair(70, 1)));
  EXPECT_EQ(one.step, 70);
  EXPECT_EQ(main_evaluation(one, "valid")->values.at("loss"), 2);
  EXPECT_EQ(main_evaluation(one, "valid")->step, 60);
}

}  // namespace
}  // namespace xlm
