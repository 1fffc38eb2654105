// Patterns over output.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "experiments/programs/metric_readers.h"
#include "experiments/programs/program_log.h"
#include "tests/experiments/programs/recording_sink.h"
#include "tests/growth.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::UnorderedElementsAre;

class ProgramOutput : public ::testing::Test {
 protected:
  /// What is wrong with the last line of the output.
  std::string message_of_last(const std::string& line) {
    return thrown_message<Error>([&] {
      readers_->output(line + "\n");
      readers_->finish(true);
    });
  }

  /// Patterns make a new reader.
  void use(const std::vector<std::string>& patterns) {
    std::vector<MetricDescription> descriptions;
    for (const std::string& pattern : patterns) descriptions.push_back({.target = pattern});
    readers_ = std::make_unique<MetricReaders>(descriptions, folder_.path() / "metrics.jsonl", sink_);
    readers_->begin(Json());
  }

  /// The records of an output that comes at once.
  std::vector<std::string> records_of(std::string_view output) {
    readers_->output(output);
    return sink_.take();
  }

  TemporaryFolder folder_;
  RecordingSink sink_;
  std::unique_ptr<MetricReaders> readers_;
};

TEST_F(ProgramOutput, GroupsAreQuantities) {
  use({R"(step (?<step>\d+) .*loss (?P<loss>[\d.]+)( and bpc (?<bpc>[\d.]+))?)"});
  EXPECT_THAT(records_of("step 10 of 20, loss 2.5\n"), ElementsAre("10: loss=2.5"));
  EXPECT_THAT(records_of("[now] step 11 of 20, loss 2.25 and bpc 3\n"), ElementsAre("11: bpc=3 loss=2.25"));
  EXPECT_THAT(records_of("nothing of that kind\n\n"), IsEmpty());
}

TEST_F(ProgramOutput, NumbersThatReplaceOthersAreTold) {
  const std::string step = R"(step (?<step>\d+) loss (?<loss>\S+))";
  const auto warnings = [&](const std::string& output) {
    use({step, R"(valid (?<valid.loss>\S+))"});
    readers_->output(output);
    readers_->poll();
    return readers_->warnings();
  };
  EXPECT_THAT(
      warnings("step 1 loss 2.5\nstep 1 loss 2.25\nvalid 1\n"),
      ElementsAre("1 number came behind another one of the same name and step\nfirst at output:2: at step 1 'loss' "
                  "is 2.25 after 2.5\nof those the later one counts, or the final one; report the step of each, from "
                  "one process"));
  EXPECT_THAT(warnings("step 1 loss 2\nvalid 1\nvalid 2\nstep 2 loss 2\nvalid 2\n"),
              ElementsAre(HasSubstr("first at output:3: at step 1 'valid.loss' is 2 after 1")));
  EXPECT_EQ(readers_->replaced_evaluations(), "") << "the best weights may be evaluated once more";
  warnings("step 1 loss 2\nvalid 1\nvalid 2\nvalid 3\nstep 2 loss 2\nvalid 2\n");  // as of three processes
  EXPECT_THAT(readers_->replaced_evaluations(), HasSubstr("first 'valid.loss' at step 1; let one process report"));
  EXPECT_THAT(warnings("step 1 loss 2\nstep 1 loss 2\nvalid 1\n"), IsEmpty()) << "the same number twice";
  EXPECT_THAT(warnings("step 5 loss 2\nstep 4 loss 1\nvalid 1\n"), ElementsAre(HasSubstr("steps went back 1 times")));
}

