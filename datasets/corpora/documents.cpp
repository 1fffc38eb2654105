// Documents of files, of tables and of JSON lines.
#include "datasets/corpora/documents.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_parser.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"
#include "datasets/corpora/wikitext.h"
#include "datasets/input/parquet.h"
#include "datasets/input/recognition.h"

namespace xlm {
namespace {

/// The text column of a table; null if the file is not a table.
std::unique_ptr<ParquetColumn> open_table(const fs::path& file, FileForm form, const CorpusSettings& settings) {
  if (form != FileForm::kParquet && form != FileForm::kArrow) return nullptr;
  return open_parquet(file, settings.column, settings.reading.max_unpacked, form == FileForm::kArrow);
}

FileForm form_of(const fs::path& file) {
  std::string head(kHeadBytes, '\0');
  InputFile input(file);
  head.resize(input.read(head.data(), head.size()));
  return recognise_content(head).form;
}

constexpr const char* kRowsWayOut = "--documents rows takes every row as a document";

/// Whether the first rows of a file are lines of WikiText. nullopt if they may be lines, but no heading is among them.
std::optional<bool> begins_as_wikitext(const fs::path& file, const CorpusSettings& settings) {
  constexpr int kMaxRows = 4096;  // every article of WikiText is shorter
  const std::unique_ptr<ParquetColumn> column = open_table(file, form_of(file), settings);
  if (column == nullptr) return false;
  WikitextRows rows;
  std::string text;
  for (int row = 0; row < kMaxRows && rows.all_lines() && column->next(text); ++row) rows.take(text);
  if (rows.is_wikitext()) return true;
  return rows.all_lines() ? std::nullopt : std::optional(false);
}

/// The text of one line's field; nullopt if it is null.
std::optional<std::string> field_of(std::string_view line, const std::string& name, const std::string& place) {
  const Json object = parse_json(line, place);
  if (!object.is_object()) throw DataError(fmt::format("{} is not a JSON object, but {}", place, object.type_name()));
  const auto field = object.find(name);
  if (field == object.end()) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    throw DataError(fmt::format("{} has no field '{}': it has {}\nname another with --column", place, name,
                                names.empty() ? "none" : printable(join(names, ", "))));
  }
  if (field->is_null()) return std::nullopt;
  if (!field->is_string()) {
    throw DataError(
        fmt::format("{}: the field '{}' holds {}, not text", place, name,
                    field->is_array() || field->is_object() ? std::string(field->type_name()) : field->dump()));
  }
  return field->get<std::string>();
}

/// Rows that cannot be read: the first one ends the work, or all are counted.
class BadRows {
 public:
  explicit BadRows(bool skip) : skip_(skip) {}

  void take(const std::function<void()>& read_row) {
    try {
      read_row();
    } catch (const DataError& error) {
      if (!skip_) throw DataError(fmt::format("{}\n--skip-bad-rows leaves such rows out", error.what()));
      if (count_++ == 0) first_ = error.what();
    }
  }
  std::int64_t count() const { return count_; }
  const std::string& first() const { return first_; }

 private:
  bool skip_;
  std::int64_t count_ = 0;
  std::string first_;
};

using Place = std::function<std::string()>;  // where something stands, for errors

void check_row_size(std::string_view row, const Place& place) {
  constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  if (row.size() <= kMaxBytes) return;
  throw DataError(fmt::format("{}: the row is longer than {}", place(), human_bytes(static_cast<double>(kMaxBytes))));
}

void for_each_line(const TextFile& file,
                   const std::function<void(std::string_view line, const Place& place)>& take_line) {
  std::string rest;
  std::int64_t number = 0;
  const Place place = [&] { return fmt::format("{}:{}", file.label, number); };
  for_each_block(file, [&](std::string_view block) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = block.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      ++number;
      const std::string_view line = block.substr(begin, end - begin);
      take_line(rest.empty() ? line : rest.append(line), place);
      rest.clear();
    }
    rest.append(block.substr(begin));
    check_row_size(rest, place);
  });
  ++number;
  if (!rest.empty()) take_line(rest, place);
}

using TakeRow = std::function<void(std::string_view row)>;

/// Returns how many rows have null as their text.
std::int64_t read_json_lines(const TextFile& file, const std::string& name, BadRows& bad, const TakeRow& take_row) {
  JsonParser parser;
  std::int64_t nulls = 0;
  for_each_line(file, [&](std::string_view line, const Place& place) {
    if (trim(line).empty()) return;
    if (const std::optional<std::string_view> simple = parser.text_field(line, name)) return take_row(*simple);
    std::optional<std::string> text;
    bad.take([&] {
      text = field_of(line, name, place());
      nulls += static_cast<std::int64_t>(!text);
    });
    if (text) take_row(*text);
  });
  return nulls;
}

