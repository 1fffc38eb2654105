// Which files are the code of a foreign program, its hash, and what git says.
#include "experiments/programs/code_paths.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "base/command.h"
#include "base/error.h"
#include "base/sha256.h"
#include "experiments/programs/git_state.h"
#include "tests/experiments/programs/code_fixture.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

class CodeTest : public CodeFixture {};

TEST_F(CodeTest, IsWhatGitTracksWithItsChanges) {
  put(at("code/.gitignore"), "out/\n*.bin\n");
  make_repository();
  const std::string clean = hash();
  EXPECT_THAT(paths(), ElementsAre(".gitignore", "lib/model.py", "main.py", "run.sh"));
  put(at("code/out/log.txt"), "ignored");
  put(at("code/data.bin"), "ignored");
  put(at("code/notes.txt"), "not tracked");
  EXPECT_EQ(hash(), clean);
  put(at("code/main.py"), "print('changed')\n");
  EXPECT_NE(hash(), clean);
  put(at("code/main.py"), "print('main')\n");
  EXPECT_EQ(hash(), clean) << "the content counts, not the time";
  fs::remove(at("code/lib/model.py"));
  EXPECT_THAT(paths(), ElementsAre(".gitignore", "main.py", "run.sh"));
  git(at("code"), {"checkout", "-q", "--", "."});
  put(at("code/added.py"), "");
  git(at("code"), {"add", "added.py"});
  EXPECT_THAT(paths(), ElementsAre(".gitignore", "added.py", "lib/model.py", "main.py", "run.sh"));
}

TEST_F(CodeTest, UntrackedCodeIsNamedAndUntrackedDataIsNot) {
  make_repository();
  put(at("code/new_model.py"), "");
  put(at("code/output.txt"), "");
  put(at("code/results.json"), "{}");
  const Code code = read_code(request());
  ASSERT_THAT(code.notes, SizeIs(1));
  EXPECT_THAT(code.notes[0],
              AllOf(HasSubstr("does not track it: new_model.py"), HasSubstr("git add"), Not(HasSubstr("output"))));
  put(at("code/main.py"), "import os\nif os.path.exists('results.json'): print('local')\n");
  EXPECT_THAT(read_code(request()).notes, ElementsAre(HasSubstr("new_model.py, results.json"))) << "the code names it";
}

TEST_F(CodeTest, IgnoredSettingsThatTheCodeNamesAreTold) {
  put(at("code/.gitignore"), "*.json\nout/\n");
  put(at("code/main.py"), "import json\nscale = json.load(open('local.json'))\n");
  make_repository();
  put(at("code/local.json"), "{}");
  put(at("code/other.json"), "{}");
  put(at("code/out/local.json"), "{}");
  EXPECT_THAT(read_code(request()).notes, ElementsAre(AllOf(HasSubstr("local.json\n"), Not(HasSubstr("other")))));
}

TEST_F(CodeTest, OfAFolderInsideARepositoryIsThatFolder) {
  put(at("outer.py"), "");
  git(folder_.path(), {"init", "-q"});
  git(folder_.path(), {"add", "-A"});
  ::setenv("GIT_DIR", at("nowhere").c_str(), 1);  // as in a hook of another repository
  EXPECT_THAT(paths(), ElementsAre("lib/model.py", "main.py", "run.sh"));
  ::unsetenv("GIT_DIR");
}

TEST_F(CodeTest, ARepositoryThatTracksNothingThereIsAnError) {
  git(at("code"), {"init", "-q"});
  EXPECT_THAT(error_of(request()), AllOf(HasSubstr("git tracks no file"), HasSubstr("git add")));
  CodeRequest all = request();
  all.patterns = {"**"};
  EXPECT_THAT(paths_of(read_code(all)), ElementsAre("lib/model.py", "main.py", "run.sh"));
}

TEST_F(CodeTest, SubmodulesThatAreCheckedOutBelongToIt) {
  put(at("part/part.py"), "part = 1\n");
  make_repository("part");
  make_repository();
  git(at("code"), {"submodule", "--quiet", "add", at("part").string(), "sub"});
  git(at("code"), {"commit", "-q", "-m", "sub"});
  EXPECT_THAT(paths(), ElementsAre(".gitmodules", "lib/model.py", "main.py", "run.sh", "sub/part.py"));
  const std::string before = hash();
  put(at("code/sub/part.py"), "part = 2\n");
  EXPECT_NE(hash(), before);
  git(folder_.path(), {"clone", "-q", at("code").string(), "copy"});
  CodeRequest cloned = request();
  cloned.folder = at("copy");
  const Code code = read_code(cloned);
  EXPECT_THAT(paths_of(code), ElementsAre(".gitmodules", "lib/model.py", "main.py", "run.sh"));
  ASSERT_THAT(code.notes, SizeIs(1));
  EXPECT_THAT(code.notes[0], AllOf(HasSubstr("the submodule sub"), HasSubstr("git submodule update --init")));
}

