// Configurations of programs: what they say, what is refused and where, and which runs are the same.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/placeholders.h"
#include "experiments/configuration/program_inputs.h"
#include "tests/experiments/experiment_files.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

RunConfiguration read_program(const std::string& text) { return read_run_options(parse_yaml(text, "run.yaml")); }

/// What reading a configuration complains of.
std::string complaint_about(const std::string& text) {
  return thrown_message([&] { read_program(text); });
}

TEST(Placeholders, AreNamesInBraces) {
  EXPECT_THAT(placeholders_in("--lr {lr} {a.b-c}{_x1}"), ElementsAre("lr", "a.b-c", "_x1"));
  EXPECT_THAT(placeholders_in(R"({"json": 1} {} {1} \d{3} {{lr}} ${HOME})"), ElementsAre("HOME"));
  const auto value = [](const std::string& name) { return "<" + name + ">"; };
  EXPECT_EQ(with_values("a{b}c{{d}}{e", value), "a<b>c{d}{e");
  EXPECT_EQ(with_values("{{x}", value), "{<x>");
  EXPECT_EQ(with_values("", value), "");
}

TEST(Placeholders, ValuesAreWrittenAsJsonDoesAndTextAsItIs) {
  EXPECT_EQ(value_text(0.001), "0.001");
  EXPECT_EQ(value_text(12), "12");
  EXPECT_EQ(value_text(0.00001), "1e-05");
  EXPECT_EQ(value_text(-0.00001), "-0.00001") << "argparse takes -1e-05 for an option";
  EXPECT_EQ(value_text(-1.5), "-1.5");
  EXPECT_EQ(value_text(-2.0), "-2.0");
  EXPECT_EQ(value_text(-1e20), "-100000000000000000000.0");
  EXPECT_EQ(value_text(true), "true");
  EXPECT_EQ(value_text("a b"), "a b");
  EXPECT_EQ(value_text(Json::parse("[1, 2.5, \"x\"]")), "1,2.5,x");
}

TEST(ProgramOptions, ReadsAProgramAndItsOptions) {
  const RunConfiguration run = read_program(
      "program:\n  command: [python3, train.py, --lr, '{lr}', --dims, '{dims}', '--out={checkpoints}/x']\n"
      "  folder: some/Where\n  environment: {MODE: '{mode}', N: 3}\n  grace: 5\n  resume: restart\n"
      "options: {lr: 0.1, dims: [1, 2], mode: fast, model: {width: 8}}\nseed: 3\ntrain: {steps: 40}\n");
  ASSERT_TRUE(run.program);
  const ProgramOptions& program = *run.program;
  EXPECT_EQ(run.type(), "program");
  EXPECT_EQ(program.name, "where");
  EXPECT_EQ(program.grace, 5);
  EXPECT_EQ(program.resume, ProgramOptions::Resume::kRestart);
  EXPECT_EQ(program.environment.at("N"), "3");
  EXPECT_EQ(run.train.steps, 40);
  ASSERT_NE(program.option("model.width"), nullptr);
  EXPECT_EQ(*program.option("model.width"), 8);
  EXPECT_EQ(program.option("width"), nullptr);
  const std::map<std::string, std::string> places{{"checkpoints", "/r/checkpoints"}};
  EXPECT_EQ(command_words(program.command, program, places),
            (Words{"python3", "train.py", "--lr", "0.1", "--dims", "1", "2", "--out=/r/checkpoints/x"}));
  EXPECT_EQ(filled(program.environment.at("MODE"), program, places), "fast");
}

TEST(ProgramOptions, TheResolvedConfigurationIsReadAsTheSameRun) {
  const RunConfiguration run = read_program(
      "program:\n  command: [./run.sh, '{text}', 'a \"b\" $(c)\n']\n  environment: {A: 'x: y'}\n  flags: hydra\n"
      "  metrics: [{lines: 'loss (?<loss>\\S+)'}]\n"
      "options: {text: '017', list: [a, 1], on: true, model: {width: 8}}\n");
  const std::string text = to_text(resolved(run));
  const RunConfiguration again = read_run_options(parse_yaml(text, "config.yaml"));
  EXPECT_EQ(to_text(resolved(again)), text);
  EXPECT_EQ(*again.program->option("text"), "017");
  EXPECT_EQ(again.program->command, run.program->command);
  EXPECT_EQ(run_identity(again, {}), run_identity(run, {}));
}