TEST_F(ProgramOutput, NumbersMayHaveSignsBetweenThousands) {
  const std::string pattern = R"(step (?<step>\S+) tokens (?<tokens_seen>\S+))";
  const std::vector<MetricDescription> with_commas{{.target = pattern, .thousands = ','}};
  readers_ = std::make_unique<MetricReaders>(with_commas, folder_.path() / "metrics.jsonl", sink_);
  readers_->begin(Json());
  EXPECT_THAT(records_of("step 1,000 tokens -4,175.5\nstep 2000 tokens 1,234,567\nstep 2001 tokens 12\n"),
              ElementsAre("1000: tokens_seen=-4175.5", "2000: tokens_seen=1234567", "2001: tokens_seen=12"));
  const std::vector<std::string> no_groups{"4,17", "4175,000", ",175", "1,2345", "1.5,000"};
  for (const std::string& text : no_groups) {
    EXPECT_THAT(message_of_last("step 3000 tokens " + text), HasSubstr("is '" + text + "', which is no number"));
  }
  use({pattern});
  EXPECT_THAT(
      message_of_last("step 1 tokens 4,175"),
      HasSubstr("is '4,175', which is no number\nif ',' stands between thousands, say so: {lines: …, thousands: "
                "\",\"}\n  step 1 tokens 4,175"));
  use({pattern});
  EXPECT_THAT(thrown_message<Error>([&] { readers_->output("step 1_000 tokens 4\n"); }), HasSubstr("thousands: \"_\""));
}

/// The lines of nanoGPT's train.py, of adaptive-span's main.py, and of dynamic-pooling's.
TEST_F(ProgramOutput, ReadsWhatPublishedProgramsPrint) {
  use({R"(^step (?<step>\d+): train loss (?<train.loss>\S+), val loss (?<valid.loss>\S+))",
       R"(^iter (?<step>\d+): loss (?<loss>[^,]+), time (?<step_ms>[\d.]+)ms, mfu (?<mfu>\S+)%)",
       R"(^number of parameters: (?<params>\S+))"});
  EXPECT_THAT(records_of("number of parameters: 10.65M\n"
                         "step 0: train loss 4.2874, val loss 4.2823\n"
                         "iter 0: loss 4.2633, time 61538.21ms, mfu -100.00%\n"
                         "iter 1: loss 4.2001, time 100.00ms, mfu -100.00%\n"),
              ElementsAre("0: loss=4.2633 mfu=-100 step_ms=61538.21", "1: loss=4.2001 mfu=-100 step_ms=100",
                          "train 0: loss=4.2874", "valid 0: loss=4.2823", "costs: params=10650000"));
  use({R"(^(?<step>\d+)\s.*train: (?<train.bpc>[\d.]+)bpc.*val: (?<valid.bpc>[\d.]+)bpc)",
       R"(^test: (?<test.bpc>[\d.]+)bpc)"});
  EXPECT_THAT(records_of("1000\ttrain: 2.13bpc\tval: 2.06bpc\telapsed: 0.1hours\ntest: 1.98bpc\n"),
              ElementsAre("test 1000: bpc=1.98", "train 1000: bpc=2.13", "valid 1000: bpc=2.06"));
  readers_->finish(true);
  EXPECT_THAT(sink_.take(),
              ElementsAre("test 1000: bpc=1.98 final", "train 1000: bpc=2.13 final", "valid 1000: bpc=2.06 final"));
}

TEST_F(ProgramOutput, APatternWithoutAStepHasTheNewest) {
  use({R"(^step (?<step>\d+))", R"(loss=(?<loss>\S+))"});
  EXPECT_THAT(records_of("loss=9\nstep 3\nloss=8\nstep 4 loss=7\nloss=6\n"),
              ElementsAre("0: loss=9", "3: loss=8", "4: loss=6"));  // of one step the later counts
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("at step 4 'loss' is 6 after 7"),
                                                HasSubstr("1 numbers of the output came before any step")));
}

TEST_F(ProgramOutput, TheStepGoesOnAfterAResumption) {
  use({R"(^step (?<step>\d+))", R"(test (?<test.bpc>\S+))"});
  records_of("step 70\n");
  const Json position = Json::parse(readers_->position().dump());
  use({R"(^step (?<step>\d+))", R"(test (?<test.bpc>\S+))"});
  readers_->begin(position);
  EXPECT_THAT(records_of("test 1.5\n"), ElementsAre("test 70: bpc=1.5"));
}

