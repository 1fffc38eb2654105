// Files are whole or absent, and errors name the file and the cause.
#include "base/files.h"

#include <cerrno>

#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

TEST(Files, WrittenFilesReadBack) {
  const TemporaryFolder folder;
  const std::string content("a\0b\n", 4);
  write_file(folder.path() / "f", content);
  EXPECT_EQ(read_file(folder.path() / "f"), content);
  write_file(folder.path() / "f", "");
  EXPECT_EQ(read_file(folder.path() / "f"), "");
}

TEST(Files, AnUncommittedFileLeavesNothingAndKeepsTheOldOne) {
  const TemporaryFolder folder;
  write_file(folder.path() / "f", "old");
  {
    AtomicFile file(folder.path() / "f");
    file.write(std::string(3'000'000, 'x'));
  }
  EXPECT_EQ(read_file(folder.path() / "f"), "old");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(Files, LargeAndSmallWritesKeepTheirOrder) {
  const TemporaryFolder folder;
  AtomicFile file(folder.path() / "f");
  std::string expected;
  for (int i = 0; i < 40; ++i) {
    const std::string piece(static_cast<std::size_t>(i % 2 == 0 ? 3 : 700'000), static_cast<char>('a' + i % 26));
    file.write(piece);
    expected += piece;
  }
  EXPECT_EQ(file.size(), expected.size());
  file.commit();
  EXPECT_EQ(read_file(folder.path() / "f"), expected);
}

TEST(Files, MissingAndTooLongFilesAreDataErrors) {
  const TemporaryFolder folder;
  EXPECT_THROW(read_file(folder.path() / "absent"), DataError);
  EXPECT_THROW(read_file(folder.path()), DataError);
  write_file(folder.path() / "f", "12345");
  EXPECT_THROW(read_file(folder.path() / "f", 4), DataError);
}

TEST(Files, AFullDiskIsAResourceError) {
  EXPECT_THROW(throw_file_error("write", "x", ENOSPC), ResourceError);
  EXPECT_THROW(throw_file_error("write", "x", EDQUOT), ResourceError);
  EXPECT_THROW(throw_file_error("read", "x", ENOENT), DataError);
  EXPECT_THROW(AppendFile("/dev/full").append("line"), ResourceError);
}

TEST(Files, FoldersThatCannotBeMadeAreNamed) {
  const TemporaryFolder folder;
  write_file(folder.path() / "f", "");
  try {
    create_folders(folder.path() / "f" / "g");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("f/g"), std::string::npos) << error.what();
  }
}

TEST(Files, AppendedLinesStayWhole) {
  const TemporaryFolder folder;
  AppendFile(folder.path() / "f").append("one");
  AppendFile(folder.path() / "f").append("two", true);
  EXPECT_EQ(read_file(folder.path() / "f"), "one\ntwo\n");
}

TEST(Sha256, EqualsThePublishedTestVectors) {  // FIPS 180-2, appendix B
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Json, ComplaintsNameTheSource) {
  try {
    parse_json("{\"a\": }", "x.json");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_TRUE(std::string(error.what()).starts_with("x.json is not valid JSON")) << error.what();
  }
  EXPECT_EQ(json_number(0.1), "0.1");
}

}  // namespace
}  // namespace xlm
