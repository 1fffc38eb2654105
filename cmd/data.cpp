// xlm data: shows a prepared data folder; imports a Hugging Face dataset.
#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/words.h"
#include "cmd/command.h"
#include "cmd/prepare_data.h"
#include "datasets/prepared/inspection.h"
#include "datasets/prepared/prepared.h"
#include "datasets/prepared/segmentation.h"
#include "datasets/prepared/split_plan.h"

namespace xlm {
namespace {

struct DataShowOptions {
  fs::path folder;
  bool verify = false;
};

constexpr std::size_t kShownLines = 3;        // of each split
constexpr std::size_t kFrequentSymbols = 10;  // symbols
constexpr std::int64_t kShownTokens = 900;    // of a text without line breaks

/// A symbol as text: 'a', space, line break, byte 200.
std::string shown(const Vocabulary& vocabulary, const std::string& symbol) {
  if (vocabulary.unit == Vocabulary::Unit::kByte) {
    const auto byte = static_cast<unsigned char>(symbol[0]);
    return byte > 0x20 && byte < 0x7F ? symbol : byte == ' ' ? "space" : fmt::format("{}", byte);
  }
  if (symbol == " ") return "space";
  if (symbol == "\n") return "line break";
  const bool control = symbol.size() == 1 && (symbol[0] < 0x20 || symbol[0] == 0x7F);
  return control ? symbol_name(vocabulary.unit, symbol) : symbol;
}

/// The first lines of a split, without control characters.
std::vector<std::string> first_lines(const Vocabulary& vocabulary, const Split& split) {
  const std::string text = decode(vocabulary, split, 0, std::min(split.tokens.size(), kShownTokens));
  std::vector<std::string> lines;
  for (std::string& line : xlm::split(text, '\n')) {
    std::replace_if(
        line.begin(), line.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
    if (lines.size() < kShownLines && !trim(line).empty()) lines.push_back(std::move(line));
  }
  return lines;
}

Json symbols_json(const Vocabulary& vocabulary, const std::vector<SymbolCount>& symbols) {
  Json list = Json::array();
  for (const auto& [symbol, count] : symbols) {
    Json value = symbol;
    if (vocabulary.unit == Vocabulary::Unit::kByte) value = static_cast<unsigned char>(symbol[0]);
    list.push_back({{"symbol", std::move(value)}, {"count", count}});
  }
  return list;
}

Json describe_data(const PreparedData& data, const DataShowOptions& options) {
  Json json{{"path", data.path.string()},
            {"dataset", data.dataset},
            {"language", data.language},
            {"unit", unit_name(data.vocabulary.unit)},
            {"fingerprint", data.fingerprint}};
  for (const char* key : {"cleaning", "vocabulary", "hebrew_points", "split", "split_by", "limit", "xlm"}) {
    if (data.meta.contains(key)) json[key] = data.meta[key];
  }
  json["replaced_characters"] = data.meta.value("replaced_characters", 0);
  if (data.meta.contains("unknown_characters")) json["unknown_characters"] = data.meta["unknown_characters"];
  json["symbols"] = Json::parse(vocabulary_json(data.vocabulary))["symbols"];
  Json splits = splits_json(data);
  for (const auto& [name, split] : data.splits) {
    splits[name]["symbols"] = symbols_json(data.vocabulary, count_symbols(data.vocabulary, split));
    splits[name]["lines"] = first_lines(data.vocabulary, split);
  }
  json["splits"] = std::move(splits);
  json["segmentations"] = segmentation_names(data.path);
  json["sources"] = data.meta.value("sources", Json::object());
  json["outputs"] = data.meta.value("outputs", Json::object());
  if (options.verify) json["verified"] = true;
  return json;
}

/// Each source with its hash, or of many their number in each folder.
std::string sources_text(const Json& sources) {
  constexpr std::size_t kMaxListed = 12;
  std::string out = "\nsources:\n";
  std::map<std::string, std::int64_t> in_folder;
  for (const auto& [name, hash] : sources.items()) {
    ++in_folder[fs::path(name).parent_path().string()];
    if (sources.size() <= kMaxListed)
      out += fmt::format("  {} {}\n", hash.is_string() ? hash.get<std::string>() : hash.dump(), name);
  }
  if (sources.size() <= kMaxListed) return out;
  for (const auto& [folder, count] : in_folder)
    out += fmt::format("  {} in {}\n", counted(count, "file"), folder.empty() ? "the folder that was named" : folder);
  return out + "  --json lists them with their hashes\n";
}

std::string text_of(const PreparedData& data, const DataShowOptions& options, const Terminal& terminal) {
  const Vocabulary& vocabulary = data.vocabulary;
  std::string out = fmt::format("{}: {}{}, {}{}\n\n", data.path.string(), data.dataset,
                                data.language.empty() ? "" : " in " + data.language, symbols_text(vocabulary),
                                options.verify ? ", every checksum is right" : "");
  out += splits_table(data, terminal.is_terminal ? terminal.width : 0);
  constexpr std::int64_t kShownSymbols = 200;
  if (vocabulary.unit != Vocabulary::Unit::kBpe && vocabulary.size() <= kShownSymbols) {
    out += "\nalphabet:";
    for (const std::string& symbol : vocabulary.symbols) out += " " + shown(vocabulary, symbol);
    out += "\n";
  }
  for (const char* name : kSplitNames) {
    const auto found = data.splits.find(name);
    if (found == data.splits.end()) continue;
    std::vector<std::string> most;
    for (const auto& [symbol, count] : count_symbols(vocabulary, found->second)) {
      if (most.size() == kFrequentSymbols) break;
      most.push_back(
          fmt::format("{} {:.1f} %", shown(vocabulary, symbol),
                      100.0 * static_cast<double>(count) / static_cast<double>(found->second.tokens.size())));
    }
    out += fmt::format("\n{}: {}\n", name, join(most, ", "));
    for (const std::string& line : first_lines(vocabulary, found->second)) {
      out += (terminal.is_terminal ? cut_to_line(terminal, "  " + line) : "  " + line) + "\n";
    }
  }
  const std::int64_t replaced = data.meta.value("replaced_characters", std::int64_t{0});
  if (replaced > 0) out += fmt::format("\n{} pieces of invalid UTF-8 became U+FFFD\n", replaced);
  if (data.meta.contains("unknown_characters")) {
    out += "\nnot in training, now U+FFFD:";
    for (const auto& [name, count] : data.meta["unknown_characters"].items()) {
      if (name != "train") out += fmt::format(" {} in {}", count.dump(), name);
    }
    out += "\n";
  }
  const std::vector<std::string> segmentations = segmentation_names(data.path);
  if (!segmentations.empty()) out += "\nsegmentations: " + join(segmentations, ", ") + "\n";
  return out + sources_text(data.meta.value("sources", Json::object()));
}

int show_data(const DataShowOptions& options, const GlobalOptions& global) {
  const PreparedData data = open_prepared(options.folder);
  if (options.verify) verify_prepared(data);
  const Terminal& terminal = global.standard_output;
  print(global.json ? json_text(describe_data(data, options)) : text_of(data, options, terminal));
  return kDone;
}

struct DataImportOptions {
  fs::path folder;
  PrepareRequest request;
};

int import_data(const DataImportOptions& options, const GlobalOptions& global) {
  return prepare_and_report(global, options.request.out, [&](const PrepareObserver& /*observer*/) {
    PrepareRequest request = options.request;
    request.dataset = "text";
    request.from = {options.folder};
    request.shards = true;
    return check_request(std::move(request));
  });
}

}  // namespace

std::function<int()> declare_data(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<DataShowOptions>();
  app.require_subcommand(1);
  CLI::App* one = app.add_subcommand("show", "Sizes, alphabet, most frequent symbols, first lines, sources");
  one->add_option("DIR", options->folder, "A prepared data folder")->required()->type_name("");
  one->add_flag("--verify", options->verify, "Verify every file's checksum");
  one->footer("Example:\n  xlm data show data/text8 --verify");
  const auto import = std::make_shared<DataImportOptions>();
  CLI::App* imported = app.add_subcommand("import", "Prepare a Hugging Face dataset from disk");
  imported->add_option("FOLDER", import->folder, "A folder from save_to_disk, or a download from the hub")
      ->required()
      ->type_name("");
  add_text_options(*imported, import->request);
  imported->footer(
      "Shards are Parquet or Arrow; every row is a document. Their names, or those of their folders, give the split.\n"
      "If they do not, --split divides the whole. Rows of WikiText are joined into its files again.\n\n"
      "Examples:\n"
      "  xlm data import wikitext/wikitext-103-raw-v1 --unit bpe --bpe gpt2 --out data/wikitext\n"
      "  xlm data import saved/ --column content --clean text8 --out data/saved");
  app.footer("Examples:\n  xlm data show data/text8\n  xlm data import saved/ --out data/saved");
  return [options, import, imported, &global] {
    return imported->parsed() ? import_data(*import, global) : show_data(*options, global);
  };
}

}  // namespace xlm
