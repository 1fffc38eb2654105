// Programs that read this program's files from Python: TensorBoard, pandas, pyarrow, transformers.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace xlm {

/// Whether they are installed (`make readers`); a test without them is skipped and says so.
inline bool readers_are_installed() { return std::filesystem::exists(XLM_READERS); }

/// Whether Python can open torch. It cannot with only the CPU set of libtorch.
inline bool python_opens_torch() {
  return std::system("PYTHONPATH='" XLM_READERS ":" XLM_SOURCE_DIR
                     "/.deps/python' python3 -B -c 'import torch' "
                     "> /dev/null 2>&1") == 0;
}

/// The output of a Python script that runs in `folder`.
inline std::string read_with_python(const std::filesystem::path& folder, const std::string& script) {
  const std::filesystem::path file = folder / "read.py";
  const std::filesystem::path out = folder / "read.txt";
  const std::filesystem::path errors = folder / "read-errors.txt";
  std::ofstream(file) << script;
  const std::string command = "cd '" + folder.string() + "' && HOME='" + folder.string() +
                              "' HF_HUB_OFFLINE=1 PYTHONDONTWRITEBYTECODE=1 PYTHONPATH='" XLM_READERS ":" XLM_SOURCE_DIR
                              "/.deps/python' python3 read.py > '" +
                              out.string() + "' 2> '" + errors.string() + "'";
  const int status = std::system(command.c_str());
  const auto content = [](const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  };
  if (status != 0) throw std::runtime_error(content(errors));
  return content(out);
}

}  // namespace xlm
