// TensorBoard's event files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "experiments/programs/event_scalars.h"
#include "experiments/programs/metric_readers.h"
#include "results/exports/event_file.h"
#include "tests/experiments/programs/recording_sink.h"
#include "tests/needs.h"
#include "tests/readers.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// What torch 2.11's SummaryWriter writes: train/loss 2.5 and eval/loss 3.25 at step 10, lr 0.001 there as a tensor,
/// double 0.1 at step 11 in double precision, and a text.
constexpr const char* kTorchEvents =
    "4800000000000000fe92489d095ba69070fdc1da411a0d627261696e2e4576656e743a32522e0a2c74656e736f72626f6172"
    "642e73756d6d6172792e7772697465722e6576656e745f66696c655f7772697465724f2bca98200000000000000029eda950"
    "091eac9070fdc1da41100a2a130a110a0a747261696e2f6c6f737315000020409d10d1421f00000000000000514b44180953"
    "ac9070fdc1da41100a2a120a100a096576616c2f6c6f737315000050408bddccc12a00000000000000ae8d91f509c6ac9070"
    "fdc1da41100a2a1d0a1b0a026c72420808012a046f12833a4a0b0a090a077363616c6172737eb08182320000000000000024"
    "1956ec091bad9070fdc1da41100b2a250a230a06646f75626c65420c080232089a9999999999b93f4a0b0a090a077363616c"
    "617273e4d120dd39000000000000008b0737f1099dad9070fdc1da41100b2a2c0a2a0a116e6f74652f746578745f73756d6d"
    "617279420b08071204120208014201784a080a060a047465787465cbdc8b";

/// What TensorFlow 2's summary writer writes: epoch_loss 1.5 at step 3; half -0.375, count -7 and zero 0 at step 4; a
/// text.
constexpr const char* kTensorFlowEvents =
    "3e00000000000000d9d240e70900000073fdc1da411a0d627261696e2e4576656e743a3252240a2274656e736f72666c6f77"
    "2e636f72652e7574696c2e6576656e74735f777269746572c88424db34000000000000005e33175c0981074273fdc1da4110"
    "032a270a250a0a65706f63685f6c6f7373420a0801120022040000c03f4a0b0a090a077363616c617273c99a8a982e000000"
    "00000000c5cb57fa09768b4373fdc1da4110042a210a1f0a0468616c66420a0801120022040000c0be4a0b0a090a07736361"
    "6c6172733938e4662f000000000000006d5d1d50099b574473fdc1da4110042a220a200a05636f756e74420a080112002204"
    "0000e0c04a0b0a090a077363616c617273a6aae4a12e00000000000000c5cb57fa091de64473fdc1da4110042a210a1f0a04"
    "7a65726f420a080112002204000000004a0b0a090a077363616c6172734a6a95f52500000000000000eabc36f309003a4673"
    "fdc1da4110052a180a160a01744207080712004201784a080a060a047465787449234bbb";

std::string from_hex(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(digits.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

class ProgramEvents : public ::testing::Test {
 protected:
  void use(const std::vector<std::pair<std::string, std::string>>& names = {}, const Json& position = Json()) {
    const MetricDescription description{.kind = MetricKind::kTensorBoard, .target = events_.string(), .names = names};
    readers_ = std::make_unique<MetricReaders>(std::vector{description}, folder_.path() / "metrics.jsonl", sink_);
    readers_->begin(position);
  }

  std::vector<std::string> polled() {
    readers_->poll();
    return sink_.take();
  }

  fs::path file(const std::string& name) const {
    fs::create_directories((events_ / name).parent_path());
    return events_ / name;
  }

  TemporaryFolder folder_;
  fs::path events_ = folder_.path() / "tb";
  RecordingSink sink_;
  std::unique_ptr<MetricReaders> readers_;
};

TEST_F(ProgramEvents, AreThoseOfTorchAndTensorFlow) {
  use();
  EXPECT_THAT(polled(), IsEmpty());
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("tb has no event files")));
  write_whole(file("events.out.tfevents.1.host"), from_hex(kTorchEvents));
  EXPECT_THAT(polled(), ElementsAre("10: loss=2.5 lr=0.0010000000474974513", "11: double=0.1", "valid 10: loss=3.25"));
  write_whole(file("validation/events.out.tfevents.2.host.v2"), from_hex(kTensorFlowEvents));
  write_whole(file("validation/notes.txt"), "no events");
  EXPECT_THAT(polled(), ElementsAre("valid 3: epoch_loss=1.5", "valid 4: count=-7 half=-0.375 zero=0"));
  EXPECT_THAT(polled(), IsEmpty());
  readers_->finish(true);
  EXPECT_THAT(sink_.take(), ElementsAre("valid 10: loss=3.25 final")) << "of the greatest step";
}

