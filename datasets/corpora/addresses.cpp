// The table of addresses. It has sha256 sums if the source publishes them, here or in its list.
#include "datasets/corpora/addresses.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"

namespace xlm {
namespace {

/// The form of a source's list of files, if it has several files.
enum class List {
  kNone,
  kHub,       // the Hugging Face hub's listing of a folder, with sha256 sums
  kPg19Sums,  // the table of sizes and sha256 sums of PG-19
};

struct Address {
  std::string_view dataset;
  std::string_view url;     // of the file, or of the list; {} is the language
  std::string_view sha256;  // of the file
  List list = List::kNone;
  std::string_view files;  // of a list: its files' paths are appended to this
};

constexpr Address kAddresses[] = {
    {.dataset = "text8", .url = "https://mattmahoney.net/dc/text8.zip"},
    {.dataset = "enwik8", .url = "https://mattmahoney.net/dc/enwik8.zip"},
    {.dataset = "wikitext-103",
     .url = "https://wikitext.smerity.com/wikitext-103-raw-v1.zip",
     .sha256 = "91c00ae287f0d699e18605c84afc9e45c192bc6b7797ff8837e5474655a33794"},
    {.dataset = "pg-19",
     .url = "https://raw.githubusercontent.com/huggingface/datasets/6ce73f6263f9fc3df0db84ae7f937d27a5c208f7/"
            "datasets/pg19/dataset_infos.json",
     .list = List::kPg19Sums,
     .files = "https://storage.googleapis.com/deepmind-gutenberg/"},
    {.dataset = "wiki40b",
     .url = "https://huggingface.co/api/datasets/google/wiki40b/tree/main/{}",
     .list = List::kHub,
     .files = "https://huggingface.co/datasets/google/wiki40b/resolve/main/"},
    {.dataset = "cc-100", .url = "https://data.statmt.org/cc-100/{}.txt.xz"},
    {.dataset = kGpt2Encoding,
     .url = "https://huggingface.co/openai-community/gpt2/resolve/main/vocab.json",
     .sha256 = "196139668be63f3b5d6574427317ae82f612a97c5d1cdaf36ed2256dbf636783"},
    {.dataset = kGpt2Encoding,
     .url = "https://huggingface.co/openai-community/gpt2/resolve/main/merges.txt",
     .sha256 = "1ce1664773c50f3e0cc8842619a93edc4624525b728b188a9e0be33b7726adc5"},
};

/// Replaces "https://HOST". User name and password are kept separately, so that no message shows them.
struct Mirror {
  std::string base;  // "": none
  std::string login;
};

Mirror read_mirror(const std::string& address) {
  if (address.empty()) return {};
  const std::size_t colon = std::min(address.find("://"), address.size());
  const std::string scheme = lower_case(address.substr(0, colon));
  if (colon == address.size() || (scheme != "https" && scheme != "http")) {
    throw UsageError("--mirror: the address must begin with https:// or http://");
  }
  std::string rest = address.substr(colon + 3);
  const std::size_t at = rest.substr(0, rest.find_first_of("/?#")).rfind('@');
  Mirror mirror;
  if (at != std::string::npos) {
    mirror.login = rest.substr(0, at);
    rest.erase(0, at + 1);
  } else if (rest.find('@') != std::string::npos) {  // the host is ambiguous
    throw UsageError("--mirror: an @ follows the host\nin a password write %2F for /, %3F for ?, %23 for #");
  }
  if (rest.empty() || rest.front() == '/' || rest.find_first_of("?#") != std::string::npos) {
    throw UsageError(
        "--mirror: the address needs a host, and must not have ? or #\nthe path of each file is appended to it");
  }
  if (rest.ends_with('/')) rest.pop_back();
  mirror.base = scheme + "://" + rest;
  return mirror;
}

std::string on_mirror(const std::string& url, const Mirror& mirror) {
  return mirror.base.empty() ? url : mirror.base + url.substr(url.find('/', std::string_view("https://").size()));
}

DataError bad_list(const std::string& url) {
  return DataError(
      fmt::format("{} is not a list of files any more\nfetch the files by hand and name them with --from", url));
}

/// Checks a path of a list: it must stay below the folder.
void check_path(const std::string& path, const std::string& url) {
  for (const std::string& part : split(path, '/')) {
    if (part.empty() || part.starts_with('.') || part.find('\\') != std::string::npos) throw bad_list(url);
  }
}

/// [{"type": "file", "path": "fi/train-00000-of-00002.parquet", "size": …, "lfs": {"oid": sha256, …}}, …]
std::vector<Download> hub_files(const Json& list, const std::string& url) {
  std::vector<Download> files;
  if (!list.is_array()) throw bad_list(url);
  for (const Json& entry : list) {
    if (!entry.is_object() || entry.value("type", "") != "file") continue;
    const std::string path = entry.value("path", "");
    if (!path.ends_with(".parquet")) continue;
    Download file{.url = path, .target = path};
    file.bytes = entry.value("size", std::uint64_t{0});
    if (entry.contains("lfs") && entry["lfs"].is_object()) file.sha256 = entry["lfs"].value("oid", "");
    files.push_back(std::move(file));
  }
  return files;
}

/// {"default": {"download_checksums": {"gs://deepmind-gutenberg/train/10.txt": {"num_bytes": …, "checksum": …}, …}}}
std::vector<Download> pg19_files(const Json& list, const std::string& url) {
  constexpr std::string_view kBucket = "gs://deepmind-gutenberg/";
  const Json::json_pointer where("/default/download_checksums");
  if (!list.is_object() || !list.contains(where) || !list[where].is_object()) throw bad_list(url);
  std::vector<Download> files;
  for (const auto& [name, sums] : list[where].items()) {
    if (!name.starts_with(kBucket) || !sums.is_object()) throw bad_list(url);
    const std::string path = name.substr(kBucket.size());
    if (!path.ends_with(".txt")) continue;  // the splits' own lists
    files.push_back({.url = path,
                     .target = path,
                     .sha256 = sums.value("checksum", ""),
                     .bytes = sums.value("num_bytes", std::uint64_t{0})});
  }
  return files;
}

/// The files of a list, with their addresses and target paths.
std::vector<Download> listed_files(const Address& address, const std::string& url, const fs::path& folder,
                                   const Mirror& mirror, const Downloader& downloader,
                                   const PrepareObserver& observer) {
  const fs::path copy = folder / ".list.json";
  std::error_code ignored;
  fs::remove(copy, ignored);  // the list may have changed
  const std::string list_url = on_mirror(url, mirror);
  downloader.fetch({.url = list_url, .login = mirror.login, .target = copy}, observer);
  std::vector<Download> files;
  try {
    const Json list = read_json(copy);
    files = address.list == List::kHub ? hub_files(list, list_url) : pg19_files(list, list_url);
  } catch (const Json::exception&) {
    throw bad_list(list_url);
  }
  fs::remove(copy, ignored);
  if (files.empty()) throw bad_list(list_url);
  for (Download& file : files) {
    check_path(file.target.string(), list_url);
    file.url = on_mirror(std::string(address.files) + file.url, mirror);
    file.login = mirror.login;
    file.target = folder / file.target;
  }
  return files;
}

}  // namespace

bool has_address(const std::string& dataset) {
  return std::any_of(std::begin(kAddresses), std::end(kAddresses),
                     [&](const Address& address) { return address.dataset == dataset; });
}

std::vector<fs::path> fetch_raw_files(const std::string& dataset, const std::string& language, const fs::path& folder,
                                      const std::string& mirror_address, const Downloader& downloader,
                                      const PrepareObserver& observer) {
  const Mirror mirror = read_mirror(mirror_address);
  std::vector<Download> files;
  bool listed = false;
  for (const Address& address : kAddresses) {
    if (address.dataset != dataset) continue;
    const std::string url = fmt::format(fmt::runtime(address.url), language);
    if (address.list != List::kNone) {
      listed = true;
      files = listed_files(address, url, folder, mirror, downloader, observer);
    } else {
      files.push_back({.url = on_mirror(url, mirror),
                       .login = mirror.login,
                       .target = folder / fs::path(url).filename(),
                       .sha256 = std::string(address.sha256)});
    }
  }
  if (files.empty()) {
    throw UsageError(
        fmt::format("{} cannot be fetched: --download has no address for it\nname your files with "
                    "--from",
                    dataset));
  }
  for (const Download& file : files) downloader.fetch(file, observer);
  if (listed || files.size() > 1) return {folder};
  return {files.front().target};
}

}  // namespace xlm
