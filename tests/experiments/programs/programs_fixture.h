// Small programs for the tests of foreign programs.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/files.h"
#include "base/text.h"
#include "experiments/programs/program_process.h"
#include "tests/temporary_folder.h"

namespace xlm {

/// A folder for code, and what a program of it says.
class ProgramsFixture : public ::testing::Test {
 protected:
  static constexpr std::chrono::seconds kLong{60};  // until a test gives up

  fs::path at(const std::string& name) const { return folder_.path() / name; }

  static void put(const fs::path& file, const std::string& text) {
    create_folders(file.parent_path());
    write_file(file, text);
  }
  void write_script(const std::string& name, const std::string& text) const {
    put(at(name), text);
    fs::permissions(at(name), fs::perms(0755));
  }

  /// A command whose output goes to `output_`.
  ProgramCommand command(std::vector<std::string> words) {
    ProgramCommand result;
    result.words = std::move(words);
    result.folder = folder_.path();
    result.output = [this](std::string_view piece) { output_.append(piece); };
    return result;
  }
  ProgramCommand shell(const std::string& text) { return command({"bash", "-c", text}); }

  static ProgramEnd run_to_end(ProgramProcess& program) {
    const auto limit = std::chrono::steady_clock::now() + kLong;
    while (program.poll(std::chrono::milliseconds(50))) {
      if (std::chrono::steady_clock::now() > limit) {
        ADD_FAILURE() << "the program does not end";
        break;
      }
    }
    return program.end();
  }
  static ProgramEnd run_to_end(ProgramCommand what) {
    ProgramProcess program(std::move(what));
    return run_to_end(program);
  }

  /// Polls until the output holds a text.
  void await_output(ProgramProcess& program, const std::string& text) const {
    const auto limit = std::chrono::steady_clock::now() + kLong;
    while (output_.find(text) == std::string::npos && program.poll(std::chrono::milliseconds(20))) {
      ASSERT_LT(std::chrono::steady_clock::now(), limit) << "it does not say " << text;
    }
    ASSERT_THAT(output_, ::testing::HasSubstr(text));
  }

  /// The numbers behind "NAME=" at the beginning of lines of the output.
  std::vector<pid_t> said(const std::string& name) const { return numbers_behind(output_, name); }
  static std::vector<pid_t> numbers_behind(const std::string& text, const std::string& name) {
    std::vector<pid_t> numbers;
    for (const std::string& line : split(text, '\n')) {
      if (line.starts_with(name + "=")) numbers.push_back(static_cast<pid_t>(std::stol(line.substr(name.size() + 1))));
    }
    return numbers;
  }

  /// Whether a process lives, and is not only waited for.
  static bool lives(pid_t pid) {
    std::ifstream file(fmt::format("/proc/{}/stat", pid));
    std::string text;
    std::getline(file, text);
    const std::size_t name_end = text.rfind(')');
    return name_end != std::string::npos && text.at(name_end + 2) != 'Z' && text.at(name_end + 2) != 'X';
  }

  /// Waits until a process is gone, at most as long as a test may take.
  static bool is_gone_soon(pid_t pid) {
    const auto limit = std::chrono::steady_clock::now() + kLong;
    while (lives(pid)) {
      if (std::chrono::steady_clock::now() > limit) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return true;
  }

  TemporaryFolder folder_;
  std::string output_;
};

}  // namespace xlm
