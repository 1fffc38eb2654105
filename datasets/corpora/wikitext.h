// WikiText as its publisher made it: one file for each split, of articles under headings. Its files come as they are,
// or line by line as rows of a table, as hubs have them.
#pragma once

#include <string>
#include <string_view>

#include "datasets/corpora/documents.h"

namespace xlm {

/// Takes the text of one split in pieces and hands it on as one document, or as one for every article: it begins at its
/// heading, " = Title = " between two blank lines, and what stands before the first heading belongs to the first.
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
  std::string rest_;     // of a line whose end has not come yet
  std::string heading_;  // what may be one
  bool after_blank_ = true;
  bool any_ = false;  // there is more than blank lines
};

/// The line of the file that a row of a hub's table stands for. Hubs leave nothing of a blank line, and some leave line
/// ends or the spaces at both ends away.
std::string wikitext_line(std::string_view row);

/// Tells from the first rows of a table whether they are lines of WikiText.
class WikitextRows {
 public:
  void take(std::string_view row);
  /// No row has several lines.
  bool all_lines() const { return all_lines_; }
  /// They are lines, and a heading is among them.
  bool is_wikitext() const { return all_lines_ && heading_; }

 private:
  bool all_lines_ = true;
  bool heading_ = false;
  bool after_blank_ = true;
  bool maybe_heading_ = false;  // the last row is one, if a blank one follows
};

}  // namespace xlm
