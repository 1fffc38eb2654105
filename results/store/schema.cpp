// The store's tables and views.
#include "results/store/schema.h"

#include <string>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>

#include "base/error.h"

namespace xlm {
namespace {

/// Rows are found by run (primary keys) or by name (indices that hold the value too, so that a column of all runs is
/// one walk over an index, in the order of run_id). Documented in docs/results.md.
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE runs (
  run_id        TEXT PRIMARY KEY NOT NULL,
  experiment    TEXT,               -- the one it was made for
  status        TEXT NOT NULL,      -- queued, running, done, failed, diverged, preempted, stale
  reason        TEXT,
  created       REAL,               -- seconds since 1970
  finished      REAL,
  step          INTEGER NOT NULL,   -- the last seen
  seed_group    TEXT NOT NULL,      -- equal for runs that differ in nothing but the seed
  journal_bytes INTEGER NOT NULL,   -- what the journal was when it was read; -1: none
  journal_time  INTEGER NOT NULL    -- its time of change, nanoseconds
) WITHOUT ROWID;

CREATE TABLE params (
  run_id TEXT NOT NULL,
  key    TEXT NOT NULL,
  value,
  PRIMARY KEY (run_id, key)
) WITHOUT ROWID;
CREATE INDEX params_by_key ON params (key, run_id, value);

CREATE TABLE metrics (
  run_id TEXT NOT NULL,
  name   TEXT NOT NULL,
  step   INTEGER NOT NULL,
  value  REAL NOT NULL,
  PRIMARY KEY (run_id, name, step)
) WITHOUT ROWID;

CREATE TABLE evaluations (
  run_id   TEXT NOT NULL,
  split    TEXT NOT NULL,
  metric   TEXT NOT NULL,
  step     INTEGER NOT NULL,
  settings TEXT NOT NULL,           -- JSON
  value    REAL NOT NULL,
  final    INTEGER NOT NULL,        -- 1: made with the weights that became model/
  main     INTEGER NOT NULL,        -- 1: the one that the column "split.metric" names
  time     REAL NOT NULL,
  PRIMARY KEY (run_id, split, metric, step, settings)
) WITHOUT ROWID;
CREATE INDEX evaluations_main ON evaluations (split, metric, run_id, value) WHERE main = 1;

CREATE TABLE costs (
  run_id TEXT NOT NULL,
  name   TEXT NOT NULL,
  value  REAL NOT NULL,
  PRIMARY KEY (run_id, name)
) WITHOUT ROWID;
CREATE INDEX costs_by_name ON costs (name, run_id, value);

CREATE TABLE spans (
  run_id TEXT NOT NULL,
  step   INTEGER NOT NULL,
  layer  INTEGER NOT NULL,          -- from 1
  head   INTEGER NOT NULL,          -- from 1
  span   REAL NOT NULL,
  PRIMARY KEY (run_id, step, layer, head)
) WITHOUT ROWID;

CREATE TABLE experiments (
  run_id     TEXT NOT NULL,
  experiment TEXT NOT NULL,
  PRIMARY KEY (experiment, run_id)
) WITHOUT ROWID;
CREATE INDEX experiments_by_run ON experiments (run_id);

CREATE VIEW final_evaluations AS
  SELECT run_id, split || '.' || metric AS name, value, step, settings FROM evaluations WHERE main = 1;

CREATE VIEW last_spans AS
  SELECT s.run_id, s.layer, s.head, s.span, s.step FROM spans s
  WHERE s.step = (SELECT max(step) FROM spans WHERE run_id = s.run_id);

CREATE VIEW results AS
  SELECT r.run_id, r.experiment, r.status,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'model.type') AS model,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'data.name') AS data,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'seed') AS seed,
    r.step,
    (SELECT value FROM evaluations WHERE run_id = r.run_id AND split = 'valid' AND metric = 'bpc' AND main = 1) AS valid_bpc,
    (SELECT value FROM evaluations WHERE run_id = r.run_id AND split = 'test' AND metric = 'bpc' AND main = 1) AS test_bpc,
    (SELECT value FROM evaluations WHERE run_id = r.run_id AND split = 'test' AND metric = 'loss' AND main = 1) AS test_loss,
    (SELECT value FROM costs WHERE run_id = r.run_id AND name = 'params') AS params,
    (SELECT value FROM costs WHERE run_id = r.run_id AND name = 'flops_per_token') AS flops_per_token,
    (SELECT value FROM costs WHERE run_id = r.run_id AND name = 'step_seconds') AS step_seconds,
    datetime(r.created, 'unixepoch') AS created,
    datetime(r.finished, 'unixepoch') AS finished,
    r.seed_group
  FROM runs r;

