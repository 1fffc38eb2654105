// What this user has submitted to a run.
#include "experiments/runs/own_submissions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "base/closed_place.h"
#include "base/command.h"
#include "base/error.h"
#include "base/first_file.h"
#include "base/lookup.h"
#include "base/secret.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr const char* kKeyVariable = "XLM_SUBMISSION_KEY";  // where there is no home to keep it
constexpr const char* kTheirs = ".theirs";

fs::path notes_file(const fs::path& run_folder) { return run_folder / kSubmittedName; }

std::vector<std::string> lines_of(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored) ? split(read_file(file), '\n') : std::vector<std::string>();
}

bool has_line(const fs::path& file, std::string_view line) {
  const std::vector<std::string> lines = lines_of(file);
  return std::ranges::any_of(lines, [&](const std::string& one) { return same_proof(one, line); });
}

std::string own_key() {
  if (std::string given = environment_text(kKeyVariable); !given.empty()) return given;
  if (const fs::path folder = user_folder(); !folder.empty()) {
    const fs::path file = folder / "key";
    std::error_code ignored;
    try {
      if (!fs::exists(file, ignored)) {
        create_folders(folder);
        write_first(file, fresh_secret(), {.mode = S_IRUSR | S_IWUSR});
      }
      std::string key = read_file(file);
      if (key.size() == kSecretLength) return key;
    } catch (const Error&) {
      // A home that cannot be written is none.
    }
  }
  std::string key = fresh_secret();
  ::setenv(kKeyVariable, key.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
  return key;
}

/// The note of a text is true of one run alone.
std::string note_of(const std::string& id, const std::string& text) { return own_mark(id + "\n" + text); }

fs::path trusted_file() { return user_folder() / "trusted"; }

std::string real_name(const fs::path& runs) {
  std::error_code ignored;
  return fs::weakly_canonical(fs::absolute(runs), ignored).string();
}

/// A copy of a folder is another one. The number of a removed one may be given again, but not the time of its birth.
std::string made_folder(const fs::path& folder) {
  struct statx status {};
  if (::statx(AT_FDCWD, folder.c_str(), AT_SYMLINK_NOFOLLOW, STATX_INO | STATX_BTIME, &status) != 0) {
    throw_file_error("read", folder, errno);
  }
  return fmt::format("folder\n{} {}.{}", status.stx_ino, status.stx_btime.tv_sec, status.stx_btime.tv_nsec);
}

/// Whether others may have put something into the folder of a run, or it is none.
bool is_foreign(const fs::path& run_folder, const fs::path& folder, const struct stat& status) {
  if (!S_ISDIR(status.st_mode)) return true;
  if (are_trusted(run_folder.parent_path())) return false;
  const bool open = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  return open || status.st_uid != ::geteuid() || !is_submitted(run_folder, made_folder(folder));
}

void set_aside(const fs::path& folder) {
  std::error_code error;
  const fs::path theirs = folder.string() + kTheirs;
  if (fs::is_directory(fs::symlink_status(folder, error)) && !fs::exists(fs::symlink_status(theirs, error))) {
    fs::rename(folder, theirs, error);
  } else {
    fs::remove_all(folder, error);
  }
  if (error) throw_file_error("move", folder, error.value());
}

}  // namespace

fs::path user_folder() {
  const fs::path configuration = environment_text("XDG_CONFIG_HOME");
  if (configuration.is_absolute()) return configuration / "xlm";  // the standard: ignore relative ones
  const std::string home = environment_text("HOME");
  return home.empty() ? fs::path() : fs::path(home) / ".config" / "xlm";
}

std::string own_mark(std::string_view text) { return proof(own_key(), text); }

void note_submitted(const fs::path& run_folder, const std::vector<std::string>& texts, const std::string& id) {
  const fs::path file = notes_file(run_folder);
  const std::vector<std::string> known = lines_of(file);
  std::optional<AppendFile> notes;
  for (const std::string& text : texts) {
    const std::string note = note_of(id.empty() ? run_folder.filename().string() : id, text);
    if (contains(known, note)) continue;
    if (!notes) notes.emplace(file);
    notes->append(note);
  }
  if (notes) notes->sync();
}

bool is_submitted(const fs::path& run_folder, const std::string& text) {
  return has_line(notes_file(run_folder), note_of(run_folder.filename().string(), text)) ||
         are_trusted(fs::absolute(run_folder).lexically_normal().parent_path());
}

std::string submitted_config(std::string_view text) { return fmt::format("config\n{}", text); }
std::string submitted_code(std::string_view hash) { return fmt::format("code\n{}", hash); }
std::string submitted_evaluation(const Json& evaluation) { return "evaluation\n" + evaluation.dump(); }

namespace {

void check_own(const fs::path& run_folder, const char* what, const std::string& text) {
  if (is_submitted(run_folder, text)) return;
  throw DataError(
      fmt::format("{} of {} is not what you submitted, and no command of others is executed\n"
                  "submit the run by train or sweep with your own file; or execute also what others put into that "
                  "folder: xlm sweep --trust {} FILE",
                  what, run_folder.filename().string(),
                  shell_word(real_name(fs::absolute(run_folder).lexically_normal().parent_path()))));
}

}  // namespace

void check_submitted_config(const fs::path& run_folder, const std::string& config) {
  check_own(run_folder, "config.yaml", submitted_config(config));
}

void check_submitted(const fs::path& run_folder, const std::string& config, const std::string& code) {
  check_submitted_config(run_folder, config);
  check_own(run_folder, "the code", submitted_code(code));
}

void trust_runs(const fs::path& runs) {
  if (!fs::is_directory(runs)) throw UsageError(fmt::format("--trust: there is no folder {}", runs.string()));
  if (user_folder().empty()) throw UsageError("--trust: HOME is not set, so nothing can be kept");
  create_folders(user_folder());
  if (!are_trusted(runs)) AppendFile(trusted_file()).append(real_name(runs), true);
}

bool are_trusted(const fs::path& runs) { return !user_folder().empty() && has_line(trusted_file(), real_name(runs)); }

void make_own_folder(const fs::path& run_folder, const std::string& name) {
  const fs::path folder = run_folder / name;
  struct stat status {};
  if (::lstat(folder.c_str(), &status) == 0) {
    if (!is_foreign(run_folder, folder, status)) return;
    set_aside(folder);
  }
  if (::mkdir(folder.c_str(), S_IRWXU) != 0) throw_file_error("create the folder", folder, errno);
  note_submitted(run_folder, {made_folder(folder)});
}

void check_links(const fs::path& run_folder) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(run_folder, error), end; !error && entry != end; entry.increment(error)) {
    if (entry.depth() == 0 && entry->path().filename() == "work") {
      entry.disable_recursion_pending();
      continue;
    }
    if (!is_link_of_another(entry->path())) continue;
    throw DataError(fmt::format("{} is a link that another user laid, and nothing is written through it\nremove it",
                                entry->path().string()));
  }
}

}  // namespace xlm
