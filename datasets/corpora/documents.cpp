// Documents of files, of tables and of JSON lines.
#include "datasets/corpora/documents.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"
#include "datasets/corpora/wikitext.h"
#include "datasets/input/parquet.h"

namespace xlm {
namespace {

/// The text column of a table; null if the file is not a table.
std::unique_ptr<ParquetColumn> open_table(const fs::path& file, FileForm form, const CorpusSettings& settings) {
  if (form == FileForm::kParquet) return open_parquet(file, settings.column, settings.reading.max_unpacked);
  if (form == FileForm::kArrow) return open_arrow(file, settings.column, settings.reading.max_unpacked);
  return nullptr;
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

void read_json_lines(const TextFile& file, const std::string& name,
                     const std::function<void(std::string_view row)>& take_row) {
  constexpr std::size_t kMaxBytes = std::size_t{256} << 20;
  std::string rest;
  std::int64_t number = 0;
  const auto take = [&](std::string_view line) {
    ++number;
    if (trim(line).empty()) return;
    if (const auto text = field_of(line, name, fmt::format("{}:{}", file.label, number))) take_row(*text);
  };
  for_each_block(file, [&](std::string_view block) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = block.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      take(rest.append(block.substr(begin, end - begin)));
      rest.clear();
    }
    rest.append(block.substr(begin));
    if (rest.size() > kMaxBytes) {
      throw DataError(fmt::format("{}:{}: the line is longer than {}", file.label, number + 1,
                                  human_bytes(static_cast<double>(kMaxBytes))));
    }
  });
  take(rest);
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
  if (table == nullptr && file.form != FileForm::kJsonLines) {
    if (settings_->only_tables) {
      throw DataError(fmt::format(
          "{} is neither a table nor JSON lines: it has no column '{}'\nleave --column out to read it whole, or "
          "convert it to JSON lines (comma-separated values too)",
          file.label, settings_->column));
    }
    const auto write = [&](std::string_view block) {
      sink_.write(block);
      return true;
    };
    sink_.begin();
    for_each_block_until(file, strict_, write, line_ends_for(*settings_));
    sink_.end();
    return;
  }
  PrintedRows printed;
  std::int64_t empty = 0;
  const auto take = [&](std::string_view row) {
    printed.take(row, file.label);
    empty += static_cast<std::int64_t>(row.empty());
    take_row(file, row);
  };
  if (table != nullptr) {
    for (std::string row; table->next(row);) {
      take(row);
      file.at(static_cast<std::uint64_t>(table->progress() * static_cast<double>(file.source.size)));
    }
  } else {
    read_json_lines(file, settings_->column, take);
  }
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
  if (line_ends_for(*settings_) == LineEnds::kUnix) row = line_ends.write(row);
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
