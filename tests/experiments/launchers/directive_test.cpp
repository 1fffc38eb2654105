// The text of a batch script: further options of sbatch and names of folders, as the shell reads them.
#include "experiments/launchers/directive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/command.h"
#include "base/error.h"
#include "base/text.h"
#include "experiments/launchers/slurm_script.h"
#include "tests/temporary_folder.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

std::string directive_complaint(const std::string& directive) {
  return thrown_message([&] { read_directive(directive); });
}

/// Every byte that a batch script can have in a name: all but line end and carriage return.
std::string every_byte(std::string_view without) {
  std::string bytes;
  for (int byte = 1; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    if (without.find(c) == std::string_view::npos) bytes += c;
  }
  return bytes;
}

/// The rules of src/sbatch/opt.c in Slurm 22.05. SlurmTest.EveryByteOfAFolderReachesSlurm compares them with a real
/// Slurm.
TEST(Directive, IsSplitIntoWordsAsSbatchSplitsIt) {
  EXPECT_THAT(directive_words("--a=b  -c\td\v--e"), ElementsAre("--a=b", "-c", "d", "--e"));
  EXPECT_THAT(directive_words(R"(--a="b c" 'd "e' "f 'g")"), ElementsAre("--a=b c", "d \"e", "f 'g"));
  EXPECT_THAT(directive_words(R"(a\ b '\'' "\\" \#)"), ElementsAre("a b", "'", "\\", "#"));
  EXPECT_THAT(directive_words("a # b"), ElementsAre("a"));
  EXPECT_THAT(directive_words("a#b c"), ElementsAre("a"));
  EXPECT_THAT(directive_words("'a#b' c"), ElementsAre("a#b", "c"));
  EXPECT_THAT(directive_words(" \t"), ElementsAre());
  EXPECT_THAT(directive_words("''"), ElementsAre(""));
}

TEST(Directive, AQuotedWordIsReadAsItWas) {
  std::string all;
  for (const char c : every_byte("\n")) {
    for (const std::string& text : {std::string(1, c), std::string("a") + c, c + std::string("a"), std::string(2, c)}) {
      EXPECT_THAT(directive_words(shell_word(text)), ElementsAre(text));
    }
    all += c;
  }
  EXPECT_THAT(directive_words(shell_word(all)), ElementsAre(all));
}

TEST(Directive, IsOneOptionInOneWord) {
  EXPECT_EQ(read_directive("--constraint=a100"), "--constraint=a100");
  EXPECT_EQ(read_directive("--exclude node1"), "--exclude=node1");
  EXPECT_EQ(read_directive("-x node1"), "-xnode1");
  EXPECT_EQ(read_directive("-xnode1  # a bad one"), "-xnode1");
  EXPECT_EQ(read_directive("--comment=\"two words\""), "--comment=two words");
  EXPECT_EQ(read_directive("--exclusive"), "--exclusive");
  for (const char* several :
       {"--nice=5 --output=/x", "--nice=5\t--output=/x", "--nice=5\v-o/x", "--exclusive --output=/x", "-x node1 -o /x",
        "--nice=5 7", "-x node1 -J mine", "--comment=\"a\" '-o' x", "--exclusive -o", "-H -o/x"}) {
    EXPECT_THAT(directive_complaint(several), HasSubstr("more than one option")) << several;
  }
  for (const char* none : {"", " ", "constraint", "# --output=/x", "'' --output=/x", "main -o /x"}) {
    EXPECT_THAT(directive_complaint(none), HasSubstr("is no option of sbatch")) << none;
  }
}

TEST(Directive, CannotChangeOptionsThatTheScriptReliesOnInAnyForm) {
  for (const char* own : {"--outp=/x",
                          "--output /x",
                          "--o=/x",
                          "\t--output=/x",
                          "  --output=/x",
                          "--out\"put\"=/x",
                          "--out\\put=/x",
                          "'--output=/x'",
                          "-o/x",
                          "-\"o\"/x",
                          "--err=/x",
                          "--no-req",
                          "--job-n=x",
                          "--arr=0-9",
                          "--arra\t0-9",
                          "--part=x",
                          "--sig=KILL",
                          "--open=truncate",
                          "--",
                          "-",
                          "--n=1",
                          "--t=1",
                          "--me=1",
                          "--clus=x",
                          "-Mx"}) {
    EXPECT_THAT(directive_complaint(own), HasSubstr("directives may not have ")) << own;
  }
  for (const char* nothing_is_submitted : {"--test-only", "--test", "--help", "-h", "--usage", "-u", "--version", "-V",
                                           "--vers", "--wait", "-W", "--wrap=id"}) {
    EXPECT_THAT(directive_complaint(nothing_is_submitted), HasSubstr("directives may not have "))
        << nothing_is_submitted;
  }
  for (const char* bundle : {"-Ho/x", "-vo/x", "-HW", "-kJmine", "-Ot1"}) {
    EXPECT_THAT(directive_complaint(bundle), HasSubstr("several options in one")) << bundle;
  }
  for (const char* free :
       {"-H", "-v", "--time-min=1", "--mem-bind=local", "--gpu-bind=none", "--nodelist=n1", "-wn1", "-C a100",
        "--gres-flags=enforce-binding", "--wait-all-nodes=1", "--export=NONE", "--partial=x"}) {
    EXPECT_EQ(directive_complaint(free), "") << free;
  }
  EXPECT_THAT(directive_complaint("--gres='gpu:1'"), HasSubstr("resources.gpus"));
}

