// tf.train.Example, as TensorFlow writes it into TFRecord files.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace xlm {

/// The first value of the feature `name` of a serialized tf.train.Example, a list of bytes; a view into `example`.
/// nullopt if there is no such feature. Throws DataError with `source` if it is not an Example.
std::optional<std::string_view> example_bytes(std::string_view example, std::string_view name,
                                              const std::string& source);

}  // namespace xlm
