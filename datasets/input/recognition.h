// Recognises a file by its first bytes: the one place that distinguishes text from everything else.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace xlm {

/// The forms of files. A reader refuses those that it does not read.
enum class FileForm {
  kText,
  kParquet,
  kArrow,
  kJsonLines,  // an object on each line
  kTextual,    // text that is not meant to be read: a JSON document, a web page, the printed form of values
  kBytes,      // bytes that are not UTF-8 and declare no other encoding
  kOther,      // never read, whatever the user says: archives of other kinds, pointers, saved arrays
};

struct Recognised {
  FileForm form = FileForm::kText;
  std::string name;     // "a Parquet table"; "" for text
  std::string advice;   // how to read it
  bool marked = false;  // text behind kUtf8Mark
  bool page = false;    // a web page: its name may show that it is wanted
};

/// With which a text in UTF-8 may begin.
inline constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";

/// "UTF-16" or "UTF-32" if a text begins with a byte-order mark of it; "" for any other.
std::string_view wide_encoding(std::string_view head);

/// As many of a file's first bytes as recognition needs.
constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

/// `head` is the beginning of the file, or all of it. Its name counts in two ways: a page called .html is a text, and a
/// text called .parquet, .arrow, .jsonl or the like is not what its name says.
Recognised recognise(std::string_view head, const std::string& name);

/// The same by the content alone.
Recognised recognise_content(std::string_view head);

/// What a text of marks is that looks like lines to read, by its beginning: a dump of MediaWiki, WikiExtractor's
/// documents, or kWebArchive. Empty for any other.
std::string_view markup_of(std::string_view head);
inline constexpr std::string_view kWebArchive = "a web archive (WARC, WET)";

/// Whether a text is Python's printed form of bytes, such as b'text
/// ', written by a program that took bytes for text.
bool is_printed_bytes(std::string_view text);

}  // namespace xlm
