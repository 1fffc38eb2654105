// From the paths of --from to the files that are read.
#include "datasets/input/sources.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <re2/re2.h>

#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/input/archive.h"
#include "datasets/input/byte_stream.h"

namespace xlm {
namespace {

/// Links to a folder that contains the link.
constexpr const char* kCircle = "links to a folder that holds them";

/// The files of one folder, at any depth. Follows links; the folders on the way are known by device and inode, so that
/// a link back to one of them is noticed.
class FolderWalk {
 public:
  FolderWalk(fs::path root, std::string glob, const PrepareObserver& observer)
      : root_(std::move(root)), glob_(std::move(glob)), observer_(&observer) {}

  std::vector<SourceFile> files() {
    struct stat status {};
    if (::stat(root_.c_str(), &status) != 0) throw_file_error("read the folder", root_, errno);
    enter(root_, status);
    if (found_.empty()) throw nothing_found();
    std::ranges::sort(found_, [](const SourceFile& a, const SourceFile& b) { return a.name < b.name; });
    return std::move(found_);
  }

 private:
  void enter(const fs::path& folder, const struct stat& status) {
    const std::pair identity(status.st_dev, status.st_ino);
    if (std::ranges::find(above_, identity) != above_.end()) {
      pass_over(kCircle, name_of(folder));
      return;
    }
    above_.push_back(identity);
    std::error_code error;
    std::vector<fs::path> entries;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      entries.push_back(it->path());
    }
    if (error) throw_file_error("read the folder", folder, error.value());
    std::ranges::sort(entries);
    for (const fs::path& entry : entries) take(entry);
    above_.pop_back();
  }

  void take(const fs::path& path) {
    const std::string name = name_of(path);
    const bool chosen = glob_.empty() || matches_glob(glob_, name);
    if (is_hidden_name(name)) return pass_over("hidden files", name);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      if (chosen) throw cannot_follow(path, errno);
      return pass_over("links that lead nowhere", name);
    }
    if (S_ISDIR(status.st_mode)) return enter(path, status);
    if (!chosen) return pass_over(fmt::format("files not like '{}'", glob_), name);
    if (!S_ISREG(status.st_mode)) return pass_over("what is no file", name);
    if (is_metadata_name(name)) return pass_over("metadata", name);
    found_.push_back({path, name, false, static_cast<std::uint64_t>(status.st_size), root_, {}});
  }

  void pass_over(const std::string& kind, const std::string& name) {
    observer_->pass_over(kind, name);
    passed_over_.add(kind, name);
  }

  std::string name_of(const fs::path& path) const { return path.lexically_relative(root_).generic_string(); }

  static DataError cannot_follow(const fs::path& path, int error_number) {
    std::error_code no_link;
    const fs::path target = fs::read_symlink(path, no_link);
    if (no_link) throw_file_error("read", path, error_number);
    return DataError(fmt::format("{} is a link to {}, which cannot be followed: {}\nrepair the link, or remove it",
                                 path.string(), target.string(), std::generic_category().message(error_number)));
  }

  DataError nothing_found() const {
    const std::string others = passed_over_.text();
    return DataError(fmt::format("there is no file{} in {}{}", glob_.empty() ? "" : fmt::format(" like '{}'", glob_),
                                 root_.string(), others.empty() ? "" : fmt::format("\npassed over: {}", others)));
  }

  fs::path root_;
  std::string glob_;
  const PrepareObserver* observer_;
  PassedOver passed_over_;
  std::vector<std::pair<dev_t, ino_t>> above_;  // the folders that the one being read lies in
  std::vector<SourceFile> found_;
};

/// Makes names unique, for meta.json.
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

/// The current entry of an archive as a stream, to look at its head.
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

/// The name by which a file is recognised: the entry's, or the source's without the ending of its packing.
std::string inner_name(const SourceFile& source, const std::string& entry) {
  if (!entry.empty()) return entry;
  const fs::path name = source.path.filename();
  return (packing_of_name(name) == Packing::kNone ? name : name.stem()).string();
}

/// The form in which `found` is read. Throws DataError if it is not read.
FileForm accept(const Recognised& found, const ReadSettings& settings, bool packed, const std::string& label) {
  const bool textual = found.form == FileForm::kTextual || found.form == FileForm::kJsonLines;
  if (found.form == FileForm::kText || (settings.as_text && textual)) return FileForm::kText;
  if (found.form == FileForm::kBytes && settings.bytes) return FileForm::kText;
  const bool taken = std::ranges::find(settings.forms, found.form) != settings.forms.end();
  if (!taken) throw DataError(fmt::format("{} is {}\n{}", label, found.name, found.advice));
  const bool table = found.form == FileForm::kParquet || found.form == FileForm::kArrow;
  if (table && packed) {
    throw DataError(fmt::format("{} is {}: tables inside archives cannot be read\nunpack it first", label, found.name));
  }
  return found.form;
}

