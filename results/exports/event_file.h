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

/// An event file that grows. What it gets is on its way to the disk at once, so that TensorBoard follows a training.
class EventFile {
 public:
  /// Makes the file and its folder. Throws where they cannot be written.
  EventFile(const fs::path& file, double time);
  EventFile(const EventFile&) = delete;
  EventFile& operator=(const EventFile&) = delete;

  /// Says that what earlier files of the folder have of `step` and later steps counts no more: training began again.
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

/// The name of an event file that was begun at `time`; those of a folder are read in the order of their names.
std::string event_file_name(double time, std::int64_t worker);

/// The whole of a run as one event file in `folder`/RUN_ID, in place of what lies there under its name: metrics as
/// train/NAME, evaluations as SPLIT/NAME, with other settings than the run's own as SPLIT@SETTINGS/NAME, and the
/// configuration as a text.
fs::path export_events(const Run& run, const fs::path& folder);

}  // namespace xlm
