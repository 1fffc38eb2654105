// Which way a column of the store is better. Of a number that only a user's program knows, its runs say so.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "results/quantities/quantities.h"
#include "results/store/run_table.h"

namespace xlm {

/// Rows of a RunTable: those that the asker takes. What other runs of the store declare is none of its business.
using AskedRows = std::vector<std::size_t>;

/// What the runs of these rows declare of a quantity, by its name (`program.better`); nothing if none does. Throws
/// UsageError if some say lower and others higher.
std::optional<Better> declared_direction(RunTable& runs, const AskedRows& rows, const std::string& name);

/// Which way a result is better: as the table of quantities says or, of one that is not in it, as the runs of these
/// rows declare. Nothing if neither says it. A formula over known quantities alone counts as better where it is lower;
/// of a formula over others nothing is known. Of a column that was set and is no result, less is better. Throws as
/// declared_direction.
std::optional<Better> direction_of(RunTable& runs, const AskedRows& rows, const std::string& column);

/// The direction of a column that something needs; of no rows, any. Throws UsageError if nothing says it: `asker` is
/// what needs it ("`best`"), and `other` another remedy than declaring it ("add `better: higher`").
Better needed_direction(RunTable& runs, const AskedRows& rows, const std::string& column, const std::string& asker,
                        const std::string& other);

/// The same of a column of a front: of all known quantities less counts as better, unless a user says otherwise.
Better front_direction(RunTable& runs, const AskedRows& rows, const std::string& column, const std::string& asker,
                       const std::string& other);

/// The message of that error, for a column or a series.
std::string no_direction(const std::string& column, const std::string& asker, const std::string& other);

}  // namespace xlm
