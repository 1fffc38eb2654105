#include "datasets/input/archive.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zstd.h>

#include "base/error.h"
#include "tests/datasets/input/archives.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::ThrowsMessage;

/// Text that hardly compresses, so that its archives have a body to truncate and to damage.
std::string sample_text(std::size_t bytes) {
  std::string text;
  std::uint32_t state = 12345;
  while (text.size() < bytes) {
    state = state * 1664525U + 1013904223U;
    text += static_cast<char>('a' + (state >> 24U) % 26U);
  }
  return text;
}

class Archives : public ::testing::Test {
 protected:
  fs::path path(const std::string& name) const { return folder_.path() / name; }
  fs::path file(const std::string& name, const std::string& content) const {
    return write_quickly(path(name), content);
  }

  TemporaryFolder folder_;
};

struct Kind {
  const char* name;
  const char* format;
  const char* filter;
};
constexpr Kind kCompressed[] = {
    {"x.gz", "raw", "gzip"}, {"x.bz2", "raw", "bzip2"}, {"x.xz", "raw", "xz"}, {"x.zst", "raw", "zstd"}};
constexpr Kind kTars[] = {{"x.tar.gz", "ustar", "gzip"},
                          {"x.tar.bz2", "ustar", "bzip2"},
                          {"x.tar.xz", "ustar", "xz"},
                          {"x.tar.zst", "ustar", "zstd"}};

TEST_F(Archives, APlainFileIsOneEntryWithoutName) {
  EXPECT_THAT(read_all(file("a.txt", "hello")), ElementsAre(Pair("", "hello")));
}

TEST_F(Archives, PlainTextIsReadUnchangedEvenIfItLooksLikeAnArchive) {
  for (const std::string text : {"#mtree\n./a type=file\n", "BZh9 is not bzip2", "PK is not zip", "ustar", "070707",
                                 "\n", "<?xml version=\"1.0\"?>", "!<arch>\n", "WARC/1.0\r\n", "\x1F\x8B"}) {
    EXPECT_THAT(read_all(file("odd.txt", text)), ElementsAre(Pair("", text)));
  }
}

