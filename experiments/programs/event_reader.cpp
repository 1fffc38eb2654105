// `tensorboard:`: a folder of event files, each of which only grows.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/tf_record.h"
#include "experiments/programs/event_scalars.h"
#include "experiments/programs/file_look.h"
#include "experiments/programs/foreign_columns.h"
#include "experiments/programs/metric_reader.h"
#include "experiments/programs/number_text.h"
#include "experiments/programs/quantity_name.h"

namespace xlm {
namespace {

constexpr std::size_t kEventBytesAtOnce = std::size_t{1} << 18;
constexpr std::size_t kMaxEventBytes = std::size_t{1} << 20;  // a larger one is of images, and is not looked at
constexpr const char* kEventFileSign = "tfevents";            // in the names of all

/// The part of a file that is being read.
class EventWindow {
 public:
  explicit EventWindow(const FileLook& look) : look_(look) {}

  /// What is known of the file from `offset` on, `bytes` bytes at least where it has them.
  std::string_view from(std::uint64_t offset, std::size_t bytes) {
    if (offset < begin_ || offset + bytes > begin_ + content_.size()) {
      content_ = look_.read(offset, std::max(bytes, kEventBytesAtOnce));
      begin_ = offset;
    }
    return std::string_view(content_).substr(offset - begin_);
  }

 private:
  const FileLook& look_;
  std::uint64_t begin_ = 0;
  std::string content_;
};

class EventReader : public MetricReader {
 public:
  EventReader(const MetricDescription& description, ProgramRecords& records)
      : folder_(description.target), columns_(description.names, records), records_(records) {}

  void begin(const Json& position) override {
    reads_left_ = position.is_object();
    files_.clear();
    if (position.is_object()) {
      const Json files = position.value("files", Json::object());
      for (const auto& [name, offset] : files.items()) files_[name].offset = offset.get<std::uint64_t>();
      was_read_ = std::ranges::any_of(files_, [](const auto& file) { return file.second.offset > 0; });
      return;
    }
    for (const auto& [name, size] : event_files()) files_[name].offset = size;
  }

  void poll() override {
    for (const auto& [name, size] : event_files()) {
      was_seen_ = true;
      File& file = files_[name];
      if (size < file.offset) file = {};  // another one with its name
      const bool is_to_read = size != file.seen_size || !file.what_is_wrong.empty();
      if (size > file.offset && is_to_read) read(name, file);
      file.seen_size = size;
    }
    if (std::exchange(reads_left_, false)) owners_.clear();
  }

  void finish(bool /*is_done*/) override { poll(); }

  Json position() const override {
    Json files = Json::object();
    for (const auto& [name, file] : files_) files[name] = file.offset;
    return {{"files", files}};
  }

  Json place() const override { return {{"of", folder_.string()}, {"at", position().at("files")}}; }
  void read_to(std::size_t /*attempt*/, const Json& place) override {
    if (place.is_null()) return;
    for (const auto& [name, offset] : place.at("at").items()) read(name, files_[name], offset.get<std::uint64_t>());
    owners_.clear();
  }

  bool is_whole() const override { return was_seen_; }

  std::vector<std::string> never_came() const override {
    if (was_seen_) return {};
    return {folder_.filename().string() + " has no event files"};
  }

  std::vector<std::string> warnings() const override {
    if (!was_seen_) return {fmt::format("{} has no event files", folder_.string())};
    return columns_.warnings(folder_.filename().string());
  }

  std::vector<std::string> doubts() const override {
    std::vector<std::string> doubts;
    for (const auto& [name, file] : files_) {
      if (!file.what_is_wrong.empty()) doubts.push_back(fmt::format("{}: {}", name, file.what_is_wrong));
    }
    for (const auto& [tag, folders] : late_) {
      doubts.push_back(fmt::format(
          "'{}' is in {}, and the first that came has the name alone, which another time may be the other one; name "
          "them apart with names: {{FOLDER/{}: NAME}}",
          tag, folders, tag));
    }
    return doubts;
  }

  bool is_left() const override { return was_read_ && !has_grown_; }

 private:
  struct File {
    std::uint64_t offset = 0;  // behind the last record that was read
    std::uint64_t seen_size = 0;
    std::string what_is_wrong = {};
  };

  /// Those of the folder itself come first: a tag that stands in it and in a folder of it (add_hparams) is its own.
  struct FolderFirst {
    bool operator()(const std::string& a, const std::string& b) const {
      const bool a_is_below = a.find('/') != std::string::npos;
      const bool b_is_below = b.find('/') != std::string::npos;
      return a_is_below != b_is_below ? b_is_below : a < b;
    }
  };
  using FileSizes = std::map<std::string, std::uint64_t, FolderFirst>;

