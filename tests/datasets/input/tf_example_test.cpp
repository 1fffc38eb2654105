#include "datasets/input/tf_example.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/tf_record.h"
#include "tests/datasets/corpora/shards.h"
#include "tests/temporary_folder.h"

namespace xlm {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

ReadBytes reader_of(std::string_view bytes, std::size_t at_once = 5) {
  return [bytes, at_once](char* buffer, std::size_t count) mutable {
    const std::size_t taken = bytes.copy(buffer, std::min(count, at_once));
    bytes.remove_prefix(taken);
    return taken;
  };
}

std::vector<std::string> texts_of(std::string_view bytes) {
  TfRecordReader records(reader_of(bytes), "shard");
  std::vector<std::string> texts;
  while (const auto record = records.next()) {
    texts.emplace_back(example_bytes(*record, "text", "shard").value_or("(none)"));
  }
  return texts;
}

class TfRecord : public ::testing::Test {
 protected:
  std::string shard(const std::vector<std::string>& articles) const {
    return read_file(write_shard("tfrecord", folder_.path() / "shard", articles));
  }

  TemporaryFolder folder_;
};

TEST_F(TfRecord, ReadsWhatAnotherProgramWrote) {
  const std::string long_article(300'000, 'x');
  EXPECT_THAT(texts_of(shard({"one", "äö", "", long_article})), ElementsAre("one", "äö", "", long_article));
  EXPECT_THAT(texts_of(""), ElementsAre());
}

TEST_F(TfRecord, EveryFlippedBitIsFound) {
  const std::string good = shard({"first", "second"});
  EXPECT_TRUE(is_tf_record(good));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x10);
    EXPECT_THAT([&] { texts_of(bad); }, ThrowsMessage<DataError>(HasSubstr("checksum"))) << at;
  }
}

TEST_F(TfRecord, EveryCutButBetweenRecordsIsFound) {
  const std::string good = shard({"first", "second"});
  int whole = 0;
  for (std::size_t bytes = 1; bytes < good.size(); ++bytes) {
    try {
      whole += static_cast<int>(texts_of(std::string_view(good).substr(0, bytes)).size() == 1);
    } catch (const DataError& error) {
      EXPECT_THAT(error.what(), HasSubstr("truncated"));
    }
  }
  EXPECT_EQ(whole, 1);
}

TEST(TfRecordExample, FindsTheFeatureAmongOthers) {
  using namespace std::string_literals;
  EXPECT_EQ(example_bytes("", "text", "f"), std::nullopt);
  // feature { key: "text" value { int64_list { value: 1 } } }: a list of another kind
  EXPECT_EQ(example_bytes("\x0A\x0F\x0A\x0D\x0A\x04text\x12\x05\x1A\x03\x0A\x01\x01"s, "text", "f"), std::nullopt);
  // An unknown field of each wire type comes first.
  EXPECT_EQ(
      example_bytes("\x10\x05\x19********\x25****\x0A\x0F\x0A\x0D\x0A\x04text\x12\x05\x0A\x03\x0A\x01y"s, "text", "f"),
      "y");
}

TEST(TfRecordExample, RefusesMalformedRecords) {
  using namespace std::string_literals;
  for (const std::string& bytes :
       {"\x0A"s, "\x0A\x05x"s, "\x0B"s, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s, "plain text"s}) {
    EXPECT_THROW(example_bytes(bytes, "text", "f"), DataError) << bytes;
  }
}

}  // namespace
}  // namespace xlm
