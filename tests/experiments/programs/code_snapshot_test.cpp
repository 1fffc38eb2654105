// Frozen copies of the code of a foreign program.
#include "experiments/programs/code_snapshot.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/sha256.h"
#include "tests/experiments/programs/code_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class FrozenCodeTest : public CodeFixture {};

TEST_F(FrozenCodeTest, TheCopyIsWholeAndStaysAsItIs) {
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

TEST_F(FrozenCodeTest, CodeThatChangedSinceItWasReadIsNotCopied) {
  const Code code = read_code(request());
  put(at("code/main.py"), "print('MAIN')\n");
  EXPECT_THROW(freeze_code(code, place()), Error);
  EXPECT_TRUE(fs::is_empty(place())) << "nothing is left of it";
}

TEST_F(FrozenCodeTest, ACopyThatWasDamagedIsFoundAndMended) {
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

/// With a hash that fits, as one can make it for an archive.
TEST_F(FrozenCodeTest, AManifestOfOthersNamesNoFileOutsideOfTheCopy) {
  const std::string content = "x = 1\n";
  const auto error_of_manifest = [&](const std::string& link, const std::string& file) {
    Json files = Json::array();
    std::string lines;
    if (!link.empty()) {
      files.push_back({{"path", link}, {"kind", "link"}, {"target", "/tmp"}, {"leads_to", "/tmp"}});
      lines += fmt::format("link 0 {}:{}4:/tmp\n", link.size(), link);
    }
    files.push_back({{"path", file}, {"kind", "file"}, {"bytes", content.size()}, {"sha256", sha256(content)}});
    lines += fmt::format("file {} {}:{}64:{}\n", content.size(), file.size(), file, sha256(content));
    const std::string hash = sha256(lines).substr(0, 16);
    put(place() / ("code-" + hash) / "manifest.json", Json{{"from", "/"}, {"files", files}}.dump());
    create_folders(code_folder(place(), hash));
    return check_error(hash);
  };
  for (const char* outside : {"../x.py", "/tmp/x.py", "a/../../../x.py", ""}) {
    EXPECT_THAT(error_of_manifest("", outside), HasSubstr("outside of the copy")) << outside;
  }
  EXPECT_THAT(error_of_manifest("lib", "lib/x.py"), HasSubstr("outside of the copy")) << "it is where the link leads";
  EXPECT_THAT(error_of_manifest("lib", "libs/x.py"), AllOf(HasSubstr("was changed"), Not(HasSubstr("outside"))))
      << "both are only missing";
}

TEST_F(FrozenCodeTest, WhatProgramsWriteThereDoesNoHarm) {
  const Code code = read_code(request());
  const fs::path copy = freeze_code(code, place());
  put(copy / "lib/__pycache__/model.cpython-311.pyc", "");
  put(copy / "out/ckpt.pt", "");
  put(copy / "log.txt", "");
  EXPECT_EQ(check_error(code.hash), "whole");
}

TEST_F(FrozenCodeTest, ACopyCanBeCopied) {
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

TEST_F(FrozenCodeTest, ACrowdMakesTheSameCopy) {
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

TEST_F(FrozenCodeTest, AKillWhileCopyingLeavesNoHalfCopy) {
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

// Earlier programs counted recipes and scripts of evaluations as code: their runs keep their names.
TEST_F(FrozenCodeTest, CopiesThatDifferInWhatIsNoCodeAreFound) {
  put(at("code/mine.yaml"), "program: {command: [python3, main.py]}\n");
  put(at("code/eval.py"), "print('eval')\n");
  CodeRequest before = request();
  before.patterns = {"**", "mine.yaml"};
  const Code old = read_code(before);
  freeze_code(old, place());
  put(at("code/mine.yaml"), "program: {command: [python3, main.py, again]}\n");
  put(at("code/eval.py"), "print('edited')\n");
  CodeRequest now = request();
  now.patterns = {"**", "!eval.py"};
  const Code code = read_code(now);
  ASSERT_NE(code.hash, old.hash);
  const std::vector<Code> found = frozen_with_others(code, now, place());
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].hash, old.hash);
  EXPECT_EQ(freeze_code(found[0], place()), code_folder(place(), old.hash)) << "it is there, and stays as it is";
  freeze_code(code, place());
  EXPECT_EQ(frozen_with_others(code, now, place()).size(), 1U) << "the copy of the code itself is none of them";
  put(at("code/main.py"), "print('edited')\n");
  EXPECT_TRUE(frozen_with_others(read_code(now), now, place()).empty()) << "the code itself has changed";
}

}  // namespace
}  // namespace xlm
