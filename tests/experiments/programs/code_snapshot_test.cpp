// The code of a foreign program: which files it is, its hash, and its frozen copy.
#include "experiments/programs/code_snapshot.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/command.h"
#include "base/error.h"
#include "base/sha256.h"
#include "experiments/programs/code_paths.h"
#include "experiments/programs/git_state.h"
#include "tests/experiments/programs/programs_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

class CodeTest : public ProgramsFixture {
 protected:
  CodeTest() {
    put(at("code/main.py"), "print('main')\n");
    put(at("code/lib/model.py"), "layers = 4\n");
    write_script("code/run.sh", "#!/bin/sh\n");
  }

  static void git(const fs::path& folder, std::vector<std::string> arguments) {
    std::vector<std::string> words{"git",
                                   "-C",
                                   folder.string(),
                                   "-c",
                                   "user.name=a",
                                   "-c",
                                   "user.email=a@b.c",
                                   "-c",
                                   "protocol.file.allow=always"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const CommandResult result = run_command(words);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void make_repository(const std::string& name = "code") const {
    git(at(name), {"init", "-q", "-b", "main"});
    git(at(name), {"add", "-A"});
    git(at(name), {"commit", "-q", "-m", "first"});
  }

  CodeRequest request() const { return {.folder = at("code")}; }
  static std::vector<std::string> paths_of(const Code& code) {
    std::vector<std::string> paths;
    for (const CodeFile& file : code.files) paths.push_back(file.path);
    return paths;
  }
  std::vector<std::string> paths() const { return paths_of(read_code(request())); }
  std::string hash() const { return read_code(request()).hash; }
  std::string error_of(const CodeRequest& what) const {
    try {
      read_code(what);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "none";
  }
  fs::path place() const { return at("runs/.programs"); }
  fs::path freeze() const { return freeze_code(read_code(request()), place()); }
  std::string check_error(const std::string& of) const {
    try {
      check_frozen_code(place(), of);
    } catch (const Error& error) {
      return error.what();
    }
    return "whole";
  }
};

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
  const Code code = read_code(request());
  ASSERT_THAT(code.notes, SizeIs(1));
  EXPECT_THAT(code.notes[0],
              AllOf(HasSubstr("does not track it: new_model.py"), HasSubstr("git add"), Not(HasSubstr("output"))));
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
                    HasSubstr("program.code")));
  what.limit = 4000000;
  EXPECT_EQ(error_of(what), "none");
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
  EXPECT_EQ(naming({"python", "main.py", "--lr", "0.1", "{checkpoints}/last.pt", "--x=lib/model.py", "."}), "none");
  EXPECT_THAT(naming({"python", "new.py"}), AllOf(HasSubstr("names new.py"), HasSubstr("git add new.py")));
  EXPECT_THAT(naming({"python", "main.py", "--data=data/enwik8"}), HasSubstr("For data: name it with its whole path"));
  EXPECT_EQ(naming({"python", "main.py", at("code/data/enwik8").string()}), "none");
  what.words = {"python", at("code/main.py").string()};
  const Code code = read_code(what);
  ASSERT_THAT(code.notes, SizeIs(2));
  EXPECT_THAT(code.notes[1], AllOf(HasSubstr("named with its whole path"), HasSubstr("name it main.py")));
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

TEST_F(CodeTest, FilesThatKeepChangingAreAnError) {
  for (int i = 0; i < 100; ++i) put(at(fmt::format("code/part{}.py", i)), "part\n");  // reading takes a while
  std::atomic<bool> end = false;
  std::thread writer([&] {
    std::ofstream log(at("code/log.py"));
    while (!end) log << "x" << std::flush;
  });
  std::string told;
  try {
    read_code(request());
  } catch (const Error& error) {
    told = error.what();
  }
  end = true;
  writer.join();
  EXPECT_THAT(told, AllOf(HasSubstr("changes while it is read: log.py"), HasSubstr("stop what writes there")));
}

TEST_F(CodeTest, TheCopyIsWholeAndStaysAsItIs) {
  fs::create_symlink("main.py", at("code/inside.py"));
  fs::create_symlink("../data", at("code/outside"));
  fs::create_symlink("/absolute/data", at("code/absolute"));
  put(at("code/empty.py"), "");
  const Code code = read_code(request());
  EXPECT_THAT(code.notes, ElementsAre(HasSubstr("absolute is a link out of"), HasSubstr("outside is a link out of")));
  const fs::path copy = freeze_code(code, place());
  EXPECT_EQ(copy, place() / ("code-" + code.hash) / "files");
  EXPECT_EQ(copy, code_folder(place(), code.hash));
  EXPECT_EQ(read_file(copy / "main.py"), "print('main')\n");
  EXPECT_EQ(read_file(copy / "lib/model.py"), "layers = 4\n");
  EXPECT_EQ(read_file(copy / "empty.py"), "");
  EXPECT_EQ(fs::read_symlink(copy / "inside.py"), "main.py");
  EXPECT_EQ(fs::read_symlink(copy / "outside"), at("data")) << "where it led";
  EXPECT_EQ(fs::read_symlink(copy / "absolute"), "/absolute/data");
  EXPECT_EQ(fs::status(copy / "main.py").permissions(), fs::perms(0444));
  EXPECT_EQ(fs::status(copy / "run.sh").permissions(), fs::perms(0555));
  put(at("code/main.py"), "print('edited')\n");
  EXPECT_EQ(read_file(copy / "main.py"), "print('main')\n");
  EXPECT_EQ(check_error(code.hash), "whole");
  const fs::path other = freeze();
  EXPECT_NE(other, copy);
  EXPECT_EQ(read_file(other / "main.py"), "print('edited')\n");
}

TEST_F(CodeTest, CodeThatChangedSinceItWasReadIsNotCopied) {
  const Code code = read_code(request());
  put(at("code/main.py"), "print('MAIN')\n");
  EXPECT_THROW(freeze_code(code, place()), Error);
  EXPECT_TRUE(fs::is_empty(place())) << "nothing is left of it";
}

TEST_F(CodeTest, ACopyThatWasDamagedIsFoundAndMended) {
  fs::create_symlink("main.py", at("code/link.py"));
  const Code code = read_code(request());
  const fs::path copy = freeze_code(code, place());
  const auto damage = [&](const std::string& what, const std::function<void()>& how, const std::string& named) {
    how();
    EXPECT_THAT(check_error(code.hash), AllOf(HasSubstr(named), HasSubstr("by train or sweep"))) << what;
    freeze();
    EXPECT_EQ(check_error(code.hash), "whole") << what;
  };
  damage(
      "an edit",
      [&] {
        fs::remove(copy / "main.py");
        put(copy / "main.py", "print('MAIN')\n");
        fs::permissions(copy / "main.py", fs::perms(0444));
      },
      "main.py");
  damage(
      "a removal", [&] { fs::remove(copy / "lib/model.py"); }, "lib/model.py");
  damage(
      "a folder", [&] { fs::remove_all(copy / "lib"); }, "lib/model.py");
  damage(
      "a mode", [&] { fs::permissions(copy / "run.sh", fs::perms(0444)); }, "run.sh");
  damage(
      "a link",
      [&] {
        fs::remove(copy / "link.py");
        fs::create_symlink("run.sh", copy / "link.py");
      },
      "link.py");
  damage(
      "a link for a file",
      [&] {
        fs::remove(copy / "main.py");
        fs::create_symlink(at("code/main.py"), copy / "main.py");
      },
      "main.py");
  EXPECT_EQ(read_file(at("code/main.py")), "print('main')\n") << "what the link led to is not written";
  damage(
      "the manifest", [&] { put(place() / ("code-" + code.hash) / "manifest.json", "{}"); }, "manifest.json");
  damage(
      "half the manifest", [&] { put(place() / ("code-" + code.hash) / "manifest.json", "{\"fil"); }, "damaged");
  damage(
      "all", [&] { fs::remove_all(place()); }, "is missing");
}

TEST_F(CodeTest, WhatProgramsWriteThereIsFoundAndDoesNoHarm) {
  const Code code = read_code(request());
  const fs::path copy = freeze_code(code, place());
  put(copy / "lib/__pycache__/model.cpython-311.pyc", "");
  EXPECT_THAT(files_added(place(), code.hash, 10), IsEmpty());
  put(copy / "out/ckpt.pt", "");
  put(copy / "log.txt", "");
  EXPECT_THAT(files_added(place(), code.hash, 10), ElementsAre("log.txt", "out/ckpt.pt"));
  EXPECT_THAT(files_added(place(), code.hash, 1), SizeIs(1));
  EXPECT_EQ(check_error(code.hash), "whole");
}

TEST_F(CodeTest, ACopyCanBeCopied) {
  fs::create_symlink("../data", at("code/outside"));
  const Code code = read_code(request());
  const fs::path copy = freeze_code(code, place());
  fs::remove_all(at("code"));
  for (int again = 0; again < 2; ++again) {
    copy_frozen_code(place(), at("other/.programs"), code.hash);
    EXPECT_NO_THROW(check_frozen_code(at("other/.programs"), code.hash));
  }
  EXPECT_EQ(fs::read_symlink(code_folder(at("other/.programs"), code.hash) / "outside"), at("data"));
  fs::remove(copy / "main.py");
  EXPECT_THROW(copy_frozen_code(place(), at("third"), code.hash), Error);
}

TEST_F(CodeTest, ACrowdMakesTheSameCopy) {
  for (int i = 0; i < 50; ++i) put(at(fmt::format("code/part{}.py", i)), std::string(1000, 'p'));
  const std::string expected = hash();
  std::vector<pid_t> crowd;
  for (int i = 0; i < 8; ++i) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      int code = 1;
      try {
        freeze();
        code = check_error(expected) == "whole" ? 0 : 2;
      } catch (const std::exception&) {
      }
      ::_exit(code);
    }
    crowd.push_back(pid);
  }
  for (const pid_t pid : crowd) {
    int status = 0;
    ::waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_THAT(std::vector<fs::path>(fs::directory_iterator(place()), fs::directory_iterator()),
              ElementsAre(place() / ("code-" + expected)));
}

TEST_F(CodeTest, AKillWhileCopyingLeavesNoHalfCopy) {
  for (int i = 0; i < 30; ++i) put(at(fmt::format("code/part{}.py", i)), std::string(30000, 'p'));
  const std::string expected = hash();
  int killed_early = 0;
  for (int i = 0; i < 8; ++i) {
    std::error_code ignored;
    fs::remove_all(place(), ignored);
    const pid_t pid = ::fork();
    if (pid == 0) {
      freeze();
      ::_exit(0);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 10 * i));
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
    const std::string state = check_error(expected);
    EXPECT_TRUE(state == "whole" || state.find("is missing") != std::string::npos) << state;
    if (state != "whole") ++killed_early;
    freeze();
    EXPECT_EQ(check_error(expected), "whole");
  }
  EXPECT_GT(killed_early, 0) << "no kill came while it was copied";
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

}  // namespace
}  // namespace xlm