CREATE VIEW seeds AS
  SELECT seed_group, min(experiment) AS experiment, min(model) AS model, min(data) AS data, count(*) AS runs,
    avg(valid_bpc) AS valid_bpc, min(valid_bpc) AS valid_bpc_min, max(valid_bpc) AS valid_bpc_max,
    avg(test_bpc) AS test_bpc, min(test_bpc) AS test_bpc_min, max(test_bpc) AS test_bpc_max,
    group_concat(run_id, ' ') AS run_ids
  FROM results WHERE status = 'done' GROUP BY seed_group;
)sql";

/// Journals that an older program indexed may have traces: the next sync reads all of them again.
constexpr std::string_view kVersion2 = R"sql(
CREATE TABLE traces (
  run_id TEXT NOT NULL,
  split  TEXT NOT NULL,
  name   TEXT NOT NULL,             -- what the model says of a token: span
  place  INTEGER NOT NULL,          -- of the token in the split, from 1
  token  TEXT NOT NULL,
  value  REAL NOT NULL,
  PRIMARY KEY (run_id, split, name, place)
) WITHOUT ROWID;

UPDATE runs SET journal_bytes = -1, journal_time = 0;
)sql";

/// Grids of any name. An older program left out all but the spans: the next sync reads all journals again. What asked
/// for spans goes on working. Where earlier weights became the model, its grids are older than the newest ones.
constexpr std::string_view kVersion3 = R"sql(
CREATE TABLE grids (
  run_id TEXT NOT NULL,
  name   TEXT NOT NULL,             -- as the model reports it: spans
  step   INTEGER NOT NULL,
  row    INTEGER NOT NULL,          -- from 1
  column INTEGER NOT NULL,          -- from 1
  value  REAL NOT NULL,
  PRIMARY KEY (run_id, name, step, row, column)
) WITHOUT ROWID;

INSERT INTO grids SELECT run_id, 'spans', step, layer, head, span FROM spans;
DROP VIEW last_spans;
DROP TABLE spans;

CREATE VIEW last_grids AS
  SELECT g.run_id, g.name, g.row, g.column, g.value, g.step FROM grids g
  WHERE g.step = coalesce(
    (SELECT max(f.step) FROM grids f JOIN evaluations e ON e.run_id = f.run_id AND e.step = f.step AND e.main = 1
     WHERE f.run_id = g.run_id AND f.name = g.name),
    (SELECT max(step) FROM grids WHERE run_id = g.run_id AND name = g.name));

CREATE VIEW spans AS
  SELECT run_id, step, row AS layer, column AS head, value AS span FROM grids WHERE name = 'spans';

CREATE VIEW last_spans AS
  SELECT run_id, row AS layer, column AS head, value AS span, step FROM last_grids WHERE name = 'spans';

UPDATE runs SET journal_bytes = -1, journal_time = 0;
)sql";

/// Evaluations with settings that are not the run's own, on other data for instance, belong to their run: they are told
/// apart by what differs. A folder that holds evaluations alone is no run.
constexpr std::string_view kVersion4 = R"sql(
ALTER TABLE runs ADD COLUMN is_evaluation INTEGER NOT NULL DEFAULT 0;  -- 1: not trained here, but measured
ALTER TABLE evaluations ADD COLUMN at TEXT NOT NULL DEFAULT '';        -- what differs: data.name=pg-19@model.overlap=20

CREATE TABLE evaluation_settings (
  run_id TEXT NOT NULL,
  at     TEXT NOT NULL,             -- as in evaluations
  key    TEXT NOT NULL,
  value,
  PRIMARY KEY (run_id, at, key)
) WITHOUT ROWID;
CREATE INDEX evaluations_elsewhere ON evaluations (metric, split, run_id, at, time, value) WHERE at <> '';