TEST(ProgramOptions, FlagsAddEveryOption) {
  const auto flags = [](const std::string& kind) {
    return flag_words(*read_program("program: {command: [x], flags: " + kind +
                                    "}\noptions: {lr: 0.1, on: true, off: false, name: 'a b', list: [1, 2], model: "
                                    "{width: 8}, empty: '', digits: '12', quote: \"it's\"}\n")
                           .program);
  };
  EXPECT_EQ(flags("false"), Words());
  EXPECT_EQ(flags("true"), (Words{"--lr", "0.1", "--on", "--name", "a b", "--list", "1", "2", "--model.width", "8",
                                  "--empty", "", "--digits", "12", "--quote", "it's"}));
  EXPECT_EQ(flags("negated"), (Words{"--lr", "0.1", "--on", "--no-off", "--name", "a b", "--list", "1", "2",
                                     "--model.width", "8", "--empty", "", "--digits", "12", "--quote", "it's"}));
  EXPECT_EQ(flags("hydra"), (Words{"lr=0.1", "on=true", "off=false", "name='a b'", "list=[1,2]", "model.width=8",
                                   "empty=''", "digits='12'", "quote='it\\'s'"}));
}

/// As Hydra 1.3.8 with OmegaConf 2.3.1 reads them back.
TEST(FlagWords, TextsOfHydraArriveAsTheyAre) {
  ProgramOptions program;
  program.flags = ProgramOptions::Flags::kHydra;
  const auto word = [&](const std::string& text) {
    program.options = {{"k", text}};
    return flag_words(program).at(0).substr(2);
  };
  for (const char* plain : {"adam", "a/b.c", "_x", "x-y+z", "cosine2"}) EXPECT_EQ(word(plain), plain);
  for (const char* quoted : {"inf", "-nan", "NaN", "tRuE", "1_000", "1e3", "null", "a,b", "", ".5", "+5", "é", "$x"}) {
    EXPECT_EQ(word(quoted), fmt::format("'{}'", quoted));
  }
  EXPECT_EQ(word("\\d+"), "'\\d+'");
  EXPECT_EQ(word("C:\\dir\\"), "'C:\\dir\\\\'") << "the last is in front of the quote";
  EXPECT_EQ(word("a\\'b"), "'a\\\\\\'b'");
  EXPECT_EQ(word("${oc.env:USER}"), "'\\${oc.env:USER}'") << "a reference would be resolved";
  EXPECT_EQ(word("\\${x}"), "'\\\\\\${x}'");
}

TEST(ProgramOptions, WholeNumbersThatWouldBeRoundedAreRefused) {
  const auto complaint = [](const std::string& value) {
    return complaint_about(
        "program: {command: [a], metrics: [{lines: 'loss (?<loss>\\S+)'}]}\noptions: {hash: " + value + "}\n");
  };
  EXPECT_THAT(complaint("9223372036854775808"), HasSubstr("options.hash: 9223372036854775808 has more digits"));
  EXPECT_THAT(complaint("[1, -9223372036854775809]"), HasSubstr("\"-9223372036854775809\""));
  EXPECT_THAT(complaint("9223372036854775807"), ::testing::Not(HasSubstr("digits")));
  EXPECT_THAT(complaint("'12345678901234567890'"), ::testing::Not(HasSubstr("digits")));
  EXPECT_THAT(complaint("1.5e300"), ::testing::Not(HasSubstr("digits")));
}

TEST(ProgramOptions, WholeNumbersThatBeginWithZeroAreRefused) {
  const auto complaint = [](const std::string& value) {
    return complaint_about(
        "program: {command: [a], metrics: [{lines: 'loss (?<loss>\\S+)'}]}\noptions: {zip: " + value + "}\n");
  };
  for (const std::string number : {"02142", "-010", "+00", "09", "[1, 007]"}) {
    EXPECT_THAT(complaint(number), HasSubstr("is another number for other readers of YAML\nwrite the number"))
        << number;
  }
  for (const std::string number : {"0", "-0", "0.5", "0o17", "0x1F", "0e5", "'02142'", "2024-01-02", "1:30", "0b11"}) {
    EXPECT_THAT(complaint(number), ::testing::Not(HasSubstr("readers of YAML"))) << number;
  }
  EXPECT_THAT(complaint("10.10"), HasSubstr("10.10 is the number 10.1\nwrite that, or \"10.10\" for a text"));
  for (const std::string number : {"3.1", "1.0", "0.10", "'3.10'", "100", "1.10e3"}) {
    EXPECT_THAT(complaint(number), ::testing::Not(HasSubstr("is the number"))) << number;
  }
}

