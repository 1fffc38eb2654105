// libFuzzer target: any bytes through the text8 filters. The result is in the alphabet, without double spaces, and does
// not depend on the pieces of the input.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "datasets/cleaning/text8_filter.h"
#include "tests/datasets/cleaning/plain_text8.h"

namespace {

template <class Filter, class Finish>
std::string run(std::string_view input, std::size_t piece, Filter filter_with, Finish finish) {
  std::string clean;
  auto filter = filter_with([&](std::string_view text) { clean += text; });
  for (; !input.empty(); input.remove_prefix(std::min(piece, input.size()))) filter.write(input.substr(0, piece));
  finish(filter);
  return clean;
}

void check(const std::string& whole, const std::string& pieces) {
  if (whole != pieces || whole.find("  ") != std::string::npos) std::abort();
  for (const char c : whole) {
    if (!xlm::is_text8_symbol(c)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string xml = "<text >" + std::string(bytes);
  const auto wikipedia = [](const xlm::TextSink& sink) { return xlm::WikipediaFilter("fuzz", sink); };
  const auto plain = [](const xlm::TextSink& sink) { return xlm::Text8Cleaner(sink); };
  const auto finish = [](xlm::WikipediaFilter& filter) { filter.finish(); };
  const auto end = [](xlm::Text8Cleaner& cleaner) { cleaner.finish(); };
  check(run(xml, xml.size(), wikipedia, finish), run(xml, 3, wikipedia, finish));
  check(run(bytes, size + 1, plain, end), run(bytes, 3, plain, end));
  if (run(bytes, size + 1, plain, end) != xlm::plain_text8(bytes)) std::abort();
  return 0;
}