/// Zero bytes behind a head without any: space that a download reserved and did not fill.
void check_zeros(std::uint64_t zeros, std::uint64_t bytes, const std::string& label) {
  constexpr std::uint64_t kFew = 1000;
  if (zeros * kFew <= bytes) return;
  throw DataError(
      fmt::format("{} is not a whole text: {} of its {} bytes are zero\nfetch the file again; --unit byte keeps "
                  "the bytes of files as they are",
                  label, zeros, bytes));
}

/// Files whose bytes are kept although they are not plain UTF-8.
struct KeptBytes {
  std::int64_t files = 0;
  std::string first;  // what the first of them is

  void note(const Recognised& found, const std::string& label) {
    if (found.form != FileForm::kBytes && !found.marked) return;
    if (files++ > 0) return;
    first = found.marked ? label + " begins with a byte-order mark" : fmt::format("{} is {}", label, found.name);
  }
};

/// Reads the entries of one source; returns whether there was one.
bool read_source(const SourceFile& source, const ReadSettings& settings, const PrepareObserver& observer,
                 const std::function<void(std::uint64_t consumed)>& at, KeptBytes& kept,
                 const std::function<void(const TextFile&)>& each) {
  const auto pass_over = [&](const std::string& kind, const std::string& entry) {
    observer.pass_over(kind, fmt::format("{}: {}", source.name, entry));
  };
  ArchiveReader reader(source.path, settings.max_unpacked, {.pass_over = pass_over});
  bool any = false;
  while (const std::optional<std::string> entry = reader.next()) {
    const bool filtered = source.named && !entry->empty() && !settings.glob.empty();
    if (filtered && !matches_glob(settings.glob, *entry)) {
      pass_over(fmt::format("files not like '{}'", settings.glob), *entry);
      continue;
    }
    if (is_metadata_name(*entry)) {
      pass_over("metadata", *entry);
      continue;
    }
    const std::string label = source.path.string() + (entry->empty() ? "" : ": " + *entry);
    auto peeked = std::make_unique<PeekedStream>(std::make_unique<EntryStream>(reader, at));
    const Recognised found = recognise(peeked->peek(kHeadBytes), inner_name(source, *entry));
    const FileForm form = accept(found, settings, reader.packed(), label);
    std::unique_ptr<ByteStream> stream = std::move(peeked);
    if (settings.bytes && form == FileForm::kText) {
      kept.note(found, label);
    } else if (found.marked) {
      std::array<char, kUtf8Mark.size()> mark{};
      for (std::size_t left = mark.size(); left > 0;) left -= stream->read(mark.data(), left);
    }
    std::uint64_t bytes_read = 0;
    std::uint64_t zeros = 0;
    const bool as_it_is = form == FileForm::kText && !reader.packed() && (settings.bytes || !found.marked);
    std::optional<Sha256> hash;
    if (settings.hashed && as_it_is) hash.emplace();
    const auto read = [&](char* buffer, std::size_t bytes) {
      const std::size_t count = stream->read(buffer, bytes);
      bytes_read += count;
      if (hash) hash->update(buffer, count);
      if (hash && count == 0 && bytes_read == source.size) settings.hashed(source, hash->finish());
      if (count == 0) hash.reset();
      if (std::memchr(buffer, 0, count) != nullptr) {
        zeros += static_cast<std::uint64_t>(std::count(buffer, buffer + count, '\0'));
      }
      return count;
    };
    each({source, label, *entry, !any, form, read, at, found.form != FileForm::kBytes});
    if (form == FileForm::kText && !settings.bytes) check_zeros(zeros, bytes_read, label);
    any = true;
  }
  return any;
}

}  // namespace

bool matches_glob(const std::string& glob, const std::string& relative_path) {
  return ::fnmatch(glob.c_str(), relative_path.c_str(), FNM_PERIOD) == 0;
}

bool is_metadata_name(const std::string& relative_path) {
  constexpr std::array kWithAnyEnding{"readme",   "license",   "licence",    "copying",    "notice",  "citation",
                                      "metadata", "checksums", "sha256sums", "sha512sums", "md5sums", "sha1sums"};
  constexpr std::array kWhole{"dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json",
                              "meta.json"};
  constexpr std::array kEndings{".md5", ".sha1", ".sha256", ".sha512"};
  const std::string name = lower_case(relative_path.substr(relative_path.rfind('/') + 1));
  const std::string stem = name.substr(0, name.find('.'));
  return std::ranges::find(kWithAnyEnding, stem) != kWithAnyEnding.end() ||
         std::ranges::find(kWhole, name) != kWhole.end() ||
         std::ranges::any_of(kEndings, [&](const char* ending) { return name.ends_with(ending); });
}

