// The skeleton of a model in examples/model_skeleton, copied as CONTRIBUTING.md says. test_example_core trains it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ModelSkeleton, BecomesAModelByTheCommandsOfCONTRIBUTING) {
  const fs::path source(XLM_SOURCE_DIR);
  const TemporaryFolder folder;
  for (const char* part : {"core/api", "core/models", "examples/model_skeleton"}) {
    fs::create_directories(folder.path() / part);
    fs::copy(source / part, folder.path() / part, fs::copy_options::recursive);
  }
  const std::string page = read_file(source / "CONTRIBUTING.md");
  const std::size_t begin = page.find("name=mixer");
  ASSERT_NE(begin, std::string::npos);
  write_file(folder.path() / "copy.sh", page.substr(begin, page.find("make build", begin) - begin));
  const ProgramResult copied = shell(folder.path(), "bash copy.sh");
  ASSERT_EQ(copied.code, 0) << copied.err;
  for (const char* name : {"core/api/mixer_options.h", "core/api/mixer_options.cpp", "core/models/mixer.cpp"}) {
    const std::string text = read_file(folder.path() / name);
    EXPECT_THAT(text, Not(HasSubstr("keleton"))) << name;
    EXPECT_THAT(text, HasSubstr("#include \"core/api/m")) << name;
  }
  EXPECT_THAT(read_file(folder.path() / "core/models/mixer.cpp"), HasSubstr("> make_mixer(const ModelOptions&"));
  EXPECT_THAT(read_file(folder.path() / "core/api/models.def"), EndsWith("XLM_MODEL(mixer)\n"));
}

TEST(ModelSkeleton, IsAModelLikeAllOthers) {
  const TemporaryFolder folder;
  const ProgramResult reference =
      BackgroundProgram({XLM_EXAMPLE_BINARY, "train", "--print-reference"}, folder.path()).wait();
  EXPECT_THAT(reference.out, HasSubstr("## `model.type: skeleton`"));
}

}  // namespace
}  // namespace xlm
