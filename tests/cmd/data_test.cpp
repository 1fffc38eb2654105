// xlm data: output, messages and exit codes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "tests/datasets/corpora/shards.h"
#include "tests/datasets/tokens/bpe_files.h"
#include "tests/experiments/program.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

class DataShow : public ::testing::Test {
 protected:
  DataShow() {
    write_file(folder_.path() / "a.txt", "Banana\nand more\nxyz");
    EXPECT_EQ(run("prepare-data text --from a.txt --out d --split 12,4,3 --vocabulary train --keep-text").code, kDone);
  }
  ProgramResult run(const std::string& arguments) const {
    return shell(folder_.path(), fmt::format("'{}' {}", XLM_BINARY, arguments));
  }

  TemporaryFolder folder_;
};

TEST_F(DataShow, DescribesTheFolder) {
  const ProgramResult outcome = run("data show d");
  EXPECT_EQ(outcome.code, kDone) << outcome.err;
  for (const char* part :
       {"d: d, 8 symbols (characters)", "alphabet: line break space B a d m n \uFFFD", "train: a 33.3 %, n 25.0 %",
        "  Banana\n  and m\n", "not in training, now U+FFFD:", "sources:\n", " a.txt\n"}) {
    EXPECT_THAT(outcome.out, HasSubstr(part));
  }
}

TEST_F(DataShow, PrintsJson) {
  const Json json = parse_json(run("data show d --json --verify").out, "output");
  EXPECT_EQ(json["dataset"], "d");
  EXPECT_EQ(json["verified"], true);
  EXPECT_EQ(json["vocabulary"], "train");
  EXPECT_EQ(json["splits"]["train"]["tokens"], 12);
  EXPECT_EQ(json["splits"]["train"]["symbols"][0]["symbol"], "a");
  EXPECT_EQ(json["splits"]["train"]["symbols"][0]["count"], 4);
  EXPECT_EQ(json["splits"]["train"]["lines"][0], "Banana");
  EXPECT_EQ(json["unknown_characters"]["test"], 3);
  EXPECT_EQ(json["sources"].size(), 1U);
}

TEST_F(DataShow, CountsManySourcesByFolder) {
  for (int i = 0; i < 20; ++i) {
    const fs::path file = folder_.path() / "texts" / (i < 12 ? "novels" : "letters") / fmt::format("{}.txt", i);
    create_folders(file.parent_path());
    write_file(file, fmt::format("text {}\n", i));
  }
  const ProgramResult prepared = run("prepare-data text --from texts --out many");
  EXPECT_THAT(prepared.err, HasSubstr("of 20 documents 1 are validation and 1 are test, a fixed sample"));
  const std::string shown = run("data show many").out;
  EXPECT_THAT(shown, HasSubstr("sources:\n  8 files in letters\n  12 files in novels\n  --json lists them"));
  EXPECT_EQ(parse_json(run("data show many --json").out, "output")["split_by"], "document");
}

TEST_F(DataShow, CallsBytePairsByTheirName) {
  write_small_bpe(folder_.path() / "bpe");
  EXPECT_EQ(run("prepare-data text --from a.txt --unit bpe --bpe bpe --out e").code, kDone);
  EXPECT_THAT(run("data show e").out, HasSubstr("symbols (byte pairs)\n"));
  EXPECT_EQ(parse_json(run("data show e --json").out, "output")["unit"], "bpe");
}

TEST_F(DataShow, VerifyFindsDamage) {
  EXPECT_EQ(run("data show d --verify").code, kDone);
  write_file(folder_.path() / "d/train.txt", "Banana\nand n");
  EXPECT_EQ(run("data show d").code, kDone);
  const ProgramResult outcome = run("data show d --verify");
  EXPECT_EQ(outcome.code, kBadData);
  EXPECT_THAT(outcome.err, HasSubstr("train.txt is damaged"));
  EXPECT_EQ(run("data show nowhere").code, kBadData);
  write_file(folder_.path() / "b.txt", "to be or not to be that is the question to be or not to be that is");
  EXPECT_EQ(run("prepare-data text --from b.txt --out e --split 100%,0%,0% --train-unigram 17").code, kDone);
  EXPECT_EQ(run("data show e --verify").code, kDone);
  write_file(folder_.path() / "e/segmentations/unigram-17/tokenizer.model", "no model");
  EXPECT_THAT(run("data show e --verify").err, HasSubstr("unigram-17/tokenizer.model is damaged"));
  EXPECT_EQ(run("data").code, kUsage);
}

TEST_F(DataShow, ImportsADatasetFromDisk) {
  write_shard("parquet", folder_.path() / "hub/train-00000-of-00001.parquet", {"first ", "second"});
  write_shard("parquet", folder_.path() / "hub/test-00000-of-00001.parquet", {"third"});
  const ProgramResult imported = run("data import hub --out h");
  EXPECT_EQ(imported.code, kDone) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("h is ready: h, "));
  EXPECT_THAT(imported.err, HasSubstr("no valid.bin"));
  const Json json = parse_json(run("data show h --json").out, "output");
  EXPECT_EQ(json["splits"]["train"]["lines"][0], "first second");
  EXPECT_EQ(json["splits"]["test"]["lines"][0], "third");
  EXPECT_EQ(run("data import d --out e").code, kBadData) << "no shards";
  EXPECT_EQ(run("data import hub --column title --out e").code, kBadData);
  EXPECT_EQ(run("data import hub").code, kUsage);
  write_file(folder_.path() / "hub/train-more-00001-of-00001.parquet",
             "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 134\n");
  const ProgramResult pointer = run("data import hub --out e");
  EXPECT_EQ(pointer.code, kBadData);
  EXPECT_THAT(pointer.err, HasSubstr("00001-of-00001.parquet is a git-LFS pointer"));
  EXPECT_FALSE(fs::exists(folder_.path() / "e"));
}

TEST_F(DataShow, TextComesWithItsOwnSplits) {
  write_file(folder_.path() / "b.txt", "tested");
  const ProgramResult prepared = run("prepare-data text --train a.txt --test b.txt --out own");
  EXPECT_EQ(prepared.code, kDone) << prepared.err;
  EXPECT_EQ(parse_json(run("data show own --json").out, "output")["splits"]["test"]["tokens"], 6);
  EXPECT_EQ(run("prepare-data text --out nothing").code, kUsage);
}

}  // namespace
}  // namespace xlm
