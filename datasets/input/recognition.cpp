// Recognises a file by its first bytes.
#include "datasets/input/recognition.h"

#include <algorithm>
#include <array>
#include <optional>
#include <sstream>

#include <fmt/format.h>

#include "base/json.h"
#include "base/pointer_file.h"
#include "base/text.h"
#include "base/tf_record.h"
#include "base/utf8.h"
#include "datasets/input/parquet.h"

namespace xlm {
namespace {

using namespace std::string_view_literals;

/// Bytes with which files of a kind begin, and no text does. Such files are never read.
struct Magic {
  std::string_view bytes;
  std::string_view name;
  std::string_view advice;
};

constexpr std::string_view kSaveText = "save its text as Parquet, JSON lines or plain text";
constexpr std::string_view kUnpack = "unpack it first";
constexpr std::string_view kDecrypt = "decrypt it first";

constexpr std::array kMagic{
    Magic{"\x89HDF\r\n\x1A\n"sv, "an HDF5 file", kSaveText},
    Magic{"\x93NUMPY"sv, "a NumPy array", kSaveText},
    Magic{"\x80\x02"sv, "a Python pickle", kSaveText},
    Magic{"\x80\x03"sv, "a Python pickle", kSaveText},
    Magic{"\x80\x04"sv, "a Python pickle", kSaveText},
    Magic{"\x80\x05"sv, "a Python pickle", kSaveText},
    Magic{"SQLite format 3\0"sv, "an SQLite database", kSaveText},
    Magic{"Obj\x01"sv, "an Avro file", kSaveText},
    Magic{"FEA1\0"sv, "a Feather file, version 1", kSaveText},
    Magic{"MMIDIDX\0"sv, "an index of tokens", kSaveText},
    Magic{"GGUF\x02"sv, "a GGUF model", kSaveText},
    Magic{"GGUF\x03"sv, "a GGUF model", kSaveText},
    Magic{"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, "an Office document", kSaveText},
    Magic{"%PDF-"sv, "a PDF document", kSaveText},
    Magic{R"({\rtf1)"sv, "an RTF document", kSaveText},
    Magic{"application/epub+zip"sv, "part of an e-book", kSaveText},
    Magic{"application/vnd.oasis.opendocument."sv, "part of an OpenDocument file", kSaveText},
    Magic{"\x89PNG\r\n\x1A\n"sv, "an image", kSaveText},
    Magic{"\xFF\xD8\xFF"sv, "an image", kSaveText},
    Magic{"\177ELF"sv, "a program", kSaveText},
    Magic{"\x04\x22\x4D\x18"sv, "an lz4 file", kUnpack},
    Magic{"LZIP\x01"sv, "an lzip file", kUnpack},
    Magic{"\x89LZO\0\r\n\x1A\n"sv, "an lzop file", kUnpack},
    Magic{"\x1F\x9D"sv, "a file packed by compress", kUnpack},
    Magic{"\xFF\x06\0\0sNaPpY"sv, "a snappy file", kUnpack},
    Magic{"\x5D\0\0"sv, "an lzma file", kUnpack},
    Magic{"7z\xBC\xAF\x27\x1C"sv, "a 7z archive", kUnpack},
    Magic{"Rar!\x1A\x07"sv, "a rar archive", kUnpack},
    Magic{"!<arch>\n"sv, "an ar archive", kUnpack},
    Magic{"xar!\0"sv, "a xar archive", kUnpack},
    Magic{"MSCF\0\0\0\0"sv, "a cab archive", kUnpack},
    Magic{"Salted__"sv, "encrypted by OpenSSL", kDecrypt},
    Magic{"U2FsdGVkX1"sv, "encrypted by OpenSSL", kDecrypt},
    Magic{"-----BEGIN PGP MESSAGE-----"sv, "encrypted by PGP", kDecrypt},
    Magic{"age-encryption.org/v1"sv, "encrypted by age", kDecrypt},
    Magic{"-----BEGIN AGE ENCRYPTED FILE-----"sv, "encrypted by age", kDecrypt},
    Magic{"$ANSIBLE_VAULT;"sv, "encrypted by Ansible", kDecrypt},
    Magic{"\0GITCRYPT\0"sv, "encrypted by git-crypt", kDecrypt},
    Magic{"LUKS\xBA\xBE"sv, "an encrypted disk", kDecrypt},
};

/// An encrypted Parquet file may begin like a text, but the length that follows is not text.
bool is_encrypted_parquet(std::string_view head) {
  return head.starts_with("PARE") && head.substr(0, 8).find('\0') != std::string_view::npos;
}

constexpr const char* kReadByText = "xlm prepare-data text reads it, and --column names the column of the text";

std::optional<Recognised> by_magic(std::string_view head) {
  if (head.starts_with(kParquetMagic)) return Recognised{FileForm::kParquet, "a Parquet table", kReadByText};
  if (head.starts_with(kArrowFileMagic) || head.starts_with(kArrowStreamMagic)) {
    return Recognised{FileForm::kArrow, "an Arrow table", kReadByText};
  }
  if (is_tf_record(head)) {
    return Recognised{FileForm::kOther, "a file of TFRecords", std::string(kSaveText)};
  }
  for (const auto& [bytes, name, advice] : kMagic) {
    if (head.starts_with(bytes)) return Recognised{FileForm::kOther, std::string(name), std::string(advice)};
  }
  if (is_encrypted_parquet(head))
    return Recognised{FileForm::kOther, "an encrypted Parquet table", std::string(kDecrypt)};
  if (const auto pointer = pointer_file(head)) {
    return Recognised{FileForm::kOther, std::string(pointer->name), std::string(pointer->advice)};
  }
  return std::nullopt;
}

constexpr const char* kConvert =
    "convert it, such as with iconv -f ENCODING -t UTF-8; --unit byte keeps the bytes of files as they are";

/// Whether one of the two bytes is zero in most pairs, as in UTF-16 of European languages.
std::string zeros_name(std::string_view head) {
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < head.size(); ++i) zeros.at(i % 2) += head[i] == '\0' ? 1U : 0U;
  const std::size_t few = head.size() / 100;
  if (zeros[1] > 10 * zeros[0] && zeros[1] > few) return "UTF-16 (little-endian) without a byte-order mark, it seems";
  if (zeros[0] > 10 * zeros[1] && zeros[0] > few) return "UTF-16 (big-endian) without a byte-order mark, it seems";
  return "not text: it has zero bytes";
}

/// Text that is not UTF-8. Some damaged bytes do not make it another encoding: most bytes beyond ASCII must be invalid.
std::optional<Recognised> by_encoding(std::string_view head) {
  constexpr std::size_t kFew = 4;
  constexpr std::size_t kPerMille = 1000;
  const auto zeros = static_cast<std::size_t>(std::ranges::count(head, '\0'));
  if (zeros > 0 && zeros == head.size()) {
    return Recognised{FileForm::kOther, "not text: it consists of zero bytes, perhaps of an interrupted download",
                      "fetch the file again"};
  }
  if (zeros * kPerMille > head.size()) return Recognised{FileForm::kBytes, zeros_name(head), kConvert};
  std::size_t good = 0;
  std::size_t bad = 0;
  for (std::size_t position = 0; position < head.size();) {
    if (static_cast<unsigned char>(head[position]) < 0x80) {
      ++position;
      continue;
    }
    const Utf8Character character = decode_utf8(head.substr(position));
    if (character.kind == Utf8Character::Kind::kIncomplete) break;  // the head ends here
    ++(character.kind == Utf8Character::Kind::kValid ? good : bad);
    position += static_cast<std::size_t>(character.bytes);
  }
  if (bad < kFew || bad <= good || bad * kPerMille < head.size()) return std::nullopt;
  return Recognised{FileForm::kBytes, "not UTF-8, and declares no other encoding", kConvert};
}

/// Skips XML declarations and comments before the first tag.
std::string_view without_prologue(std::string_view text) {
  while (true) {
    text = trim(text);
    const std::string_view end = text.starts_with("<?") ? "?>"sv : text.starts_with("<!--") ? "-->"sv : ""sv;
    const std::size_t found = end.empty() ? std::string_view::npos : text.find(end);
    if (found == std::string_view::npos) return text;
    text.remove_prefix(found + end.size());
  }
}

std::optional<Recognised> by_markup(std::string_view text) {
  constexpr std::size_t kTagBytes = 100;
  const std::string tag = lower_case(without_prologue(text).substr(0, kTagBytes));
  if (tag.starts_with("<!doctype html") || tag.starts_with("<html") || tag.starts_with("<head>")) {
    return Recognised{
        FileForm::kTextual, "a web page",
        "a download may have failed: fetch the file again. To read it as it is, call it .html or add --as-text", false,
        true};
  }
  if (tag.starts_with("<error><code>") || tag.starts_with("<error>\n")) {
    return Recognised{FileForm::kTextual, "a server's error message", "fetch the file again"};
  }
  if (tag.starts_with("<types xmlns=\"http://schemas.openxmlformats.org")) {
    return Recognised{FileForm::kOther, "part of an Office document", std::string(kSaveText)};
  }
  return std::nullopt;
}

/// Whether `text` is JSON up to its end; more may follow a whole value.
bool begins_as_json(std::string_view text) {
  constexpr std::size_t kCharacterBytes = 4;  // the head may end inside a character
  std::istringstream in{std::string(text)};
  Json value;
  try {
    in >> value;
    return true;
  } catch (const Json::parse_error& error) {
    return error.byte + kCharacterBytes > text.size();
  } catch (const Json::out_of_range&) {
    return true;  // a number beyond what a double holds
  }
}

bool any_line_is_json(std::string_view text) {
  for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const std::optional<Json> value = parse_json_if_any(text.substr(0, end));
    if (value && value->is_object()) return true;
    text.remove_prefix(end + 1);
  }
  return false;
}

constexpr const char* kReadLines =
    "xlm prepare-data text --column NAME reads a field of each line, such as text; --as-text reads the file as it is";

std::optional<Recognised> by_json(std::string_view text) {
  const char first = text.empty() ? '\0' : text.front();
  if (first != '{' && first != '[') return std::nullopt;
  const std::string_view rest = trim(text.substr(1));
  const std::string_view inside = first == '{' ? R"("})"sv : R"({[")"sv;
  if (rest.empty() || inside.find(rest.front()) == std::string_view::npos) return std::nullopt;
  const std::size_t line_end = text.find('\n');
  const std::string_view line = text.substr(0, line_end);
  const bool whole_line =
      line_end == std::string_view::npos ? begins_as_json(line) : parse_json_if_any(line).has_value();
  if (whole_line && first == '{') return Recognised{FileForm::kJsonLines, "a file of JSON lines", kReadLines};
  const bool is_document = !whole_line && begins_as_json(text);
  // The first row may be one that cannot be read.
  if (!whole_line && !is_document && first == '{' && any_line_is_json(text)) {
    return Recognised{FileForm::kJsonLines, "a file of JSON lines", kReadLines};
  }
  if (!whole_line && !is_document) return std::nullopt;
  const bool has_commas = first == '{' && trim(line).ends_with("},");
  const std::string_view how = first == '[' ? "jq -c '.[]'" : has_commas ? "sed 's/},$/}/'" : "jq -c .";
  return Recognised{
      FileForm::kTextual, "a JSON document",
      fmt::format("convert it to JSON lines for --column, such as with {}; --as-text reads it as it is", how)};
}

/// The first line of a printed Python value: b'…', or {'key': …}.
std::optional<Recognised> by_printed_form(std::string_view text) {
  const std::string_view line = trim(text.substr(0, text.find('\n')));
  constexpr std::size_t kLongLine = 1000;
  const bool begins_bytes = line.starts_with("b'") || line.starts_with("b\"");
  const bool endless = line.size() > kLongLine && line.find('\\') != std::string_view::npos;
  if (is_printed_bytes(line) || (begins_bytes && endless)) {
    return Recognised{
        FileForm::kTextual, "the printed form of bytes (b'…'), not their text",
        "decode them in the program that makes the file: bytes.decode('utf-8'); --as-text reads it as it is"};
  }
  if (line.starts_with("{'") && line.find("': ") != std::string_view::npos) {
    return Recognised{FileForm::kTextual, "the printed form of Python values, not JSON",
                      "write them with json.dumps, for --column; --as-text reads the file as it is"};
  }
  return std::nullopt;
}

std::string ending_of(const std::string& name) { return lower_case(fs::path(name).extension().string()); }

}  // namespace

std::string_view wide_encoding(std::string_view head) {
  for (const std::string_view mark : {"\xFF\xFE\0\0"sv, "\0\0\xFE\xFF"sv}) {
    if (head.starts_with(mark)) return "UTF-32";
  }
  return head.starts_with("\xFF\xFE") || head.starts_with("\xFE\xFF") ? "UTF-16" : "";
}

std::string_view markup_of(std::string_view head) {
  if (head.starts_with("WARC/")) return kWebArchive;
  if (head.starts_with("<mediawiki")) return "a dump of MediaWiki";
  return head.starts_with("<doc id=") ? "a file of WikiExtractor's documents" : "";
}

bool is_printed_bytes(std::string_view text) {
  text = trim(text);
  if (text.size() < 4 || (text[0] != 'b' && text[0] != 'B') || (text[1] != '\'' && text[1] != '"')) return false;
  if (text.back() != text[1]) return false;
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7F; });
}