TEST_F(CodeTest, WithoutGitItIsTheFolder) {
  put(at("code/__pycache__/main.pyc"), "");
  put(at("code/venv/pyvenv.cfg"), "");
  put(at("code/venv/lib/torch.py"), "");
  put(at("code/runs/one/journal.jsonl"), "");
  CodeRequest what = request();
  what.exclude = {at("code/runs")};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "main.py", "run.sh"));
}

TEST_F(CodeTest, PatternsBehindAnExclamationMarkNameWhatIsNoCode) {
  CodeRequest what = request();
  what.patterns = {"**/*.py", "!lib"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("main.py"));
  what.patterns = {"!*.py"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "run.sh"));
  make_repository();
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "run.sh"));
  const std::string hash_before = read_code(what).hash;
  put(at("code/main.py"), "print('edited')\n");
  EXPECT_EQ(read_code(what).hash, hash_before);
  what.words = {"python3", "main.py"};
  EXPECT_THAT(error_of(what), HasSubstr("program.command names main.py, which is not among the program's code"));
}

TEST_F(CodeTest, PatternsBehindAnExclamationMarkAreCheckedAsOthersAre) {
  CodeRequest what = request();
  for (const char* outside : {"!../x.py", "!/etc/passwd", "!"}) {
    what.patterns = {"**/*.py", outside};
    EXPECT_THAT(error_of(what), AllOf(HasSubstr(outside), HasSubstr("it names no files below"))) << outside;
    what.patterns = {outside};
    EXPECT_THAT(error_of(what), HasSubstr("it names no files below")) << outside;
  }
  what.patterns = {"**/*.py", "!lib", "!lob"};
  EXPECT_THAT(read_code(what).notes, ElementsAre(HasSubstr("!lob leaves out nothing")));
  put(at("code/lob/out.txt"), "");
  EXPECT_THAT(read_code(what).notes, SizeIs(0)) << "it is there, though no code";
}

TEST_F(CodeTest, RecipesAreNoCode) {
  const std::string before = hash();
  put(at("code/mine.yaml"), "program: {command: [python3, main.py]}\n");
  put(at("code/lib/sweep.yml"), "model: {type: gpt2}\nsweep: {grid: {seed: [1]}}\n");
  EXPECT_EQ(hash(), before);
  make_repository();
  EXPECT_THAT(paths(), ElementsAre("lib/model.py", "main.py", "run.sh"));
  EXPECT_EQ(hash(), before);
  CodeRequest what = request();
  what.words = {"python3", "main.py", "--config=mine.yaml"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "main.py", "mine.yaml", "run.sh"));
  what = request();
  what.patterns = {"**", "lib/sweep.yml"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "lib/sweep.yml", "main.py", "run.sh"));
  EXPECT_THAT(read_code(what).notes, SizeIs(0));
}

TEST_F(CodeTest, FilesOfTheProgramWithKeysOfARecipeAreCodeOrTold) {
  const std::vector<std::string> others{"size: 7\nsweep: {random: {trials: 3}}\n", "size: 7\nsweep: {grid: {a: [1]}}\n",
                                        "size: 7\nprogram: {command: [x]}\n",
                                        "sweep: {zip: {a: [1]}}\nmodel: {width: 7}\nheads: 2\n",
                                        "- sweep: {search: {}}\n"};
  for (const std::string& text : others) {
    put(at("code/conf.yaml"), text);
    EXPECT_THAT(paths(), ElementsAre("conf.yaml", "lib/model.py", "main.py", "run.sh")) << text;
  }
  put(at("code/conf.yaml"), "model: {width: 7}\nsweep: {random: {trials: 3}}\n");
  EXPECT_THAT(read_code(request()).notes,
              ElementsAre(AllOf(HasSubstr("conf.yaml is not in the copy"), HasSubstr("name it in program.code"))));
  put(at("code/conf.yaml"), "model.width: 7\nprogram: {command: [python3, main.py]}\nsweep: {grid: {seed: [1]}}\n");
  EXPECT_THAT(paths(), ElementsAre("lib/model.py", "main.py", "run.sh"));
  EXPECT_THAT(read_code(request()).notes, SizeIs(0)) << "another recipe of xlm";
}

TEST_F(CodeTest, OtherYamlIsCode) {
  put(at("code/model.yaml"), "model: {width: 8}\nprogram: train\n");
  put(at("code/agent.yaml"), "program: train.py\nmethod: grid\nparameters: {lr: {values: [1]}}\n");
  put(at("code/sweep.yaml"), "sweep: {dir: out}\n");
  put(at("code/torn.yaml"), "program: {command: [\n");
  EXPECT_THAT(paths(),
              ElementsAre("agent.yaml", "lib/model.py", "main.py", "model.yaml", "run.sh", "sweep.yaml", "torn.yaml"));
}

