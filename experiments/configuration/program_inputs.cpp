// What a program's run starts from.
#include "experiments/configuration/program_inputs.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "experiments/programs/git_state.h"

namespace xlm {
namespace {

constexpr const char* kCodeContent = "program.folder";  // the key of RunInputs::contents

struct DataFile {
  fs::path file;
  std::string name;  // within the data
  std::uintmax_t bytes = 0;
};

std::vector<DataFile> data_files(const fs::path& path) {
  std::vector<DataFile> files;
  if (!fs::is_directory(path)) return {{path, path.filename().string(), fs::file_size(path)}};
  std::error_code error;
  for (fs::recursive_directory_iterator entry(path, fs::directory_options::follow_directory_symlink, error), end;
       !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (!entry->is_regular_file(ignored)) continue;
    files.push_back({entry->path(), entry->path().lexically_relative(path).generic_string(), entry->file_size()});
  }
  if (error) throw DataError(fmt::format("data.path: {} cannot be read: {}", path.string(), error.message()));
  std::ranges::sort(files, [](const DataFile& a, const DataFile& b) { return a.name < b.name; });
  return files;
}

std::string fingerprint_of(const std::vector<DataFile>& files, std::uintmax_t most_hashed) {
  std::uintmax_t bytes = 0;
  for (const DataFile& file : files) bytes += file.bytes;
  Sha256 hash;
  for (const DataFile& file : files) {
    const std::string content =
        bytes <= most_hashed
            ? sha256_file(file.file)
            : fmt::format("{} {}", file.bytes, fs::last_write_time(file.file).time_since_epoch().count());
    hash.update(fmt::format("{} {}\n", file.name, content));
  }
  return hash.finish();
}

}  // namespace

PreparedSummary summarize_any_data(const fs::path& path, std::uintmax_t most_hashed) {
  if (fs::is_regular_file(path / "meta.json")) return summarize_prepared(path);
  std::error_code ignored;
  if (!fs::exists(path, ignored)) {
    throw DataError(fmt::format(
        "data.path: there is no file or folder {}\nname what the program reads, or leave data out", path.string()));
  }
  const fs::path named = (path / "").lexically_normal().parent_path();  // without a slash at its end
  return {
      .dataset = named.stem().string(), .language = "", .fingerprint = fingerprint_of(data_files(path), most_hashed)};
}

CodeRequest code_request(const ProgramOptions& program, std::vector<fs::path> exclude) {
  return {.folder = program.folder, .patterns = program.code, .exclude = std::move(exclude), .words = program.command};
}

RunInputs read_program_inputs(const RunConfiguration& run, const std::vector<fs::path>& exclude) {
  RunInputs inputs;
  if (!run.data.path.empty()) inputs.data = summarize_any_data(run.data.path);
  inputs.code = std::make_shared<const Code>(read_code(code_request(*run.program, exclude)));
  inputs.git = git_facts(run.program->folder);
  inputs.contents[kCodeContent] = inputs.code->hash;
  inputs.read_code = inputs.code->hash;
  return inputs;
}

std::vector<RunInputs> earlier_program_inputs(const RunConfiguration& run, const RunInputs& inputs,
                                              const fs::path& runs) {
  std::vector<RunInputs> earlier;
  for (Code& code : frozen_with_others(*inputs.code, code_request(*run.program), frozen_programs(runs))) {
    earlier.push_back(inputs);
    earlier.back().code = std::make_shared<const Code>(std::move(code));
    earlier.back().contents[kCodeContent] = earlier.back().code->hash;
  }
  return earlier;
}

}  // namespace xlm
