// The manifest of a frozen copy of code: its files and links, and the hash that is their name.
#include "experiments/programs/code_manifest.h"

#include <cstdint>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/json.h"
#include "base/sha256.h"

namespace xlm {
namespace {

constexpr std::size_t kCodeHashDigits = 16;

const char* kind_name(CodeFile::Kind kind) {
  switch (kind) {
    case CodeFile::Kind::kExecutable:
      return "executable";
    case CodeFile::Kind::kLink:
      return "link";
    default:
      return "file";
  }
}

/// Whether the copy of a link may lead where its manifest says. A place outside of the code differs from machine to
/// machine and is no part of the hash, so its end is compared with the target, which is.
bool leads_to_its_target(const CodeFile& link) {
  const fs::path target = link.content;
  if (target.is_absolute() || points_inside(link.path, link.content)) return link.leads_to == link.content;
  fs::path end;
  for (const fs::path& part : (fs::path(link.path).parent_path() / target).lexically_normal()) {
    if (part != "..") end /= part;
  }
  const fs::path place = link.leads_to;
  return place.is_absolute() && place.lexically_normal().string() == link.leads_to &&
         (end.empty() || link.leads_to.ends_with("/" + end.string()));
}

/// A manifest may come from others: it names each file once, none of them lies outside of the copy or behind one of its
/// links, and links lead where their targets say.
void check_places(const std::vector<CodeFile>& files, const fs::path& manifest) {
  std::set<fs::path> links;
  for (const CodeFile& file : files) {
    if (file.kind == CodeFile::Kind::kLink) links.insert(file.path);
  }
  std::set<fs::path> named;
  for (const CodeFile& file : files) {
    const fs::path path = file.path;
    bool is_inside = path.has_filename() && path != "." && path.is_relative() && path == path.lexically_normal() &&
                     *path.begin() != "..";
    for (fs::path above = path.parent_path(); is_inside && !above.empty(); above = above.parent_path()) {
      is_inside = !links.contains(above);
    }
    if (!is_inside)
      throw DataError(fmt::format("{} names a file outside of the copy: {}", manifest.string(), file.path));
    if (!named.insert(path).second)
      throw DataError(fmt::format("{} names a file twice: {}", manifest.string(), file.path));
    if (file.kind == CodeFile::Kind::kLink && !leads_to_its_target(file)) {
      throw DataError(fmt::format("{}: the link {} leads to {}, and its target is {}", manifest.string(), file.path,
                                  file.leads_to, file.content));
    }
  }
}

}  // namespace

std::string hash_of_code(const std::vector<CodeFile>& files) {
  Sha256 hash;
  for (const CodeFile& file : files) {
    hash.update(fmt::format("{} {} {}:{}{}:{}\n", kind_name(file.kind), file.bytes, file.path.size(), file.path,
                            file.content.size(), file.content));
  }
  return hash.finish().substr(0, kCodeHashDigits);
}

bool points_inside(const std::string& path, const std::string& target) {
  if (fs::path(target).is_absolute()) return false;
  const fs::path place = (fs::path(path).parent_path() / target).lexically_normal();
  return place.empty() || *place.begin() != "..";
}

void write_manifest(const Code& code, const fs::path& file) {
  Json files = Json::array();
  for (const CodeFile& each : code.files) {
    Json entry = {{"path", each.path}, {"kind", kind_name(each.kind)}};
    if (each.kind == CodeFile::Kind::kLink) {
      entry["target"] = each.content;
      entry["leads_to"] = each.leads_to;
    } else {
      entry["bytes"] = each.bytes;
      entry["sha256"] = each.content;
    }
    files.push_back(entry);
  }
  write_file(file, json_text({{"from", fs::absolute(code.folder).string()}, {"files", files}}));
}

Code read_manifest(const fs::path& file) {
  const Json manifest = read_json_object(file);
  Code code;
  try {
    code.folder = manifest.at("from").get<std::string>();
    for (const Json& entry : manifest.at("files")) {
      CodeFile found{.path = entry.at("path").get<std::string>()};
      const auto kind = entry.at("kind").get<std::string>();
      if (kind == "link") {
        found.kind = CodeFile::Kind::kLink;
        found.content = entry.at("target").get<std::string>();
        found.leads_to = entry.at("leads_to").get<std::string>();
      } else {
        found.kind = kind == "executable" ? CodeFile::Kind::kExecutable : CodeFile::Kind::kFile;
        found.bytes = entry.at("bytes").get<std::uint64_t>();
        found.content = entry.at("sha256").get<std::string>();
      }
      code.files.push_back(found);
    }
  } catch (const nlohmann::json::exception& error) {
    throw DataError(fmt::format("{}: {}", file.string(), reason_of(error)));
  }
  check_places(code.files, file);
  code.hash = hash_of_code(code.files);
  return code;
}

}  // namespace xlm
