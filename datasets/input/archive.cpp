// The files inside an input.
#include "datasets/input/archive.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "datasets/input/byte_stream.h"
#include "datasets/input/libarchive.h"
#include "datasets/input/recognition.h"

namespace xlm {
namespace {

constexpr std::uint64_t kGigabyte = 1'000'000'000;

std::vector<std::string> components(std::string name) {
  std::ranges::replace(name, '\\', '/');  // archives made on Windows
  return split(name, '/');
}

bool leads_outside(const std::string& name) {
  if (name.empty()) return false;
  const bool drive = name.size() >= 2 && name[1] == ':';
  if (name[0] == '/' || name[0] == '\\' || drive) return true;
  const std::vector<std::string> parts = components(name);
  return std::ranges::find(parts, "..") != parts.end();
}

/// tar readers accept a file that is cut between two entries; the closing block of zeros shows whether it is whole.
void check_tar_end(const fs::path& file) {
  const MappedFile content(file);
  const std::string_view text = content.text();
  const std::string_view last = text.substr(text.size() - std::min(text.size(), kTarBlockBytes));
  if (last.find_first_not_of('\0') != std::string_view::npos) {
    throw DataError(fmt::format("{} is truncated: a tar archive ends with zeros\nfetch the file again", file.string()));
  }
}

/// Refuses archives of other kinds, which must not be read as text.
void refuse_other_archives(std::string_view head, const std::string& source) {
  using namespace std::string_view_literals;
  for (const auto& [begin, name] : {std::pair("7z\xBC\xAF\x27\x1C"sv, "7z"), std::pair("Rar!\x1A\x07"sv, "rar")}) {
    if (!head.starts_with(begin)) continue;
    throw DataError(fmt::format("{} is a {} archive, which cannot be read\nunpack it first", source, name));
  }
}

/// Refuses an archive inside another one, which must not be read as text.
void refuse_packed(std::string_view head, const std::string& source, const std::string& entry) {
  const Packing packing = detect_packing(head);
  const std::string name = entry.empty() ? source : fmt::format("{}: entry {}", source, entry);
  refuse_other_archives(head, name);
  if (packing == Packing::kNone) return;
  throw DataError(
      fmt::format("{} contains {} data inside other packed data\nunpack it first", name, packing_name(packing)));
}

}  // namespace

/// The entries of one kind of input.
class ArchiveReader::Entries {
 public:
  virtual ~Entries() = default;
  virtual std::optional<std::string> next() = 0;
  virtual std::size_t read(char* buffer, std::size_t bytes) = 0;
  virtual std::uint64_t consumed() const = 0;
};

/// A plain or compressed file: one entry without a name.
class ArchiveReader::SingleFile : public Entries {
 public:
  SingleFile(std::unique_ptr<ByteStream> stream, const FileStream* file) : stream_(std::move(stream)), file_(file) {}

  std::optional<std::string> next() override {
    if (std::exchange(taken_, true)) return std::nullopt;
    return "";
  }
  std::size_t read(char* buffer, std::size_t bytes) override { return stream_->read(buffer, bytes); }
  std::uint64_t consumed() const override { return file_->consumed(); }

 private:
  std::unique_ptr<ByteStream> stream_;
  const FileStream* file_;  // the lowest layer of stream_
  bool taken_ = false;
};

/// Common to zip and tar: libarchive iterates over the entries.
class ArchiveReader::ZipEntries : public Entries {
 public:
  ZipEntries(const fs::path& file, const ArchiveOptions& options) : ZipEntries(file.string(), options) {
    // Only the reader that starts from the central directory: a truncated file has none and fails at once.
    archive_read_support_format_zip_seekable(archive_.get());
    archive_.open(file);
  }

  std::optional<std::string> next() override {
    while (struct archive_entry* entry = archive_.next_header()) {
      const char* name = archive_entry_pathname(entry);
      name_ = name == nullptr ? "(a name that is no text)" : printable(name);
      if (name != nullptr && leads_outside(name)) {
        throw DataError(
            fmt::format("{}: entry {} leads outside of the archive\ndo not trust this file", source_, name_));
      }
      const auto type = archive_entry_filetype(entry);
      const bool link = type == AE_IFLNK || archive_entry_hardlink(entry) != nullptr;
      const bool hidden = is_hidden_name(name_) && options_.hidden == HiddenEntries::kPassedOver;
      if (type == AE_IFREG && !link && !hidden) return name_;
      if (options_.pass_over && type != AE_IFDIR)
        options_.pass_over(hidden ? "hidden files" : link ? "links in archives" : kNoFile, name_);
    }
    return std::nullopt;
  }
  std::size_t read(char* buffer, std::size_t bytes) override { return archive_.read(buffer, bytes, name_); }
  std::uint64_t consumed() const override {
    return static_cast<std::uint64_t>(std::max<la_int64_t>(0, archive_filter_bytes(archive_.get(), -1)));
  }

 protected:
  ZipEntries(const std::string& source, ArchiveOptions options)
      : source_(source), options_(std::move(options)), archive_(source) {}