/// The quotes of a table's row, which may go over several lines.
struct RowQuotes {
  bool open = false;       // a cell in quotes goes on below the line
  bool are_signs = false;  // text follows a closing quote, so quotes are signs of the text
  bool hold_rows = false;  // a line inside of quotes has as many cells as a row

  void take(std::string_view line, char separator, std::size_t cells) {
    const bool was_open = open;
    std::size_t separators = 0;
    bool begins = !open;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const bool is_quote = line[i] == '"';
      if (open && is_quote && line.substr(i + 1).starts_with('"')) {
        ++i;
      } else if (is_quote && (open || begins)) {
        are_signs = are_signs || (open && i + 1 < line.size() && line[i + 1] != separator);
        open = !open;
      }
      if (open && line[i] == separator) ++separators;
      begins = !open && line[i] == separator;
    }
    hold_rows = hold_rows || (was_open && cells > 1 && separators + 1 == cells);
  }
};

constexpr const char* kQuotesWayOut =
    "if quotes are signs of the text there, convert the file to JSON lines, or write each of them twice, in cells in "
    "quotes";

/// Rows of values that are separated by tabs, commas or semicolons, below a line with the names of columns.
class SeparatedRows {
 public:
  /// Returns false if no column of the first line is called so.
  bool begin(std::string_view line, const std::string& name, const std::string& place) {
    for (const char separator : {'\t', ',', ';'}) {
      split_csv(line, separator, cells_);
      const auto found = std::ranges::find(cells_, name);
      if (found == cells_.end()) continue;
      if (std::find(found + 1, cells_.end(), name) != cells_.end()) {
        throw DataError(fmt::format("{} has two columns '{}'\nname them apart", place, name));
      }
      separator_ = separator;
      column_ = static_cast<std::size_t>(found - cells_.begin());
      columns_ = cells_.size();
      return true;
    }
    return false;
  }

  void add(std::string_view line, const Place& place, BadRows& bad, const TakeRow& take_row) {
    if (row_.empty()) place_ = place();
    row_ += line;
    quotes_.take(line, separator_, columns_);
    check_row_size(row_, [this] { return place_; });
    if (quotes_.open) row_ += '\n';
    if (!quotes_.open) finish(bad, take_row);
  }

  void finish(BadRows& bad, const TakeRow& take_row) {
    if (row_.empty()) return;
    // A row that may be left out is one line, not the rest of the file.
    if (const auto lines = quotes_.open ? std::ranges::count(row_, '\n') : 0; lines > 1) {
      throw DataError(fmt::format("{}: a quote is not closed, so that {} behind it would be one cell\n{}", place_,
                                  counted(static_cast<std::size_t>(lines - 1), "line"), kQuotesWayOut));
    }
    bool good = false;
    bad.take([&] {
      split_csv(row_, separator_, cells_);
      if (quotes_.open) throw DataError(place_ + ": a quote is not closed");
      if (quotes_.are_signs) {
        throw DataError(fmt::format("{}: text follows a closing quote\n{}", place_, kQuotesWayOut));
      }
      if (cells_.size() != columns_) {
        throw DataError(fmt::format("{} has {}, and the first line has {}", place_, counted(cells_.size(), "cell"),
                                    counted(columns_, "name")));
      }
      good = true;
    });
    if (good) take_row(cells_[column_]);
    // Prose has commas, and tabs hardly ever.
    if (quotes_.hold_rows && separator_ == '\t' && rows_in_quotes_++ == 0) first_in_quotes_ = place_;
    quotes_ = {};
    row_.clear();
  }

  /// What may be wrong although every row could be read; empty: nothing.
  std::string doubt() const {
    if (rows_in_quotes_ == 0) return "";
    return fmt::format("{}: a cell in quotes holds whole rows of the table ({}); {}", first_in_quotes_,
                       counted(static_cast<std::size_t>(rows_in_quotes_), "cell"), kQuotesWayOut);
  }

 private:
  char separator_ = ',';
  std::size_t column_ = 0;
  std::size_t columns_ = 0;
  std::vector<std::string> cells_;
  std::string row_;
  std::string place_;  // of its first line
  RowQuotes quotes_;
  std::int64_t rows_in_quotes_ = 0;
  std::string first_in_quotes_;  // its place
};

void read_separated(const TextFile& file, const std::string& name, BadRows& bad, const TakeRow& take_row,
                    const PrepareObserver& observer) {
  std::optional<SeparatedRows> rows;
  for_each_line(file, [&](std::string_view line, const Place& place) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (rows) return rows->add(line, place, bad, take_row);
    if (rows.emplace().begin(line, name, place())) return;
    if (file.label.ends_with(".csv") || file.label.ends_with(".tsv")) {
      throw DataError(fmt::format("{} has no column '{}': its first line is {}\nname another with --column", file.label,
                                  name, printable(line.substr(0, 80))));
    }
    const std::string_view kind = markup_of(line);
    throw DataError(
        kind.empty() ? fmt::format("{} is neither a table nor JSON lines: it has no column '{}'\nleave --column out to "
                                   "read it whole, or convert it to JSON lines or CSV with a line of names",
                                   file.label, name)
                     : fmt::format("{} is {}, which has no columns\nextract its text first, one JSON object a line, "
                                   "such as with {}",
                                   file.label, kind, kind == kWebArchive ? "warcio" : "wikiextractor --json"));
  });
  if (!rows) return;
  rows->finish(bad, take_row);
  if (const std::string doubt = rows->doubt(); !doubt.empty()) observer.say(doubt);
}

}  // namespace