  /// Names below the folder, in the order of the alphabet and so of their times, and their sizes.
  FileSizes event_files() const {
    FileSizes files;
    std::error_code error;
    for (fs::recursive_directory_iterator entry(folder_, fs::directory_options::skip_permission_denied, error), end;
         !error && entry != end; entry.increment(error)) {
      if (entry->path().filename().string().find(kEventFileSign) == std::string::npos) continue;
      std::error_code gone;
      const bool is_file = entry->is_regular_file(gone);
      const std::uintmax_t size = is_file ? entry->file_size(gone) : 0;
      if (is_file && !gone) files[entry->path().lexically_relative(folder_).string()] = size;
    }
    return files;
  }

  void read(const std::string& name, File& file, std::uint64_t end = UINT64_MAX) {
    using Kind = TfRecordPiece::Kind;
    const FileLook look(folder_ / name);
    if (!look.is_there()) return;
    EventWindow window(look);
    file.what_is_wrong.clear();
    while (file.offset < std::min<std::uint64_t>(look.size(), end)) {
      TfRecordPiece piece = take_tf_record(window.from(file.offset, kTfRecordHeaderBytes));
      if (piece.kind == Kind::kIncomplete) {
        if (file.offset + piece.bytes > look.size()) return;  // its end is still to come
        if (piece.bytes > kMaxEventBytes) {
          file.offset += piece.bytes;
          continue;
        }
        piece = take_tf_record(window.from(file.offset, piece.bytes));
        if (piece.kind == Kind::kIncomplete) return;  // the file has just become shorter
      }
      if (piece.kind == Kind::kDamaged) {
        // A file system may show a file's new length before its content: at the next look the record may be whole.
        file.what_is_wrong =
            fmt::format("the record at byte {} is damaged; what is behind it is not read", file.offset);
        return;
      }
      use(name, piece.content);
      file.offset += piece.bytes;
      has_grown_ = has_grown_ || !reads_left_;
    }
  }

  void use(const std::string& name, std::string_view event) {
    const std::optional<EventScalars> scalars = event_scalars(event);
    if (!scalars || (scalars->values.empty() && !scalars->goes_back)) return;
    const LinePlace place{name};
    const std::optional<std::int64_t> step = whole_step(static_cast<double>(scalars->step));
    if (!step) return records_.fault(place, no_step("step", fmt::format("{}", scalars->step)));
    const std::string folder = fs::path(name).parent_path().generic_string();
    if (scalars->goes_back) records_.go_back(*step, folder);
    columns_.begin_row({name, ++events_}, step);
    for (const auto& [tag, value] : scalars->values) {
      const auto& [name_there, origin] = column_of(tag, folder);
      columns_.add(name_there, {.text = {}, .number = value}, place, {}, origin);
    }
    columns_.end_row(place, &folder);
  }

  /// A column's name and what tells it from that of another folder. Keras has a folder train/ and one validation/.
  /// add_scalars has loss_train/ and loss_valid/, or loss_KEY/ for each key, which is "loss_KEY". Of others the second
  /// folder with a tag has its name before it, unless the log has moved there with a new attempt.
  std::pair<std::string, std::string> column_of(const std::string& tag, const std::string& folder) {
    if (columns_.is_named(folder + "/" + tag)) return {tag, folder};
    const std::string_view last = std::string_view(folder).substr(folder.rfind('/') + 1);
    std::string made_for = tag;
    std::ranges::replace(made_for, '/', '_');
    const bool is_of_key = last.starts_with(made_for += '_');
    std::string_view split = split_called(last);
    if (split.empty()) split = split_called(last.substr(is_of_key ? made_for.size() : last.rfind('_') + 1));
    if (split.empty() && is_of_key) return {fmt::format("{}_{}", tag, last.substr(made_for.size())), ""};
    const bool says_itself = !split_called(std::string_view(tag).substr(0, tag.find('/'))).empty() ||
                             quantity_place(quantity_name_from(tag)).kind == QuantityPlace::Kind::kEvaluation;
    if (!split.empty()) return {tag, says_itself ? "" : std::string(split)};
    const std::string& first = owners_.emplace(tag, folder).first->second;
    const bool is_same = first == folder || (reads_left_ && without_digits(first) == without_digits(folder));
    if (!is_same && folder < first) late_.emplace(tag, fmt::format("{}/ and {}/", first, folder));
    return {tag, is_same ? "" : folder};
  }

  static std::string without_digits(std::string text) {
    std::erase_if(text, [](char c) { return c >= '0' && c <= '9'; });
    return text;
  }

  fs::path folder_;
  ForeignColumns columns_;
  ProgramRecords& records_;
  std::map<std::string, File> files_;  // by their names below the folder
  std::int64_t events_ = 0;
  bool was_seen_ = false;
  bool reads_left_ = false;                    // what earlier attempts have left
  bool was_read_ = false;                      // by an earlier attempt
  bool has_grown_ = false;                     // in this one
  std::map<std::string, std::string> owners_;  // the folder of each tag without its own name
  std::map<std::string, std::string> late_;    // tags that came first from the later folder of the alphabet, and both
};

}  // namespace

std::unique_ptr<MetricReader> make_event_reader(const MetricDescription& description, ProgramRecords& records) {
  return std::make_unique<EventReader>(description, records);
}

}  // namespace xlm