TEST_F(ProgramOutput, BeforeItsFirstStepAResumedAttemptIsAtItsCheckpoint) {
  const std::vector<std::string> patterns{R"(^step (?<step>\d+) loss (?<loss>\S+))", R"(test (?<test.bpc>\S+))"};
  use(patterns);
  records_of("step 17 loss 3\n");
  const Json position = Json::parse(readers_->position().dump());
  use(patterns);
  readers_->begin(position, 10);
  EXPECT_THAT(records_of("test 1.5\nstep 11 loss 2\ntest 1.25\n"),
              ElementsAre("back to 11: loss", "test 10: bpc=1.5", "11: loss=2", "test 11: bpc=1.25"));
  EXPECT_THAT(readers_->doubts(), ElementsAre(HasSubstr("1 number of the output came before any step of a resumed "
                                                        "attempt: the first belongs to step 10, or to another")));
}

/// A worker was killed after it had noted how far it had read: the log has more.
TEST_F(ProgramOutput, WhatAnEarlierWorkerDidNotReadIsReadFromTheLog) {
  const fs::path log = folder_.path() / "output.txt";
  const std::vector<MetricDescription> lines{{.target = R"(^step (?<step>\d+))"},
                                             {.target = R"(valid (?<valid.bpc>\S+))"}};
  const auto reader = [&] {
    readers_ = std::make_unique<MetricReaders>(lines, folder_.path() / "metrics.jsonl", sink_, log);
  };
  for (const std::uint64_t part : {1000, 40, 20}) {  // bytes of each file of the log
    for (const char* name : {"output.txt", "output.end.txt", "output.end.1.txt"}) fs::remove(folder_.path() / name);
    ProgramLog file(log, part);
    reader();
    readers_->begin(Json());
    const std::string read = "step 1\nvalid 5\nste";
    file.write(read);
    readers_->output(read);
    const Json position = Json::parse(readers_->position().dump());
    file.write("p 2\nvalid 4\nstep 3\nvalid 3\nvali");
    sink_.take();
    reader();
    readers_->begin(position);
    EXPECT_THAT(sink_.take(), ::testing::Contains("valid 3: bpc=3")) << part;
    EXPECT_THAT(records_of("d 9\n"), IsEmpty()) << "another attempt's line";
    readers_->finish(true);
    EXPECT_THAT(sink_.take(), ElementsAre("valid 3: bpc=3 final")) << part;
  }
}

/// Null: what the log holds was written by others. {}: by an attempt whose place in it is not known.
TEST_F(ProgramOutput, OnlyWhatAnEarlierAttemptLeftIsReadAgain) {
  const fs::path log = folder_.path() / "output.txt";
  const std::vector<MetricDescription> lines{{.target = R"(step (?<step>\d+) valid (?<valid.bpc>\S+))"}};
  append(log, "step 1 valid 5\n");
  MetricReaders fresh(lines, folder_.path() / "metrics.jsonl", sink_, log);
  fresh.begin(Json());
  EXPECT_THAT(sink_.take(), IsEmpty());
  MetricReaders lost(lines, folder_.path() / "metrics.jsonl", sink_, log);
  lost.begin(Json::object());
  EXPECT_THAT(sink_.take(), ElementsAre("valid 1: bpc=5"));
  MetricReaders first(lines, folder_.path() / "metrics.jsonl", sink_, log);
  first.begin(Json());
  const Json position = first.position();
  write_whole(log, "another file: step 9 valid 1\nstep 10 valid 1\n");
  MetricReaders second(lines, folder_.path() / "metrics.jsonl", sink_, log);
  second.begin(position);
  EXPECT_THAT(sink_.take(), IsEmpty());
}

/// Steps are in a file, which the program writes before it prints.
TEST_F(ProgramOutput, ANumberHasTheStepThatAFileHadBeforeIt) {
  use({R"(valid (?<valid.bpc>\S+))"});
  const fs::path metrics = folder_.path() / "metrics.jsonl";
  for (int step = 20; step <= 60; step += 20) {
    append(metrics, fmt::format("{{\"step\": {}, \"loss\": 1}}\n", step));
    EXPECT_THAT(records_of(fmt::format("valid {}\n", step)),
                ElementsAre(fmt::format("{}: loss=1", step), fmt::format("valid {0}: bpc={0}", step)));
  }
  EXPECT_THAT(readers_->warnings(), IsEmpty());
}

