// Variables of the shell that may change what a program computes.
#include "experiments/programs/read_variables.h"

#include <cstdlib>

#include <gmock/gmock.h>

#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::Contains;
using ::testing::Key;
using ::testing::Not;

class ReadVariables : public ::testing::Test {
 protected:
  ~ReadVariables() override {
    for (const std::string& name : set_) ::unsetenv(name.c_str());
  }
  /// What is found where the program's file says `code` and the shell has these variables.
  std::map<std::string, std::string> found(const std::string& code, const std::vector<std::string>& variables) {
    for (const std::string& name : variables) {
      ::setenv(name.c_str(), "64", 1);
      set_.push_back(name);
    }
    write_file(folder_.path() / "t.py", code);
    return read_variables(folder_.path(), {}, {});
  }

  TemporaryFolder folder_;
  std::vector<std::string> set_;
};

TEST_F(ReadVariables, ThoseOfLibrariesCountThoughNoProgramNamesThem) {
  const auto variables = found("", {"JAX_DEFAULT_MATMUL_PRECISION", "TRANSFORMERS_X", "MKL_CBWR", "TRANSFORMERS_CACHE",
                                    "TF_CPP_MIN_LOG_LEVEL", "TF_CONFIG", "PYTORCH_CUDA_ALLOC_CONF", "JAXLIKE"});
  for (const char* name : {"JAX_DEFAULT_MATMUL_PRECISION", "TRANSFORMERS_X", "MKL_CBWR"}) {
    EXPECT_THAT(variables, Contains(Key(name)));
  }
  for (const char* name :
       {"TRANSFORMERS_CACHE", "TF_CPP_MIN_LOG_LEVEL", "TF_CONFIG", "PYTORCH_CUDA_ALLOC_CONF", "JAXLIKE"}) {
    EXPECT_THAT(variables, Not(Contains(Key(name))));
  }
}

TEST_F(ReadVariables, ANameThatBeginsAsOneOfAPlaceIsAnother) {
  const auto variables = found("os.environ['LOCAL_BATCH_SIZE'], os.environ['MASTER_BATCH'], os.environ['LOCAL_RANK']",
                               {"LOCAL_BATCH_SIZE", "MASTER_BATCH", "LOCAL_RANK"});
  EXPECT_THAT(variables, Contains(Key("LOCAL_BATCH_SIZE")));
  EXPECT_THAT(variables, Contains(Key("MASTER_BATCH")));
  EXPECT_THAT(variables, Not(Contains(Key("LOCAL_RANK"))));
}

}  // namespace
}  // namespace xlm
