// Documents of WikiText.
#include "datasets/corpora/wikitext.h"

#include <utility>

#include "base/text.h"

namespace xlm {
namespace {

bool is_title(std::string_view line) {
  const std::string_view words = trim(line);
  return words.size() > 4 && words.starts_with("= ") && words.ends_with(" =") && !words.starts_with("= =");
}

}  // namespace

WikitextDocuments::WikitextDocuments(const DocumentSink& sink, bool articles) : sink_(&sink), articles_(articles) {
  sink_->begin();
}

void WikitextDocuments::write(std::string_view block) {
  if (!articles_) return sink_->write(block);
  rest_ += block;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = rest_.find('\n', begin)) != std::string::npos; begin = end + 1) {
    take_line(std::string_view(rest_).substr(begin, end + 1 - begin));
  }
  rest_.erase(0, begin);
}

void WikitextDocuments::finish() {
  sink_->write(heading_);
  sink_->write(rest_);
  sink_->end();
}

void WikitextDocuments::take_line(std::string_view line) {
  const bool blank = trim(line).empty();
  if (!heading_.empty()) {  // a title, if a blank line follows it
    if (blank && any_) {
      sink_->end();
      sink_->begin();
    }
    any_ = true;
    sink_->write(heading_);
    heading_.clear();
  }
  if (after_blank_ && is_title(line)) {
    heading_ = line;
  } else {
    sink_->write(line);
    any_ = any_ || !blank;
  }
  after_blank_ = blank;
}

std::string wikitext_line(std::string_view row) {
  if (row.ends_with('\n')) return std::string(row);
  if (trim(row).empty()) return " \n";
  std::string line(row);
  if (!line.starts_with(' ')) line.insert(0, 1, ' ');
  return line + (line.ends_with(' ') ? "\n" : " \n");
}

void WikitextRows::take(std::string_view row) {
  const std::size_t line_end = row.find('\n');
  all_lines_ = all_lines_ && (line_end == std::string_view::npos || line_end + 1 == row.size());
  const bool blank = trim(row).empty();
  heading_ = heading_ || (std::exchange(maybe_heading_, after_blank_ && is_title(row)) && blank);
  after_blank_ = blank;
}

}  // namespace xlm