TEST_F(ProgramEvents, TagsHaveTheNamesThatAreGiven) {
  use({{"eval/loss", "test.loss"}, {"double", "d"}, {"absent", "a"}});
  write_whole(file("tfevents"), from_hex(kTorchEvents));
  EXPECT_THAT(polled(), ElementsAre("11: d=0.1", "test 10: loss=3.25"));
  EXPECT_THAT(readers_->warnings(),
              ElementsAre("tb: no number of absent came; it has double, eval/loss, lr, train/loss"));
}

TEST_F(ProgramEvents, GrowByteByByteSideBySide) {
  use();
  const std::string torch = from_hex(kTorchEvents);
  const std::string other = from_hex(kTensorFlowEvents);
  std::vector<std::string> all;
  for (std::size_t at = 0; at < std::max(torch.size(), other.size()); ++at) {
    if (at < torch.size()) append(file("a.tfevents"), torch.substr(at, 1));
    if (at < other.size()) append(file("b.tfevents"), other.substr(at, 1));
    for (std::string& record : polled()) all.push_back(std::move(record));
  }
  std::sort(all.begin(), all.end());
  EXPECT_THAT(all, ElementsAre("10: loss=2.5", "10: lr=0.0010000000474974513", "11: double=0.1", "3: epoch_loss=1.5",
                               "4: count=-7", "4: half=-0.375", "4: zero=0", "valid 10: loss=3.25"));
}

TEST_F(ProgramEvents, AResumedAttemptReadsOnAndWhatOthersLeftIsNotTheRuns) {
  const std::string torch = from_hex(kTorchEvents);
  write_whole(file("old.tfevents"), torch);
  use();
  EXPECT_THAT(polled(), IsEmpty());
  write_whole(file("new.tfevents"), torch.substr(0, 200));  // torn
  EXPECT_THAT(polled(), ElementsAre("10: loss=2.5", "valid 10: loss=3.25"));
  write_whole(file("newer.tfevents"), from_hex(kTensorFlowEvents));
  use({}, Json::parse(readers_->position().dump()));
  EXPECT_THAT(sink_.take(), ElementsAre("3: epoch_loss=1.5", "4: count=-7 half=-0.375 zero=0"));
  EXPECT_THAT(polled(), IsEmpty());
}

TEST_F(ProgramEvents, ADamagedRecordIsToldAndReadOnceItIsWhole) {
  use();
  const std::string torch = from_hex(kTorchEvents);
  std::string damaged = torch;
  damaged[120] ^= 1;
  write_whole(file("x.tfevents"), damaged);
  EXPECT_THAT(polled(), IsEmpty());
  EXPECT_THAT(readers_->warnings(),
              ElementsAre(AllOf(HasSubstr("x.tfevents: the record at byte "), HasSubstr("is damaged"))));
  write_whole(file("x.tfevents"), torch);
  EXPECT_THAT(polled(), ElementsAre("10: loss=2.5 lr=0.0010000000474974513", "11: double=0.1", "valid 10: loss=3.25"));
  EXPECT_THAT(readers_->warnings(), IsEmpty());
}