TEST_F(CodeTest, ARecipeThatCannotBeReadIsTold) {
  put(at("code/lib/torn.yaml"), "experiment: a\nprogram: {command: [\n");
  put(at("code/other.yaml"), "name: {a: [\n");
  CodeRequest what = request();
  EXPECT_THAT(read_code(what).notes,
              ElementsAre(AllOf(HasSubstr("lib/torn.yaml counts as code"), HasSubstr("torn.yaml:"),
                                HasSubstr("code: [\"!lib/torn.yaml\"]"))));
  what.patterns = {"!lib/torn.yaml"};
  EXPECT_THAT(read_code(what).notes, SizeIs(0));
  what.patterns = {"**", "lib/torn.yaml"};
  EXPECT_THAT(read_code(what).notes, SizeIs(0)) << "it is named, so it is meant";
}

TEST_F(CodeTest, AnUntrackedRecipeIsNotMissed) {
  make_repository();
  put(at("code/mine.yaml"), "program: {command: [python3, main.py]}\n");
  EXPECT_THAT(read_code(request()).notes, SizeIs(0));
}

TEST_F(CodeTest, PatternsNameIt) {
  CodeRequest what = request();
  what.patterns = {"*.py"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("main.py"));
  what.patterns = {"**/*.py"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "main.py"));
  what.patterns = {"lib", "./run.sh", "lib/"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "run.sh"));
  what.patterns = {"*.py", "*.cu"};
  EXPECT_THAT(error_of(what), HasSubstr("*.cu fits no file"));
  for (const char* outside : {"../x.py", "/etc/passwd", ""}) {
    what.patterns = {outside};
    EXPECT_THAT(error_of(what), HasSubstr("it names no files below")) << outside;
  }
}

TEST(CodePattern, StarsFitNamesAndFolders) {
  EXPECT_TRUE(fits_pattern("a/b/c.py", "a"));
  EXPECT_TRUE(fits_pattern("a/b/c.py", "a/*/c.py"));
  EXPECT_TRUE(fits_pattern("a/b/c.py", "**/c.??"));
  EXPECT_TRUE(fits_pattern("a/b/c.py", "a/**"));
  EXPECT_TRUE(fits_pattern("a/b/c.py", "a/***"));
  EXPECT_TRUE(fits_pattern("c.py", "**/c.py"));
  EXPECT_FALSE(fits_pattern("a/b/c.py", "c.py"));
  EXPECT_FALSE(fits_pattern("a/b/c.py", "a/c.py"));
  EXPECT_FALSE(fits_pattern("a", "a/**")) << "a file is not a folder";
  EXPECT_FALSE(fits_pattern("ab", "?"));
  EXPECT_FALSE(fits_pattern("a", ""));
  EXPECT_FALSE(fits_pattern(std::string(40, 'a'), "*a*a*a*a*a*a*b")) << "and in no time";
}

TEST_F(CodeTest, TheHashIsOfPathsContentsAndWhatCanBeExecuted) {
  const std::string before = hash();
  const auto line = [](const std::string& kind, const std::string& path, const std::string& content) {
    return fmt::format("{} {} {}:{}64:{}\n", kind, content.size(), path.size(), path, sha256(content));
  };
  EXPECT_EQ(before, sha256(line("file", "lib/model.py", "layers = 4\n") + line("file", "main.py", "print('main')\n") +
                           line("executable", "run.sh", "#!/bin/sh\n"))
                        .substr(0, 16))
      << "changing how it is computed changes the ids of all runs of programs";
  fs::rename(at("code"), at("elsewhere"));
  CodeRequest moved = request();
  moved.folder = at("elsewhere");
  EXPECT_EQ(read_code(moved).hash, before) << "wherever it lies";
  fs::rename(at("elsewhere"), at("code"));
  fs::permissions(at("code/main.py"), fs::perms(0600));
  EXPECT_EQ(hash(), before) << "the umask of a machine does not count";
  fs::permissions(at("code/main.py"), fs::perms(0700));
  EXPECT_NE(hash(), before);
  fs::permissions(at("code/main.py"), fs::perms(0644));
  fs::rename(at("code/lib"), at("code/lob"));
  EXPECT_NE(hash(), before);
  fs::rename(at("code/lob"), at("code/lib"));
  EXPECT_EQ(hash(), before);
  fs::create_symlink("main.py", at("code/link.py"));
  const std::string linked = hash();
  EXPECT_NE(linked, before);
  fs::remove(at("code/link.py"));
  put(at("code/link.py"), "main.py");
  EXPECT_NE(hash(), linked);
}