TEST_F(ProgramOutput, AStepThatIsNotSureIsSaid) {
  const auto warnings = [&](const std::string& steps, const std::string& output) {
    fs::remove(folder_.path() / "metrics.jsonl");
    use({R"((step (?<step>\d+) )?valid (?<valid.bpc>\S+))"});
    append(folder_.path() / "metrics.jsonl", steps);
    readers_->output(output);
    return readers_->warnings();
  };
  const std::string two = "{\"step\": 1, \"loss\": 1}\n{\"step\": 2, \"loss\": 1}\n";
  const auto said = ElementsAre(HasSubstr("a pattern with (?<step>…) says it"));
  EXPECT_THAT(warnings(two, "valid 1\n"), said);
  EXPECT_THAT(warnings("{\"step\": 1, \"loss\": 1}\n", "valid 1\nvalid 2\n"),
              ElementsAre(HasSubstr("'valid.bpc' is 2 after 1"), HasSubstr("a pattern with (?<step>…) says it")));
  EXPECT_THAT(warnings(two, "step 1 valid 1\nstep 2 valid 2\n"), IsEmpty());
  EXPECT_THAT(warnings("{\"step\": 1, \"loss\": 1}\n", "valid 1\n"), IsEmpty());
}

TEST_F(ProgramOutput, ComesInPiecesOfAnySize) {
  const std::string output =
      "step 1 loss 1\r\nstep 2 loss 2\n\n\rstep 3 loss 3\r   \rstep 4 loss 4\nstep 5 \xC3\xA4 loss 5\nstep 6 loss 6";
  for (const std::size_t bytes : {1, 2, 3, 5, 7, 1000}) {
    use({R"(step (?<step>\d+).* loss (?<loss>\d+))"});
    for (std::size_t at = 0; at < output.size(); at += bytes)
      readers_->output(std::string_view(output).substr(at, bytes));
    EXPECT_THAT(sink_.take(), ElementsAre("1: loss=1", "2: loss=2", "3: loss=3", "4: loss=4", "5: loss=5")) << bytes;
    readers_->finish(true);
    EXPECT_THAT(sink_.take(), ElementsAre("6: loss=6")) << bytes;  // the last line has no end
  }
}

TEST_F(ProgramOutput, ColoursAndBytesThatAreNoTextAreNoHindrance) {
  use({R"(step (?<step>\d+) loss (?<loss>\d+) über)"});
  EXPECT_THAT(records_of("\x1b[1;32mstep\x1b[0m 1 loss \x1b[31m2\x1b[0m über\n"), ElementsAre("1: loss=2"));
  EXPECT_THAT(records_of("\xFF\xFE step 2 loss 3 über \xC3\n"), ElementsAre("2: loss=3"));
  EXPECT_THAT(records_of("\x1b]0;title\x07step 3 loss 4 über\x1b\n"), ElementsAre("3: loss=4"));
  EXPECT_THAT(records_of(std::string_view("step 4 loss 5 über\0\n", 21)), ElementsAre("4: loss=5"));
}

TEST_F(ProgramOutput, WhatIsNoNumberIsAnErrorWithItsLine) {
  const auto wrong = [&](const std::string& line) {
    use({R"(step (?<step>\S+) loss (?<loss>\S+))"});
    return message_of_last(line);
  };
  EXPECT_EQ(wrong("step 1 loss high"), "output:1: 'loss' is 'high', which is no number\n  step 1 loss high");
  EXPECT_THAT(wrong("step 2 loss 1.2.3"), HasSubstr("output:1: 'loss' is '1.2.3', which is no number"));
  EXPECT_THAT(wrong("step two loss 1"), HasSubstr("output:1: 'step' is 'two'; a step is a whole number"));
  EXPECT_THAT(wrong("step 2.5 loss 1"), HasSubstr("'step' is '2.5'"));
  EXPECT_THAT(wrong("step -2 loss 1"), HasSubstr("'step' is '-2'"));
  EXPECT_THAT(wrong("step 1e300 loss 1"), HasSubstr("'step' is '1e300'"));
  EXPECT_EQ(wrong("step 1e3 loss +1.5e-1"), "");
  EXPECT_EQ(sink_.take().back(), "1000: loss=0.15");
  EXPECT_THAT(wrong("step 3 loss nan"), HasSubstr("output:1: 'loss' is nan at step 3"));
  EXPECT_EQ(sink_.take().back(), "3: loss=nan");
}

