// tf.train.Example is a protocol buffer of four nested messages.
#include "datasets/input/tf_example.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/wire_message.h"

namespace xlm {
namespace {

/// Example { Features features = 1; }, Features { map<string, Feature> feature = 1; }, Feature { BytesList bytes_list =
/// 1; … }, BytesList { repeated bytes value = 1; }. A map is a list of messages { key = 1; value = 2; }.
std::optional<std::string_view> find_bytes(std::string_view example, std::string_view name) {
  WireMessage outer(example);
  std::optional<std::string_view> found;  // what comes last counts, as in any protocol buffer
  while (const std::optional<std::string_view> features = outer.find(1)) {
    WireMessage map(*features);
    while (const std::optional<std::string_view> entry = map.find(1)) {
      if (WireMessage(*entry).find(1).value_or("") != name) continue;
      const std::optional<std::string_view> feature = WireMessage(*entry).find(2);
      const std::optional<std::string_view> list = feature ? WireMessage(*feature).find(1) : std::nullopt;
      found = list ? WireMessage(*list).find(1) : std::nullopt;
    }
  }
  return found;
}

}  // namespace

std::optional<std::string_view> example_bytes(std::string_view example, std::string_view name,
                                              const std::string& source) {
  try {
    return find_bytes(example, name);
  } catch (const WireMessage::Malformed&) {
    throw DataError(fmt::format("{}: a record is no tf.train.Example\nfetch the file again", source));
  }
}

}  // namespace xlm
