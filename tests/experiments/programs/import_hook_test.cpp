// What Python imports for a program: the copy of its code wherever the user's installation leads, and what lies in no
// copy is reported.
#include "experiments/programs/import_hook.h"

#include "base/sha256.h"
#include "tests/experiments/programs/programs_fixture.h"

namespace xlm {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::StartsWith;

/// A project in the layout with `src`, its copy in a run folder, and an edit of the project since.
class ImportHookTest : public ProgramsFixture {
 protected:
  ImportHookTest() {
    put(project() / "src/mine/__init__.py", "");
    put(project() / "src/mine/model.py", "FACTOR = 1\nif __name__ == '__main__': print(FACTOR)\n");
    put(project() / "scripts/train.py", "import mine.model\nprint(mine.model.FACTOR)\n");
  }

  fs::path project() const { return at("project"); }
  fs::path work() const { return at("runs/one/work"); }

  /// Copies the project, and edits it.
  void freeze_and_edit() {
    create_folders(work().parent_path());
    fs::copy(project(), work(), fs::copy_options::recursive | fs::copy_options::copy_symlinks);
    put(project() / "src/mine/model.py", "FACTOR = 100\nif __name__ == '__main__': print(FACTOR)\n");
  }

  /// What a command in the copy says; the project is edited before, unless it was.
  std::string said(const std::vector<std::string>& words) {
    if (!fs::exists(work())) freeze_and_edit();
    lay_import_hook(project(), work(), environment_);
    ProgramCommand what = command(words);
    what.folder = work();
    what.environment = environment_;
    output_.clear();
    const ProgramEnd end = run_to_end(std::move(what));
    EXPECT_TRUE(end.is_success()) << output_;
    return std::string(trim(output_));
  }
  std::string trained() { return said({"python3", "scripts/train.py"}); }

  OutsideFiles reported() const { return reported_imports(work()).value_or(OutsideFiles{{"nothing", ""}}); }

  /// The folder of packages that the user installed, where `pip install --editable` leaves its files.
  fs::path site() {
    environment_["PYTHONUSERBASE"] = at("user").string();
    ProgramCommand what = command({"python3", "-c", "import site; print(site.getusersitepackages())"});
    what.environment = environment_;
    output_.clear();
    run_to_end(std::move(what));
    return std::string(trim(output_));
  }

