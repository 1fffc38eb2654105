#include "datasets/input/sources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "tests/datasets/input/archives.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
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
  /// Files that are skipped while the sources are found and read.
  static std::string passed_over(const std::vector<fs::path>& from, const std::string& glob = "") {
    PassedOver all;
    const PrepareObserver observer{.passed_over = [&](const std::string& kind, const std::string& name,
                                                      std::int64_t count) { all.add(kind, name, count); }};
    read_sources(find_sources(from, glob, observer), {glob, 0}, observer, [](const TextFile&) {});
    return all.text();
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

TEST_F(Sources, PartsOfTwoSetsInOneFolderAreRefused) {
  for (const char* name : {"d/data-00000-of-00002.txt", "d/data-00001-of-00002.txt", "d/data-00003-of-00004.txt"})
    file(name);
  EXPECT_THAT(
      [&] { names({folder_.path() / "d"}); },
      ThrowsMessage<DataError>(HasSubstr("data-00000-of-00002.txt and data-00003-of-00004.txt are parts of two sets")));
  EXPECT_EQ(names({folder_.path() / "d"}, "*-of-00002.txt").size(), 2U);
}

TEST_F(Sources, PartsMayHaveHashesOfTheirOwn) {
  const auto part = [&](int number, char hash) {
    file(fmt::format("d/train-0000{}-of-00002-{}.parquet", number, std::string(16, hash)));
  };
  part(0, 'a');
  EXPECT_THAT([&] { names({folder_.path() / "d"}); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("only 1 of the 2 parts"), HasSubstr("'*-of-00002*.parquet'"))));
  part(1, 'b');
  EXPECT_EQ(names({folder_.path() / "d"}).size(), 2U);
  part(1, 'c');
  EXPECT_THAT([&] { names({folder_.path() / "d"}); }, ThrowsMessage<DataError>(HasSubstr("are parts of two sets")));
}

TEST_F(Sources, AMissingPartIsAnErrorUnlessTheOthersAreMeant) {
  for (const char* name : {"d/data-00000-of-00003.txt", "d/data-00002-of-00003.txt"}) file(name);
  EXPECT_THAT([&] { names({folder_.path() / "d"}); },
              ThrowsMessage<DataError>(HasSubstr("only 2 of the 3 parts of data-00000-of-00003.txt are there")));
  EXPECT_EQ(names({folder_.path() / "d"}, "*-of-00003.txt").size(), 2U);
}

TEST_F(Sources, NamedFilesKeepTheirOrderAndGetDifferentNames) {
  EXPECT_THAT(names({file("2/x"), file("1/x"), file("0/y"), file("3/x")}), ElementsAre("x", "x (2)", "y", "x (3)"));
}

TEST_F(Sources, HiddenAndSpecialFilesInFoldersAreSkippedAndCounted) {
  for (const char* name : {"d/.git/config", "d/.hidden", "d/__MACOSX/a", "d/a", "d/b.md"}) file(name);
  ASSERT_EQ(::mkfifo((folder_.path() / "d/pipe").c_str(), 0600), 0);
  fs::create_symlink("nowhere", folder_.path() / "d/.#lock");
  EXPECT_THAT(names({folder_.path() / "d"}), ElementsAre("a", "b.md"));
  EXPECT_THAT(passed_over({folder_.path() / "d"}, "[!b]*"),
              testing::AllOf(HasSubstr("hidden files: 4 ("), HasSubstr("what is no file: 1 (pipe)"),
                             HasSubstr("files not like '[!b]*': 1 (b.md)")));
}

TEST_F(Sources, MetadataInFoldersIsNoText) {
  for (const char* name : {"README.md", "sub/License", "dataset_infos.json", "state.json", "meta.json", "SHA256SUMS",
                           "citation.cff", "metadata.csv", "a.parquet.sha256", "COPYING.txt"}) {
    file(std::string("d/") + name);
  }
  EXPECT_THAT([&] { names({folder_.path() / "d"}); },
              ThrowsMessage<DataError>(HasSubstr("there is no file in " + (folder_.path() / "d").string() +
                                                 "\npassed over: metadata: 10 (")));
  for (const char* name : {"readme first.txt", "notes.json", "states.json", "a.md"}) file(std::string("d/") + name);
  EXPECT_THAT(names({folder_.path() / "d"}), ElementsAre("a.md", "notes.json", "readme first.txt", "states.json"));
  EXPECT_THAT(names({folder_.path() / "d/README.md"}), ElementsAre("README.md")) << "a named file is read";
}

