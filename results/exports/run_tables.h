// Exports the store as three tables: the runs, their series over training, their evaluations.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "results/exports/export_table.h"
#include "results/store/run_table.h"

namespace xlm {

using MakeExportWriter =
    std::function<std::unique_ptr<ExportWriter>(const fs::path&, const std::vector<ExportColumn>&)>;

/// Writes runs, series and evaluations of the `selected` runs into `folder`, each as NAME + `ending`. Returns the
/// files. docs/results.md lists the columns.
std::vector<fs::path> export_run_tables(RunTable& runs, const std::vector<std::size_t>& selected,
                                        const fs::path& folder, const std::string& ending,
                                        const MakeExportWriter& make_writer);

}  // namespace xlm
