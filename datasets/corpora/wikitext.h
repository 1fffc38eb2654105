// WikiText as published: one file per split, with articles under headings. Its files come unchanged, or as rows of a
// table with one line each, as hubs offer them.
#pragma once

#include <string>
#include <string_view>

#include "datasets/corpora/documents.h"

namespace xlm {

/// Takes the text of one split in pieces and passes it on as one document, or as one per article. An article begins at
/// its heading, " = Title = " between two blank lines. Text before the first heading belongs to the first article.
class WikitextDocuments {
 public:
  /// `sink` outlives it.
  WikitextDocuments(const DocumentSink& sink, bool articles);

  void write(std::string_view block);
  void finish();

 private:
  void take_line(std::string_view line);

  const DocumentSink* sink_;
  bool articles_;
  std::string rest_;     // of an incomplete line
  std::string heading_;  // a possible heading
  bool after_blank_ = true;
  bool any_ = false;  // some line is not blank
};

/// The line of the file for a row of a hub's table. Hubs leave blank lines empty, and some drop line ends or the spaces
/// at both ends.
std::string wikitext_line(std::string_view row);

/// Recognises from the first rows of a table whether they are lines of WikiText.
class WikitextRows {
 public:
  void take(std::string_view row);
  /// No row has several lines.
  bool all_lines() const { return all_lines_; }
  /// They are lines, and one of them is a heading.
  bool is_wikitext() const { return all_lines_ && heading_; }

 private:
  bool all_lines_ = true;
  bool heading_ = false;
  bool after_blank_ = true;
  bool maybe_heading_ = false;  // the last row is a heading if a blank one follows
};

}  // namespace xlm