  static constexpr const char* kNoFile = "what is no file";
  std::string source_;
  ArchiveOptions options_;
  LibArchive archive_;
  std::string name_;
};

/// A tar archive inside a stream.
class ArchiveReader::TarEntries : public ZipEntries {
 public:
  TarEntries(const std::string& source, const ArchiveOptions& options, std::unique_ptr<ByteStream> stream,
             const FileStream* file)
      : ZipEntries(source, options), stream_(std::move(stream)), file_(file) {
    archive_read_support_format_tar(archive_.get());
    // Archives may follow each other in one file, each with its closing zeros, as `tar -i` reads them.
    archive_read_set_format_option(archive_.get(), "tar", "read_concatenated_archives", "1");
    archive_.open(*stream_);
  }

  std::optional<std::string> next() override {
    std::optional<std::string> name = ZipEntries::next();
    if (!name) {  // the compressor's checksum follows the last entry
      std::array<char, 4096> rest{};
      while (stream_->read(rest.data(), rest.size()) > 0) {
      }
    }
    return name;
  }
  std::uint64_t consumed() const override { return file_->consumed(); }

 private:
  std::unique_ptr<ByteStream> stream_;
  const FileStream* file_;
};

std::uint64_t usual_most_unpacked(std::uint64_t packed) {
  return std::clamp(packed, kGigabyte / 1000, kGigabyte) * 1000;
}

ArchiveReader::ArchiveReader(const fs::path& file, std::int64_t max_unpacked, const ArchiveOptions& options)
    : source_(file.string()), how_to_get_more_(options.how_to_get_more) {
  auto bottom = std::make_unique<FileStream>(file);
  const FileStream* counter = bottom.get();
  if (counter->size() == 0) throw DataError(fmt::format("{} is empty", source_));
  limit_ = max_unpacked > 0 ? static_cast<std::uint64_t>(max_unpacked) : usual_most_unpacked(counter->size());
  auto stream = std::make_unique<PeekedStream>(std::move(bottom));
  Packing packing = detect_packing(stream->peek(kTarBlockBytes));
  const Packing promised = packing_of_name(file);
  if (promised != Packing::kNone && packing == Packing::kNone) {
    const Recognised found = recognise_content(stream->peek(kTarBlockBytes));
    throw DataError(fmt::format("{} is not a {} file, though its name says so: {}\n{}", source_, packing_name(promised),
                                found.form == FileForm::kText ? "its first bytes differ" : "it is " + found.name,
                                found.form == FileForm::kOther ? found.advice : "fetch the file again"));
  }
  packed_ = packing != Packing::kNone;
  refuse_other_archives(stream->peek(kTarBlockBytes), source_);
  if (packing == Packing::kZip) {
    entries_ = std::make_unique<ZipEntries>(file, options);
    return;
  }
  if (packing == Packing::kTar) {
    check_tar_end(file);
  } else if (packed_) {
    stream = std::make_unique<PeekedStream>(unpack(std::move(stream), packing, source_));
    const std::string_view head = stream->peek(kTarBlockBytes);
    if (head.empty()) throw DataError(fmt::format("{} is empty: it unpacks to an empty file", source_));
    packing = detect_packing(head) == Packing::kTar ? Packing::kTar : Packing::kNone;
    if (packing == Packing::kNone) refuse_packed(head, source_, "");
  }
  if (packing == Packing::kTar) {
    entries_ = std::make_unique<TarEntries>(source_, options, std::move(stream), counter);
  } else {
    entries_ = std::make_unique<SingleFile>(std::move(stream), counter);
  }
}

ArchiveReader::~ArchiveReader() = default;

std::optional<std::string> ArchiveReader::next() {
  std::optional<std::string> name = entries_->next();
  entry_ = name.value_or("");
  if (name && packed_ && !entry_.empty() && !names_.insert(std::hash<std::string>()(entry_)).second) {
    throw DataError(
        fmt::format("{}: entry {} comes twice, so the archive was updated and holds what was replaced\nunpack it first",
                    source_, entry_));
  }
  begun_ = false;
  return name;
}

std::size_t ArchiveReader::read(char* buffer, std::size_t bytes) {
  const std::size_t count = entries_->read(buffer, bytes);
  if (!std::exchange(begun_, true) && !entry_.empty()) refuse_packed({buffer, count}, source_, entry_);
  unpacked_ += count;
  if (packed_ && unpacked_ > limit_) {
    throw DataError(fmt::format("{}{} unpacks to more than {}\nif you trust the file, {}", source_,
                                entry_.empty() ? "" : fmt::format(": entry {}", entry_),
                                human_bytes(static_cast<double>(limit_)), how_to_get_more_));
  }
  return count;
}

std::uint64_t ArchiveReader::consumed() const { return entries_->consumed(); }

bool is_hidden_name(const std::string& relative_path) {
  const std::vector<std::string> parts = components(relative_path);
  return std::ranges::any_of(parts, [](const std::string& part) {
    return part == "__MACOSX" || (part.size() > 1 && part[0] == '.' && part != "..");
  });
}

}  // namespace xlm