TEST_F(ProgramOutput, NumbersAreReadAsTheyAreWritten) {
  use({R"(x=(?<x>\S*))"});
  const std::vector<std::pair<std::string, std::string>> good{
      {"1", "1"},           {"-1", "-1"},           {"+1", "1"},         {".5", "0.5"},
      {"5.", "5"},          {"1e-400", "0"},        {"-0.0000", "-0"},   {"inf", "inf"},
      {"-inf", "-inf"},     {"-Infinity", "-inf"},  {"NaN", "nan"},      {"nan", "nan"},
      {"1e999", "inf"},     {"3k", "3000"},         {"1.5M", "1500000"}, {"2B", "2000000000"},
      {"2G", "2000000000"}, {"1T", "1000000000000"}};
  for (const auto& [text, number] : good)
    EXPECT_THAT(records_of("x=" + text + "\n"), ElementsAre("0: x=" + number)) << text;
  for (const std::string text :
       {"", "-", "--1", "+-1", "1,5", "1,000", "0x10", "1_0", "nan(1)", "M", "1MM", "1e", "l", "1m"}) {
    use({R"(x=(?<x>\S*))"});
    EXPECT_THAT(message_of_last("x=" + text), HasSubstr("which is no number")) << text;
  }
}

TEST_F(ProgramOutput, OptionalGroupsAndBranchesGiveWhatTheyFound) {
  use({R"((?:step (?<step>\d+): )?(?:val (?<valid.loss>\S+)|train (?<loss>\S+)))", R"(a(?<a>\d)|b(?<a>\d))"});
  EXPECT_THAT(records_of("step 1: val 2\n"), ElementsAre("valid 1: loss=2"));
  EXPECT_THAT(records_of("train 3\n"), ElementsAre("1: loss=3"));
  EXPECT_THAT(records_of("b4\n"), ElementsAre("1: a=4"));
}

TEST_F(ProgramOutput, APatternThatNeverFittedIsToldWithTheLastLines) {
  use({R"(step (?<step>\d+))", R"(accuracy (?<valid.accuracy>\d+))"});
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("there was no output"), HasSubstr("there was no output")));
  for (int i = 0; i < 20; ++i) records_of(fmt::format("step {} \x1b[31macc\x07 {}\n", i, i));
  EXPECT_THAT(readers_->warnings(),
              ElementsAre("no line of the output fits the pattern 'accuracy (?<valid.accuracy>\\d+)'\nthe last lines "
                          "were:\n  step 15 acc\\x07 15\n  step 16 acc\\x07 16\n  step 17 acc\\x07 17\n  step 18 "
                          "acc\\x07 18\n  step 19 acc\\x07 19"));
}

TEST_F(ProgramOutput, APatternThatNeverFittedDoesNotRepeatLinesThatAreToldElsewhere) {
  use({R"(accuracy (?<valid.accuracy>\d+))"});
  records_of("RuntimeError: it broke\n");
  EXPECT_THAT(readers_->warnings(), ElementsAre(HasSubstr("RuntimeError: it broke")));
  readers_->output_is_told();
  EXPECT_THAT(readers_->warnings(),
              ElementsAre("no line of the output fits the pattern 'accuracy (?<valid.accuracy>\\d+)'"));
}

TEST_F(ProgramOutput, ALineOfNoStepIsPassedOver) {
  use({R"(step (?<step>\S+) loss (?<loss>\S+))"});
  EXPECT_THAT(records_of("step 900 loss 2\nstep 1K loss 9\n"), ElementsAre("900: loss=2"));
  EXPECT_THAT(readers_->doubts(),
              Contains(HasSubstr("1 line could not be read, the first at output:2: 'step' is '1K'")));
}