DROP VIEW results;
CREATE VIEW results AS
  SELECT r.run_id, r.experiment, r.status,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'model.type') AS model,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'data.name') AS data,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'seed') AS seed,
    r.step,
    (SELECT value FROM evaluations WHERE run_id = r.run_id AND split = 'valid' AND metric = 'bpc' AND main = 1) AS valid_bpc,
    (SELECT value FROM evaluations WHERE run_id = r.run_id AND split = 'test' AND metric = 'bpc' AND main = 1) AS test_bpc,
    (SELECT value FROM evaluations WHERE run_id = r.run_id AND split = 'test' AND metric = 'loss' AND main = 1) AS test_loss,
    (SELECT value FROM costs WHERE run_id = r.run_id AND name = 'params') AS params,
    (SELECT value FROM costs WHERE run_id = r.run_id AND name = 'flops_per_token') AS flops_per_token,
    (SELECT value FROM costs WHERE run_id = r.run_id AND name = 'step_seconds') AS step_seconds,
    datetime(r.created, 'unixepoch') AS created,
    datetime(r.finished, 'unixepoch') AS finished,
    r.seed_group
  FROM runs r WHERE r.is_evaluation = 0;

-- Of several evaluations with the same settings the newest; max() chooses the row that the other columns are of.
CREATE VIEW evaluation_results AS
  SELECT e.run_id, r.experiment, r.status,
    (SELECT value FROM params WHERE run_id = e.run_id AND key = 'model.type') AS model,
    (SELECT value FROM params WHERE run_id = e.run_id AND key = 'data.name') AS data,
    (SELECT value FROM params WHERE run_id = e.run_id AND key = 'seed') AS seed,
    e.split || '.' || e.metric || CASE e.at WHEN '' THEN '' ELSE '@' || e.at END AS name,
    e.split, e.metric, e.at, e.value, max(e.time) AS time, r.seed_group, r.is_evaluation
  FROM evaluations e JOIN runs r ON r.run_id = e.run_id
  WHERE e.main = 1 OR e.at <> '' GROUP BY e.run_id, e.split, e.metric, e.at;

CREATE VIEW evaluation_seeds AS
  SELECT seed_group, min(experiment) AS experiment, min(model) AS model, min(data) AS data, name, split, metric, at,
    count(*) AS runs, avg(value) AS mean,
    CASE WHEN count(*) > 1
      THEN sqrt(max(0, (avg(value * value) - avg(value) * avg(value)) * count(*) / (count(*) - 1))) END AS sd,
    min(value) AS min, max(value) AS max, group_concat(run_id, ' ') AS run_ids
  FROM evaluation_results WHERE status = 'done' AND is_evaluation = 0 GROUP BY seed_group, name;

UPDATE runs SET journal_bytes = -1, journal_time = 0;
)sql";

}  // namespace

const std::vector<std::string_view>& schema_versions() {
  static const std::vector<std::string_view> versions{kVersion1, kVersion2, kVersion3, kVersion4};
  return versions;
}

const std::vector<std::string_view>& run_tables() {
  static const std::vector<std::string_view> tables{"runs",  "params", "metrics",     "evaluations",        "costs",
                                                    "grids", "traces", "experiments", "evaluation_settings"};
  return tables;
}

std::int64_t schema_version(const SQLite::Database& database) {
  if (database.tableExists("schema_version")) {
    SQLite::Statement query(database, "SELECT max(version) FROM schema_version");
    if (query.executeStep() && query.getColumn(0).isInteger()) return query.getColumn(0).getInt64();
  }
  SQLite::Statement others(database, "SELECT name FROM sqlite_master LIMIT 1");
  if (!others.executeStep()) return 0;
  throw DataError(
      fmt::format("{} is an SQLite file, but not a store of results (it holds '{}')\n"
                  "name another file with --store",
                  database.getFilename(), others.getColumn(0).getString()));
}

void refuse_newer(std::int64_t version, std::int64_t newest, std::string_view name) {
  if (version <= newest) return;
  throw DataError(
      fmt::format("{} was written by a newer xlm (store version {}, this program knows up to {})\n"
                  "use that xlm, or name another store with --store",
                  name, version, newest));
}

void migrate(SQLite::Database& database, const std::vector<std::string_view>& versions, std::string_view name) {
  const auto newest = static_cast<std::int64_t>(versions.size());
  const std::int64_t present = schema_version(database);
  refuse_newer(present, newest, name);
  if (present == newest) return;
  // Another process may be doing the same: look again once the store is ours.
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const std::int64_t version = schema_version(database);
  refuse_newer(version, newest, name);
  if (version == 0) database.exec("CREATE TABLE schema_version (version INTEGER NOT NULL)");
  for (std::int64_t v = version; v < newest; ++v) {
    database.exec(std::string(versions[static_cast<std::size_t>(v)]));
  }
  database.exec("DELETE FROM schema_version");
  database.exec(fmt::format("INSERT INTO schema_version VALUES ({})", newest));
  transaction.commit();
}

}  // namespace xlm
