// Opens libxlm_download.so on first use, and checks the first bytes of fetched files.
#include "datasets/input/download.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "base/shared_library.h"
#include "base/text.h"
#include "datasets/input/byte_stream.h"

namespace xlm {
namespace {

bool is_web_page(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
  std::string begin(trim(head).substr(0, 20));
  std::transform(begin.begin(), begin.end(), begin.begin(), [](unsigned char c) { return std::tolower(c); });
  return begin.starts_with("<!doctype html") || begin.starts_with("<html") || begin.starts_with("<head");
}

}  // namespace

std::string problem_of_fetched_file(const fs::path& name, const fs::path& file) {
  PeekedStream stream(std::make_unique<FileStream>(file));
  const std::string_view head = stream.peek(kTarBlockBytes);
  if (is_web_page(head)) return "it is a web page, perhaps a login";
  const Packing promised = packing_of_name(name);
  if (promised != Packing::kNone && detect_packing(head) != promised) {
    return fmt::format("it is not a {} file", packing_name(promised));
  }
  return name.extension() == ".parquet" && !head.starts_with("PAR1") ? "it is not a Parquet file" : "";
}

std::unique_ptr<Downloader> make_downloader(const Patience& patience) {
  using Make = Downloader* (*)(const Patience& patience, ProblemOfFile problem_of);
  static const auto make = reinterpret_cast<Make>(library_function("libxlm_download.so", "xlm_make_downloader"));
  return std::unique_ptr<Downloader>(make(patience, problem_of_fetched_file));
}

}  // namespace xlm
