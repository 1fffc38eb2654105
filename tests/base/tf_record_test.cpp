#include "base/tf_record.h"

#include <gtest/gtest.h>

#include "base/wire_message.h"

namespace xlm {
namespace {

using Kind = TfRecordPiece::Kind;

/// The records "one" and "", with the checksums that tensorboardX computes.
const std::string kTwoRecords(
    "\x03\0\0\0\0\0\0\0\xB0\x99\x49\x0Eone\x01\x40\x55\x08"
    "\0\0\0\0\0\0\0\0\x29\x03\x98\x07\xD8\xEA\x82\xA2",
    35);

TEST(GrowingTfRecord, IsWholeWithItsLastByte) {
  for (std::size_t bytes = 0; bytes < 19; ++bytes) {
    const TfRecordPiece piece = take_tf_record(std::string_view(kTwoRecords).substr(0, bytes));
    EXPECT_EQ(piece.kind, Kind::kIncomplete) << bytes;
    EXPECT_EQ(piece.bytes, bytes < 12 ? 12U : 19U) << bytes;
  }
  const TfRecordPiece first = take_tf_record(kTwoRecords);
  ASSERT_EQ(first.kind, Kind::kWhole);
  EXPECT_EQ(first.content, "one");
  const TfRecordPiece second = take_tf_record(std::string_view(kTwoRecords).substr(first.bytes));
  ASSERT_EQ(second.kind, Kind::kWhole);
  EXPECT_EQ(second.content, "");
  EXPECT_EQ(first.bytes + second.bytes, kTwoRecords.size());
}

TEST(GrowingTfRecord, EveryFlippedBitIsFound) {
  for (std::size_t at = 0; at < 19; ++at) {
    std::string bad = kTwoRecords;
    bad[at] = static_cast<char>(bad[at] ^ 0x04);
    EXPECT_EQ(take_tf_record(bad).kind, Kind::kDamaged) << at;
  }
}

TEST(WireMessageTest, GivesFieldsOfEachKind) {
  // message { 1: 300 (varint), 2: "ab", 3: fixed64 1, 4: fixed32 1.0f }
  const std::string bytes(
      "\x08\xac\x02\x12\x02"
      "ab"
      "\x19\x01\0\0\0\0\0\0\0\x25\0\0\x80\x3f",
      21);
  WireMessage message(bytes);
  const auto number = message.next().value();
  EXPECT_EQ(number.number, 1U);
  EXPECT_EQ(number.bits, 300U);
  EXPECT_EQ(message.next()->content, "ab");
  EXPECT_EQ(message.next()->bits, 1U);
  const auto real = message.next().value();
  EXPECT_EQ(real.kind, WireMessage::Kind::kFixed32);
  EXPECT_EQ(real.bits, 0x3F800000U);
  EXPECT_FALSE(message.next());
  for (std::size_t cut = 1; cut < bytes.size(); ++cut) {
    WireMessage torn(std::string_view(bytes).substr(0, cut));
    const auto count = [&] {
      int fields = 0;
      while (torn.next()) ++fields;
      return fields;
    };
    if (cut == 3 || cut == 7 || cut == 16) {  // between fields
      EXPECT_EQ(count(), cut == 3 ? 1 : cut == 7 ? 2 : 3);
    } else {
      EXPECT_THROW(count(), WireMessage::Malformed) << cut;
    }
  }
}

}  // namespace
}  // namespace xlm
