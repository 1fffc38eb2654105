// Recognises files by their first bytes.
#include "datasets/input/recognition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace xlm {
namespace {

using namespace std::string_literals;
using ::testing::HasSubstr;

std::string utf16(const std::u16string& text, bool big) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char high = static_cast<char>(unit >> 8U);
    const char low = static_cast<char>(unit & 0xFFU);
    bytes += big ? std::string{high, low} : std::string{low, high};
  }
  return bytes;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Recognition, TextIsRecognisedWithAnyBeginning) {
  for (const std::string& text : {""s,
                                  "x"s,
                                  "plain text\n"s,
                                  "[Illustration]\n\nA book"s,
                                  "[1] A note\n"s,
                                  "{{Infobox|a=b}}\nArticle"s,
                                  "{\\bf bold}"s,
                                  "{\"quoted\" words} and more"s,
                                  "[\"quoted\" words] and more"s,
                                  "\"Well,\" he said.\n"s,
                                  "version 2 of the text\n"s,
                                  "version https is safe\n"s,
                                  "/annex/ is a folder"s,
                                  "outs: and ins"s,
                                  "b'day party\n"s,
                                  "b' is a byte\nand more'"s,
                                  "PARENTS and children"s,
                                  "Obj. 1"s,
                                  "LUKS"s,
                                  "xar!"s,
                                  "<p>a paragraph</p>"s,
                                  "<mediawiki xml:lang=\"en\">"s,
                                  "<?xml version=\"1.0\"?>\n<mediawiki>"s,
                                  "<doc id=\"1\">\n"s,
                                  "# xet version\n"s,
                                  "{'tis the season}"s,
                                  "123456\n"s,
                                  "true\n"s,
                                  "null"s,
                                  "a\tb\tc\n"s,
                                  "caf\xE9, na\xEFve"s,
                                  "\xC3\xA9t\xC3\xA9 caf\xE9 \xFF \xFE"s}) {
    const Recognised found = recognise(text, "a.txt");
    EXPECT_EQ(found.form, FileForm::kText) << text << ": " << found.name;
    EXPECT_EQ(found.name, "");
  }
}

