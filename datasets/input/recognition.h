// What a file is, by its first bytes: the one place that tells text from everything that must not pass for it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/input/text_decoder.h"

namespace xlm {

/// What a reader may be given. What it does not take is refused.
enum class FileForm {
  kText,
  kParquet,
  kArrow,
  kTfRecord,
  kJsonLines,  // an object on each line
  kTextual,    // text that nobody writes to be read: a JSON document, a web page, the printed form of values
  kBytes,      // bytes that are no UTF-8 and declare no other encoding
  kOther,      // what is never read, whatever the user says: archives of other kinds, pointers, saved arrays
};

struct Recognised {
  FileForm form = FileForm::kText;
  std::string name;    // "a Parquet table"; "" for text
  std::string advice;  // how it is read
  ByteOrderMark mark;  // of text
  bool page = false;   // a web page: its name may say that it was asked for
};

/// As many of a file's first bytes as a look at it takes.
constexpr std::size_t kHeadBytes = std::size_t{64} << 10;

/// `head` is the beginning of the file, or all of it. Its name counts in two ways: a page called .html is a text, and a
/// text called .parquet, .arrow, .jsonl or the like is not what its name says.
Recognised recognise(std::string_view head, const std::string& name);

/// The same by the content alone.
Recognised recognise_content(std::string_view head);

/// True for Python's printed form of bytes, such as b'text\n': what a program wrote that took them for text.
bool is_printed_bytes(std::string_view text);

}  // namespace xlm
