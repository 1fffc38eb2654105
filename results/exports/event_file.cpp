// TensorBoard's event files. Of protocol buffers only what an Event needs is written here:
//   Event   { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; SessionLog … = 7; }
//   Summary { repeated Value value = 1; }   Value { string tag = 1; float simple_value = 2; TensorProto tensor = 8;
//   SummaryMetadata metadata = 9; }   SessionLog { SessionStatus status = 1; }, of which START is 1
#include "results/exports/event_file.h"

#include <fcntl.h>

#include <bit>
#include <cerrno>

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/json.h"
#include "base/staged_folder.h"
#include "base/text.h"
#include "results/run_folder/journal.h"

namespace xlm {
namespace {

constexpr const char* kFileVersion = "brain.Event:2";
constexpr std::uint64_t kString = 7;  // DT_STRING of a TensorProto

template <class Integer>
std::string little_endian_bytes(Integer value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(Integer); ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(value | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string varint_field(std::uint64_t field, std::uint64_t value) { return varint(field << 3U) + varint(value); }

std::string bytes_field(std::uint64_t field, std::string_view content) {
  return varint(field << 3U | 2U) + varint(content.size()) + std::string(content);
}

std::string float_field(std::uint64_t field, float value) {
  return varint(field << 3U | 5U) + little_endian_bytes(std::bit_cast<std::uint32_t>(value));
}

std::string event_head(double time, std::int64_t step) {
  return varint(1U << 3U | 1U) + little_endian_bytes(std::bit_cast<std::uint64_t>(time)) +
         varint_field(2, static_cast<std::uint64_t>(step));
}

/// The times of metric records by step.
std::map<std::int64_t, double> times_of_steps(const Run& run) {
  std::map<std::int64_t, double> times;
  read_journal(RunPaths{run.folder}.journal(), [&](const Json& record) {
    if (record.value("type", "") != "metric" || !record.contains("step") || !record.contains("time")) return;
    times[record["step"].get<std::int64_t>()] = record["time"].get<double>();
  });
  return times;
}

struct EventNumbers {
  double time = 0;
  std::map<std::string, double> by_tag;
};

std::map<std::int64_t, EventNumbers> numbers_of(const Run& run) {
  std::map<std::int64_t, EventNumbers> events;
  const std::map<std::int64_t, double> times = times_of_steps(run);
  for (const auto& [name, series] : run.metrics) {
    for (const auto& [step, value] : series) {
      EventNumbers& event = events[step];
      const auto time = times.find(step);
      event.time = time == times.end() ? run.created.value_or(0) : time->second;
      event.by_tag["train/" + name] = value;
    }
  }
  for (const RunEvaluation& evaluation : run.evaluations) {
    EventNumbers& event = events[evaluation.step];
    if (event.by_tag.empty()) event.time = evaluation.time;
    const std::string at = evaluation.at.empty() ? "" : "@" + at_text(evaluation.at);
    for (const auto& [name, value] : evaluation.values) {
      // What a finished model has on the training text is another curve than what training reported.
      const bool is_reported = evaluation.split == "train" && at.empty() && run.metrics.contains(name);
      const std::string tag = fmt::format("{}{}/{}", evaluation.split, is_reported ? "@evaluated" : at, name);
      if (evaluation.main || !event.by_tag.contains(tag)) event.by_tag[tag] = value;
    }
  }
  return events;
}

}  // namespace

EventFile::EventFile(const fs::path& file, double time) : path_(file) {
  create_folders(folder_of(file));
  file_.reset(::fdopen(open_regular(path_, O_WRONLY | O_CREAT | O_TRUNC, "write"), "wb"));
  if (!file_) throw_file_error("write", path_, errno);
  write(event_head(time, 0) + bytes_field(3, kFileVersion));
}

void EventFile::write(const std::string& event) {
  const std::string length = little_endian_bytes(static_cast<std::uint64_t>(event.size()));
  const std::string record =
      length + little_endian_bytes(masked_crc32c(length)) + event + little_endian_bytes(masked_crc32c(event));
  if (std::fwrite(record.data(), 1, record.size(), file_.get()) != record.size() || std::fflush(file_.get()) != 0) {
    throw_file_error("write", path_, errno);
  }
}

void EventFile::restart(std::int64_t step, double time) {
  write(event_head(time, step) + bytes_field(7, varint_field(1, 1)));
}

void EventFile::numbers(std::int64_t step, double time, const std::map<std::string, double>& by_tag) {
  std::string summary;
  for (const auto& [tag, value] : by_tag) {
    summary += bytes_field(1, bytes_field(1, tag) + float_field(2, static_cast<float>(value)));
  }
  write(event_head(time, step) + bytes_field(5, summary));
}

void EventFile::text(const std::string& tag, const std::string& markdown, double time) {
  const std::string tensor = varint_field(1, kString) + bytes_field(2, "") + bytes_field(8, markdown);
  const std::string metadata = bytes_field(1, bytes_field(1, "text"));  // which plugin shows it
  const std::string value = bytes_field(1, tag) + bytes_field(8, tensor) + bytes_field(9, metadata);
  write(event_head(time, 0) + bytes_field(5, bytes_field(1, value)));
}

std::string event_file_name(double time, std::int64_t worker) {
  return fmt::format("events.out.tfevents.{:010}.xlm.{:06}", static_cast<std::int64_t>(time), worker);
}

fs::path export_events(const Run& run, const fs::path& folder) {
  const double created = run.created.value_or(0);
  fs::path file = folder / run.id / event_file_name(created, 0);
  constexpr const char* kUnfinished = ".unfinished";
  remove_left_folders(folder_of(file), kUnfinished);
  const StagedFolder staged(file, kUnfinished);
  const fs::path unfinished = staged.path() / "events";  // no "tfevents" in the name: TensorBoard would read it
  {
    EventFile events(unfinished, created);
    const fs::path config = RunPaths{run.folder}.config();
    if (fs::exists(config)) events.text("configuration", "```yaml\n" + read_file(config) + "```\n", created);
    for (const auto& [step, event] : numbers_of(run)) events.numbers(step, event.time, event.by_tag);
  }
  std::error_code error;
  fs::rename(unfinished, file, error);
  if (error) throw_file_error("write", file, error.value());
  return file;
}

}  // namespace xlm