DocumentReader::DocumentReader(const CorpusSettings& settings, bool strict, const PrepareObserver& observer,
                               DocumentSink sink)
    : settings_(&settings), strict_(strict), observer_(&observer), sink_(std::move(sink)) {}

DocumentReader::~DocumentReader() = default;

void DocumentReader::read(const TextFile& file) {
  const auto table = open_table(file.source.path, file.form, *settings_);
  if (table == nullptr && settings_->wikitext_rows) {
    throw DataError(
        fmt::format("{} is not a table, but other files are tables of WikiText's lines\nleave it out: name the others",
                    file.label));
  }
  const bool is_text = table == nullptr && file.form != FileForm::kJsonLines;
  if (is_text && !settings_->only_tables) {
    bool at_beginning = true;
    const auto write = [&](std::string_view block) {
      if (const std::string_view kind = at_beginning ? markup_of(block) : ""; !kind.empty()) {
        observer_->say(fmt::format("{} is {}: its marks are read as text, too", file.label, kind));
      }
      at_beginning = false;
      sink_.write(block);
      return true;
    };
    sink_.begin();
    note_line_ends(for_each_block_until(file, strict_, write, file.is_text ? settings_->line_ends : LineEnds::kKeep));
    sink_.end();
    return;
  }
  PrintedRows printed;
  BadRows bad(settings_->skip_bad_rows);
  std::int64_t rows = 0;
  std::int64_t empty = 0;
  const auto take = [&](std::string_view row) {
    printed.take(row, file.label);
    ++rows;
    empty += static_cast<std::int64_t>(row.empty());
    take_row(file, row);
  };
  if (table != nullptr) {
    for (std::string row; table->next(row);) {
      take(row);
      file.at(static_cast<std::uint64_t>(table->progress() * static_cast<double>(file.source.size)));
    }
  } else if (is_text) {
    read_separated(file, settings_->column, bad, take, *observer_);
  } else {
    empty += read_json_lines(file, settings_->column, bad, take);
  }
  if (rows == 0 && bad.count() > 0) throw DataError("no row can be read: " + bad.first());
  if (bad.count() > 0) observer_->pass_over("rows that cannot be read", file.source.name, bad.count());
  printed.finish(file.label);
  if (empty > 0 && !settings_->wikitext_rows) observer_->pass_over("rows without text", file.source.name, empty);
}

void DocumentReader::take_row(const TextFile& file, std::string_view row) {
  if (strict_) {
    StrictUtf8 check(file.label + ", a row");
    check.write(row);
    check.finish();
  }
  UnixLineEnds line_ends;
  if (settings_->line_ends == LineEnds::kUnix) row = line_ends.write(row);
  note_line_ends(line_ends.changed());
  if (!settings_->wikitext_rows) {
    sink_.begin();
    sink_.write(row);
    sink_.end();
    return;
  }
  WikitextRows line;
  line.take(row);
  if (!line.all_lines()) {
    throw DataError(
        fmt::format("{}: a row has several lines, but other rows are lines of WikiText\n{}", file.label, kRowsWayOut));
  }
  if (!lines_) lines_ = std::make_unique<WikitextDocuments>(sink_, settings_->documents == DocumentUnit::kArticles);
  lines_->write(wikitext_line(row));
}

void DocumentReader::note_line_ends(bool changed) {
  if (!changed || said_line_ends_ || !settings_->reading.bytes) return;
  observer_->say("CR LF and CR became LF, as for characters and byte pairs; --line-ends keep keeps them");
  said_line_ends_ = true;
}

void DocumentReader::finish() {
  if (lines_) lines_->finish();
  lines_.reset();
}

bool rows_are_wikitext(const std::vector<SourceFile>& sources, const CorpusSettings& settings) {
  const SourceFile* wikitext = nullptr;
  const SourceFile* other = nullptr;
  for (const SourceFile& source : sources) {
    if (source.size == 0) continue;
    const std::optional<bool> found = begins_as_wikitext(source.path, settings);
    if (found) (*found ? wikitext : other) = &source;
  }
  if (wikitext != nullptr && other != nullptr) {
    throw DataError(fmt::format("{} has lines of WikiText, but {} does not\n{}", wikitext->path.string(),
                                other->path.string(), kRowsWayOut));
  }
  return wikitext != nullptr;
}

}  // namespace xlm
