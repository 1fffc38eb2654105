// Documents of files, of tables and of JSON lines.
#include "datasets/corpora/documents.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "datasets/corpora/reading.h"
#include "datasets/input/parquet.h"

namespace xlm {
namespace {

/// Hands on rows as documents.
class Rows {
 public:
  Rows(const TextFile& file, bool strict, const DocumentSink& sink) : file_(&file), strict_(strict), sink_(&sink) {}

  void take(std::string_view text) {
    printed_.take(text, file_->label);
    if (strict_) {
      StrictUtf8 check(file_->label + ", a row");
      check.write(text);
      check.finish();
    }
    sink_->begin();
    sink_->write(text);
    sink_->end();
  }
  void finish() const { printed_.finish(file_->label); }

 private:
  const TextFile* file_;
  bool strict_;
  const DocumentSink* sink_;
  PrintedRows printed_;
};

void read_table(const TextFile& file, ParquetColumn& column, Rows& rows) {
  for (std::string text; column.next(text);) {
    rows.take(text);
    file.at(static_cast<std::uint64_t>(column.progress() * static_cast<double>(file.source.size)));
  }
}

/// The text of one line's field; nothing where it is null.
std::optional<std::string> field_of(std::string_view line, const std::string& name, const std::string& place) {
  const Json object = parse_json(line, place);
  if (!object.is_object()) throw DataError(fmt::format("{} is no JSON object, but {}", place, object.type_name()));
  const auto field = object.find(name);
  if (field == object.end()) {
    std::vector<std::string> names;
    for (const auto& [key, value] : object.items()) names.push_back(key);
    throw DataError(fmt::format("{} has no field '{}': it has {}\n--column names another", place, name,
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

void read_json_lines(const TextFile& file, const std::string& name, Rows& rows) {
  constexpr std::size_t kMostBytes = std::size_t{256} << 20;
  std::string rest;
  std::int64_t number = 0;
  const auto take = [&](std::string_view line) {
    ++number;
    if (trim(line).empty()) return;
    if (const auto text = field_of(line, name, fmt::format("{}:{}", file.label, number))) rows.take(*text);
  };
  for_each_block(file, [&](std::string_view block) {
    std::size_t begin = 0;
    for (std::size_t end = 0; (end = block.find('\n', begin)) != std::string_view::npos; begin = end + 1) {
      take(rest.append(block.substr(begin, end - begin)));
      rest.clear();
    }
    rest.append(block.substr(begin));
    if (rest.size() > kMostBytes) {
      throw DataError(fmt::format("{}:{}: the line is longer than {}", file.label, number + 1,
                                  human_bytes(static_cast<double>(kMostBytes))));
    }
  });
  take(rest);
}

}  // namespace

void for_each_document(const TextFile& file, const CorpusSettings& settings, bool strict, const DocumentSink& sink) {
  Rows rows(file, strict, sink);
  switch (file.form) {
    case Form::kParquet:
      read_table(file, *open_parquet(file.source.path, settings.column, settings.reading.max_unpacked), rows);
      break;
    case Form::kArrow:
      read_table(file, *open_arrow(file.source.path, settings.column), rows);
      break;
    case Form::kJsonLines:
      read_json_lines(file, settings.column, rows);
      break;
    default:
      sink.begin();
      for_each_block_until(file, strict, [&](std::string_view block) {
        sink.write(block);
        return true;
      });
      sink.end();
  }
  rows.finish();
}

}  // namespace xlm
