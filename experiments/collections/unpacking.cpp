// Archives of runs.
#include "experiments/collections/unpacking.h"

#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/lookup.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/input/archive.h"
#include "datasets/input/archive_writer.h"

namespace xlm {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

/// "./runs/x" becomes "runs/x".
std::string plain_name(const std::string& name) { return fs::path(name).lexically_normal().string(); }

/// Writes the reader's current entry to a file and returns its hash. Returns nullopt if it was told to stop.
std::optional<std::string> write_entry(ArchiveReader& reader, const fs::path& file,
                                       const std::function<bool()>& should_stop) {
  create_folders(file.parent_path());
  AtomicFile out(file);
  Sha256 hash;
  std::string block(kBlockBytes, '\0');
  while (const std::size_t count = reader.read(block.data(), block.size())) {
    out.write(block.data(), count);
    hash.update(block.data(), count);
    if (should_stop && should_stop()) return std::nullopt;
  }
  out.commit();
  return hash.finish();
}

/// Throws DataError unless every listed file exists with its hash.
void check(const fs::path& archive, const std::string& sums, const std::map<std::string, std::string>& hashes) {
  constexpr std::size_t kDigits = 64;
  for (const std::string& line : split(sums, '\n')) {
    if (line.size() < kDigits + 3) continue;
    const std::string name = line.substr(kDigits + 2);  // two spaces, or a space and a star
    const std::string* const found = find_in(hashes, name);
    if (found != nullptr && *found == line.substr(0, kDigits)) continue;
    throw DataError(fmt::format("{}: {} {}\nnothing was merged; copy the archive again", archive.string(), name,
                                found == nullptr ? "is missing" : "does not match its checksum"));
  }
}

}  // namespace

Unpacked unpack(const fs::path& archive, const fs::path& folder, const std::function<bool()>& should_stop) {
  Unpacked unpacked;
  ArchiveReader reader(archive, 0,
                       {.hidden = HiddenEntries::kTaken,
                        .pass_over = [&](const std::string& /*kind*/,
                                         const std::string& name) { unpacked.skipped.emplace_back(plain_name(name)); },
                        .how_to_get_more = "unpack it with tar, and merge the folder"});
  std::map<std::string, std::string> hashes;
  std::string sums;
  while (const std::optional<std::string> entry = reader.next()) {
    const std::string name = plain_name(*entry);
    if (entry->empty()) {
      throw DataError(fmt::format("{} is no archive of runs\nto make one: xlm runs pack RUN… --out FILE.tar.zst",
                                  archive.string()));
    }
    const std::optional<std::string> hash = write_entry(reader, folder / name, should_stop);
    if (!hash) return {.whole = false, .skipped = {}};
    hashes[name] = *hash;
    if (name == kSumsName) sums = read_file(folder / name);
  }
  check(archive, sums, hashes);
  return unpacked;
}

PackReport pack(const std::vector<PackedFile>& files, const fs::path& archive) {
  ArchiveWriter writer(archive);
  PackReport report;
  std::string sums;
  for (const PackedFile& file : files) {
    if (printable(repaired_utf8(file.name)) != file.name || file.name.find('\n') != std::string::npos) {
      throw DataError(fmt::format("{}: an archive cannot hold a name with such characters\nrename the file",
                                  Json(file.file.string()).dump(-1, ' ', true, Json::error_handler_t::replace)));
    }
    const MappedFile content(file.file);
    writer.add(file.name, content.text(), fs::last_write_time(file.file));
    sums += fmt::format("{}  {}\n", sha256(content.text()), file.name);
    ++report.files;
    report.bytes += content.size();
  }
  writer.add(kSumsName, sums, fs::file_time_type::clock::now());
  report.packed = writer.commit();
  return report;
}

}  // namespace xlm
