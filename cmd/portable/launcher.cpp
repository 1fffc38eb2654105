// bin/NAME of a portable folder (`make portable`): runs libexec/NAME with the folder's own loader and C library, so
// that the machine's may be older. It is linked statically, so it needs nothing of the machine itself.
//
// The libraries are named in the loader's command line, not in the environment: what the program starts, such as a
// user's training script, keeps those of the machine.
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int kFailed = 1;  // exit code, base/error.h

std::string own_file() {
  std::array<char, PATH_MAX> path{};
  const ssize_t length = ::readlink("/proc/self/exe", path.data(), path.size() - 1);
  return length > 0 ? std::string(path.data(), static_cast<std::size_t>(length)) : std::string();
}

std::string folder_of(const std::string& file) { return file.substr(0, file.rfind('/')); }

int fail(const char* what, const std::string& file, const char* advice) {
  std::fprintf(stderr, "error: %s: %s\n%s\n", what, file.c_str(), advice);
  return kFailed;
}

}  // namespace

int main(int count, char** words) {
  const std::string file = own_file();
  if (file.empty()) return fail("cannot find the program's own file", "/proc/self/exe", "mount /proc");
  const std::string root = folder_of(folder_of(file));
  const std::string name = file.substr(file.rfind('/') + 1);
  if (root.find(':') != std::string::npos) {
    return fail("the loader cannot find libraries in a folder with a colon in its name", root, "move the folder");
  }
  std::string libraries = root + "/lib/glibc:" + root + "/lib";
  // Last, for the driver of a GPU where it lies elsewhere. Other libraries are found in the folder before.
  if (const char* further = std::getenv("LD_LIBRARY_PATH"); further != nullptr && *further != '\0') {
    libraries += std::string(":") + further;
  }

  std::string loader = root + "/lib/glibc/ld-linux-x86-64.so.2";
  std::string option = "--library-path";
  std::string program = root + "/libexec/" + name;
  std::vector<char*> command{loader.data(), option.data(), libraries.data(), program.data()};
  for (int i = 1; i < count; ++i) command.push_back(words[i]);
  command.push_back(nullptr);
  ::execv(loader.c_str(), command.data());
  return fail(std::strerror(errno), loader, "unpack the archive again, as a whole");
}
