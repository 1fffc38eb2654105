// TensorBoard's event files: numbers over steps, as protocol buffers in records with checksums.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <string>

#include "base/files.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// An event file that grows. Writes every event at once, so that TensorBoard can follow a training.
class EventFile {
 public:
  /// Creates the file and its folder. Throws if they cannot be written.
  EventFile(const fs::path& file, double time);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Marks events of `step` and later steps in the folder's earlier files as outdated: training restarted there.
  void restart(std::int64_t step, double time);
  /// Numbers of a step by their tags ("valid/bpc"). TensorBoard keeps 32 bits of each.
  void numbers(std::int64_t step, double time, const std::map<std::string, double>& by_tag);
  /// A text in Markdown.
  void text(const std::string& tag, const std::string& markdown, double time);

 private:
  void write(const std::string& event);

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  fs::path path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// The name of an event file that was begun at `time`. TensorBoard reads a folder's files in the order of their names.
std::string event_file_name(double time, std::int64_t worker);

/// Writes a whole run as one event file in `folder`/RUN_ID and replaces an earlier one of that name. Metrics become
/// train/NAME; evaluations SPLIT/NAME, or SPLIT@SETTINGS/NAME with other settings than the run's own, and those of a
/// metric on the training split train@evaluated/NAME; the configuration a text.
fs::path export_events(const Run& run, const fs::path& folder);

}  // namespace xlm