TEST(Directive, IsRefusedInSetup) {
  const TemporaryFolder folder;
  write_file(folder.path() / "site.yaml", "setup: [module load cuda, '#SBATCH --output=/x']\n");
  EXPECT_THROW(read_site(folder.path() / "site.yaml"), UsageError);
}

class ScriptOf : public ::testing::Test {
 protected:
  std::string script() const { return slurm_script(request_, {}, 1); }

  static std::string output_of(const std::string& script) {
    const std::string mark = "\n#SBATCH ";
    std::string output;
    for (std::size_t at = 0; (at = script.find(mark, at)) != std::string::npos;) {
      at += mark.size();
      const std::vector<std::string> words = directive_words(script.substr(at, script.find('\n', at) - at));
      EXPECT_EQ(words.size(), 1U) << script;
      if (words.at(0).starts_with("--output=")) output = words.at(0).substr(9);
    }
    return output;
  }

  TemporaryFolder folder_;
  LaunchRequest request_{.list = {.name = "spans", .runs = folder_.path(), .items = {}},
                         .asked = {},
                         .site = {},
                         .program = folder_.path() / "xlm",
                         .save = 60};
};

TEST_F(ScriptOf, AFolderOfAnyNameMeansNothingToTheShell) {
  const fs::path odd =
      folder_.path() / "a\"'$(touch INJECTED)`touch INJECTED`;touch INJECTED&#" / every_byte("/\n\r\\");
  create_folders(odd);
  request_.list.runs = odd;
  request_.program = odd / "xlm";
  write_file(request_.program, "#!/bin/sh\nprintf '%s\\n' \"$@\" >\"$OUT\"\n");
  fs::permissions(request_.program, fs::perms::owner_all);
  const std::string text = script();
  std::string log;  // Slurm makes one % of two
  for (const char c : request_.list.folder().string()) log += c == '%' ? "%%" : std::string(1, c);
  EXPECT_EQ(output_of(text), log + "/%A_%a.log");
  write_file(folder_.path() / "script", text);
  const fs::path out = folder_.path() / "out";
  run_command(
      {"env", "-C", folder_.path().string(), "OUT=" + out.string(), "bash", (folder_.path() / "script").string()});
  EXPECT_EQ(read_file(out), "worker\n--sweep\n" + request_.list.file().string() + "\n");
  EXPECT_FALSE(fs::exists(folder_.path() / "INJECTED"));
}

TEST_F(ScriptOf, AFolderThatADirectiveCannotNameIsRefused) {
  for (const char* odd :
       {"ev\"\ntouch INJECTED; id -un > INJECTED\n#", "a\nb", "a\r", "back\\slash", "\n#SBATCH --wrap=x"}) {
    request_.list.runs = folder_.path() / odd;
    EXPECT_THAT([&] { script(); },
                ThrowsMessage<UsageError>(AllOf(HasSubstr("a line end or backslash"), HasSubstr("--runs DIR"))))
        << odd;
  }
}

TEST_F(ScriptOf, WhatASiteSaysIsOneWordEach) {
  const std::string odd = "main --output=/x -o/x 'a' \"b\" # \\";
  request_.site = {.partition = odd, .account = odd, .qos = odd, .directives = {"--comment=" + odd}};
  const std::string text = script();
  EXPECT_EQ(output_of(text), request_.list.folder().string() + "/%A_%a.log");
  for (const char* option : {"partition", "account", "qos", "comment"}) {
    EXPECT_THAT(text, HasSubstr("\n#SBATCH " + shell_word(fmt::format("--{}={}", option, odd)) + "\n"));
  }
  request_.site.partition = "main\n#SBATCH --output=/x";
  EXPECT_THROW(script(), UsageError);
}

/// sbatch looks for directives up to the first command.
TEST_F(ScriptOf, ACommandStandsBeforeWhatASiteSetsUp) {
  request_.site.setup = {"#PBS -o /x"};
  const std::string text = script();
  EXPECT_LT(text.find("\ntask="), text.find("\n#PBS"));
  EXPECT_THAT(text.substr(0, text.find("\ntask=")), Not(HasSubstr("PBS")));
}

TEST_F(ScriptOf, ExcludedMachinesJoinAnOptionInAnyForm) {
  request_.exclude = {"node3"};
  for (const auto& [given, joined] :
       std::vector<std::pair<std::string, std::string>>{{"--exclude=node1", "--exclude=node1,node3"},
                                                        {"--exclude node1 # bad", "--exclude=node1,node3"},
                                                        {"-x 'node1'", "-xnode1,node3"},
                                                        {"--exclud=node1", "--exclud=node1,node3"}}) {
    request_.site.directives = {read_directive(given)};
    EXPECT_THAT(script(), AllOf(HasSubstr("\n#SBATCH " + joined + "\n"), Not(HasSubstr("--exclude=node3")))) << given;
  }
}

}  // namespace
}  // namespace xlm