  std::map<std::string, std::string> environment_;
};

TEST_F(ImportHookTest, AnInstalledPackageInPlaceOfTheCopysModuleIsNamed) {
  put(at("lib/site-packages/mine/__init__.py"), "");
  put(at("lib/site-packages/mine/model.py"), "FACTOR = 7\n");
  put(at("lib/site-packages/other.py"), "");
  put(project() / "scripts/train.py", "import mine.model, other\nprint(mine.model.FACTOR)\n");
  environment_["PYTHONPATH"] = at("lib/site-packages").string();
  EXPECT_EQ(trained(), "7") << "it is what the program would import without xlm";
  EXPECT_THAT(reported(), AllOf(Contains(Key(at("lib/site-packages/mine/model.py").string())),
                                Not(Contains(Key(at("lib/site-packages/other.py").string())))));
}

TEST_F(ImportHookTest, TheCopyComesBeforeThePathsOfThePythonPath) {
  put(at("other/helper.py"), "");
  environment_["PYTHONPATH"] = (project() / "src").string() + ":" + at("other").string();
  EXPECT_EQ(trained(), "1");
  EXPECT_THAT(reported(), IsEmpty());
  EXPECT_EQ(said({"python3", "-c", "import helper, mine; print(helper.__file__)"}), at("other/helper.py").string());
  EXPECT_THAT(reported(), ElementsAre(std::pair(at("other/helper.py").string(), sha256(""))));
}

// The package lies next to the folder of the script, so the path entry is that of the project itself.
TEST_F(ImportHookTest, TheCopyIsImportedForAPackageInTheProjectsFolder) {
  put(project() / "flat/__init__.py", "");
  put(project() / "flat/model.py", "FACTOR = 1\n");
  put(project() / "scripts/train.py", "import flat.model\nprint(flat.model.FACTOR)\n");
  environment_["PYTHONPATH"] = project().string();
  freeze_and_edit();
  put(project() / "flat/model.py", "FACTOR = 100\n");
  EXPECT_EQ(trained(), "1");
  EXPECT_THAT(reported(), IsEmpty());
  environment_.erase("PYTHONPATH");
  put(site() / "__editable__.flat-0.1.pth", project().string() + "\n");
  EXPECT_EQ(trained(), "1");
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(ImportHookTest, TheCopyIsImportedForAPackageThatIsInstalledAsALink) {
  put(site() / "__editable__.mine-0.1.pth", (project() / "src").string() + "\n");
  EXPECT_EQ(trained(), "1");
  EXPECT_THAT(reported(), IsEmpty());
  fs::remove_all(project() / "src/mine");
  EXPECT_EQ(trained(), "1") << "as it was frozen, whatever was removed since";
}

// As setuptools writes it for packages that are not all of a folder.
TEST_F(ImportHookTest, TheCopyIsImportedForAPackageThatAFinderKnows) {
  const fs::path packages = site();
  put(packages / "__editable__.mine-0.1.pth", "import __editable___mine_finder; __editable___mine_finder.install()\n");
  put(packages / "__editable___mine_finder.py", fmt::format(R"(import sys
from importlib.util import spec_from_file_location
MAPPING = {{"mine": "{}"}}
class _EditableFinder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            return spec_from_file_location(name, MAPPING[name] + "/__init__.py")
def install():
    sys.meta_path.append(_EditableFinder)
)",
                                                            (project() / "src/mine").string()));
  EXPECT_EQ(trained(), "1");
  EXPECT_THAT(reported(), IsEmpty());
  std::string finder = read_file(packages / "__editable___mine_finder.py");
  for (std::size_t at = 0; (at = finder.find("MAPPING")) != std::string::npos;) finder.replace(at, 7, "PLACES");
  put(packages / "__editable___mine_finder.py", finder);
  EXPECT_EQ(trained(), "1") << "also by a finder that is not setuptools'";
}

TEST_F(ImportHookTest, TheCopyIsImportedForALinkAmongThePackages) {
  create_folders(site());
  fs::create_directory_symlink(project() / "src/mine", site() / "mine");
  EXPECT_EQ(trained(), "1");
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(ImportHookTest, ModulesThatAreRunAndNamespacesAreThoseOfTheCopy) {
  put(project() / "src/space/leaf.py", "import mine.model as m\nprint(m.FACTOR)\n");
  environment_["PYTHONPATH"] = (project() / "src").string();
  EXPECT_EQ(said({"python3", "-m", "mine.model"}), "1");
  EXPECT_EQ(said({"python3", "-m", "space.leaf"}), "1");
  put(project() / "src/space/leaf.py", "print('edited')\n");
  EXPECT_EQ(said({"python3", "-c", "import space.leaf"}), "1");
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(ImportHookTest, PathsThatTheProgramAddsAreThoseOfTheCopy) {
  put(at("next/sibling.py"), "VALUE = 3\n");
  put(project() / "scripts/train.py",
      fmt::format("import sys\nsys.path.append('{}')\nsys.path.append('{}')\nimport mine.model, sibling\n"
                  "print(mine.model.FACTOR, sibling.VALUE)\n",
                  (project() / "src").string(), at("next").string()));
  EXPECT_EQ(trained(), "1 3");
  EXPECT_THAT(reported(), ElementsAre(Key(at("next/sibling.py").string())));
}

TEST_F(ImportHookTest, ProcessesThatTheProgramStartsImportTheCopyToo) {
  put(project() / "scripts/train.py",
      "import subprocess, sys\nsubprocess.check_call([sys.executable, '-c', "
      "'import mine.model as m; print(m.FACTOR)'])\n");
  environment_["PYTHONPATH"] = (project() / "src").string();
  EXPECT_EQ(trained(), "1");
  EXPECT_EQ(said({"bash", "-c", "python3 -c 'import mine.model as m; print(m.FACTOR)'"}), "1");
}

TEST_F(ImportHookTest, WhatIsMissingInTheCopyIsTakenFromTheProjectAndReported) {
  freeze_and_edit();
  put(project() / "src/mine/local.py", "VALUE = 5\n");
  put(project() / "src/mine/built.so", "no machine code");
  put(project() / "scripts/new.py", "");
  environment_["PYTHONPATH"] = (project() / "src").string();
  const char* const imports = "import mine.local\ntry: import mine.built\nexcept ImportError: print(mine.local.VALUE)";
  EXPECT_EQ(said({"python3", "-c", imports}), "5");
  EXPECT_THAT(reported(), ElementsAre(Key((project() / "src/mine/built.so").string()),
                                      Key((project() / "src/mine/local.py").string())));
}

TEST_F(ImportHookTest, ArchivesAndScriptsFromElsewhereAreReported) {
  put(at("next/train.py"), "import packed, mine.model\nprint(packed.VALUE, mine.model.FACTOR)\n");
  ASSERT_EQ(said({"python3", "-c",
                  fmt::format("import zipfile; zipfile.ZipFile('{}', 'w').writestr('packed.py', 'VALUE = 7')",
                              at("packed.zip").string())}),
            "");
  EXPECT_THAT(reported(), IsEmpty());
  environment_["PYTHONPATH"] = (project() / "src").string() + ":" + at("packed.zip").string();
  EXPECT_EQ(said({"sh", "-c", "python3 " + at("next/train.py").string()}), "7 1");
  EXPECT_THAT(reported(), ElementsAre(Key(at("next/train.py").string()), Key(at("packed.zip").string())));
  EXPECT_EQ(reported().at(at("packed.zip").string()), sha256_file(at("packed.zip")));
}

TEST_F(ImportHookTest, WhatIsUsedIsReportedBeforeAKill) {
  put(at("next/train.py"), "import os, other\nos.kill(os.getpid(), 9)\n");
  put(at("next/other.py"), "");
  said({"sh", "-c", "python3 " + at("next/train.py").string() + " || true"});
  EXPECT_THAT(reported(), ElementsAre(Key(at("next/other.py").string()), Key(at("next/train.py").string())));
}

TEST_F(ImportHookTest, TheLibraryAndWhatTheProgramWritesAreNotReported) {
  put(site() / "installed.py", "");
  put(project() / "scripts/train.py",
      "import sys, tempfile, json, unittest.mock, installed\nwith tempfile.TemporaryDirectory() as folder:\n"
      "    open(folder + '/made.py', 'w').write('VALUE = 9')\n    sys.path.insert(0, folder)\n    import made\n"
      "    print(made.VALUE)\n");
  EXPECT_EQ(trained(), "9");
  EXPECT_THAT(reported(), IsEmpty());
}

TEST_F(ImportHookTest, TheUsersOwnCustomizationRuns) {
  put(at("own/sitecustomize.py"), "print('customized')\n");
  environment_["PYTHONPATH"] = at("own").string() + ":" + (project() / "src").string();
  EXPECT_EQ(trained(), "customized\n1");
  EXPECT_THAT(reported(), ElementsAre(Key(at("own/sitecustomize.py").string())));
  put(at("own/sitecustomize.py"), "import no_such_module\n");
  EXPECT_THAT(trained(), AllOf(HasSubstr("Error in sitecustomize"), HasSubstr("no_such_module")));
}

TEST_F(ImportHookTest, ProgramsSeeNothingOfIt) {
  environment_["PYTHONPATH"] = at("own").string();
  EXPECT_EQ(said({"python3", "-c", "import sys; print([p for p in sys.path if '.xlm' in p])"}), "[]");
  EXPECT_EQ(said({"python3", "-c", "try: import missing\nexcept ModuleNotFoundError as e: print(e.name)"}), "missing");
}

TEST_F(ImportHookTest, APythonThatIgnoresTheEnvironmentIsKnown) {
  EXPECT_EQ(said({"python3", "-I", "-c", "print(2)"}), "2");
  EXPECT_FALSE(reported_imports(work()).has_value());
  EXPECT_EQ(said({"sh", "-c", "echo no Python"}), "no Python");
  EXPECT_FALSE(reported_imports(work()).has_value());
  remove_import_hook(work());
  EXPECT_FALSE(fs::exists(work() / ".xlm"));
}

TEST_F(ImportHookTest, WordsNameTheCopy) {
  freeze_and_edit();
  const auto word = [&](const std::string& given) { return word_for_copy(given, project(), work()); };
  const std::string copied = (work() / "scripts/train.py").string();
  EXPECT_EQ(word((project() / "scripts/train.py").string()), copied);
  EXPECT_EQ(word("--script=" + (project() / "scripts/train.py").string()), "--script=" + copied);
  EXPECT_EQ(word("../project/scripts/train.py"), copied);
  EXPECT_EQ(word("scripts/train.py"), "scripts/train.py") << "the program runs in the copy";
  fs::create_directory_symlink(project(), at("link"));
  EXPECT_EQ(word(at("link/scripts/train.py").string()), copied);
  put(project() / "data.txt", "");
  for (const std::string& other : {(project() / "data.txt").string(), project().string(), std::string("--lr=0.1"),
                                   std::string("."), std::string("/usr/bin/env"), std::string()}) {
    EXPECT_EQ(word(other), other);
  }
}

TEST_F(ImportHookTest, ScriptsThatWordsNameElsewhereAreCode) {
  put(at("tools/run.sh"), "echo");
  put(at("runs/one/config.yaml"), "");
  put(at("data.bin"), "");
  const std::vector<std::string> words{"bash",
                                       at("tools/run.sh").string(),
                                       "--c=" + at("tools/run.sh").string(),
                                       at("runs/one/config.yaml").string(),
                                       at("data.bin").string(),
                                       "/missing.py",
                                       ""};
  EXPECT_THAT(named_outside(words, {at("runs/one"), ""}),
              ElementsAre(std::pair(at("tools/run.sh").string(), sha256("echo"))));
}

}  // namespace
}  // namespace xlm
