// The container that a command names.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/files.h"

namespace xlm {

struct ContainerImage {
  std::string program;  // apptainer, singularity, docker, podman
  std::string image;    // as the command names it
  /// What stays the same as long as the image does: docker's id, the digest in a name, or a hash of an image file's
  /// beginning and size; empty if it is not known.
  std::string id;
};

/// The container of a command that begins with such a program and its "run" or "exec"; nullopt for any other command.
/// Throws UsageError for an image file that is missing.
std::optional<ContainerImage> container_image(const std::vector<std::string>& words, const fs::path& folder);

}  // namespace xlm