TEST(Recognition, FilesOfOtherKindsAreNamed) {
  const std::string zeros(100, '\0');
  for (const auto& [head, form, name] : std::vector<std::tuple<std::string, FileForm, std::string>>{
           {"PAR1\x15\x04\x15\0"s + zeros, FileForm::kParquet, "a Parquet table"},
           {"ARROW1\0\0"s + zeros, FileForm::kArrow, "an Arrow table"},
           {"\xFF\xFF\xFF\xFF\x10\0\0\0"s, FileForm::kArrow, "an Arrow table"},
           {"PARE\x20\0\0\0"s, FileForm::kOther, "an encrypted Parquet table"},
           {"\x89HDF\r\n\x1A\n"s + zeros, FileForm::kOther, "an HDF5 file"},
           {"\x93NUMPY\x01\0"s, FileForm::kOther, "a NumPy array"},
           {"\x80\x04\x95\x05"s, FileForm::kOther, "a Python pickle"},
           {"SQLite format 3\0"s, FileForm::kOther, "an SQLite database"},
           {"%PDF-1.5\n"s, FileForm::kOther, "a PDF document"},
           {"\x04\x22\x4D\x18"s, FileForm::kOther, "an lz4 file"},
           {"LZIP\x01"s, FileForm::kOther, "an lzip file"},
           {"Salted__12345678"s, FileForm::kOther, "encrypted by OpenSSL"},
           {"-----BEGIN PGP MESSAGE-----\n\nhQEM"s, FileForm::kOther, "encrypted by PGP"},
           {"age-encryption.org/v1\n-> X25519"s, FileForm::kOther, "encrypted by age"},
           {"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"s, FileForm::kOther,
            "a git-LFS pointer"},
           {"\xEF\xBB\xBFversion https://git-lfs.github.com/spec/v1\r\noid sha256:00\r\n"s, FileForm::kOther,
            "a git-LFS pointer"},
           {"/annex/objects/SHA256E-s134--00.txt\n"s, FileForm::kOther, "a git-annex pointer"},
           {"outs:\n- md5: 00\n  size: 3\n  path: a.txt\n"s, FileForm::kOther, "a DVC pointer"},
           {"md5: 00\nouts:\n- md5: 00\n  path: a.txt\n"s, FileForm::kOther, "a DVC pointer"},
           {"{\"text\": \"one\"}\n{\"text\": \"two\"}\n"s, FileForm::kJsonLines, "a file of JSON lines"},
           {"\n {\"id\": 1}\r\n"s, FileForm::kJsonLines, "a file of JSON lines"},
           {"{\"text\": \""s + std::string(70'000, 'x'), FileForm::kJsonLines, "a file of JSON lines"},
           {"[{\"text\": \"one\"},\n {\"text\": \"two\"}]"s, FileForm::kTextual, "a JSON document"},
           {"{\n  \"data\": [\n    {\"text\": \"one\"}"s, FileForm::kTextual, "a JSON document"},
           {"[\"one\", \"two\"]\n"s, FileForm::kTextual, "a JSON document"},
           {"b'one\\ntwo'\n"s, FileForm::kTextual, "the printed form of bytes"},
           {"b\"it's\"\nb'two'\n"s, FileForm::kTextual, "the printed form of bytes"},
           {"b'" + repeated("line\\n", 20'000), FileForm::kTextual, "the printed form of bytes"},
           {"{'text': 'one'}\n"s, FileForm::kTextual, "the printed form of Python values"},
           {"<!DOCTYPE html>\n<html>"s, FileForm::kTextual, "a web page"},
           {"\xEF\xBB\xBF\r\n<HTML lang=en>"s, FileForm::kTextual, "a web page"},
           {"<?xml version=\"1.0\"?>\n<!-- x -->\n<!DOCTYPE html PUBLIC"s, FileForm::kTextual, "a web page"},
           {"<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code>"s, FileForm::kTextual, "a server's error message"},
           {zeros, FileForm::kOther, "consists of zero bytes"},
           {"text and then"s + zeros, FileForm::kBytes, "it has zero bytes"}}) {
    const Recognised found = recognise(head, "a.txt");
    EXPECT_EQ(found.form, form) << head.substr(0, 50);
    EXPECT_THAT(found.name, HasSubstr(name));
    EXPECT_NE(found.advice, "");
  }
}

TEST(Recognition, TextInAnUndeclaredEncodingIsNoText) {
  std::string latin1 = "\xC4itin p\xF6yd\xE4ll\xE4 on kyn\xE4, jolla h\xE4n kirjoittaa t\xE4m\xE4n.\n";
  std::string shift_jis = repeated("\x83\x65\x83\x4C\x83\x58\x83\x67 ", 50);
  std::string random(5000, '\0');
  std::mt19937 generator(1);
  for (char& c : random) c = static_cast<char>(1 + generator() % 255);
  for (const auto& [bytes, name] : std::vector<std::pair<std::string, std::string>>{
           {latin1, "not UTF-8"},
           {repeated("A long English text. ", 100) + latin1, "not UTF-8"},
           {shift_jis, "not UTF-8"},
           {random, "not UTF-8"},
           {utf16(u"Text without a mark\n", false), "UTF-16 (little-endian) without"},
           {utf16(u"Text without a mark\n", true), "UTF-16 (big-endian) without"},
           {utf16(u"אבג דהו זחט\nיכל", false), "UTF-16 (little-endian) without"}}) {
    EXPECT_EQ(recognise(bytes, "a.txt").form, FileForm::kBytes) << bytes;
    EXPECT_THAT(recognise(bytes, "a.txt").name, HasSubstr(name));
  }
  EXPECT_EQ(recognise(repeated("Text ", 10'000) + "caf\xE9 \xE9 \xE9 \xE9 \xE9", "a").form, FileForm::kText)
      << "a few invalid bytes are text";
}

TEST(Recognition, NamesOfTablesAndPagesCount) {
  EXPECT_EQ(recognise("<html>", "page.html").form, FileForm::kText);
  EXPECT_EQ(recognise("<html>", "d/PAGE.HTM").form, FileForm::kText);
  EXPECT_EQ(recognise("<html>", "page.txt").form, FileForm::kTextual);
  for (const char* name : {"a.parquet", "a.arrow", "d/a.PARQUET", "a.jsonl"}) {
    EXPECT_EQ(recognise("some text", name).form, FileForm::kTextual) << name;
    EXPECT_THAT(recognise("some text", name).name, HasSubstr("plain text, but is called ."));
  }
  EXPECT_EQ(recognise("PAR1\x15", "a.txt").form, FileForm::kParquet);
}

TEST(Recognition, DeclaredEncodingsAreNamed) {
  const std::u16string text = u"אבג דהו 😀\n";
  EXPECT_EQ(recognise("\xFF\xFE" + utf16(text, false), "a.txt").name, "UTF-16");
  EXPECT_EQ(recognise("\xFE\xFF" + utf16(text, true), "a.txt").name, "UTF-16");
  EXPECT_EQ(recognise("\xFF\xFE\0\0a\0\0\0"s, "a.txt").name, "UTF-32");
  const Recognised marked = recognise("\xEF\xBB\xBFÄiti", "a.txt");
  EXPECT_EQ(marked.form, FileForm::kText);
  EXPECT_TRUE(marked.marked);
}

}  // namespace
}  // namespace xlm
