// A program's code in a folder, with git and without.
#pragma once

#include <string>
#include <vector>

#include "base/command.h"
#include "base/error.h"
#include "experiments/programs/code_snapshot.h"
#include "tests/experiments/programs/programs_fixture.h"
#include "tests/thrown_message.h"

namespace xlm {

class CodeFixture : public ProgramsFixture {
 protected:
  CodeFixture() {
    put(at("code/main.py"), "print('main')\n");
    put(at("code/lib/model.py"), "layers = 4\n");
    write_script("code/run.sh", "#!/bin/sh\n");
  }

  static void git(const fs::path& folder, std::vector<std::string> arguments) {
    std::vector<std::string> words{"git",
                                   "-C",
                                   folder.string(),
                                   "-c",
                                   "user.name=a",
                                   "-c",
                                   "user.email=a@b.c",
                                   "-c",
                                   "protocol.file.allow=always"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const CommandResult result = run_command(words);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void make_repository(const std::string& name = "code") const {
    git(at(name), {"init", "-q", "-b", "main"});
    git(at(name), {"add", "-A"});
    git(at(name), {"commit", "-q", "-m", "first"});
  }

  CodeRequest request() const { return {.folder = at("code")}; }
  static std::vector<std::string> paths_of(const Code& code) {
    std::vector<std::string> paths;
    for (const CodeFile& file : code.files) paths.push_back(file.path);
    return paths;
  }
  std::vector<std::string> paths() const { return paths_of(read_code(request())); }
  std::string hash() const { return read_code(request()).hash; }
  std::string error_of(const CodeRequest& what) const {
    return thrown_message([&] { read_code(what); });
  }
  fs::path place() const { return at("runs/.programs"); }
  fs::path freeze() const { return freeze_code(read_code(request()), place()); }
  std::string check_error(const std::string& of) const {
    try {
      check_frozen_code(place(), of);
    } catch (const Error& error) {
      return error.what();
    }
    return "whole";
  }
};

}  // namespace xlm