TEST_F(ProgramEvents, FoldersAndLinksWithSuchNamesAreNoFiles) {
  use();
  fs::create_directories(events_ / "a.tfevents");
  fs::create_symlink("nowhere", events_ / "b.tfevents");
  EXPECT_THAT(polled(), IsEmpty());
}

/// Writes numbers of one tag into a separate file.
void write_tag(const fs::path& file, const std::string& tag, const std::map<std::int64_t, double>& values,
               std::int64_t goes_back_to = -1) {
  EventFile events(file, 0);
  if (goes_back_to >= 0) events.restart(goes_back_to, 0);
  for (const auto& [step, value] : values) events.numbers(step, 0, {{tag, value}});
}

TEST_F(ProgramEvents, OneTagInTwoFoldersIsTwoSeries) {
  use();
  write_tag(file("train/a.tfevents"), "epoch_loss", {{1, 3}});  // Keras
  write_tag(file("Validation/a.tfevents"), "epoch_loss", {{1, 13}});
  write_tag(file("Loss_train/b.tfevents"), "Loss", {{1, 2}});  // add_scalars
  write_tag(file("Loss_valid/b.tfevents"), "Loss", {{1, 12}});
  write_tag(file("left/c.tfevents"), "acc", {{2, 1}});
  write_tag(file("right/c.tfevents"), "acc", {{2, 5}});
  write_tag(file("train/d.tfevents"), "val/f1", {{3, 7}});
  EXPECT_THAT(polled(), ElementsAre("1: loss=2", "2: acc=1 right.acc=5", "valid 1: epoch_loss=13 loss=12",
                                    "1: epoch_loss=3", "valid 3: f1=7"));
}

TEST_F(ProgramEvents, TheNameOfASeriesOfAddScalarsDependsOnNoTime) {
  use();
  write_tag(file("a.tfevents"), "lr", {{1, 0.5}});
  write_tag(file("val_acc_student/b.tfevents"), "val/acc", {{1, 0.75}});
  write_tag(file("loss_pi_entropy/b.tfevents"), "loss/pi", {{1, 7}});
  EXPECT_THAT(polled(), ElementsAre("1: loss.pi_entropy=7 lr=0.5", "valid 1: acc_student=0.75"));
  write_tag(file("val_acc_baseline/b.tfevents"), "val/acc", {{1, 0.25}});
  write_tag(file("loss_pi_critic/b.tfevents"), "loss/pi", {{1, 8}});
  EXPECT_THAT(polled(), ElementsAre("1: loss.pi_critic=8", "valid 1: acc_baseline=0.25 acc_student=0.75"));
  EXPECT_THAT(readers_->warnings(), IsEmpty());
}

TEST_F(ProgramEvents, AFolderThatComesTooLateForItsNameIsTold) {
  use();
  write_tag(file("rank1/a.tfevents"), "loss", {{1, 4}});
  EXPECT_THAT(polled(), ElementsAre("1: loss=4"));
  write_tag(file("rank2/a.tfevents"), "loss", {{1, 6}});
  EXPECT_THAT(polled(), ElementsAre("1: rank2.loss=6"));
  EXPECT_THAT(readers_->warnings(), IsEmpty());
  write_tag(file("rank0/a.tfevents"), "loss", {{1, 5}});
  EXPECT_THAT(polled(), ElementsAre("1: rank0.loss=5"));
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("'loss' is in rank1/ and rank0/, and the first that came")));
}

TEST_F(ProgramEvents, AFolderOfHyperparametersIsNoPartOfTheLog) {
  use();
  write_tag(file("1795899461.29/a.tfevents"), "loss", {{0, 9}});  // add_hparams, whose name comes before "events…"
  write_tag(file("1795899461.29/b.tfevents"), "val/acc", {{0, 1}});
  write_tag(file("events.tfevents.1"), "loss", {{1, 3}, {2, 2}});
  write_tag(file("events.tfevents.2"), "val/acc", {{2, 0.5}});
  EXPECT_THAT(polled(), ElementsAre("1: loss=3", "2: loss=2", "0: _1795899461.29.loss=9 _1795899461.29.val.acc=1",
                                    "valid 2: acc=0.5"));
}

