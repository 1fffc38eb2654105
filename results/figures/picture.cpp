// Pictures of figures.
#include "results/figures/picture.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include "base/error.h"
#include "base/python_program.h"
#include "base/text.h"
#include "results/figures/drawing_script.h"
#include "results/figures/figures.h"
#include "results/figures/plot_style.h"

namespace xlm {
namespace {

constexpr double kSecondsToDraw = 3600;  // far more than any picture takes

/// The script with one picture in it. JSON never has three quotation marks in a row.
std::string script_of(const Json& picture) {
  const std::string_view nothing = "PICTURE: Optional[Picture] = None\n";
  std::string script(drawing_script());
  const std::size_t place = script.rfind(nothing);
  return script.replace(place, nothing.size(),
                        "PICTURE: Optional[Picture] = json.loads(\nr\"\"\"" +
                            picture.dump(1, ' ', true, Json::error_handler_t::replace) + "\"\"\"\n)\n");
}

std::string from_base64(const std::string& text) {
  std::string bytes(text.size(), '\0');
  const int length =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (length < 0) throw Error("matplotlib's picture arrived damaged");
  bytes.resize(static_cast<std::size_t>(length) - (text.size() - text.find_last_not_of('=') - 1));
  return bytes;
}

std::string size_of(const FigureDescription& description) {
  if (description.width <= 0 && description.height <= 0) return "its usual size";
  if (description.height <= 0) return fmt::format("a width of {} inches", description.width);
  if (description.width <= 0) return fmt::format("a height of {} inches", description.height);
  return fmt::format("{} x {} inches", description.width, description.height);
}

}  // namespace

Json picture_of(const Figure& figure) {
  const FigureDescription& description = figure.description;
  Json plot = plotly_figure(figure);
  for (Json& trace : plot["data"]) {  // what only a page shows
    trace.erase("customdata");
    trace.erase("hovertext");
  }
  const auto legend = has_legend(figure) ? description.legend : FigureDescription::Legend::kNone;
  return {{"title", description.show_title ? description.title : ""},
          {"caption", description.show_caption ? figure.caption : ""},
          {"width", description.width},
          {"height", description.height},
          {"font_size", description.font_size},
          {"legend", FigureDescription::kLegendNames.at(static_cast<std::size_t>(legend))},
          {"data", std::move(plot["data"])},
          {"layout", std::move(plot["layout"])}};
}

Json Painter::ask(const Json& request) {
  try {
    if (!python_)
      python_ = std::make_unique<Dialogue>(
          std::vector<std::string>{python_program(), "-B", "-c", std::string(drawing_script())});
    return Json::parse(python_->ask(request.dump(-1, ' ', true, Json::error_handler_t::replace), kSecondsToDraw));
  } catch (const ResourceError&) {
    throw;
  } catch (const Error& error) {
    const std::string why = first_line(error.what());
    const std::size_t last = why.rfind("Error: ");  // Python's own words, without who ended how
    const std::size_t begin = last == std::string::npos ? 0 : why.rfind(' ', last) + 1;
    throw Error(
        fmt::format("figures are drawn with matplotlib from 3.7 on: {}\nto install it: {} -m pip install matplotlib\n"
                    "XLM_PYTHON=PROGRAM names another Python, and --format html needs none",
                    why.substr(begin), shell_word(python_program())));
  }
}

std::string Painter::draw(const Figure& figure, PictureFormat format) {
  const Json picture = picture_of(figure);
  if (format == PictureFormat::kPy) return script_of(picture);
  const Json answer = ask({{"picture", picture}, {"format", kPictureFormatNames.at(static_cast<std::size_t>(format))}});
  if (answer.contains("illegible"))
    throw UsageError(fmt::format("the figure '{}' is not legible at {}: {}\n{}", figure.description.title,
                                 size_of(figure.description), answer["illegible"].get<std::string>(),
                                 answer.at("advice").get<std::string>()));
  if (answer.contains("error"))
    throw Error(fmt::format("the figure '{}' could not be drawn: {}", figure.description.title,
                            answer["error"].get<std::string>()));
  return from_base64(answer.at("file").get<std::string>());
}

}  // namespace xlm
