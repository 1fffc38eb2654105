// Texts that commands are given.
#include "cmd/text_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

#include "base/error.h"
#include "datasets/cleaning/text8_filter.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxTextBytes = std::size_t{64} << 20U;

/// An open file that is closed again.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int number() const { return number_; }

 private:
  int number_;
};

}  // namespace

std::string read_text(const fs::path& file) {
  const std::string name = file == "-" ? "standard input" : file.string();
  const Descriptor input(file == "-" ? ::dup(STDIN_FILENO) : ::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (input.number() < 0) throw_file_error("read", name, errno);
  std::string text;
  std::array<char, 65536> part{};
  for (;;) {
    const ssize_t bytes = ::read(input.number(), part.data(), part.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) throw_file_error("read", name, errno);
    if (bytes == 0) return text;
    text.append(part.data(), static_cast<std::size_t>(bytes));
    if (text.size() > kMaxTextBytes) {
      throw DataError(fmt::format("{} holds more than the {} MB that are read", name, kMaxTextBytes >> 20U));
    }
  }
}

bool has_piped_input() {
  struct stat status {};
  return ::fstat(STDIN_FILENO, &status) == 0 && (S_ISFIFO(status.st_mode) || S_ISREG(status.st_mode));
}

std::string read_piped_text() {
  std::string text = read_text("-");
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void add_clean_option(CLI::App& app, std::string& clean) {
  CLI::Validator cleanings = CLI::IsMember({"none", "text8"});
  cleanings.description("");  // the help says what is meant
  app.add_option("--clean", clean, "none, or text8: a-z and single spaces, digits spelt out")
      ->check(cleanings)
      ->capture_default_str()
      ->type_name("none|text8");
}

std::string cleaned(const std::string& text, const std::string& clean) {
  if (clean != "text8") return text;
  std::string out;
  Text8Cleaner cleaner([&](std::string_view piece) { out += piece; });
  cleaner.begin_document();
  cleaner.write(text);
  return out;
}

}  // namespace xlm
