// With what a foreign program runs: interpreters, packages, containers.
#include "experiments/programs/program_environment.h"

#include <cstdlib>

#include "base/command.h"
#include "base/error.h"
#include "base/sha256.h"
#include "experiments/programs/container_image.h"
#include "experiments/programs/executable.h"
#include "tests/experiments/programs/programs_fixture.h"
#include "tests/thrown_message.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ProgramEnvironmentTest : public ProgramsFixture {
 protected:
  /// A package as installers leave it.
  void install(const std::string& site, const std::string& name, const std::string& version,
               const std::string& url = "") const {
    const fs::path info = at(site) / (name + "-" + version + ".dist-info");
    put(info / "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n");
    if (!url.empty()) put(info / "direct_url.json", url);
  }
  ProgramEnvironment find(const std::vector<std::string>& words, double seconds = 60) const {
    return find_program_environment(words, folder_.path(), environment_, seconds);
  }
  std::string error_of(const std::vector<std::string>& words) const {
    return thrown_message([&] { find(words); });
  }
  /// An interpreter that says its name and has its arguments in a file.
  void make_python(const std::string& name, const std::string& version) const {
    write_script(name,
                 fmt::format("#!/bin/sh\nprintf '%s\\n' \"$0\" > {}\necho 'xlm-python-facts {{\"interpreter\": \"{}\", "
                             "\"python\": \"{}\", \"packages\": {{\"torch\": \"2.1\"}}}}'\n",
                             at("asked").string(), name, version));
  }

  std::map<std::string, std::string> environment_;
};