TEST_F(ProgramOutput, EachNameIsDoubtedForItself) {
  use({R"(tokens (?<tokens_seen>[\d.]+))", R"(eval: loss (?<valid.loss>[\d.]+))"});
  readers_->output("step 1 tokens 300K\neval: loss 7.10e-01\nstep 2 tokens 400K\n");
  readers_->poll();
  EXPECT_THAT(readers_->doubts(), IsSupersetOf({HasSubstr("'tokens_seen' took '300' of '300K' (output:1)"),
                                                HasSubstr("'valid.loss' took '7.10' of '7.10e-01' (output:2)")}));
}

TEST_F(ProgramOutput, APartOfANumberIsDoubted) {
  const auto doubt = [&](const std::string& pattern, const std::string& line) {
    use({pattern});
    readers_->output(line + "\n");
    readers_->poll();
    return join(readers_->doubts(), "\n");
  };
  EXPECT_THAT(doubt(R"(loss (?<loss>[\d.]+))", "step 1 loss 1.5e-05"),
              HasSubstr("'loss' took '1.5' of '1.5e-05' (output:1)"));
  EXPECT_THAT(doubt(R"(step (?<step>\d+))", "step 1,000 loss 2"), HasSubstr("'step' took '1' of '1,000'"));
  EXPECT_THAT(doubt(R"(loss.*(?<loss>[\d.]+))", "loss 2.51"), HasSubstr("'loss' took '1' of '2.51'"));
  EXPECT_THAT(doubt(R"(loss (?<loss>\d+))", "loss 2.51"), HasSubstr("'loss' took '2' of '2.51'"));
  EXPECT_THAT(doubt(R"(gain\D+(?<gain>[\d.]+))", "gain -0.5"), HasSubstr("'gain' took '0.5' of '-0.5'"));
  EXPECT_THAT(doubt(R"(params (?<params>[\d.]+))", "params 12.5M"), HasSubstr("'12.5' of '12.5M'"));
  EXPECT_THAT(doubt(R"(loss\D+(?<loss>[\d.]+))", "'loss': np.float64(0.51)"), HasSubstr("'64' of '64(0.51)'"));
  EXPECT_THAT(doubt(R"((?<rate>[\d.]+) bytes/sec)", "at 1,089,121.83 bytes/sec"),
              HasSubstr("'rate' took '121.83' of '1,089,121.83'"));
  EXPECT_THAT(doubt(R"((?<sent>\d+) bytes )", "sent 3,865,173 bytes "), HasSubstr("'173' of '3,865,173'"));
  EXPECT_THAT(doubt(R"(ppl (?<ppl>\d+))", "ppl 1'234.5"), HasSubstr("'1' of '1'234.5'"));
  EXPECT_THAT(doubt(R"((?<ppl>[\d.]+) is)", "ppl 1'234.5 is"), HasSubstr("'234.5' of '1'234.5'"));
  EXPECT_EQ(doubt(R"((?<step>\d+),(?<loss>\d+))", "10,250"), "") << "two numbers";
  EXPECT_EQ(doubt(R"((?<loss>\d+)$)", "1.5,250"), "");
  EXPECT_EQ(doubt(R"((?<loss>\d+)$)", "2026,250"), "");
  const std::string usual = R"(0*(?<step>\d+)\D+\d+\D+loss (?<loss>[-\d.e]+))";
  for (const char* line : {"iter 0012/100: loss 2.5, acc 0.5", "step-12 of 20 loss -2.5e-3", "12:30 loss 2.5 s",
                           "...5 9 loss 2.", "1 5 loss 0.030,150", "1 5 loss 12.5ms"}) {
    EXPECT_EQ(doubt(usual, line), "") << line;
  }
}

TEST_F(ProgramOutput, APatternOfDigitsTakesWhatIsNotFinite) {
  use({R"(step (?<step>\d+) acc (?<acc>\d+\.\d+) grad (?<grad>[-\d.]+))"});
  EXPECT_THAT(records_of("step 4 acc nan grad -Inf\n"), ElementsAre("4: acc=nan grad=-inf"));
  EXPECT_THAT(records_of("step nan acc 1.5 grad 2\n"), IsEmpty()) << "a step is finite";
  EXPECT_THAT(records_of("step 5 acc banana grad 2\ninfo: step 5 acc grad 2\n"), IsEmpty());
  EXPECT_THAT(readers_->doubts(), IsEmpty());
  use({R"(loss (?<loss>\d\.\d{4})( \((?<acc>\d+)\))?)"});
  EXPECT_THROW(readers_->output("loss nan (5)\n"), DivergedError);
  use({R"(step (?<step>\d+) loss (?<loss>[\d.]+))"});
  EXPECT_THROW(readers_->output("step 5 loss nan\n"), DivergedError);
}

