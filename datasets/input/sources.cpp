// From what the user names after --from to the files that are read.
#include "datasets/input/sources.h"

#include <fnmatch.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "datasets/input/archive.h"
#include "datasets/input/byte_stream.h"

namespace xlm {
namespace {

void add_folder(const fs::path& folder, const std::string& glob, std::vector<SourceFile>& sources) {
  std::vector<SourceFile> found;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().lexically_relative(folder).generic_string();
    if (is_hidden_name(name)) {
      it.disable_recursion_pending();
      continue;
    }
    std::error_code not_there;
    if (!it->is_regular_file(not_there) || (!glob.empty() && !matches_glob(glob, name))) continue;
    const std::uintmax_t size = it->file_size(not_there);
    if (not_there) throw_file_error("read", it->path(), not_there.value());
    found.push_back({it->path(), name, false, size});
  }
  if (error) throw_file_error("read the folder", folder, error.value());
  if (found.empty()) {
    throw DataError(
        fmt::format("there is no file{} in {}", glob.empty() ? "" : fmt::format(" like '{}'", glob), folder.string()));
  }
  std::sort(found.begin(), found.end(), [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
  std::move(found.begin(), found.end(), std::back_inserter(sources));
}

/// Names that can stand in meta.json, each once.
void make_names_unique(std::vector<SourceFile>& sources) {
  std::set<std::string> taken;
  for (SourceFile& source : sources) {
    source.name = repaired_utf8(source.name);
    std::string name = source.name;
    for (int copy = 2; !taken.insert(name).second; ++copy) name = fmt::format("{} ({})", source.name, copy);
    source.name = name;
  }
}

std::uint64_t total_size(const std::vector<SourceFile>& sources) {
  return std::accumulate(sources.begin(), sources.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const SourceFile& source) { return sum + source.size; });
}

/// The entry at hand of an archive as a stream, for a look at its head.
class EntryStream : public ByteStream {
 public:
  EntryStream(ArchiveReader& reader, const std::function<void(std::uint64_t consumed)>& at)
      : reader_(&reader), at_(&at) {}
  std::size_t read(char* buffer, std::size_t bytes) override {
    const std::size_t count = reader_->read(buffer, bytes);
    (*at_)(reader_->consumed());
    return count;
  }

 private:
  ArchiveReader* reader_;
  const std::function<void(std::uint64_t consumed)>* at_;
};

/// The name that says what a file is: the entry's, or the source's without what says how it is packed.
std::string inner_name(const SourceFile& source, const std::string& entry) {
  if (!entry.empty()) return entry;
  const fs::path name = source.path.filename();
  return (packing_of_name(name) == Packing::kNone ? name : name.stem()).string();
}

/// What `found` is read as. Throws DataError where it is not read.
Form accept(const Recognised& found, const ReadSettings& settings, bool packed, const std::string& label) {
  const bool textual = found.form == Form::kTextual || found.form == Form::kJsonLines;
  if (found.form == Form::kText || (settings.as_text && textual)) return Form::kText;
  if (found.form == Form::kBytes && settings.bytes) return Form::kText;
  const bool taken = std::find(settings.forms.begin(), settings.forms.end(), found.form) != settings.forms.end();
  if (!taken) throw DataError(fmt::format("{} is {}\n{}", label, found.name, found.advice));
  const bool table = found.form == Form::kParquet || found.form == Form::kArrow;
  if (table && packed) {
    throw DataError(
        fmt::format("{} is {}: tables are read as they are, not out of archives\nunpack it first", label, found.name));
  }
  return found.form;
}

/// Zero bytes behind a head that has none: space that a download reserved and did not fill.
void check_zeros(std::uint64_t zeros, std::uint64_t bytes, const std::string& label) {
  constexpr std::uint64_t kFew = 1000;
  if (zeros * kFew <= bytes) return;
  throw DataError(
      fmt::format("{} is no whole text: {} of its {} bytes are zero\nfetch the file again; --unit byte keeps "
                  "the bytes of files as they are",
                  label, zeros, bytes));
}

/// Files whose bytes are kept though they are no plain UTF-8.
struct KeptBytes {
  std::int64_t files = 0;
  std::string first;  // what one of them is

