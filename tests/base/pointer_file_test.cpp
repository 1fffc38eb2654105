#include "base/pointer_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "base/safetensors_header.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr const char* kLfs = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 134\n";

TEST(PointerFile, IsAnErrorThatSaysHowToFetchTheFile) {
  EXPECT_EQ(pointer_file(kLfs)->advice, "fetch the file: git lfs pull");
  EXPECT_EQ(pointer_file("/annex/objects/SHA256E-s9--00\n")->advice, "fetch the file: git annex get FILE");
  EXPECT_EQ(pointer_file("outs:\n- md5: 00\n  path: a\n")->advice, "fetch the file: dvc pull");
  EXPECT_EQ(pointer_file("# xet version 0\nfilesize = 9\nhash = '00'\n")->advice, "fetch the file: git xet checkout");
  EXPECT_FALSE(pointer_file("version https://git-lfs.github.com/spec/v1 is what pointers begin with"));
  EXPECT_FALSE(pointer_file(""));
}

TEST(PointerFile, ReadersOfJsonAndWeightsNameIt) {
  TemporaryFolder folder;
  write_file(folder.path() / "vocab.json", kLfs);
  EXPECT_THAT([&] { read_json(folder.path() / "vocab.json"); },
              ThrowsMessage<DataError>(HasSubstr("vocab.json is a git-LFS pointer")));
  EXPECT_THAT([&] { parse_safetensors_header(kLfs, "model.safetensors"); },
              ThrowsMessage<DataError>(HasSubstr("model.safetensors is a git-LFS pointer")));
}

}  // namespace
}  // namespace xlm