TEST_F(ProgramEvents, NumbersWithoutAStepAreTold) {
  use();
  write_tag(file("a.tfevents"), "loss", {{0, 3}});
  write_tag(file("b.tfevents"), "loss", {{0, 2.5}});
  write_tag(file("c.tfevents"), "loss", {{0, 2}});
  EXPECT_THAT(polled(), ElementsAre("0: loss=2"));
  EXPECT_THAT(readers_->warnings(),
              ElementsAre("2 numbers came behind another one of the same name and step\nfirst at b.tfevents: at step 0 "
                          "'loss' is 2.5 after 3\nof those the later one counts, or the final one; report the step of "
                          "each, from one process"));
}

TEST_F(ProgramEvents, NamesAreOfFoldersToo) {
  use({{"epoch_loss", "loss"}, {"left/acc", "left_acc"}, {"right/acc", "right_acc"}});
  write_tag(file("train/a.tfevents"), "epoch_loss", {{1, 3}});
  write_tag(file("validation/a.tfevents"), "epoch_loss", {{1, 13}});
  write_tag(file("right/c.tfevents"), "acc", {{2, 5}});
  EXPECT_THAT(polled(), ElementsAre("2: right_acc=5", "1: loss=3", "valid 1: loss=13"));
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("no number of left/acc came")));
}

TEST_F(ProgramEvents, ALogThatMovesWithANewAttemptIsTheSameSeries) {
  use();
  write_tag(file("version_0/a.tfevents"), "loss", {{1, 3}, {2, 2}});
  EXPECT_THAT(polled(), ElementsAre("1: loss=3", "2: loss=2"));
  const Json position = Json::parse(readers_->position().dump());
  use({}, position);
  write_tag(file("version_1/a.tfevents"), "loss", {{3, 1}});
  EXPECT_THAT(polled(), ElementsAre("3: loss=1"));
  use();
  readers_->read_all(true);
  EXPECT_THAT(sink_.take(), ElementsAre("1: loss=3", "2: loss=2", "3: loss=1"));
}

TEST_F(ProgramEvents, NothingIsFinalIfTheFolderGotNothingAfterAResume) {
  use();
  write_tag(file("a.tfevents"), "val_loss", {{1, 2}});
  EXPECT_THAT(polled(), ElementsAre("valid 1: loss=2"));
  const Json position = Json::parse(readers_->position().dump());
  use({}, position);
  EXPECT_FALSE(readers_->finish(true));
  EXPECT_THAT(sink_.take(), IsEmpty());
  write_tag(file("c.tfevents"), "val_loss", {{2, 1.5}});  // left by the earlier attempt, behind what it has noted
  use({}, position);
  EXPECT_FALSE(readers_->finish(true));
  EXPECT_THAT(sink_.take(), ElementsAre("valid 2: loss=1.5"));
  use({}, position);
  write_tag(file("d.tfevents"), "val_loss", {{3, 1}});
  EXPECT_TRUE(readers_->finish(true));
  EXPECT_THAT(sink_.take(), ElementsAre("valid 2: loss=1.5", "valid 3: loss=1", "valid 3: loss=1 final"));
}

TEST_F(ProgramEvents, AWriterThatGoesBackVoidsWhatItsFolderHas) {
  use();
  write_tag(file("a.tfevents"), "loss", {{50, 5}, {60, 6}, {90, 9}});
  write_tag(file("other/a.tfevents"), "lr", {{90, 1}});
  EXPECT_THAT(polled(), ElementsAre("50: loss=5", "60: loss=6", "90: loss=9 lr=1"));
  const Json position = Json::parse(readers_->position().dump());
  use({}, position);
  write_tag(file("b.tfevents"), "loss", {{60, 0.5}}, 60);
  EXPECT_THAT(polled(), ElementsAre("back to 60: loss", "60: loss=0.5"));
  EXPECT_THAT(readers_->warnings(), IsEmpty());
}

