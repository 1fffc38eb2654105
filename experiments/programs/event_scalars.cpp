// Of protocol buffers only what numbers need is read here:
//   Event { int64 step = 2; Summary summary = 5; SessionLog session_log = 7; }   Summary { repeated Value value = 1; }
//   Value { string tag = 1; float simple_value = 2; TensorProto tensor = 8; }
//   TensorProto { DataType dtype = 1; TensorShapeProto tensor_shape = 2; bytes tensor_content = 4; float float_val = 5;
//     double double_val = 6; int32 int_val = 7; int64 int64_val = 10; int32 half_val = 13; }, of which the values are
//     repeated, packed or not   TensorShapeProto { repeated Dim dim = 2; }
#include "experiments/programs/event_scalars.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/wire_message.h"

namespace xlm {
namespace {

using Wire = WireMessage;

/// Types of a TensorProto.
enum class TensorType : std::uint64_t { kFloat = 1, kDouble = 2, kInt32 = 3, kInt64 = 9, kBfloat16 = 14, kHalf = 19 };

double as_float(std::uint64_t bits) {
  return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
}

double as_half(std::uint64_t bits) {
  const double sign = (bits >> 15U & 1U) != 0 ? -1 : 1;
  const auto exponent = static_cast<int>(bits >> 10U & 0x1FU);
  const auto fraction = static_cast<double>(bits & 0x3FFU);
  if (exponent == 0x1F) return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  return exponent == 0 ? sign * std::ldexp(fraction, -24) : sign * std::ldexp(fraction + 1024, exponent - 25);
}

std::optional<double> value_of_bits(std::uint64_t type, std::uint64_t bits) {
  switch (static_cast<TensorType>(type)) {
    case TensorType::kFloat:
      return as_float(bits);
    case TensorType::kDouble:
      return std::bit_cast<double>(bits);
    case TensorType::kInt32:
      return static_cast<double>(static_cast<std::int32_t>(bits));
    case TensorType::kInt64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case TensorType::kBfloat16:
      return as_float(bits << 16U);
    case TensorType::kHalf:
      return as_half(bits);
  }
  return std::nullopt;
}

std::size_t bytes_of_type(std::uint64_t type) {
  switch (static_cast<TensorType>(type)) {
    case TensorType::kFloat:
    case TensorType::kInt32:
      return 4;
    case TensorType::kDouble:
    case TensorType::kInt64:
      return 8;
    case TensorType::kBfloat16:
    case TensorType::kHalf:
      return 2;
  }
  return 0;
}

std::uint64_t bits_of(std::string_view bytes) {
  std::string whole(bytes);
  whole.resize(sizeof(std::uint64_t));
  return from_little_endian<std::uint64_t>(whole);
}

/// The first of a list of values: one by itself, or the first of a packed list.
std::optional<std::uint64_t> first_bits(const Wire::Field& field, std::uint64_t type) {
  if (field.kind != Wire::Kind::kContent) return field.bits;
  if (field.content.empty()) return std::nullopt;
  if (field.number != 5 && field.number != 6) {  // integers and halves, each as long as it needs
    const std::string as_field = '\x08' + std::string(field.content);
    return Wire(as_field).next()->bits;
  }
  const std::size_t bytes = bytes_of_type(type);
  return field.content.size() < bytes ? std::nullopt : std::optional(bits_of(field.content.substr(0, bytes)));
}

std::optional<double> tensor_value(std::string_view tensor) {
  std::uint64_t type = 0;
  std::optional<std::uint64_t> bits;
  std::vector<Wire::Field> values;
  Wire message(tensor);
  while (const auto field = message.next()) {
    const bool is_content = field->kind == Wire::Kind::kContent;
    switch (field->number) {
      case 1:
        type = field->bits;
        break;
      case 2:
        if (is_content && Wire(field->content).find(2)) return std::nullopt;  // it has dimensions
        break;
      case 4:
      case 5:
      case 6:
      case 7:
      case 10:
      case 13:
        if (values.empty()) values.push_back(*field);
        break;
      default:
        break;
    }
  }
  const std::size_t bytes = bytes_of_type(type);
  if (bytes == 0) return std::nullopt;
  if (values.empty()) return 0;  // values that are 0 need not be written
  if (values.front().number != 4) {
    bits = first_bits(values.front(), type);
  } else if (values.front().content.size() == bytes) {
    bits = bits_of(values.front().content);
  }
  return bits ? value_of_bits(type, *bits) : std::nullopt;
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