TEST_F(Archives, ReadsEveryCompression) {
  const std::string text = sample_text(300'000);
  for (const Kind& kind : kCompressed) {
    make_archive(path(kind.name), kind.format, kind.filter, {{"x", text}});
    EXPECT_THAT(read_all(path(kind.name)), ElementsAre(Pair("", text))) << kind.name;
  }
}

TEST_F(Archives, ReadsTarInEveryCompression) {
  for (const Kind& kind : kTars) {
    make_archive(path(kind.name), kind.format, kind.filter, {{"a/b.txt", "one"}, {"c.txt", sample_text(2000)}});
    EXPECT_THAT(read_all(path(kind.name)), ElementsAre(Pair("a/b.txt", "one"), Pair("c.txt", sample_text(2000))))
        << kind.name;
  }
  make_archive(path("x.tar"), "ustar", "", {{"a.txt", "one"}});
  EXPECT_THAT(read_all(path("x.tar")), ElementsAre(Pair("a.txt", "one")));
}

TEST_F(Archives, ReadsZip) {
  make_archive(path("x.zip"), "zip", "", {{"text8", sample_text(100'000)}});
  EXPECT_THAT(read_all(path("x.zip")), ElementsAre(Pair("text8", sample_text(100'000))));
}

TEST_F(Archives, TheContentDecidesNotTheName) {
  make_archive(path("x"), "raw", "gzip", {{"x", "packed without a name for it"}});
  EXPECT_THAT(read_all(path("x")), ElementsAre(Pair("", "packed without a name for it")));
}

TEST_F(Archives, ReadsSeveralGzipMembersAndPadding) {
  make_archive(path("a.gz"), "raw", "gzip", {{"x", "one "}});
  make_archive(path("b.gz"), "raw", "gzip", {{"x", "two"}});
  const std::string both = read_file(path("a.gz")) + read_file(path("b.gz"));
  EXPECT_THAT(read_all(file("both.gz", both + std::string(100, '\0'))), ElementsAre(Pair("", "one two")));
  EXPECT_THROW(read_all(file("junk.gz", both + "junk")), DataError);
}

TEST_F(Archives, ReadsEveryTarOfAFile) {  // as tar -i does
  make_archive(path("a.tar"), "ustar", "", {{"a.txt", "one"}, {"b.txt", "two"}});
  make_archive(path("b.tar"), "ustar", "", {{"c.txt", "three"}});
  const std::string both = read_file(path("a.tar")) + read_file(path("b.tar"));
  const auto all = ElementsAre(Pair("a.txt", "one"), Pair("b.txt", "two"), Pair("c.txt", "three"));
  EXPECT_THAT(read_all(file("both.tar", both)), all);
  make_archive(path("both.tar.gz"), "raw", "gzip", {{"x", both}});
  EXPECT_THAT(read_all(path("both.tar.gz")), all);
  EXPECT_THROW(read_all(file("junk.tar", both + "no header" + std::string(1000, '\0'))), DataError);
}

TEST_F(Archives, AReplacedEntryIsNotReadTwice) {  // tar -r and zip -g leave the old one in the file
  for (const char* format : {"zip", "ustar"}) {
    make_archive(path("x"), format, "", {{"a.txt", "old"}, {"b.txt", "b"}, {"a.txt", "new"}});
    EXPECT_THAT([&] { read_all(path("x")); },
                ThrowsMessage<DataError>(HasSubstr("entry a.txt comes twice, so the archive was updated")))
        << format;
  }
}

/// A frame of Zstandard, compressed with a window of 2^log bytes.
std::string zstd_frame(const std::string& text, int log) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, log);
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  ZSTD_inBuffer in{text.data(), text.size(), 0};
  ZSTD_outBuffer out{frame.data(), frame.size(), 0};
  // In two steps the size is not known at first, so the frame says its window.
  ZSTD_compressStream2(context, &out, &in, ZSTD_e_continue);
  EXPECT_EQ(ZSTD_compressStream2(context, &out, &in, ZSTD_e_end), 0U);
  ZSTD_freeCCtx(context);
  frame.resize(out.pos);
  return frame;
}

TEST_F(Archives, ReadsAllFramesOfZstandard) {
  using namespace std::string_literals;
  const std::string text = sample_text(300'000);
  const std::string skipped = "\x50\x2A\x4D\x18\x04\x00\x00\x00"s + "1234";
  const std::string all = skipped + zstd_frame(text, 20) + zstd_frame("", 20) + skipped + zstd_frame("end", 20);
  EXPECT_THAT(read_all(file("pzstd.zst", all)), ElementsAre(Pair("", text + "end")));
  EXPECT_THAT(read_all(file("long.zst", zstd_frame(text, 28))), ElementsAre(Pair("", text))) << "zstd --long=28";
  EXPECT_THROW(read_all(file("short.zst", skipped + zstd_frame(text, 20).substr(0, 5000))), DataError);
  EXPECT_THROW(read_all(file("junk.zst", all + "junk")), DataError);
  const std::string with_dictionary = "\x28\xB5\x2F\xFD\x01\x58\x07\x09\x00\x00"s + "a";
  EXPECT_THAT([&] { read_all(file("dictionary.zst", with_dictionary)); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("was compressed with a dictionary"), HasSubstr("zstd -d -D"))));
}

TEST_F(Archives, AMethodThatIsNotReadIsNotCalledCorrupt) {
  make_archive(path("x.zip"), "zip", "", {{"a.txt", sample_text(300)}});
  std::string zip = read_file(path("x.zip"));
  constexpr char kDeflate64 = 9;
  zip[8] = kDeflate64;
  zip[zip.find("PK\x01\x02") + 10] = kDeflate64;
  EXPECT_THAT(
      [&] { read_all(file("x.zip", zip)); },
      ThrowsMessage<DataError>(AllOf(HasSubstr("entry a.txt cannot be unpacked here"), HasSubstr("unpack it first"))));
}

TEST_F(Archives, SkipsFoldersLinksAndHiddenFiles) {
  make_archive(path("x.tar"), "ustar", "",
               {{"d/", "", AE_IFDIR},
                {"d/link", "", AE_IFLNK, "/etc/passwd"},
                {"__MACOSX/d/a.txt", "no"},
                {"d/._a.txt", "no"},
                {"./d/a.txt", "yes"}});
  EXPECT_THAT(read_all(path("x.tar")), ElementsAre(Pair("./d/a.txt", "yes")));
}

TEST_F(Archives, RefusesEntriesThatLeadOutside) {
  for (const char* name : {"/etc/cron.d/x", "../x", "a/../../x", "..\\x", "C:\\x", "a/.."}) {
    make_archive(path("x.tar"), "ustar", "", {{name, "evil"}});
    EXPECT_THAT([&] { read_all(path("x.tar")); }, ThrowsMessage<DataError>(HasSubstr("leads outside"))) << name;
    make_archive(path("x.zip"), "zip", "", {{name, "evil"}});
    EXPECT_THAT([&] { read_all(path("x.zip")); }, ThrowsMessage<DataError>(HasSubstr("leads outside"))) << name;
  }
}

TEST_F(Archives, ControlCharactersOfNamesAreNotPrinted) {
  make_archive(path("x.tar"), "ustar", "", {{"/\x1B[2Jx", "evil"}});
  EXPECT_THAT([&] { read_all(path("x.tar")); }, ThrowsMessage<DataError>(HasSubstr("\\x1b[2Jx")));
}

TEST_F(Archives, EmptyFilesAreErrors) {
  EXPECT_THAT([&] { read_all(file("a.txt", "")); }, ThrowsMessage<DataError>(HasSubstr("a.txt is empty")));
  EXPECT_THAT([&] { read_all(file("a.gz", "")); }, ThrowsMessage<DataError>(HasSubstr("a.gz is empty")));
  make_archive(path("b.gz"), "raw", "gzip", {{"x", ""}});
  EXPECT_THAT([&] { read_all(path("b.gz")); }, ThrowsMessage<DataError>(HasSubstr("b.gz is empty")));
  for (const char* name : {"b.bz2", "b.xz", "b.zst"}) {
    const std::string filter = std::string(name) == "b.bz2" ? "bzip2" : std::string(name) == "b.xz" ? "xz" : "zstd";
    make_archive(path(name), "raw", filter, {{"x", ""}});
    EXPECT_THROW(read_all(path(name)), DataError) << name;
  }
}

TEST_F(Archives, BytesBehindTheEndAreAnError) {
  for (const auto& [name, filter] :
       {std::pair("x.bz2", "bzip2"), std::pair("x.gz", "gzip"), std::pair("x.xz", "xz"), std::pair("x.zst", "zstd")}) {
    make_archive(path(name), "raw", filter, {{"x", sample_text(600)}});
    const std::string whole = read_file(path(name));
    const std::string once = read_all(path(name)).begin()->second;
    EXPECT_EQ(read_all(file(name, whole + whole)).begin()->second, once + once) << name;
    std::string damaged = whole;
    damaged[0] ^= 1;  // the head of a further stream
    for (const std::string& behind : {damaged, std::string("garbage"), std::string(600, '\0') + "x"}) {
      EXPECT_THROW(read_all(file(name, whole + behind)), DataError) << name << " " << behind.substr(0, 8);
    }
  }
  for (const char* name : {"x.bz2", "x.gz"}) {
    make_archive(path(name), "raw", std::string(name) == "x.gz" ? "gzip" : "bzip2", {{"x", "a text"}});
    const std::string padded = read_file(path(name)) + std::string(700'000, '\0');
    EXPECT_EQ(read_all(file(name, padded)).begin()->second, "a text") << name << ": zeros are padding";
  }
}

TEST_F(Archives, AMissingFileIsAnErrorThatNamesIt) {
  EXPECT_THAT([&] { read_all(path("nowhere.zip")); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("nowhere.zip"), HasSubstr("No such file"))));
}

TEST_F(Archives, AnArchivesNameNeedsAnArchivesContent) {
  for (const char* name : {"a.zip", "a.gz", "a.bz2", "a.xz", "a.zst", "a.tar", "a.tgz", "A.ZIP"}) {
    EXPECT_THAT([&] { read_all(file(name, "<html>404 not found</html>")); },
                ThrowsMessage<DataError>(HasSubstr("though its name says so")))
        << name;
  }
}

TEST_F(Archives, EveryTruncationIsAnError) {
  const std::string text = sample_text(600);
  std::vector<Kind> kinds(std::begin(kCompressed), std::end(kCompressed));
  kinds.insert(kinds.end(), std::begin(kTars), std::end(kTars));
  kinds.push_back({"x.zip", "zip", ""});
  for (const Kind& kind : kinds) {
    make_archive(path(kind.name), kind.format, kind.filter, {{"x", text}});
    const std::string whole = read_file(path(kind.name));
    ASSERT_EQ(read_all(path(kind.name)).begin()->second, text) << kind.name;
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
      EXPECT_THROW(read_all(file(kind.name, whole.substr(0, bytes))), DataError) << kind.name << " cut to " << bytes;
    }
  }
}

TEST_F(Archives, ATruncatedTarIsAnErrorUnlessOnlyPaddingIsMissing) {
  make_archive(path("x.tar"), "ustar", "", {{"a", sample_text(700)}, {"b", sample_text(600)}});
  const std::map<std::string, std::string> all = read_all(path("x.tar"));
  const std::string whole = read_file(path("x.tar"));
  for (std::size_t bytes = 0; bytes < whole.size(); bytes += 64) {
    try {
      EXPECT_EQ(read_all(file("x.tar", whole.substr(0, bytes))), all) << bytes;
    } catch (const DataError&) {
    }
  }
  EXPECT_THROW(read_all(file("x.tar", whole.substr(0, 1536))), DataError) << "cut between two entries";
}

TEST_F(Archives, DamageIsNoticed) {
  const std::string text = sample_text(600);
  for (const Kind& kind : {kCompressed[0], kCompressed[1], kCompressed[2], Kind{"x.zip", "zip", ""}}) {
    make_archive(path(kind.name), kind.format, kind.filter, {{"x", text}});
    const std::string whole = read_file(path(kind.name));
    int noticed = 0;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ 4);
      try {  // damage to a time stamp or name in the header does not change the text
        const auto contents = read_all(file(kind.name, damaged));
        if (!contents.empty()) {
          EXPECT_EQ(contents.begin()->second, text) << kind.name << ", byte " << i;
        }
      } catch (const DataError&) {
        ++noticed;
      }
    }
    EXPECT_GT(noticed, 300) << kind.name;
  }
}

TEST_F(Archives, ErrorsNameFileAndEntry) {
  make_archive(path("x.zip"), "zip", "", {{"inside.txt", sample_text(3000)}});
  std::string damaged = read_file(path("x.zip"));
  damaged[1000] = static_cast<char>(damaged[1000] ^ 1);
  EXPECT_THAT([&] { read_all(file("x.zip", damaged)); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("x.zip"), HasSubstr("inside.txt"))));
}

TEST_F(Archives, ArchivesInArchivesAreNoText) {
  make_archive(path("inner.gz"), "raw", "gzip", {{"x", "packed twice"}});
  const std::string inner = read_file(path("inner.gz"));
  for (const char* format : {"zip", "ustar"}) {
    make_archive(path("outer"), format, "", {{"text.txt", "a text"}, {"part.gz", inner}});
    EXPECT_THAT(
        [&] { read_all(path("outer")); },
        ThrowsMessage<DataError>(AllOf(HasSubstr("entry part.gz contains gzip data inside"), HasSubstr("unpack it"))))
        << format;
  }
  make_archive(path("twice.gz"), "raw", "gzip", {{"x", inner}});
  EXPECT_THAT([&] { read_all(path("twice.gz")); }, ThrowsMessage<DataError>(HasSubstr("contains gzip data inside")));
}

TEST_F(Archives, OtherKindsOfArchivesAreNamed) {
  using namespace std::string_literals;
  EXPECT_THAT([&] { read_all(file("x", "7z\xBC\xAF\x27\x1C and more")); },
              ThrowsMessage<DataError>(HasSubstr("x is a 7z archive, which cannot be read\nunpack it first")));
  EXPECT_THAT([&] { read_all(file("x", "Rar!\x1A\x07\x01\x00 and more"s)); },
              ThrowsMessage<DataError>(HasSubstr("x is a rar archive")));
  for (const auto& [name, bytes] :
       {std::pair("7z", "7z\xBC\xAF\x27\x1C and more"s), std::pair("rar", "Rar!\x1A\x07\x01\x00 and more"s)}) {
    for (const char* format : {"zip", "ustar"}) {
      make_archive(path("outer"), format, "", {{"a.txt", "a text"}, {"part", bytes}});
      EXPECT_THAT([&] { read_all(path("outer")); },
                  ThrowsMessage<DataError>(HasSubstr(fmt::format("outer: entry part is a {} archive", name))))
          << format;
    }
  }
}

TEST_F(Archives, AnEncryptedZipIsNotCalledCorrupt) {
  make_archive(path("x.zip"), "zip", "", {{"inside.txt", sample_text(300)}});
  std::string zip = read_file(path("x.zip"));
  zip[6] = static_cast<char>(zip[6] | 1);  // the flag in the entry's header, and in the central directory
  const std::size_t central = zip.find("PK\x01\x02");
  ASSERT_NE(central, std::string::npos);
  zip[central + 8] = static_cast<char>(zip[central + 8] | 1);
  EXPECT_THAT([&] { read_all(file("x.zip", zip)); }, ThrowsMessage<DataError>(HasSubstr("x.zip is encrypted")));
}

TEST_F(Archives, UnpackingIsBounded) {
  make_archive(path("x.gz"), "raw", "gzip", {{"x", std::string(100'000, 'a')}});
  EXPECT_THAT([&] { read_all(path("x.gz"), 99'999); }, ThrowsMessage<DataError>(HasSubstr("--max-unpacked")));
  EXPECT_EQ(read_all(path("x.gz"), 100'000).begin()->second.size(), 100'000U);
  make_archive(path("x.zip"), "zip", "", {{"a", std::string(60'000, 'a')}, {"b", std::string(60'000, 'b')}});
  EXPECT_THAT([&] { read_all(path("x.zip"), 100'000); },
              ThrowsMessage<DataError>(AllOf(HasSubstr("--max-unpacked"), HasSubstr("entry b"))));
  EXPECT_EQ(read_all(file("x.txt", std::string(2000, 'a')), 1000).size(), 1U) << "a plain file is not compressed";
}

TEST_F(Archives, TheDefaultBoundGrowsWithTheFile) {
  constexpr std::uint64_t kMegabyte = 1'000'000;
  EXPECT_EQ(usual_most_unpacked(1), 1000 * kMegabyte);
  EXPECT_EQ(usual_most_unpacked(kMegabyte), 1000 * kMegabyte);
  EXPECT_EQ(usual_most_unpacked(kMegabyte + 1), 1000 * kMegabyte + 1000);
  EXPECT_EQ(usual_most_unpacked(1000 * kMegabyte - 1), 1000'000 * kMegabyte - 1000);
  EXPECT_EQ(usual_most_unpacked(1000 * kMegabyte), 1000'000 * kMegabyte);
  EXPECT_EQ(usual_most_unpacked(~std::uint64_t{0}), 1000'000 * kMegabyte);
}

TEST_F(Archives, TheDefaultBoundOfASmallFileIsAGigabyte) {
  make_archive(path("part.zst"), "raw", "zstd", {{"x", std::string(125'000'000, '\0')}});
  const std::string part = read_file(path("part.zst"));
  ASSERT_LT(9 * part.size(), 1'000'000U);
  const auto unpacked = [&](int parts) {
    std::string all;
    for (int i = 0; i < parts; ++i) all += part;
    ArchiveReader reader(file("all.zst", all));
    reader.next();
    std::string buffer(1 << 20, '\0');
    std::uint64_t bytes = 0;
    while (const std::size_t count = reader.read(buffer.data(), buffer.size())) bytes += count;
    return bytes;
  };
  EXPECT_EQ(unpacked(8), 1'000'000'000U);
  EXPECT_THAT([&] { unpacked(9); }, ThrowsMessage<DataError>(HasSubstr("unpacks to more than 1.00 GB")));
}

TEST_F(Archives, CommandsWithoutTheOptionAdviseSomethingElse) {
  make_archive(path("x.gz"), "raw", "gzip", {{"x", std::string(5000, 'x')}});
  const auto read = [&](ArchiveReader reader) {
    reader.next();
    std::string buffer(10'000, '\0');
    while (reader.read(buffer.data(), buffer.size()) > 0) continue;
  };
  EXPECT_THAT([&] { read(ArchiveReader(path("x.gz"), 1000)); },
              ThrowsMessage<DataError>(HasSubstr("if you trust the file, raise --max-unpacked")));
  EXPECT_THAT([&] { read(ArchiveReader(path("x.gz"), 1000, {.how_to_get_more = "unpack it with tar"})); },
              ThrowsMessage<DataError>(HasSubstr("if you trust the file, unpack it with tar")));
}

TEST_F(Archives, ProgressReachesTheSizeOfTheFile) {
  make_archive(path("x.gz"), "raw", "gzip", {{"x", sample_text(100'000)}});
  ArchiveReader reader(path("x.gz"));
  reader.next();
  std::string buffer(1 << 20, '\0');
  while (reader.read(buffer.data(), buffer.size()) > 0) {
  }
  EXPECT_EQ(reader.consumed(), fs::file_size(path("x.gz")));
}

}  // namespace
}  // namespace xlm