/// An event with a tensor, as little as a protocol buffer needs.
std::string tensor_event(const std::string& tensor) {
  const auto field = [](char key, const std::string& content) {
    return std::string{key, static_cast<char>(content.size())} + content;
  };
  return field('\x2A', field('\x0A', field('\x0A', "t") + field('\x42', tensor)));
}

TEST(EventScalarsTest, TensorsOfEachType) {
  using namespace std::string_literals;
  const auto value = [](const std::string& tensor) {
    const auto scalars = event_scalars(tensor_event(tensor));
    return !scalars || scalars->values.empty() ? -99 : scalars->values.front().second;
  };
  EXPECT_EQ(value("\x08\x01\x2D\0\0\x80\x3F"s), 1);                  // float_val
  EXPECT_EQ(value("\x08\x01\x2A\x04\0\0\x80\x3F"s), 1);              // packed
  EXPECT_EQ(value("\x08\x02\x31\0\0\0\0\0\0\xF8\x3F"s), 1.5);        // double_val
  EXPECT_EQ(value("\x08\x02\x22\x08\0\0\0\0\0\0\xF8\x3F"s), 1.5);    // tensor_content
  EXPECT_EQ(value("\x08\x03\x38\x02"s), -99);                        // an integer, which no writer makes
  EXPECT_EQ(value("\x08\x01"s), 0);                                  // no value is 0
  EXPECT_EQ(value("\x08\x01\x12\x02\x12\0\x2D\0\0\x80\x3F"s), -99);  // it has a dimension
  EXPECT_EQ(value("\x08\x07\x42\x01x"s), -99);                       // a text
  EXPECT_EQ(value("\x08\x01\x22\x03\0\0\0"s), -99);                  // too short
}

TEST(EventScalarsTest, WhatIsNoEventIsNothing) {
  EXPECT_FALSE(event_scalars("\x07"));
  EXPECT_FALSE(event_scalars("\x2A\x7F"));
  EXPECT_TRUE(event_scalars("")->values.empty());
}

TEST_F(ProgramEvents, AreThoseThatTensorBoardsOwnWriterMakes) {
  if (!readers_are_installed()) GTEST_SKIP() << needs::kReaders;
  use();
  const std::string read = read_with_python(folder_.path(), R"(
from tensorboard.summary.writer.event_file_writer import EventFileWriter
from tensorboard.compat.proto import event_pb2, summary_pb2
writer = EventFileWriter('tb/inside')
for step in range(1000):
    value = summary_pb2.Summary.Value(tag='train/loss', simple_value=step / 8)
    writer.add_event(event_pb2.Event(step=step, wall_time=step, summary=summary_pb2.Summary(value=[value])))
image = summary_pb2.Summary.Value(tag='picture', image=summary_pb2.Summary.Image(encoded_image_string=bytes(1_200_000)))
writer.add_event(event_pb2.Event(step=1000, summary=summary_pb2.Summary(value=[image])))
values = [summary_pb2.Summary.Value(tag=tag, simple_value=1.5) for tag in ('eval/loss', 'eval/accuracy')]
writer.add_event(event_pb2.Event(step=1000, summary=summary_pb2.Summary(value=values)))
writer.close()
print('done')
)");
  ASSERT_EQ(trim(read), "done");
  std::vector<std::string> expected;
  for (int step = 0; step < 1000; ++step) expected.push_back(fmt::format("{}: loss={}", step, step / 8.0));
  expected.emplace_back("valid 1000: accuracy=1.5 loss=1.5");
  EXPECT_EQ(polled(), expected);
}

}  // namespace
}  // namespace xlm