TEST_F(CodeTest, OverTheLimitTheLargestAreNamed) {
  put(at("code/weights.bin"), std::string(3000000, 'w'));
  put(at("code/small.bin"), std::string(1000, 's'));
  CodeRequest what = request();
  what.limit = 2000000;
  EXPECT_THAT(error_of(what),
              AllOf(HasSubstr("the limit is 2.00 MB"), HasSubstr("The largest: weights.bin (3.00 MB), small.bin"),
                    HasSubstr("program: {code: ")));
  what.limit = 4000000;
  EXPECT_EQ(error_of(what), "");
}

TEST_F(CodeTest, FilesThatTheCommandNamesMustBeInIt) {
  make_repository();
  put(at("code/new.py"), "");
  put(at("code/data/enwik8"), "");
  CodeRequest what = request();
  const auto naming = [&](std::vector<std::string> words) {
    what.words = std::move(words);
    return error_of(what);
  };
  EXPECT_EQ(naming({"python", "main.py", "--lr", "0.1", "{checkpoints}/last.pt", "--x=lib/model.py", "."}), "");
  EXPECT_THAT(naming({"python", "new.py"}), AllOf(HasSubstr("names new.py"), HasSubstr("git add new.py")));
  EXPECT_THAT(naming({"python", "main.py", "--data=data/enwik8"}), HasSubstr("For data: name it with its whole path"));
  EXPECT_EQ(naming({"python", "main.py", at("code/data/enwik8").string()}), "");
  EXPECT_EQ(naming({"python", at("code/main.py").string(), "../code/main.py"}), "");
  put(at("tools/other.py"), "");
  EXPECT_THAT(naming({"python", "../tools/other.py"}), HasSubstr("lies outside of"));
  EXPECT_EQ(naming({"python", at("tools/other.py").string(), "../runs/last.pt", "../tools"}), "");
}

TEST_F(CodeTest, WhatCannotBeReadIsNamed) {
  CodeRequest nowhere{.folder = at("nowhere")};
  EXPECT_THAT(error_of(nowhere), HasSubstr("nowhere is not there"));
  put(at("code/bad\xff.py"), "");
  EXPECT_THAT(error_of(request()), HasSubstr("is not UTF-8"));
  fs::remove(at("code/bad\xff.py"));
  ASSERT_EQ(::mkfifo(at("code/pipe").c_str(), 0600), 0);
  EXPECT_THAT(paths(), ElementsAre("lib/model.py", "main.py", "run.sh")) << "a pipe is no code";
  if (::geteuid() == 0) return;  // root reads all
  fs::permissions(at("code/main.py"), fs::perms(0));
  EXPECT_THROW(read_code(request()), DataError);
}

TEST_F(CodeTest, GitsStateIsTold) {
  EXPECT_TRUE(git_facts(at("code")).empty());
  make_repository();
  git(at("code"), {"remote", "add", "origin", "https://name:secret@example.org/code.git"});
  Json facts = git_facts(at("code"));
  EXPECT_EQ(facts["commit"].get<std::string>(),
            std::string(trim(run_command({"git", "-C", at("code").string(), "rev-parse", "HEAD"}).out)));
  EXPECT_EQ(facts["branch"], "main");
  EXPECT_EQ(facts["dirty"], false);
  EXPECT_FALSE(facts.contains("diff"));
  EXPECT_THAT(facts["repository"].get<std::string>(),
              AllOf(HasSubstr("example.org/code.git"), Not(HasSubstr("secret"))));
  put(at("code/main.py"), "print('edited \xff')\n");
  facts = git_facts(at("code"));
  EXPECT_EQ(facts["dirty"], true);
  EXPECT_THAT(facts["diff"].get<std::string>(),
              AllOf(HasSubstr("-print('main')\n"), HasSubstr("+print('edited \xef\xbf\xbd')\n")));
  EXPECT_FALSE(facts.contains("diff_bytes"));
  facts = git_facts(at("code"), 60);
  EXPECT_LE(facts["diff"].get<std::string>().size(), 60U);
  EXPECT_EQ(facts["diff"].get<std::string>().back(), '\n');
  EXPECT_GT(facts["diff_bytes"].get<std::size_t>(), 60U);
}

TEST_F(CodeTest, WeightsNextToAScriptAreCopiedAndNamed) {
  put(at("code/out/last.ckpt"), "weights");
  EXPECT_THAT(paths(), ElementsAre("lib/model.py", "main.py", "out/last.ckpt", "run.sh"));
  EXPECT_THAT(read_code(request()).notes, ElementsAre(HasSubstr("copied with the code, so every run finds")));
  CodeRequest what = request();
  what.patterns = {"**", "!out/last.ckpt"};
  EXPECT_THAT(paths_of(read_code(what)), ElementsAre("lib/model.py", "main.py", "run.sh"));
  EXPECT_THAT(read_code(what).notes, SizeIs(0));
}

}  // namespace
}  // namespace xlm
