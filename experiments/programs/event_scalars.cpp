// Of protocol buffers only what numbers need is read here:
//   Event { int64 step = 2; Summary summary = 5; SessionLog session_log = 7; }   Summary { repeated Value value = 1; }
//   Value { string tag = 1; float simple_value = 2; TensorProto tensor = 8; }
//   TensorProto { DataType dtype = 1; TensorShapeProto tensor_shape = 2; bytes tensor_content = 4; float float_val = 5;
//     double double_val = 6; }, of which the values are repeated, packed or not
//   TensorShapeProto { repeated Dim dim = 2; }
#include "experiments/programs/event_scalars.h"

#include <bit>

#include "base/wire_message.h"

namespace xlm {
namespace {

using Wire = WireMessage;

/// Types of a TensorProto in which writers put scalars: TensorFlow makes floats of all.
enum TensorType : std::uint64_t { kFloatTensor = 1, kDoubleTensor = 2 };

double as_float(std::uint64_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

std::uint64_t bits_of(std::string_view bytes) {
  std::string whole(bytes);
  whole.resize(sizeof(std::uint64_t));
  return from_little_endian<std::uint64_t>(whole);
}

std::optional<double> tensor_value(std::string_view tensor) {
  std::uint64_t type = 0;
  std::optional<Wire::Field> value;  // by itself, as bytes, or a packed list
  Wire message(tensor);
  while (const auto field = message.next()) {
    const bool is_content = field->kind == Wire::Kind::kContent;
    if (field->number == 1) type = field->bits;
    if (field->number == 2 && is_content && Wire(field->content).find(2)) return std::nullopt;  // it has dimensions
    if (field->number >= 4 && field->number <= 6 && !value) value = field;
  }
  if (type != kFloatTensor && type != kDoubleTensor) return std::nullopt;
  if (!value) return 0;  // which need not be written
  std::uint64_t bits = value->bits;
  if (value->kind == Wire::Kind::kContent) {
    const std::size_t bytes = type == kDoubleTensor ? sizeof(double) : sizeof(float);
    if (value->content.size() < bytes) return std::nullopt;
    bits = bits_of(value->content.substr(0, bytes));
  }
  return type == kDoubleTensor ? std::bit_cast<double>(bits) : as_float(bits);
}

void add_value(std::string_view value, EventScalars& scalars) {
  std::string tag;
  std::optional<double> number;
  Wire message(value);
  while (const auto field = message.next()) {
    if (field->number == 1 && field->kind == Wire::Kind::kContent) tag = field->content;
    if (field->number == 2 && field->kind == Wire::Kind::kFixed32) number = as_float(field->bits);
    if (field->number == 8 && field->kind == Wire::Kind::kContent) number = tensor_value(field->content);
  }
  if (number && !tag.starts_with("_hparams_/")) scalars.values.emplace_back(tag, *number);
}

}  // namespace

std::optional<EventScalars> event_scalars(std::string_view event) {
  EventScalars scalars;
  try {
    Wire message(event);
    while (const auto field = message.next()) {
      if (field->number == 2 && field->kind == Wire::Kind::kNumber)
        scalars.step = static_cast<std::int64_t>(field->bits);
      // SessionLog { SessionStatus status = 1; }, of which START is 1: a writer with a purge_step
      if (field->number == 7 && field->kind == Wire::Kind::kContent) {
        const auto status = Wire(field->content).next();
        scalars.goes_back = status && status->number == 1 && status->bits == 1;
      }
      if (field->number != 5 || field->kind != Wire::Kind::kContent) continue;
      Wire summary(field->content);
      while (const auto value = summary.find(1)) add_value(*value, scalars);
    }
  } catch (const Wire::Malformed&) {
    return std::nullopt;
  }
  return scalars;
}

}  // namespace xlm
