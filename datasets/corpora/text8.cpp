// text8: text that is in its alphabet already, or a Wikipedia XML dump, which is filtered.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "datasets/cleaning/text8_filter.h"
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

bool looks_like_dump(std::string_view head) {
  constexpr std::array<std::string_view, 3> kTags{"<mediawiki", "<page>", "<text "};
  const std::size_t begin = head.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || head[begin] != '<') return false;
  return std::ranges::any_of(kTags, [&](std::string_view tag) { return head.find(tag) != std::string_view::npos; });
}

/// Takes text in the alphabet unchanged; drops only one line end at the end.
class PlainText8 {
 public:
  PlainText8(const TextFile& file, CleanText& text) : label_(file.label), text_(&text) {}

  void write(std::string_view block) {
    const auto* const bad = std::ranges::find_if_not(block, is_text8_symbol);
    const std::string_view good = block.substr(0, static_cast<std::size_t>(bad - block.begin()));
    if (!good.empty() && !line_end_.empty()) fail(line_end_.front());
    text_->write(good);
    offset_ += good.size();
    line_end_ += block.substr(good.size());
    if (!line_end_.empty() && line_end_ != "\n" && line_end_ != "\r\n" && line_end_ != "\r") fail(line_end_.front());
  }

 private:
  [[noreturn]] void fail(char found) const {
    throw DataError(
        fmt::format("{} is neither text8 (a-z and spaces only) nor a Wikipedia XML dump: byte 0x{:02X} at "
                    "offset {}\nto clean other text the same way: xlm prepare-data text --clean text8",
                    label_, static_cast<unsigned char>(found), offset_));
  }

  std::string label_;
  CleanText* text_;
  std::uint64_t offset_ = 0;
  std::string line_end_;
};

void read_text8(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
                CleanText& text) {
  text.begin_document();
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    check_single(file, "text8");
    bool any = false;
    PlainText8 plain(file, text);
    WikipediaFilter filter(file.label, [&](std::string_view clean) {
      any = any || !clean.empty();
      text.write(clean);
    });
    bool first = true;
    bool dump = false;
    for_each_block(file, [&](std::string_view block) {
      if (std::exchange(first, false)) dump = looks_like_dump(block);
      if (dump) {
        filter.write(block);
      } else {
        plain.write(block);
      }
    });
    if (dump) filter.finish();
    if (dump && !any) {
      throw DataError(fmt::format("{} has no article text: nothing between <text …> and </text>", file.label));
    }
  });
}

}  // namespace

Corpus text8_corpus() {
  return {
      .name = "text8",
      .summary = "Wikipedia in a-z and spaces: text8.zip, the file text8, or a Wikipedia XML dump, which is filtered",
      .language = "en",
      .cleanings = {"text8"},
      .units = {"character", "byte"},
      .read = read_text8};
}

}  // namespace xlm
