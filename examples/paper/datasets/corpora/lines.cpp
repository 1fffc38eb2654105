// lines: many short documents, one a line. They are shuffled, so that no split is only the end of the text.
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "datasets/corpora/reading.h"

namespace xlm {
namespace {

constexpr std::uint64_t kOrderOfLines = 1;  // the same text always has the same order

void add_line(std::string line, std::vector<std::string>& lines) {
  if (line.ends_with('\r')) line.pop_back();
  if (!line.empty()) lines.push_back(std::move(line));
}

/// Holds the whole text in memory.
void read_lines(const std::vector<SourceFile>& sources, const CorpusSettings& settings, const PrepareObserver& observer,
                CleanText& text) {
  std::vector<std::string> lines;
  const bool strict = settings.strict && settings.unit == Vocabulary::Unit::kCharacter;
  read_sources(sources, settings.reading, observer, [&](const TextFile& file) {
    std::string line;
    for_each_block_until(file, strict, [&](std::string_view block) {
      for (const char c : block) {
        if (c == '\n') {
          add_line(std::exchange(line, {}), lines);
        } else {
          line += c;
        }
      }
      return true;
    });
    add_line(std::move(line), lines);
  });
  for (std::size_t left = lines.size(); left > 1; --left) {
    const auto chosen = random_below(static_cast<std::int64_t>(left), random_bits(kOrderOfLines, 0, left));
    std::swap(lines[left - 1], lines[static_cast<std::size_t>(chosen)]);
  }
  for (const std::string& line : lines) {
    text.begin_document();
    text.write(line + "\n");
  }
}

}  // namespace

Corpus lines_corpus() {
  return {.name = "lines",
          .summary = "short texts of your own, one a line, which are shuffled: any files, archives or folders",
          .language = "",
          .cleanings = {"none"},
          .units = {"character", "byte", "bpe"},
          .folders = true,
          .read = read_lines};
}

}  // namespace xlm
