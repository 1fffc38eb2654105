// Shards of wiki40b for tests, written by programs that are independent of the readers under test.
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/files.h"
#include "base/json.h"

namespace xlm {

/// `kind`: "parquet", "arrow-stream" or "arrow-file"; the column's type may follow, as in "parquet:view"
/// (tests/datasets/corpora/write_shards.py).
inline fs::path write_shard(const std::string& kind, const fs::path& path, const std::vector<std::string>& articles) {
  create_folders(path.parent_path());
  const fs::path list = path.string() + ".json";
  write_file(list, Json(articles).dump());
  const std::string command = fmt::format(
      "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='{0}/.deps/python' python3 '{0}/tests/datasets/corpora/write_shards.py' "
      "{1} '{2}' "
      "<'{3}'",
      XLM_SOURCE_DIR, kind, path.string(), list.string());
  if (std::system(command.c_str()) != 0) throw std::runtime_error("cannot write " + path.string());
  fs::remove(list);
  return path;
}

}  // namespace xlm
