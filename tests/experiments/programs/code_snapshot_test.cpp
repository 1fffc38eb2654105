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

TEST_F(FrozenCodeTest, NamesAreAsLongAsAFileSystemTakes) {
  for (const std::size_t length : {244U, 245U, 250U, 255U}) put(at("code") / std::string(length, 'n'), "long");
  freeze();
  EXPECT_EQ(check_error(hash()), "whole");
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

/// Writes a manifest of files and links with a hash that fits, as one can make it for an archive. Returns the hash.
std::string put_manifest(const fs::path& place, const std::vector<CodeFile>& files) {
  Json entries = Json::array();
  std::string lines;
  for (const CodeFile& file : files) {
    const bool is_link = file.kind == CodeFile::Kind::kLink;
    const char* kind = is_link ? "link" : file.kind == CodeFile::Kind::kExecutable ? "executable" : "file";
    const std::string content = is_link ? file.content : sha256(file.content);
    Json entry = {{"path", file.path}, {"kind", kind}};
    if (is_link) {
      entry.update({{"target", file.content}, {"leads_to", file.leads_to}});
    } else {
      entry.update({{"bytes", file.content.size()}, {"sha256", content}});
    }
    entries.push_back(entry);
    lines += fmt::format("{} {} {}:{}{}:{}\n", kind, is_link ? 0 : file.content.size(), file.path.size(), file.path,
                         content.size(), content);
  }
  const std::string hash = sha256(lines).substr(0, 16);
  create_folders(code_folder(place, hash));
  write_file(place / ("code-" + hash) / "manifest.json", Json{{"from", "/"}, {"files", entries}}.dump());
  return hash;
}

CodeFile link_of_others(const std::string& path, const std::string& target, const std::string& leads_to) {
  return {.path = path, .kind = CodeFile::Kind::kLink, .content = target, .leads_to = leads_to};
}

TEST_F(FrozenCodeTest, AManifestOfOthersNamesNoFileOutsideOfTheCopy) {
  const CodeFile lib = link_of_others("lib", "/tmp", "/tmp");
  const auto error_of_file = [&](std::vector<CodeFile> files, const std::string& path) {
    files.push_back({.path = path, .content = "x = 1\n"});
    return check_error(put_manifest(place(), files));
  };
  for (const char* outside : {"../x.py", "/tmp/x.py", "a/../../../x.py", "", ".", "x/"}) {
    EXPECT_THAT(error_of_file({}, outside), HasSubstr("outside of the copy")) << outside;
  }
  EXPECT_THAT(error_of_file({lib}, "lib/x.py"), HasSubstr("outside of the copy")) << "it is where the link leads";
  EXPECT_THAT(error_of_file({lib}, "libs/x.py"), AllOf(HasSubstr("was changed"), Not(HasSubstr("outside"))))
      << "both are only missing";
}

TEST_F(FrozenCodeTest, AnUnpackedArchiveOfOthersChangesNoFileOutsideOfTheCopy) {
  const fs::path secret = at("secret");
  put(secret, "key\n");
  fs::permissions(secret, fs::perms(0600));
  const CodeFile run{.path = "run.sh", .kind = CodeFile::Kind::kExecutable, .content = "key\n"};
  const std::string twice = put_manifest(place(), {link_of_others("run.sh", secret.string(), secret.string()), run});
  restore_unpacked_code(place());
  EXPECT_EQ(fs::status(secret).permissions(), fs::perms(0600)) << "of a path that is a link and a file";
  EXPECT_FALSE(fs::is_symlink(code_folder(place(), twice) / "run.sh"));
  EXPECT_THAT(check_error(twice), HasSubstr("names a file twice: run.sh"));

  const std::string once = put_manifest(place(), {run});
  fs::create_symlink(secret, code_folder(place(), once) / "run.sh");
  restore_unpacked_code(place());
  EXPECT_EQ(fs::status(secret).permissions(), fs::perms(0600)) << "of a file that is a link by now";
  fs::remove(code_folder(place(), once) / "run.sh");
  put(code_folder(place(), once) / "run.sh", "key\n");
  restore_unpacked_code(place());
  EXPECT_EQ(fs::status(code_folder(place(), once) / "run.sh").permissions(), fs::perms(0755));
  EXPECT_EQ(check_error(once), "whole");
}

/// Where a link's copy leads is no part of the hash.
TEST_F(FrozenCodeTest, ALinkOfOthersLeadsWhereItsTargetSays) {
  const auto is_refused = [&](const std::string& path, const std::string& target, const std::string& leads_to) {
    const std::string error = check_error(put_manifest(place(), {link_of_others(path, target, leads_to)}));
    return error.find("the link " + path + " leads to " + leads_to) != std::string::npos;
  };
  EXPECT_FALSE(is_refused("a.py", "main.py", "main.py"));
  EXPECT_TRUE(is_refused("a.py", "main.py", "/etc/passwd"));
  EXPECT_FALSE(is_refused("a", "/data", "/data"));
  EXPECT_TRUE(is_refused("a", "/data", "/secret"));
  EXPECT_FALSE(is_refused("lib/a", "../../data/books", "/home/other/data/books")) << "of any machine";
  EXPECT_TRUE(is_refused("lib/a", "../../data/books", "/home/other/secret"));
  EXPECT_TRUE(is_refused("lib/a", "../../data/books", "/home/other/no-data/books"));
  EXPECT_TRUE(is_refused("lib/a", "../../data/books", "data/books"));
  EXPECT_FALSE(is_refused("a", "..", "/home/other")) << "the folder's parent has any name";
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

// Nothing says which files are code: what xlm draws and programs log into the folder must not make other runs.
TEST_F(FrozenCodeTest, ResultsAndNotesAreNoCodeOfAWholeFolder) {
  put(at("plain/train.py"), "print('train')\n");
  CodeRequest whole{.folder = at("plain"), .words = {"python3", "train.py"}};
  const Code before = read_code(whole);
  freeze_code(before, place());
  for (const char* name : {"curve.svg", "curve.pdf", "figures/curve.png", "table.tex", "report.html"}) {
    put(at(std::string("plain/") + name), "drawn");
  }
  for (const char* name : {"slurm-17.out", "slurm-17.err", "train.log", "z/notes.md"}) {
    put(at(std::string("plain/") + name), "said");
  }
  put(at("plain/other-runs/.programs/bin/xlm"), "the program itself");
  put(at("plain/other-runs/train-3fa9c1d240b7e115/journal.jsonl"), "{}\n");
  const Code after = read_code(whole);
  EXPECT_EQ(after.hash, before.hash);
  EXPECT_THAT(after.notes,
              ::testing::ElementsAre(::testing::HasSubstr(
                  "do not belong to the code: curve.pdf, curve.svg, figures/curve.png, report.html, slurm-17.err and 4 "
                  "others")));
  EXPECT_EQ(changes_of_code(after, place()), "");
  whole.patterns = {"**"};
  const Code all = read_code(whole);
  EXPECT_EQ(all.files.size(), 10U) << "a pattern names them, but for runs";
  EXPECT_EQ(changes_of_code(all, place()), "curve.pdf is new, curve.svg is new, figures/curve.png is new, and 6 more");
  whole.patterns = {};
  whole.words.emplace_back("report.html");
  EXPECT_EQ(read_code(whole).files.size(), 2U) << "the command names it";
  // Runs that were made when pictures counted are found by their copy.
  freeze_code(all, place());
  EXPECT_EQ(frozen_with_others(after, {.folder = at("plain"), .words = {"python3", "train.py"}}, place()).size(), 1U);
}

// What `xlm table --out` and a shell write next to a script is no code of it, but what it reads is.
TEST_F(FrozenCodeTest, TablesAndTextsAreCodeWhereTheCodeReadsSome) {
  put(at("plain/train.py"), "print('train')\n");
  const CodeRequest whole{.folder = at("plain"), .words = {"python3", "train.py", "{seed}"}};
  const std::string before = read_code(whole).hash;
  for (const char* name : {"table.csv", "sweep.txt", "claims.json"}) put(at(std::string("plain/") + name), "printed");
  EXPECT_EQ(read_code(whole).hash, before);
  EXPECT_THAT(read_code(whole).notes,
              ::testing::ElementsAre(::testing::HasSubstr("claims.json, sweep.txt, table.csv")));
  const auto names = [&] {
    std::vector<std::string> all;
    for (const CodeFile& file : read_code(whole).files) all.push_back(file.path);
    return all;
  };
  put(at("plain/train.py"), "words = open(f'{name}.txt')\n");
  EXPECT_THAT(names(), ::testing::ElementsAre("sweep.txt", "train.py")) << "it may be any text";
  put(at("plain/train.py"), "print('train')\n");
  put(at("plain/settings.toml"), "rows = 'table.csv'\n");
  EXPECT_THAT(names(), ::testing::ElementsAre("settings.toml", "table.csv", "train.py"));
}

TEST_F(FrozenCodeTest, ChangesSinceTheNewestCopyAreNamed) {
  put(at("plain/train.py"), "print('train')\n");
  put(at("plain/old.py"), "");
  const CodeRequest whole{.folder = at("plain")};
  EXPECT_EQ(changes_of_code(read_code(whole), place()), "") << "there is no copy yet";
  freeze_code(read_code(whole), place());
  put(at("plain/train.py"), "print('edited')\n");
  put(at("plain/words.py"), "one\n");
  fs::remove(at("plain/old.py"));
  EXPECT_EQ(changes_of_code(read_code(whole), place()), "old.py is gone, train.py was edited, words.py is new");
  put(at("other/train.py"), "print('other')\n");
  EXPECT_EQ(changes_of_code(read_code({.folder = at("other")}), place()), "") << "another folder";
}

}  // namespace
}  // namespace xlm