Recognised recognise_content(std::string_view head) {
  if (auto found = by_magic(head)) return *found;
  if (const std::string_view wide = wide_encoding(head); !wide.empty()) {
    return {.form = FileForm::kBytes, .name = std::string(wide), .advice = kConvert};
  }
  const bool marked = head.starts_with(kUtf8Mark);
  if (marked) head.remove_prefix(kUtf8Mark.size());
  if (auto found = by_encoding(head)) return *found;
  const std::string_view text = trim(head);
  for (const auto& look : {by_magic, by_markup, by_json, by_printed_form}) {
    if (auto found = look(text)) {
      found->marked = marked;
      return *found;
    }
  }
  return {.marked = marked};
}

Recognised recognise(std::string_view head, const std::string& name) {
  Recognised found = recognise_content(head);
  const std::string ending = ending_of(name);
  const auto one_of = [&](std::initializer_list<std::string_view> endings) {
    return std::ranges::find(endings, ending) != endings.end();
  };
  if (found.page && one_of({".html", ".htm", ".xhtml", ".shtml"})) return {.marked = found.marked};
  const bool is_called_json = one_of({".jsonl", ".ndjson"});
  // A comment, or a row that cannot be read, stands before the others.
  if (found.form == FileForm::kText && is_called_json && any_line_is_json(head)) {
    return {.form = FileForm::kJsonLines, .name = "a file of JSON lines", .advice = kReadLines, .marked = found.marked};
  }
  if (found.form == FileForm::kText && (is_called_json || one_of({".parquet", ".arrow", ".feather"}))) {
    return {.form = FileForm::kTextual,
            .name = fmt::format("plain text, but is called {}", ending),
            .advice = "fetch the file again, or read it as it is with --as-text",
            .marked = found.marked};
  }
  return found;
}

}  // namespace xlm
