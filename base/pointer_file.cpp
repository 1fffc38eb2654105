// Recognises pointer files by their first bytes.
#include "base/pointer_file.h"

#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace xlm {
namespace {

struct Sign {
  std::string_view begin;
  std::string_view also;  // also occurs in the text
  PointerFile pointer;
};

constexpr PointerFile kLfs{"a git-LFS pointer, not the file itself", "fetch the file: git lfs pull"};
constexpr PointerFile kXet{"a git-xet pointer, not the file itself", "fetch the file: git xet checkout"};
constexpr PointerFile kAnnex{"a git-annex pointer, not the file itself", "fetch the file: git annex get FILE"};
constexpr PointerFile kDvc{"a DVC pointer, not the file itself", "fetch the file: dvc pull"};
constexpr PointerFile kShortcut{"a shortcut to an address, not the file itself", "fetch the file from there"};

constexpr std::array<Sign, 9> kSigns{{{"version https://git-lfs.github.com/spec/", "oid ", kLfs},
                                      {"version https://hawser.github.com/spec/", "oid ", kLfs},
                                      {"# xet version ", "hash", kXet},
                                      {"/annex/objects/", "-", kAnnex},
                                      {"outs:", "path:", kDvc},
                                      {"md5:", "\nouts:", kDvc},
                                      {"wdir:", "\nouts:", kDvc},
                                      {"[InternetShortcut]", "URL=", kShortcut},
                                      {"../.git/annex/objects/", "-", kAnnex}}};

}  // namespace

std::optional<PointerFile> pointer_file(std::string_view head) {
  constexpr std::size_t kMaxBytes = 4096;  // a pointer has one or two hundred
  head = trim(head.substr(0, kMaxBytes));
  for (const Sign& sign : kSigns) {
    if (head.starts_with(sign.begin) && head.find(sign.also, sign.begin.size()) != std::string_view::npos) {
      return sign.pointer;
    }
  }
  return std::nullopt;
}

void refuse_pointer(std::string_view text, const std::string& source) {
  if (const auto pointer = pointer_file(text)) {
    throw DataError(fmt::format("{} is {}\n{}", source, pointer->name, pointer->advice));
  }
}

}  // namespace xlm