TEST_F(ProgramOutput, ANumberThatNoPatternTakesIsDoubted) {
  for (const char* pattern : {R"(valid loss (?<valid.loss>\d+\.\d+))", R"(valid loss (?<valid.loss>0\.\d+))"}) {
    use({pattern});
    EXPECT_THAT(records_of("valid loss 0.5\n"), ElementsAre(HasSubstr("loss=0.5")));
    EXPECT_THAT(records_of("valid loss 1e-06\n"), IsEmpty());
    EXPECT_THAT(readers_->doubts(), ElementsAre(HasSubstr("(output:2: valid loss 1e-06), so it was not read")));
  }
}

TEST_F(ProgramOutput, MarksBehindANumberAreNoPartOfIt) {
  use({R"(iter (?<step>\S+) loss (?<loss>\S+) \(lr (?<lr>\S+))"});
  EXPECT_THAT(records_of("iter 10: loss 3.0095, (lr 1e-3)\n"), ElementsAre("10: loss=3.0095 lr=0.001"));
}

TEST_F(ProgramOutput, OneNumberOfTwoNamesIsDoubted) {
  use({R"(.*loss: (?<loss>\S+))", R"(valid loss: (?<valid.loss>\S+))"});
  readers_->output("valid loss: 2.5\n");
  readers_->poll();
  EXPECT_THAT(readers_->doubts(), Contains(HasSubstr("'loss' and 'valid.loss' took the same number (output:1)")));
}

TEST_F(ProgramOutput, GroupsAreNamedAsFilesNameTheirNumbers) {
  use({R"(val (?<val_loss>\S+) test (?<test.F1>\S+) train (?<train_loss>\S+))"});
  readers_->output("val 2.5 test 0.5 train 3\n");
  readers_->poll();
  EXPECT_THAT(sink_.take(), UnorderedElementsAre("0: train_loss=3", HasSubstr("valid"), HasSubstr("test")));
}

TEST_F(ProgramOutput, ALineWithoutEndCostsNoMemory) {
  use({R"(loss (?<loss>\d))"});
  const std::string piece(1 << 16, 'x');
  readers_->output("loss 1 ");
  for (int i = 0; i < 1000; ++i) readers_->output(piece);  // 65 MB
  readers_->output("loss 2\nloss 3\n");
  EXPECT_THAT(sink_.take(), ElementsAre("0: loss=3"));
  use({R"(loss (?<loss>\d))"});
  for (int i = 0; i < 100; ++i) readers_->output(piece);
  readers_->finish(true);
  EXPECT_THAT(sink_.take(), IsEmpty());
}

TEST_F(ProgramOutput, TimeIsInProportionToTheOutput) {
  const auto read = [&](const std::string& line, int count, std::size_t at_once) {
    std::string output;
    for (int i = 0; i < count; ++i) output += line;
    use({R"(((a+)+)+b(?<loss>\d))"});  // where other libraries go back and forth for ages
    for (std::size_t at = 0; at < output.size(); at += at_once)
      readers_->output(std::string_view(output).substr(at, at_once));
    readers_->finish(true);
  };
  const std::string bar(1000, 'a');
  EXPECT_LT(growth([&] { read(bar + "\n", 20, 4096); }, [&] { read(bar + "\n", 320, 4096); }), 64);
  EXPECT_LT(growth([&] { read("\raaa", 2000, 1 << 20); }, [&] { read("\raaa", 32000, 1 << 20); }), 64);
  EXPECT_LT(growth([&] { read(bar, 50, 100); }, [&] { read(bar, 800, 100); }), 64);
}

}  // namespace
}  // namespace xlm
