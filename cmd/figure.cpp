// xlm figure: plots from the store.
#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/output_format.h"
#include "cmd/recipe_view.h"
#include "cmd/results_store.h"
#include "results/figures/figure_description.h"
#include "results/figures/figures.h"
#include "results/figures/picture.h"
#include "results/figures/series_looks.h"
#include "results/pages/page.h"

namespace xlm {
namespace {

struct FigureOptions : RecipeOptions {
  fs::path file;
  std::vector<std::string> formats;
  fs::path out;
};

/// --out is a file for one figure, or a folder for any number.
bool names_folder(const fs::path& out) {
  return !out.empty() && (fs::is_directory(out) || !out.has_filename() || !out.has_extension());
}

std::vector<std::string> format_names() {
  std::vector<std::string> names(kPictureFormatNames.begin(), kPictureFormatNames.end());
  names.emplace_back(kHtml);
  return names;
}

/// The formats that --format or the ending of --out names, without duplicates.
std::vector<std::string> formats_of(const FigureOptions& options) {
  const std::vector<std::string> known = format_names();
  const bool one_file = !options.out.empty() && !names_folder(options.out);
  const std::string ending = one_file ? options.out.extension().string().substr(1) : "";
  std::vector<std::string> names = options.formats;
  if (names == std::vector<std::string>{"all"}) {
    names = known;
    std::erase(names, "py");  // by request
  }
  if (names.empty()) names = {one_file ? ending : "svg"};
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) == known.end()) {
      throw UsageError(
          fmt::format("figures are written as svg, pdf, png, py or html, not '{}'{}", name, did_you_mean(name, known)));
    }
    if (!one_file || name == ending) continue;
    throw UsageError(fmt::format("--format {} and --out {} contradict each other{}", join(names, ","),
                                 options.out.string(), names.size() > 1 ? "\nname a folder for several formats" : ""));
  }
  return names;
}

std::string drawn(Store& store, const Figure& figure, const std::string& format, Painter& painter) {
  if (format == kHtml) return figure_page(store, figure);
  const auto found = std::ranges::find(kPictureFormatNames, format);
  const auto picture = static_cast<PictureFormat>(found - kPictureFormatNames.begin());
  return painter.draw(figure, picture);
}

fs::path file_of(const FigureOptions& options, const FigureDescription& description, const std::string& format) {
  if (!options.out.empty() && !names_folder(options.out)) return options.out;
  return options.out / fmt::format("{}.{}", description.name, format);
}

std::vector<FigureDescription> read_specs(const FigureOptions& options, const Yaml& file) {
  std::vector<FigureDescription> descriptions =
      descriptions_in(file, ExhibitKind::kFigure, options.name, read_figure_description);
  if (descriptions.size() > 1 && !options.out.empty() && !names_folder(options.out)) {
    throw UsageError(
        fmt::format("{} describes {} figures, but --out {} is one file\nname a folder, or one figure with --name",
                    options.file.string(), descriptions.size(), options.out.string()));
  }
  return descriptions;
}

/// Looks of all figures of the file, in its order: --name changes no colour.
SharedLooks looks_of_file(const FigureOptions& options, const RecipeView& recipe, RunTable& runs) {
  SharedLooks looks;
  if (options.name.empty()) return looks;
  for (const Yaml& node : find_exhibits(recipe.file, ExhibitKind::kFigure)) {
    try {
      looks.applied(build_figure(runs, read_figure_description(node), recipe.filters));
    } catch (const Error&) {  // of a figure that was not asked for
    }
  }
  return looks;
}

Json describe_figure(const Figure& figure, const fs::path& file) {
  Json points = Json::array();
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) {
      points.push_back({{"series", series.label}, {"x", point.x}, {"y", point.y}, {"runs", point.runs}});
    }
  }
  return {{"figure", figure.description.title}, {"name", figure.description.name}, {"file", file.string()},
          {"caption", figure.caption},          {"warnings", figure.warnings},     {"points", points}};
}

int run_figure(const FigureOptions& options, const GlobalOptions& global) {
  const RecipeView recipe = read_recipe(options.file, options);
  const std::vector<std::string> formats = formats_of(options);
  const std::vector<FigureDescription> descriptions = read_specs(options, recipe.file);
  RunTable runs = open_runs(global);
  warn_without_runs(recipe, options, global, runs);
  SharedLooks looks = looks_of_file(options, recipe, runs);
  Painter painter;
  Json written = Json::array();
  bool are_legible = true;
  const auto build = [&](const FigureDescription& one) {
    return looks.applied(build_figure(runs, one, recipe.filters));
  };
  const std::size_t made = make_each(descriptions, build, [&](const Figure& figure) {
    for (const std::string& warning : figure.warnings) spdlog::warn(warning);
    for (const std::string& note : figure.notes) spdlog::info(note);
    for (const std::string& format : formats) {
      const fs::path file = file_of(options, figure.description, format);
      std::string picture;
      try {
        picture = drawn(runs.store(), figure, format, painter);
      } catch (const UsageError& problem) {  // the others can be drawn
        if (descriptions.size() == 1) throw;
        spdlog::warn(problem.what());
        are_legible = false;
        return;
      }
      write_output(file, picture);
      written.push_back(describe_figure(figure, file));
      if (!global.json) print(file.string() + "\n");
    }
  });
  if (global.json) print(json_text(written));
  return made == descriptions.size() && are_legible ? kDone : kBadData;
}

}  // namespace

std::function<int()> declare_figure(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<FigureOptions>();
  app.add_option("SPEC.yaml", options->file, "A figure file, or a recipe with figures")
      ->transform(recipe_file)
      ->required();
  add_recipe_options(app, *options, "figure");
  app.add_option("--format", options->formats,
                 "svg, pdf, png, py, html, several (svg,pdf) or all (default: by --out, else svg)")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("FORMAT");
  app.add_option("--out", options->out, "File, or folder for several figures (default: NAME.svg in this folder)")
      ->type_name("PATH");
  app.footer(
      "Prints the path of each figure. docs/results.md describes figure files. svg, pdf and png need "
      "matplotlib\n"
      "(python3 -m pip install matplotlib). py is the script that draws the figure, for changes by hand: python3\n"
      "NAME.py NAME.pdf. An HTML page needs only a browser, and links every point to its runs.\n\n"
      "Examples:\n"
      "  xlm figure experiments/recipes/adaptive-span/span-limit.yaml --out figures/\n"
      "  xlm figure experiments/recipes/adaptive-span/span-limit.yaml --name spans --out spans.pdf\n"
      "  xlm figure curves.yaml --where seed=1 --format all --out figures/");
  return [options, &global] { return run_figure(*options, global); };
}

}  // namespace xlm
