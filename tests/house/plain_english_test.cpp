// scripts/plain_english.py: words of the list in sources, messages and pages, and what to write instead.
#include <sys/wait.h>

#include <cstdlib>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class PlainEnglish : public ::testing::Test {
 protected:
  /// What the script prints about a file with this text, without the file's name.
  std::string check(const std::string& text, int expected_status, const std::string& name = "a.cpp") {
    write_file(folder_.path() / "texts" / name, text);
    return run("texts", expected_status);
  }

  std::string run(const std::string& place, int expected_status) {
    const std::string command = "cd '" + folder_.path().string() +
                                "' && python3 -B '" XLM_SOURCE_DIR "/scripts/plain_english.py' " + place +
                                " >said 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == expected_status) << status;
    return read_file(folder_.path() / "said");
  }

  void SetUp() override {
    create_folders(folder_.path() / "texts");
    create_folders(folder_.path() / "docs");
  }

  TemporaryFolder folder_;
};

TEST_F(PlainEnglish, PlainTextIsClean) {
  EXPECT_EQ(check("// Besides, the workers run next to each other. Returns nullopt if there is none.\n"
                  "int create_beside = kMaxBytes;\n",
                  0),
            "plain English: clean\n");
}

TEST_F(PlainEnglish, AWordIsNamedWithItsPlaceAndWhatToWrite) {
  EXPECT_EQ(check("int a;\n// Nobody reads it.\n", 1), "texts/a.cpp:2: Nobody: no user, no process, …: who it is\n");
  EXPECT_THAT(check("throw Error(\"it lies beside the file\");\n", 1), HasSubstr("texts/a.cpp:1: beside: next to"));
  EXPECT_THAT(check("Made anew.\n", 1, "page.md"), HasSubstr("texts/page.md:1: anew: again\n"));
}

TEST_F(PlainEnglish, APhraseIsFoundAcrossLines) {
  EXPECT_THAT(check("/// The folder has a file of\n/// its own.\n", 1), HasSubstr("a.cpp:1: of its own: "));
  EXPECT_THAT(check("f(\"it is stopped for \"\n  \"want of memory\");\n", 1), HasSubstr("a.cpp:1: for want of: "));
  EXPECT_THAT(check("f(\"a note\\nNobody reads it\");\n", 1), HasSubstr("a.cpp:1: Nobody: "));
  EXPECT_THAT(check("\n/// Throws DataError\n/// where it is missing.\n", 1),
              HasSubstr("a.cpp:2: Throws DataError where: "));
}

TEST_F(PlainEnglish, NamesAreByRole) {
  EXPECT_THAT(check("constexpr int kMostRows = 3;\n", 1), HasSubstr("a.cpp:1: kMostRows: kMax…\n"));
  EXPECT_THAT(check("void say_how_it_stands();\n", 1), HasSubstr("say_how_it_stands: "));
  EXPECT_THAT(check("enum class WindowsAre { kKept };\n", 1), HasSubstr("enum class WindowsAre: "));
}

TEST_F(PlainEnglish, SentencesAndCellsOfTheManualAreShort) {
  const auto words = [](int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += "word ";
    return text;
  };
  const auto page = [this](const std::string& text, int expected_status) {
    write_file(folder_.path() / "docs" / "page.md", text);
    return run("docs", expected_status);
  };
  page("# " + words(40) + "\n\nA " + words(29) + ". Two, as Doe et al. say. `" + words(40) + "`\n```\n" + words(40) +
           "\n```\n| " + words(25) + "| [" + words(20) + "](far away) |\n- " + words(20) + "\n- " + words(20) + "\n",
       0);
  EXPECT_THAT(page("\nA " + words(20) + "\nlong " + words(9) + "end.\n", 1),
              HasSubstr("page.md:2: A word word word word word …: a sentence of 32 words: two sentences"));
  EXPECT_THAT(page("| a | " + words(26) + "|\n", 1), HasSubstr("page.md:1: a cell of 26 words"));
  EXPECT_THAT(page("One. Of these two go.\n", 1), HasSubstr("Of these two go. …: begin with the subject"));
  EXPECT_EQ(check(words(40), 0, "page.md"), "plain English: clean\n") << "no page of the manual";
}

TEST_F(PlainEnglish, OldVersionsOfTheChangelogAndDataAreSkipped) {
  EXPECT_THAT(check("## Unreleased\nPlain.\n## 0.1.0\nNobody.\n", 0, "CHANGELOG.md"), HasSubstr("clean"));
  EXPECT_THAT(check("## Unreleased\nNobody.\n## 0.1.0\n", 1, "CHANGELOG.md"), HasSubstr("CHANGELOG.md:2: Nobody"));
  write_file(folder_.path() / "texts/CHANGELOG.md", "");
  EXPECT_THAT(check("nobody,beside\n", 0, "data.csv"), HasSubstr("clean"));
}

TEST_F(PlainEnglish, AMissingPlaceIsAnError) {
  EXPECT_EQ(run("nowhere", 1), "plain_english.py: there is no nowhere\n");
}

}  // namespace
}  // namespace xlm
