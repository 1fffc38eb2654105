// Opens libxlm_download.so on first use.
#include "datasets/input/download.h"

#include "base/shared_library.h"

namespace xlm {

std::unique_ptr<Downloader> make_downloader(const Patience& patience) {
  using Make = Downloader* (*)(const Patience& patience);
  static const auto make = reinterpret_cast<Make>(library_function("libxlm_download.so", "xlm_make_downloader"));
  return std::unique_ptr<Downloader>(make(patience));
}

}  // namespace xlm