TEST(ProgramOptions, ComplaintsNameThePlaceAndTheNearestWord) {
  const std::string start = "program:\n  command: [x, '{lr}']\n";
  EXPECT_THAT(complaint_about(start), AllOf(HasSubstr("run.yaml:2"), HasSubstr("{lr} is none of ")));
  EXPECT_THAT(complaint_about("program:\n  command: [x, '{chekpoints}']\n"), HasSubstr("did you mean 'checkpoints'?"));
  const std::string whole = start + "options: {lr: 1}\n";
  EXPECT_EQ(complaint_about(whole), "");
  EXPECT_THAT(complaint_about(whole + "model: {width: 8}\n"),
              AllOf(HasSubstr("run.yaml:4"), HasSubstr("model.type does not say which of them the run is")));
  EXPECT_EQ(complaint_about(whole + "model: {type: program}\n"), "");
  EXPECT_THAT(complaint_about(whole + "train: {batch: 3}\n"), HasSubstr("unknown key 'batch' in 'train'"));
  EXPECT_THAT(complaint_about(whole + "optimizer: {lr: 3}\n"), HasSubstr("unknown key 'optimizer'"));
  EXPECT_THAT(complaint_about("program: {folder: x}\n"), HasSubstr("program.command is missing"));
  EXPECT_THAT(complaint_about("program: {comand: [x]}\n"), HasSubstr("did you mean 'command'?"));
  EXPECT_THAT(complaint_about("program: {command: [x], numbers: []}\n"),
              AllOf(HasSubstr("unknown key 'numbers' in 'program'; it takes name, "), HasSubstr(", metrics")));
  EXPECT_THAT(complaint_about("program: {command: [x], folde: y}\n"),
              AllOf(HasSubstr("unknown key 'folde' in 'program'"), HasSubstr("did you mean 'folder'?")));
  EXPECT_THAT(complaint_about("program: {command: python train.py}\n"), HasSubstr("must be a list of words"));
  EXPECT_THAT(complaint_about("program: {command: [x], environment: {XLM_RUN: y}}\n"), HasSubstr("'XLM_RUN'"));
  EXPECT_THAT(complaint_about("program: {command: [x]}\noptions: {seed: 3}\n"), HasSubstr("write seed outside"));
  EXPECT_THAT(complaint_about("program: {command: [x]}\noptions: {a b: 3}\n"), HasSubstr("options.a b"));
  EXPECT_THAT(complaint_about("program: {command: [x]}\noptions: {a: null}\n"), HasSubstr("options.a must be"));
  EXPECT_THAT(complaint_about("program: {command: [x]}\noptions: {a: [[1]]}\n"), HasSubstr("options.a must be"));
  EXPECT_THAT(complaint_about("program: {command: [x], metrics: [{linez: y}]}\n"), HasSubstr("run.yaml:1"));
  EXPECT_THAT(complaint_about("options: {a: 1}\nmodel: {type: gpt2}\n"), HasSubstr("unknown key 'options'"));
}

TEST(ProgramOptions, AnOptionMaySayHowManyStepsThereAre) {
  const std::string start = "program: {command: [x]}\noptions: {iterations: 300}\n";
  EXPECT_EQ(read_program(start + "train: {steps: '{iterations}'}\n").train.steps, 300);
  EXPECT_EQ(read_program(start).train.steps, 0);
  EXPECT_THAT(complaint_about(start + "train: {steps: '{iteration}'}\n"), HasSubstr("did you mean 'iterations'?"));
}