namespace {

/// A name such as "train-00000-of-00004-2d5a1467fff1081b.parquet". Some writers give each part a separate hash.
struct PartName {
  std::string before;
  std::string number;
  std::string count;
  std::string hash;
  std::string behind;
};

std::optional<PartName> part_name(const std::string& name) {
  static const RE2 part(R"((.*)-(\d{5})-of-(\d{5})(-[0-9a-f]{16})?(.*))");
  PartName found;
  const bool fits = RE2::FullMatch(name, part, &found.before, &found.number, &found.count, &found.hash, &found.behind);
  return fits ? std::optional(std::move(found)) : std::nullopt;
}

/// "data-00000-of-00002.arrow" next to "data-00003-of-00004.arrow": a set was saved into the folder of an older one,
/// whose parts are still there. Throws DataError.
/// Nor may parts be missing, unless a glob says which are meant.
void check_parts(const std::vector<SourceFile>& sources, bool is_chosen) {
  struct PartSet {
    PartName first;
    std::string file;                               // the first
    std::map<std::string, std::string> files = {};  // by number
  };
  std::map<std::pair<std::string, std::string>, PartSet> sets;
  for (const SourceFile& source : sources) {
    const std::optional<PartName> name = part_name(source.name);
    if (!name) continue;
    PartSet& set = sets.try_emplace({name->before, name->behind}, PartSet{*name, source.name}).first->second;
    const auto [other, is_new] = set.files.emplace(name->number, source.name);
    if (is_new && set.first.count == name->count) continue;
    throw DataError(fmt::format(
        "{} and {} are parts of two sets: one was saved over the other\n"
        "remove the older parts{}",
        is_new ? set.file : other->second, source.name,
        name->hash.empty() ? fmt::format(", or name those of one set: --glob '*-of-{}{}'", name->count, name->behind)
                           : ""));
  }
  for (const auto& [name, set] : sets) {
    std::int64_t parts = 0;
    const bool is_whole = !parse_integer(set.first.count, parts) || std::ssize(set.files) >= parts;
    if (is_whole || is_chosen) continue;
    throw DataError(fmt::format(
        "only {} of the {} parts of {} are there\nfetch the others, or say that these are meant: --glob "
        "'*-of-{}{}{}'",
        set.files.size(), parts, set.file, set.first.count, set.first.hash.empty() ? "" : "*", set.first.behind));
  }
}

}  // namespace

std::vector<SourceFile> find_sources(const std::vector<fs::path>& from, const std::string& glob,
                                     const PrepareObserver& observer) {
  std::vector<SourceFile> sources;
  for (const fs::path& path : from) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) throw_file_error("read", path, error ? error.value() : ENOENT);
    if (fs::is_directory(status)) {
      std::vector<SourceFile> found = FolderWalk(path, glob, observer).files();
      check_parts(found, !glob.empty());
      std::move(found.begin(), found.end(), std::back_inserter(sources));
    } else if (fs::is_regular_file(status)) {
      sources.push_back({path, path.filename().string(), true, fs::file_size(path), {}, {}});
    } else {
      throw DataError(
          fmt::format("{} is neither a file nor a folder, but sources are read twice: to hash them, and to read their "
                      "text\nsave its output to a file first",
                      path.string()));
    }
  }
  make_names_unique(sources);
  return sources;
}

std::vector<std::string> hash_sources(const std::vector<SourceFile>& sources, const PrepareObserver& observer,
                                      const std::map<std::string, std::string>& known) {
  const std::uint64_t total = total_size(sources);
  std::uint64_t done = 0;
  constexpr std::size_t kBlockBytes = std::size_t{256} << 10;
  std::string buffer(kBlockBytes, '\0');
  std::vector<std::string> hashes;
  for (const SourceFile& source : sources) {
    if (const auto found = known.find(source.name); found != known.end()) {
      hashes.push_back(found->second);
      done += source.size;
      continue;
    }
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
  KeptBytes kept;
  for (const SourceFile& source : sources) {
    if (source.size == 0 && !source.named) {
      observer.pass_over("empty files", source.name);
      continue;
    }
    const auto at = [&](std::uint64_t consumed) {
      observer.at("reading", before + std::min(consumed, source.size), total);
    };
    if (!read_source(source, settings, observer, at, kept, each)) {
      const std::string pattern = settings.glob.empty() ? "" : fmt::format(" like '{}'", settings.glob);
      throw DataError(fmt::format("there is no file{} in {}", pattern, source.path.string()));
    }
    before += source.size;
  }
  if (kept.files > 0) {
    observer.say(fmt::format("{}{}; bytes are kept as they are", kept.first,
                             kept.files == 1 ? "" : fmt::format(" (and {} more such files)", kept.files - 1)));
  }
}

void PassedOver::add(const std::string& kind, const std::string& name, std::int64_t count) {
  constexpr std::size_t kMaxNames = 3;
  auto found = std::ranges::find_if(kinds_, [&](const Kind& known) { return known.kind == kind; });
  if (found == kinds_.end()) found = kinds_.insert(found, Kind{.kind = kind, .count = 0, .names = {}});
  found->count += count;
  if (found->names.size() < kMaxNames) {
    found->names.push_back(printable(name));
  } else if (found->names.size() == kMaxNames) {
    found->names.emplace_back("…");
  }
}

std::string PassedOver::text() const {
  std::vector<std::string> parts;
  for (const Kind& kind : kinds_)
    parts.push_back(fmt::format("{}: {} ({})", kind.kind, kind.count, join(kind.names, ", ")));
  return join(parts, "; ");
}

}  // namespace xlm