TEST_F(Sources, LinksToFilesAndFoldersAreFollowed) {
  for (const char* name : {"d/a", "disk/more/b", "disk/c"}) file(name);
  fs::create_symlink("a", folder_.path() / "d/link");
  fs::create_symlink("../disk/more", folder_.path() / "d/more");
  fs::create_symlink(folder_.path() / "disk", folder_.path() / "d/all");
  fs::create_symlink("d", folder_.path() / "to-d");
  const std::vector<std::string> all{"a", "all/c", "all/more/b", "link", "more/b"};
  EXPECT_EQ(names({folder_.path() / "d"}), all);
  EXPECT_EQ(names({folder_.path() / "to-d"}), all);
  EXPECT_THAT(passed_over({folder_.path() / "d"}), "");
}

TEST_F(Sources, CirclesOfLinksAreSeen) {
  file("d/e/a");
  fs::create_symlink(".", folder_.path() / "d/self");
  fs::create_symlink("../..", folder_.path() / "d/e/up");
  EXPECT_THAT(names({folder_.path() / "d"}), ElementsAre("e/a"));
  EXPECT_EQ(passed_over({folder_.path() / "d"}), "links to a folder that holds them: 2 (e/up/d, self)");
}

TEST_F(Sources, LinksThatLeadNowhereAreErrors) {
  file("d/a");
  fs::create_symlink("gone.txt", folder_.path() / "d/b.txt");
  EXPECT_THAT([&] { names({folder_.path() / "d"}); },
              ThrowsMessage<DataError>(HasSubstr("d/b.txt is a link to gone.txt, which cannot be followed")));
  EXPECT_THAT(names({folder_.path() / "d"}, "a"), ElementsAre("a")) << "the link is not asked for";
  EXPECT_EQ(passed_over({folder_.path() / "d"}, "a"), "links that lead nowhere: 1 (b.txt)");
  fs::remove(folder_.path() / "d/b.txt");
  fs::create_symlink("two", folder_.path() / "d/one");
  fs::create_symlink("one", folder_.path() / "d/two");
  EXPECT_THAT([&] { names({folder_.path() / "d"}); }, ThrowsMessage<DataError>(HasSubstr("which cannot be followed")));
}

TEST_F(Sources, SkippedEntriesOfArchivesAreCounted) {
  make_archive(file("x.tar"), "ustar", "",
               {{"a.txt", "1"}, {"b.txt", "", AE_IFLNK, "a.txt"}, {".c", "2"}, {"README", "3"}, {"e", "", AE_IFDIR}});
  EXPECT_THAT(labels({folder_.path() / "x.tar"}), ElementsAre("x.tar: a.txt"));
  EXPECT_EQ(passed_over({folder_.path() / "x.tar"}),
            "links in archives: 1 (x.tar: b.txt); hidden files: 1 (x.tar: .c); metadata: 1 (x.tar: README)");
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

TEST_F(Sources, AMissingFileIsNamed) {
  EXPECT_THAT([&] { names({folder_.path() / "nowhere"}); }, ThrowsMessage<DataError>(HasSubstr("nowhere")));
  fs::create_directory(folder_.path() / "empty");
  EXPECT_THAT([&] { names({folder_.path() / "empty"}); }, ThrowsMessage<DataError>(HasSubstr("there is no file in")));
  ASSERT_EQ(::mkfifo((folder_.path() / "pipe").c_str(), 0600), 0);
  EXPECT_THAT([&] { names({folder_.path() / "pipe"}); },
              ThrowsMessage<DataError>(HasSubstr("neither a file nor a folder")));
}

TEST_F(Sources, AnEmptyFileIsSkippedInAFolderAndAnErrorIfNamed) {
  file("d/a", "");
  file("d/b", "text");
  EXPECT_THAT(labels({folder_.path() / "d"}), ElementsAre("d/b"));
  EXPECT_EQ(passed_over({folder_.path() / "d"}), "empty files: 1 (a)");
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

TEST_F(Sources, HashesOfFilesThatAreReadToTheirEndsAreThoseOfTheirBytes) {
  const std::string marked = "\xEF\xBB\xBFyou";
  const std::vector<SourceFile> sources = find_sources({file("a", "hello"), file("b", marked), file("c", "more")}, "");
  std::map<std::string, std::string> known;
  ReadSettings settings;
  settings.hashed = [&](const SourceFile& source, std::string hash) { known[source.name] = std::move(hash); };
  read_sources(sources, settings, {}, [](const TextFile& text) {
    std::array<char, 3> part{};
    while (text.read(part.data(), part.size()) > 0 && text.source.name != "c") {
    }
  });
  EXPECT_EQ(known, (std::map<std::string, std::string>{{"a", sha256("hello")}})) << "a mark is left out of the text";
  known["c"] = "as it is known";
  EXPECT_THAT(hash_sources(sources, {}, known), ElementsAre(sha256("hello"), sha256(marked), "as it is known"));
}

}  // namespace
}  // namespace xlm