  void note(const Recognised& found, const std::string& label) {
    if (found.form != Form::kBytes && found.mark.bytes == 0) return;
    if (files++ > 0) return;
    first = fmt::format("{} {}", label,
                        found.form == Form::kBytes
                            ? fmt::format("is {}", found.name)
                            : fmt::format("begins with the byte-order mark of {}", encoding_name(found.mark.encoding)));
  }
};

/// The entries of one source; true when there was one.
bool read_source(const SourceFile& source, const ReadSettings& settings,
                 const std::function<void(std::uint64_t consumed)>& at, KeptBytes& kept,
                 const std::function<void(const TextFile&)>& each) {
  ArchiveReader reader(source.path, settings.max_unpacked);
  bool any = false;
  while (const std::optional<std::string> entry = reader.next()) {
    const bool filtered = source.named && !entry->empty() && !settings.glob.empty();
    if (filtered && !matches_glob(settings.glob, *entry)) continue;
    const std::string label = source.path.string() + (entry->empty() ? "" : ": " + *entry);
    auto peeked = std::make_unique<PeekedStream>(std::make_unique<EntryStream>(reader, at));
    const Recognised found = recognise(peeked->peek(kHeadBytes), inner_name(source, *entry));
    const Form form = accept(found, settings, reader.packed(), label);
    std::unique_ptr<ByteStream> stream = std::move(peeked);
    if (settings.bytes && form == Form::kText) {
      kept.note(found, label);
    } else if (found.mark.bytes > 0) {
      stream = decode_text(std::move(stream), found.mark, label);
    }
    std::uint64_t bytes_read = 0;
    std::uint64_t zeros = 0;
    const auto read = [&](char* buffer, std::size_t bytes) {
      const std::size_t count = stream->read(buffer, bytes);
      bytes_read += count;
      zeros += static_cast<std::uint64_t>(std::count(buffer, buffer + count, '\0'));
      return count;
    };
    each({source, label, !any, form, read, at});
    if (form == Form::kText && !settings.bytes) check_zeros(zeros, bytes_read, label);
    any = true;
  }
  return any;
}

}  // namespace

bool matches_glob(const std::string& glob, const std::string& relative_path) {
  return ::fnmatch(glob.c_str(), relative_path.c_str(), FNM_PERIOD) == 0;
}

std::vector<SourceFile> find_sources(const std::vector<fs::path>& from, const std::string& glob) {
  std::vector<SourceFile> sources;
  for (const fs::path& path : from) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw_file_error("read", path, error ? error.value() : ENOENT);
    if (fs::is_directory(status)) {
      add_folder(path, glob, sources);
    } else if (fs::is_regular_file(status)) {
      sources.push_back({path, path.filename().string(), true, fs::file_size(path)});
    } else {
      throw DataError(
          fmt::format("{} is neither a file nor a folder, and sources are read twice: to hash them, and to take their "
                      "text\nsave what it gives to a file first",
                      path.string()));
    }
  }
  make_names_unique(sources);
  return sources;
}

std::vector<std::string> hash_sources(const std::vector<SourceFile>& sources, const PrepareObserver& observer) {
  const std::uint64_t total = total_size(sources);
  std::uint64_t done = 0;
  constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
  std::string buffer(kBlockBytes, '\0');
  std::vector<std::string> hashes;
  for (const SourceFile& source : sources) {
    InputFile file(source.path);
    Sha256 hash;
    while (const std::size_t count = file.read(buffer.data(), buffer.size())) {
      hash.update(buffer.data(), count);
      done += count;
      observer.at("checking", done, total);
    }
    hashes.push_back(hash.finish());
  }
  return hashes;
}

void read_sources(const std::vector<SourceFile>& sources, const ReadSettings& settings, const PrepareObserver& observer,
                  const std::function<void(const TextFile&)>& each) {
  const std::uint64_t total = total_size(sources);
  std::uint64_t before = 0;
  std::int64_t empty_files = 0;
  KeptBytes kept;
  for (const SourceFile& source : sources) {
    if (source.size == 0 && !source.named) {
      ++empty_files;
      continue;
    }
    const auto at = [&](std::uint64_t consumed) {
      observer.at("reading", before + std::min(consumed, source.size), total);
    };
    if (!read_source(source, settings, at, kept, each)) {
      const std::string pattern = settings.glob.empty() ? "" : fmt::format(" like '{}'", settings.glob);
      throw DataError(fmt::format("there is no file{} in {}", pattern, source.path.string()));
    }
    before += source.size;
  }
  if (empty_files > 0)
    observer.say(fmt::format("{} empty file{} passed over", empty_files, empty_files == 1 ? "" : "s"));
  if (kept.files > 0) {
    observer.say(
        fmt::format("{}{}; bytes are kept as they are", kept.first,
                    kept.files == 1 ? "" : fmt::format(" (and there are {} more such files)", kept.files - 1)));
  }
}

}  // namespace xlm