TEST_F(ProgramEnvironmentTest, ListsThePackagesOfThePython) {
  install("site", "Some_Package", "1.5");
  install("site", "from.git", "2.0",
          R"({"url": "https://x", "vcs_info": {"vcs": "git", "commit_id": "0123456789abcdef"}})");
  install("site", "edited", "3.0", R"({"url": "file:///x", "dir_info": {"editable": true}})");
  environment_["PYTHONPATH"] = at("site").string();
  put(at("json.py"), "raise SystemExit('a file of the folder')\n");
  const ProgramEnvironment found = find({"python3", "main.py"});
  EXPECT_EQ(found.note, "");
  const Json& packages = found.facts["packages"];
  EXPECT_EQ(packages["some-package"], "1.5");
  EXPECT_EQ(packages["from-git"], "2.0@0123456789ab");
  EXPECT_EQ(packages["edited"], "3.0 (editable)");
  const CommandResult version =
      run_command({"python3", "-c", "import platform, sys; print(platform.python_version(), sys.executable)"});
  EXPECT_EQ(found.facts["python"].get<std::string>() + " " + found.facts["interpreter"].get<std::string>() + "\n",
            version.out);
  // The fingerprint as it is documented, computed otherwise.
  std::string all = "python " + found.facts["python"].get<std::string>() + "\n";
  std::map<std::string, std::string> sorted;
  for (const auto& [name, value] : packages.items()) sorted[name] = value.get<std::string>();
  for (const auto& [name, value] : sorted) all += name + " " + value + "\n";
  EXPECT_EQ(found.fingerprint, sha256(all).substr(0, 16));
  install("site", "another", "0.1");
  const ProgramEnvironment more = find({"python3", "main.py"});
  EXPECT_NE(more.fingerprint, found.fingerprint);
  EXPECT_EQ(changed_packages(found.facts, more.facts), "another 0.1, which was missing");
  EXPECT_EQ(changed_packages(more.facts, found.facts), "no another");
}

TEST_F(ProgramEnvironmentTest, OfAVirtualEnvironmentAreItsOwn) {
  ASSERT_EQ(run_command({"python3", "-m", "venv", "--without-pip", at("venv").string()}).code, 0);
  const std::string site = std::string(
      trim(run_command({at("venv/bin/python").string(), "-c", "import site; print(site.getsitepackages()[0])"}).out));
  install(fs::path(site).lexically_relative(folder_.path()).string(), "only-here", "1.0");
  EXPECT_EQ(find({"venv/bin/python", "main.py"}).facts["packages"], Json({{"only-here", "1.0"}}));
  environment_["PATH"] = at("venv/bin").string() + ":" + std::getenv("PATH");
  EXPECT_EQ(find({"python", "main.py"}).facts["packages"], Json({{"only-here", "1.0"}})) << "activated";
  EXPECT_EQ(find({"python", "main.py"}).facts["executable"], at("venv/bin/python").string());
  write_script("venv/bin/torchrun", "#!" + at("venv/bin/python").string() + "\nimport torchrun\n");
  EXPECT_EQ(find({"torchrun", "--nproc-per-node", "2", "main.py"}).facts["packages"], Json({{"only-here", "1.0"}}));
}

TEST_F(ProgramEnvironmentTest, LaunchersLeadToTheirPython) {
  make_python("python3", "1.0");
  make_python("with space/python3.9", "2.0");
  write_script("accelerate", "#!" + at("python3").string() + " -u\n");
  write_script("long", "#!/bin/sh\n'''exec' \"" + at("with space/python3.9").string() + "\" \"$0\" \"$@\"\n' '''\n");
  write_script("spawned", "#!/usr/bin/env -S python3 -u\n");
  write_script("uv", "#!/bin/sh\nwhile [ $# -gt 0 ] && [ \"$1\" != python ]; do echo \"$1\" >> " +
                         at("uv_words").string() + "; shift; done\nshift\nexec " + at("python3").string() +
                         " \"$@\"\n");
  environment_["PATH"] = folder_.path().string() + ":/usr/bin:/bin";
  const auto version = [this](const std::vector<std::string>& words) {
    return find(words).facts.value("python", "none");
  };
  EXPECT_EQ(version({"accelerate", "launch", "main.py"}), "1.0");
  EXPECT_EQ(version({"./long"}), "2.0");
  EXPECT_EQ(version({"./spawned"}), "1.0");
  EXPECT_EQ(version({"/usr/bin/env", "A=b", "python3", "main.py"}), "1.0");
  EXPECT_EQ(version({"nice", "-n", "5", "python3", "main.py"}), "1.0");
  EXPECT_EQ(version({"nice", "accelerate", "launch"}), "1.0");
  EXPECT_EQ(version({"uv", "run", "--extra", "gpu", "main.py"}), "1.0");
  EXPECT_EQ(read_file(at("uv_words")), "run\n--extra\ngpu\n");
  EXPECT_EQ(version({"uv", "run", "python", "main.py"}), "1.0");
  EXPECT_EQ(version({"bash", "-c", "python3 main.py"}), "none");
}

TEST_F(ProgramEnvironmentTest, ABrokenInterpreterIsAClearError) {
  write_script("python", "#!/bin/sh\necho 'error while loading shared libraries: libpython3.9.so' >&2\nexit 127\n");
  EXPECT_THAT(error_of({"./python", "main.py"}), AllOf(HasSubstr("the interpreter ./python does not work"),
                                                       HasSubstr("libpython3.9.so"), HasSubstr("again")));
  fs::create_directories(at("venv/bin"));
  fs::create_symlink("/opt/gone/python3.9", at("venv/bin/python"));
  EXPECT_THAT(error_of({"venv/bin/python", "main.py"}), HasSubstr("a link to /opt/gone/python3.9, which is missing"));
  write_script("torchrun", "#!/opt/gone/python3.9\n");
  EXPECT_THAT(error_of({"./torchrun"}), HasSubstr("the interpreter /opt/gone/python3.9"));
  EXPECT_THAT(error_of({"pythom", "main.py"}), HasSubstr("no program of that name"));
}

TEST_F(ProgramEnvironmentTest, OneThatDoesNotAnswerIsNotedAndEnded) {
  write_script("python", "#!/bin/sh\necho $$ > " + at("pid").string() + "\nsleep 1000\n");
  const ProgramEnvironment found = find({"./python", "main.py"}, 0.3);
  EXPECT_THAT(found.note, HasSubstr("did not list its packages"));
  EXPECT_EQ(found.fingerprint, "");
  EXPECT_FALSE(lives(static_cast<pid_t>(std::stol(read_file(at("pid"))))));
}

TEST_F(ProgramEnvironmentTest, AnotherProgramIsKnownByItsContent) {
  write_script("trainer", "#!/bin/cat\n");
  const ProgramEnvironment found = find({"./trainer"});
  EXPECT_EQ(found.facts["executable_sha256"], sha256("#!/bin/cat\n"));
  EXPECT_NE(found.fingerprint, "");
  write_script("trainer", "#!/bin/cat\n\n");
  EXPECT_NE(find({"./trainer"}).fingerprint, found.fingerprint);
  EXPECT_THAT(changed_packages(found.facts, find({"./trainer"}).facts), HasSubstr("executable"));
  EXPECT_EQ(find({"bash", "run.sh"}).fingerprint, "") << "a shell is another one on each machine";
}

TEST_F(ProgramEnvironmentTest, ContainersAreKnownByTheirImage) {
  put(at("image.sif"), std::string(100000, 'i'));
  write_script("apptainer", "#!/bin/sh\n");
  const ProgramEnvironment found =
      find({"./apptainer", "-q", "exec", "--nv", "--bind", "/data:/data", "-B/x", "image.sif", "python", "main.py"});
  EXPECT_EQ(found.facts["container"], "apptainer");
  EXPECT_EQ(found.facts["image"], "image.sif");
  EXPECT_EQ(found.facts["image_id"], sha256("100000 bytes\n" + std::string(65536, 'i')).substr(0, 16));
  EXPECT_NE(found.fingerprint, "");
  EXPECT_FALSE(found.facts.contains("packages"));
  put(at("image.sif"), std::string(100001, 'i'));
  EXPECT_NE(find({"./apptainer", "exec", "image.sif", "python"}).fingerprint, found.fingerprint);
  EXPECT_THAT(error_of({"./apptainer", "run", "gone.sif"}), HasSubstr("gone.sif is missing"));
  EXPECT_THAT(find({"./apptainer", "exec", "docker://pytorch:2.1", "python"}).note,
              HasSubstr("name it with its digest"));
}

TEST_F(ProgramEnvironmentTest, DockersOptionsAreToldFromItsImage) {
  write_script("docker", "#!/bin/sh\n[ \"$1 $2\" = 'image inspect' ] && [ \"$5\" = pytorch:2.1 ] && echo sha256:abc\n");
  const std::string docker = at("docker").string();
  const auto image = [&](std::vector<std::string> words) {
    words.insert(words.begin(), docker);
    const std::optional<ContainerImage> found = container_image(words, folder_.path());
    return found ? found->image + " " + found->id : "none";
  };
  EXPECT_EQ(image({"run", "--rm", "-it", "--gpus", "all", "-v", "/a:/b", "-e", "A=b", "--name=x", "pytorch:2.1",
                   "python", "-u"}),
            "pytorch:2.1 sha256:abc");
  EXPECT_EQ(image({"run", "--rm", "name@sha256:0123", "python"}), "name@sha256:0123 sha256:0123");
  EXPECT_EQ(image({"run", "unknown"}), "unknown ");
  EXPECT_EQ(image({"ps"}), "none");
  EXPECT_EQ(image({"run", "--rm"}), "none");
}

TEST_F(ProgramEnvironmentTest, FirstLinesOfScriptsAreRead) {
  put(at("a"), "#!/usr/bin/env  python3\t-u\nprint(1)\n");
  EXPECT_THAT(script_interpreter(at("a")), ElementsAre("/usr/bin/env", "python3", "-u"));
  put(at("a"), "#!/bin/sh\n'''exec' /plain/python \"$0\" \"$@\"\n");
  EXPECT_THAT(script_interpreter(at("a")), ElementsAre("/plain/python"));
  for (const char* none : {"", "print(1)", "#!",
                           "\x7f"
                           "ELF"}) {
    put(at("a"), none);
    EXPECT_THAT(script_interpreter(at("a")), IsEmpty());
  }
  EXPECT_THAT(script_interpreter(at("missing")), IsEmpty());
}

TEST(ChangedPackages, AreToldShortly) {
  const auto with = [](const Json& packages) { return Json{{"python", "3.11.2"}, {"packages", packages}}; };
  EXPECT_EQ(changed_packages(with({{"torch", "2.0"}}), with({{"torch", "2.0"}})), "");
  EXPECT_EQ(changed_packages(with({{"torch", "2.0.1"}, {"numpy", "1.26"}}), with({{"torch", "2.1.0"}})),
            "no numpy, torch 2.1.0 instead of 2.0.1");
  EXPECT_EQ(changed_packages(with(Json::object()), Json{{"python", "3.12.0"}}), "python 3.12.0 instead of 3.11.2");
  Json many = Json::object();
  for (int i = 0; i < 9; ++i) many[fmt::format("p{}", i)] = "1";
  EXPECT_THAT(changed_packages(with(Json::object()), with(many)),
              HasSubstr("p4 1, which was missing, 4 other changes"));
}

}  // namespace
}  // namespace xlm