TEST(ProgramOptions, DottedKeysAreNestedMaps) {
  TemporaryFolder folder;
  const fs::path file = folder.path() / "c.yaml";
  write_file(file, "program: {command: [x]}\noptions: {model.width: 8, model.depth: 2, lr: 1}\n");
  const Yaml tree = read_configuration(file, "", {"options.model.width=16"});
  const RunConfiguration run = read_run_options(run_part(tree));
  EXPECT_EQ(*run.program->option("model.width"), 16);
  EXPECT_EQ(*run.program->option("model.depth"), 2);
  write_file(file, "program: {command: [x]}\noptions: {model: 3, model.depth: 2}\n");
  EXPECT_THROW(read_configuration(file, "", {}), UsageError);
}

class ProgramIdentity : public ::testing::Test {
 protected:
  ProgramIdentity() {
    create_folders(folder_.path() / "code");
    write_file(folder_.path() / "code" / "a.py", "print(1)\n");
  }

  /// `more` of the program, and rest it.
  std::string id(const std::string& more = "", const std::string& rest = "", const std::string& folder = "code") {
    const RunConfiguration run = read_program("program: {command: [python3, a.py], code: [\"*.py\"], folder: " +
                                              (folder_.path() / folder).string() + ", name: it" + more + "}\n" + rest);
    return run_id(run, read_program_inputs(run));
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramIdentity, IsWhatCanChangeTheResult) {
  const std::string plain = id("", "options: {lr: 1}\n");
  EXPECT_EQ(plain.substr(0, 3), "it-");
  EXPECT_EQ(plain.size(), 3 + 16U);
  EXPECT_NE(id("", "options: {lr: 2}\n"), plain);
  EXPECT_NE(id("", "options: {lr: 1}\nseed: 2\n"), plain);
  EXPECT_NE(id(", environment: {A: b}", "options: {lr: 1}\n"), plain);
  EXPECT_NE(id(", flags: true", "options: {lr: 1}\n"), plain);
  EXPECT_EQ(id(", metrics: [{lines: 'loss (?<loss>.*)'}]", "options: {lr: 1}\n"), plain);
  EXPECT_EQ(id(", grace: 3, resume: restart", "options: {lr: 1}\nexperiment: e\ntrain: {steps: 9}\ndevice: cpu\n"),
            plain);
  write_file(folder_.path() / "code" / "b.txt", "no code");
  EXPECT_EQ(id("", "options: {lr: 1}\n"), plain);
  fs::copy(folder_.path() / "code", folder_.path() / "elsewhere", fs::copy_options::recursive);
  EXPECT_EQ(id("", "options: {lr: 1}\n", "elsewhere"), plain);
  write_file(folder_.path() / "code" / "a.py", "print(2)\n");
  EXPECT_NE(id("", "options: {lr: 1}\n"), plain);
}

TEST_F(ProgramIdentity, DataCountByTheirContentWhereverTheyLie) {
  const auto with = [&](const fs::path& data) { return id("", "data: {path: " + data.string() + "}\n"); };
  const fs::path file = folder_.path() / "text8";
  write_file(file, "abc");
  const std::string first = with(file);
  EXPECT_THAT(first, HasSubstr("it-text8-"));
  create_folders(folder_.path() / "x");
  fs::copy(file, folder_.path() / "x" / "text8");
  EXPECT_EQ(with(folder_.path() / "x" / "text8"), first);
  write_file(file, "abd");
  EXPECT_NE(with(file), first);
  EXPECT_THROW(with(folder_.path() / "nowhere"), DataError);
  const fs::path prepared = make_data(folder_.path() / "data");
  EXPECT_EQ(summarize_any_data(prepared).fingerprint, summarize_prepared(prepared).fingerprint);
}

TEST_F(ProgramIdentity, LargeDataCountByNamesSizesAndTimes) {
  const fs::path data = folder_.path() / "raw";
  create_folders(data / "a");
  write_file(data / "a" / "1", "12345");
  write_file(data / "2", "12345");
  const auto now = fs::last_write_time(data / "2");
  const std::string by_content = summarize_any_data(data, 10).fingerprint;
  const std::string by_time = summarize_any_data(data, 9).fingerprint;
  EXPECT_NE(by_content, by_time);
  fs::last_write_time(data / "2", now + std::chrono::seconds(5));
  EXPECT_EQ(summarize_any_data(data, 10).fingerprint, by_content);
  EXPECT_NE(summarize_any_data(data, 9).fingerprint, by_time);
}

}  // namespace
}  // namespace xlm
