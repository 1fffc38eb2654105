// Input texts of commands.
#include "cmd/text_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/argument_file.h"
#include "base/error.h"
#include "datasets/cleaning/text8_filter.h"
#include "datasets/corpora/reading.h"
#include "datasets/input/recognition.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20U;

}  // namespace

bool has_piped_input() {
  struct stat status {};
  return ::fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode));
}

std::string read_plain_text(const fs::path& file) {
  const std::string given = read_argument(file, kMaxTextBytes);
  if (const std::string_view wide = wide_encoding(given); !wide.empty()) {
    throw DataError(fmt::format("{} is {}\nconvert it, such as with iconv -f {} -t UTF-8", file.string(), wide, wide));
  }
  UnixLineEnds line_ends;
  const std::size_t begin = given.starts_with(kUtf8Mark) ? kUtf8Mark.size() : 0;
  std::string text(line_ends.write(std::string_view(given).substr(begin)));
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void add_clean_option(CLI::App& app, std::string& clean) {
  CLI::Validator cleanings = CLI::IsMember({"none", "text8"});
  cleanings.description("");  // the help explains the values
  app.add_option("--clean", clean, "none, or text8: a-z and single spaces, digits spelt out")
      ->check(cleanings)
      ->capture_default_str()
      ->type_name("none|text8");
}

std::string cleaned(const std::string& text, const std::string& clean) {
  if (clean != "text8") return text;
  std::string out;
  Text8Cleaner cleaner([&](std::string_view piece) { out += piece; });
  cleaner.write(text);
  cleaner.finish();
  return out;
}

}  // namespace xlm
