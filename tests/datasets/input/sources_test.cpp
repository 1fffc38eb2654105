#include "datasets/input/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include "base/error.h"
#include "base/sha256.h"
#include "tests/datasets/input/archives.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class Sources : public ::testing::Test {
 protected:
  fs::path file(const std::string& name, const std::string& content = "x") const {
    const fs::path path = folder_.path() / name;
    create_folders(path.parent_path());
    return write_quickly(path, content);
  }
  std::vector<std::string> names(const std::vector<fs::path>& from, const std::string& glob = "") const {
    std::vector<std::string> names;
    for (const SourceFile& source : find_sources(from, glob)) names.push_back(source.name);
    return names;
  }
  /// Labels of all text files, without the folder.
  std::vector<std::string> labels(const std::vector<fs::path>& from, const std::string& glob = "") const {
    std::vector<std::string> labels;
    read_sources(find_sources(from, glob), {glob, 0}, {}, [&](const TextFile& file) {
      labels.push_back(file.label.substr(folder_.path().string().size() + 1));
    });
    return labels;
  }

  TemporaryFolder folder_;
};

TEST_F(Sources, FolderFilesComeInByteOrderOfTheirPaths) {
  for (const char* name : {"d/b.txt", "d/a/z.txt", "d/B.txt", "d/a.txt", "d/\xC3\xA9.txt"}) file(name);
  EXPECT_THAT(names({folder_.path() / "d"}), ElementsAre("B.txt", "a.txt", "a/z.txt", "b.txt", "\xC3\xA9.txt"));
  EXPECT_THAT(names({folder_.path() / "d/"}), ElementsAre("B.txt", "a.txt", "a/z.txt", "b.txt", "\xC3\xA9.txt"));
}

TEST_F(Sources, NamedFilesKeepTheirOrderAndGetDifferentNames) {
  EXPECT_THAT(names({file("2/x"), file("1/x"), file("0/y"), file("3/x")}), ElementsAre("x", "x (2)", "y", "x (3)"));
}

TEST_F(Sources, HiddenFilesAndOddOnesInFoldersArePassedOver) {
  for (const char* name : {"d/.git/config", "d/.hidden", "d/__MACOSX/a", "d/a"}) file(name);
  ASSERT_EQ(::mkfifo((folder_.path() / "d/pipe").c_str(), 0600), 0);
  fs::create_symlink("nowhere", folder_.path() / "d/broken");
  fs::create_symlink(folder_.path(), folder_.path() / "d/loop");
  fs::create_symlink("a", folder_.path() / "d/link");
  EXPECT_THAT(names({folder_.path() / "d"}), ElementsAre("a", "link"));
}

TEST_F(Sources, GlobChoosesInFoldersAtAnyDepthButNotAmongNamedFiles) {
  for (const char* name : {"d/a.txt", "d/b.md", "d/e/c.txt"}) file(name);
  EXPECT_THAT(names({folder_.path() / "d"}, "*.txt"), ElementsAre("a.txt", "e/c.txt"));
  EXPECT_THAT(names({folder_.path() / "d"}, "e/*"), ElementsAre("e/c.txt"));
  EXPECT_THAT(names({file("named.md"), folder_.path() / "d"}, "*.txt"), ElementsAre("named.md", "a.txt", "e/c.txt"));
  EXPECT_THAT([&] { names({folder_.path() / "d"}, "*.pdf"); },
              ThrowsMessage<DataError>(HasSubstr("no file like '*.pdf'")));
}

TEST_F(Sources, GlobChoosesInNamedArchivesButNotInThoseOfFolders) {
  const std::vector<MadeEntry> entries{{"a.txt", "1"}, {"b.md", "2"}};
  make_archive(file("x.zip"), "zip", "", entries);
  make_archive(file("d/y.zip"), "zip", "", entries);
  EXPECT_THAT(labels({folder_.path() / "x.zip"}, "*.txt"), ElementsAre("x.zip: a.txt"));
  EXPECT_THAT(labels({folder_.path() / "d"}, "*.zip"), ElementsAre("d/y.zip: a.txt", "d/y.zip: b.md"));
  EXPECT_THAT([&] { labels({folder_.path() / "x.zip"}, "*.pdf"); },
              ThrowsMessage<DataError>(HasSubstr("no file like '*.pdf'")));
}

TEST_F(Sources, WhatIsMissingOrNoFileIsAnErrorThatNamesIt) {
  EXPECT_THAT([&] { names({folder_.path() / "nowhere"}); }, ThrowsMessage<DataError>(HasSubstr("nowhere")));
  fs::create_directory(folder_.path() / "empty");
  EXPECT_THAT([&] { names({folder_.path() / "empty"}); }, ThrowsMessage<DataError>(HasSubstr("there is no file in")));
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { names({folder_.path() / "pipe"}); },
              ThrowsMessage<DataError>(HasSubstr("neither a file nor a folder")));
}

TEST_F(Sources, AnEmptyFileIsPassedOverInAFolderAndAnErrorWhenNamed) {
  file("d/a", "");
  file("d/b", "text");
  std::string note;
  read_sources(find_sources({folder_.path() / "d"}, ""), {}, {.note = [&](const std::string& text) { note = text; }},
               [](const TextFile& text) { EXPECT_EQ(text.source.name, "b"); });
  EXPECT_EQ(note, "1 empty file passed over");
  EXPECT_THAT([&] { labels({folder_.path() / "d/a"}); }, ThrowsMessage<DataError>(HasSubstr("is empty")));
}

TEST_F(Sources, HashesAndReportsProgress) {
  const std::vector<SourceFile> sources = find_sources({file("a", "hello"), file("b", "you")}, "");
  std::vector<std::uint64_t> done;
  const auto hashes =
      hash_sources(sources, {.progress = [&](const std::string&, std::uint64_t bytes, std::uint64_t total) {
                     EXPECT_EQ(total, 8U);
                     done.push_back(bytes);
                   }});
  EXPECT_THAT(hashes, ElementsAre(sha256("hello"), sha256("you")));
  EXPECT_THAT(done, ElementsAre(5U, 8U));
}

}  // namespace
}  // namespace xlm
