// The container that a command names.
#include "experiments/programs/container_image.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "base/command.h"
#include "base/error.h"
#include "base/sha256.h"
#include "base/text.h"

namespace xlm {
namespace {

constexpr std::size_t kHeaderBytes = 65536;  // of an image file: its identity, times and list of parts
constexpr double kInspectSeconds = 20;

/// Options of docker and podman that take no value as the next word; all others do, unless they have "=".
constexpr std::string_view kDockerFlags =
    " --rm --init --privileged --read-only --detach --interactive --tty --publish-all --no-healthcheck --tls --quiet "
    "--sig-proxy --replace --no-hosts --oom-kill-disable --rmi --disable-content-trust ";

/// Options of apptainer and singularity that take a value as the next word.
constexpr std::string_view kApptainerOptions =
    " -B --bind --mount --env --env-file -H --home -o --overlay -W --workdir --pwd --cwd -S --scratch --app --hostname "
    "--network --dns --security --add-caps --drop-caps --network-args --apply-cgroups --cpus --cpuset-cpus --memory "
    "--memory-swap --pids-limit --fusemount --pem-path --config ";

bool is_among(std::string_view words, const std::string& word) { return words.find(" " + word + " ") != words.npos; }

bool is_docker_flag(const std::string& word) {
  constexpr std::string_view kLetters = "ditPq";  // -it
  const bool is_letters = word.size() > 1 && word[1] != '-' && word.find_first_not_of(kLetters, 1) == std::string::npos;
  return is_among(kDockerFlags, word) || is_letters;
}

bool is_docker(const std::string& program) { return program == "docker" || program == "podman"; }

/// The first word behind the options from `at` on; "" if there is none.
std::string first_argument(const std::vector<std::string>& words, std::size_t at, bool docker) {
  for (; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (!word.starts_with('-')) return word;
    if (word == "--") continue;
    const bool has_value = docker ? !is_docker_flag(word) : is_among(kApptainerOptions, word);
    if (has_value && word.find('=') == std::string::npos) ++at;
  }
  return "";
}

std::string digest_in(const std::string& name) {
  const std::size_t at = name.find("@sha256:");
  return at == std::string::npos ? "" : name.substr(at + 1);
}

std::string id_of_file(const std::string& image, const fs::path& folder) {
  const fs::path file = folder / image;
  std::error_code ignored;
  if (fs::is_directory(file, ignored)) return "";  // a sandbox
  if (!fs::exists(file, ignored)) {
    throw UsageError(fmt::format("the container image {} is missing\nmake it, or name another one in program.command",
                                 file.string()));
  }
  InputFile in(file);
  std::string header(kHeaderBytes, '\0');
  header.resize(in.read(header.data(), header.size()));
  return sha256(fmt::format("{} bytes\n", in.size()) + header).substr(0, 16);
}

}  // namespace

std::optional<ContainerImage> container_image(const std::vector<std::string>& words, const fs::path& folder) {
  if (words.empty()) return std::nullopt;
  ContainerImage found{.program = fs::path(words[0]).filename().string()};
  const bool docker = is_docker(found.program);
  if (!docker && found.program != "apptainer" && found.program != "singularity") return std::nullopt;
  const auto action = std::find_if(words.begin() + 1, words.end(),
                                   [](const std::string& word) { return word == "run" || word == "exec"; });
  if (action == words.end()) return std::nullopt;
  found.image = first_argument(words, static_cast<std::size_t>(action - words.begin()) + 1, docker);
  if (found.image.empty()) return std::nullopt;
  found.id = digest_in(found.image);
  if (!found.id.empty()) return found;
  if (docker && *action == "run") {
    const CommandResult result =
        run_command({words[0], "image", "inspect", "--format", "{{.Id}}", found.image}, "", kInspectSeconds);
    if (result.code == 0) found.id = std::string(trim(result.out));
  } else if (!docker && found.image.find("://") == std::string::npos) {
    found.id = id_of_file(found.image, folder);
  }
  return found;
}

}  // namespace xlm
