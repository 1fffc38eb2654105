// The SQL of all versions of the store. Documented in docs/results.md.
#include "results/store/schema.h"

namespace xlm {
namespace {

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

/// What many runs would repeat is there once, and what is only asked for together is packed, as JSON that SQLite reads
/// itself: a store of twenty thousand runs took a minute to write and half a gigabyte to hold. Everything that was a
/// table before is a view of the same columns. Tables name runs by numbers. Rows of one run are found by its number; a
/// column of all runs is one walk over stored_numbers, or over the groups of settings that have a key.
constexpr std::string_view kVersion5 = R"sql(
CREATE TABLE stored_runs (
  number        INTEGER PRIMARY KEY,  -- of the run in this store
  run_id        TEXT NOT NULL UNIQUE,
  experiment    TEXT,                 -- the one it was made for
  status        TEXT NOT NULL,
  reason        TEXT,
  created       REAL,                 -- seconds since 1970
  finished      REAL,
  step          INTEGER NOT NULL,     -- the last seen
  seed_group    TEXT NOT NULL,        -- equal for runs that differ in nothing but the seed
  journal_bytes INTEGER NOT NULL,     -- what the journal was when it was read; -1: none
  journal_time  INTEGER NOT NULL,     -- its time of change, nanoseconds
  is_evaluation INTEGER NOT NULL,     -- 1: not trained here, but measured
  costs         TEXT NOT NULL         -- {name: value}
);

CREATE TABLE stored_settings (        -- groups of keys and values, each named by a hash of what it holds
  settings INTEGER NOT NULL,
  key      TEXT NOT NULL,
  value,
  PRIMARY KEY (settings, key)
) WITHOUT ROWID;
CREATE INDEX stored_settings_by_key ON stored_settings (key, settings, value);

CREATE TABLE stored_run_settings (
  number   INTEGER NOT NULL,
  settings INTEGER NOT NULL,
  PRIMARY KEY (number, settings)
) WITHOUT ROWID;
CREATE INDEX stored_run_settings_by_settings ON stored_run_settings (settings, number);

CREATE TABLE stored_series (
  number INTEGER NOT NULL,
  name   TEXT NOT NULL,
  points TEXT NOT NULL,               -- {step: value}
  UNIQUE (number, name)
);

CREATE TABLE stored_evaluations (
  number     INTEGER NOT NULL,
  split      TEXT NOT NULL,
  step       INTEGER NOT NULL,
  settings   TEXT NOT NULL,           -- JSON
  final      INTEGER NOT NULL,        -- 1: made with the weights that became model/
  main       INTEGER NOT NULL,        -- 1: the one that the column "split.metric" names
  time       REAL NOT NULL,
  at         TEXT NOT NULL,           -- what differs from the run: data.name=pg-19@model.overlap=20
  "values"   TEXT NOT NULL,           -- {metric: value}
  PRIMARY KEY (number, split, step, settings)
) WITHOUT ROWID;
CREATE INDEX stored_evaluations_main ON stored_evaluations (number, split) WHERE main = 1;
CREATE INDEX stored_evaluations_elsewhere ON stored_evaluations (split, number, at, time) WHERE at <> '';

CREATE TABLE stored_evaluation_settings (
  number INTEGER NOT NULL,
  at     TEXT NOT NULL,               -- as in stored_evaluations
  key    TEXT NOT NULL,
  value,
  PRIMARY KEY (number, at, key)
) WITHOUT ROWID;

CREATE TABLE stored_numbers (         -- costs (split: '') and main evaluations once more, by name
  split  TEXT NOT NULL,
  name   TEXT NOT NULL,
  number INTEGER NOT NULL,
  value  REAL NOT NULL,
  PRIMARY KEY (split, name, number)
) WITHOUT ROWID;

CREATE TABLE stored_grids (
  number INTEGER NOT NULL,
  name   TEXT NOT NULL,               -- as the model reports it: spans
  step   INTEGER NOT NULL,
  cells  TEXT NOT NULL,               -- [[row, column, value]]
  UNIQUE (number, name, step)
);

CREATE TABLE stored_traces (
  number INTEGER NOT NULL,
  split  TEXT NOT NULL,
  name   TEXT NOT NULL,               -- what the model says of a token: span
  points TEXT NOT NULL,               -- [[token, value]]
  UNIQUE (number, split, name)
);

CREATE TABLE stored_experiments (
  experiment TEXT NOT NULL,
  number     INTEGER NOT NULL,
  PRIMARY KEY (experiment, number)
) WITHOUT ROWID;
CREATE INDEX stored_experiments_by_run ON stored_experiments (number);

-- What the store held: of every run one group of settings, until its folder is read again.
INSERT INTO stored_runs (run_id, experiment, status, reason, created, finished, step, seed_group, journal_bytes,
                         journal_time, is_evaluation, costs)
  SELECT run_id, experiment, status, reason, created, finished, step, seed_group, -1, 0, is_evaluation,
    (SELECT json_group_object(name, json(printf('%!.17g', value))) FROM costs c WHERE c.run_id = r.run_id)
  FROM runs r ORDER BY run_id;
INSERT INTO stored_settings SELECT r.number, p.key, p.value FROM stored_runs r JOIN params p USING (run_id);
INSERT INTO stored_run_settings SELECT number, number FROM stored_runs;
INSERT INTO stored_series
  SELECT r.number, m.name, json_group_object(m.step, json(printf('%!.17g', m.value)))
  FROM stored_runs r JOIN metrics m USING (run_id) GROUP BY r.number, m.name;
INSERT INTO stored_evaluations
  SELECT r.number, e.split, e.step, e.settings, e.final, e.main, e.time, e.at,
    json_group_object(e.metric, json(printf('%!.17g', e.value)))
  FROM stored_runs r JOIN evaluations e USING (run_id) GROUP BY r.number, e.split, e.step, e.settings;
INSERT INTO stored_evaluation_settings SELECT r.number, s.at, s.key, s.value
  FROM stored_runs r JOIN evaluation_settings s USING (run_id);
INSERT OR REPLACE INTO stored_numbers SELECT '', c.name, r.number, c.value FROM stored_runs r JOIN costs c USING (run_id)
  UNION ALL SELECT e.split, e.metric, r.number, e.value FROM stored_runs r JOIN evaluations e USING (run_id)
    WHERE e.main = 1;
INSERT INTO stored_grids
  SELECT r.number, g.name, g.step, json_group_array(json_array(g.row, g.column, json(printf('%!.17g', g.value))))
  FROM stored_runs r JOIN grids g USING (run_id) GROUP BY r.number, g.name, g.step;
INSERT INTO stored_traces
  SELECT r.number, t.split, t.name, json_group_array(json_array(t.token, json(printf('%!.17g', t.value))))
  FROM stored_runs r JOIN (SELECT * FROM traces ORDER BY run_id, split, name, place) t USING (run_id)
  GROUP BY r.number, t.split, t.name;
INSERT INTO stored_experiments SELECT e.experiment, r.number FROM stored_runs r JOIN experiments e USING (run_id);

DROP VIEW evaluation_seeds;
DROP VIEW evaluation_results;
DROP VIEW seeds;
DROP VIEW results;
DROP VIEW final_evaluations;
DROP VIEW last_spans;
DROP VIEW spans;
DROP VIEW last_grids;
DROP TABLE runs;
DROP TABLE params;
DROP TABLE metrics;
DROP TABLE evaluations;
DROP TABLE evaluation_settings;
DROP TABLE costs;
DROP TABLE grids;
DROP TABLE traces;
DROP TABLE experiments;

CREATE VIEW runs AS
  SELECT run_id, experiment, status, reason, created, finished, step, seed_group, journal_bytes, journal_time,
    is_evaluation
  FROM stored_runs;

CREATE VIEW params AS
  SELECT r.run_id, s.key, s.value
  FROM stored_runs r JOIN stored_run_settings USING (number) JOIN stored_settings s USING (settings);

CREATE VIEW metrics AS
  SELECT r.run_id, s.name, CAST(p.key AS INTEGER) AS step, CAST(p.value AS REAL) AS value
  FROM stored_runs r JOIN stored_series s USING (number), json_each(s.points) p;

CREATE VIEW evaluations AS
  SELECT r.run_id, e.split, v.key AS metric, e.step, e.settings, CAST(v.value AS REAL) AS value, e.final, e.main,
    e.time, e.at
  FROM stored_runs r JOIN stored_evaluations e USING (number), json_each(e."values") v;

CREATE VIEW evaluation_settings AS
  SELECT r.run_id, s.at, s.key, s.value FROM stored_runs r JOIN stored_evaluation_settings s USING (number);

CREATE VIEW costs AS
  SELECT r.run_id, c.key AS name, CAST(c.value AS REAL) AS value FROM stored_runs r, json_each(r.costs) c;

CREATE VIEW grids AS
  SELECT r.run_id, g.name, g.step, json_extract(c.value, '$[0]') AS row, json_extract(c.value, '$[1]') AS column,
    CAST(json_extract(c.value, '$[2]') AS REAL) AS value
  FROM stored_runs r JOIN stored_grids g USING (number), json_each(g.cells) c;

CREATE VIEW traces AS
  SELECT r.run_id, t.split, t.name, p.key + 1 AS place, json_extract(p.value, '$[0]') AS token,
    CAST(json_extract(p.value, '$[1]') AS REAL) AS value
  FROM stored_runs r JOIN stored_traces t USING (number), json_each(t.points) p;

CREATE VIEW experiments AS
  SELECT r.run_id, e.experiment FROM stored_runs r JOIN stored_experiments e USING (number);

CREATE VIEW final_evaluations AS
  SELECT run_id, split || '.' || metric AS name, value, step, settings FROM evaluations WHERE main = 1;

CREATE VIEW last_grids AS
  SELECT r.run_id, g.name, json_extract(c.value, '$[0]') AS row, json_extract(c.value, '$[1]') AS column,
    CAST(json_extract(c.value, '$[2]') AS REAL) AS value, g.step
  FROM stored_runs r JOIN stored_grids g USING (number), json_each(g.cells) c
  WHERE g.step = coalesce(
    (SELECT max(f.step) FROM stored_grids f JOIN stored_evaluations e USING (number, step)
     WHERE e.main = 1 AND f.number = g.number AND f.name = g.name),
    (SELECT max(step) FROM stored_grids WHERE number = g.number AND name = g.name));

CREATE VIEW spans AS
  SELECT run_id, step, row AS layer, column AS head, value AS span FROM grids WHERE name = 'spans';

CREATE VIEW last_spans AS
  SELECT run_id, row AS layer, column AS head, value AS span, step FROM last_grids WHERE name = 'spans';

CREATE VIEW results AS
  SELECT r.run_id, r.experiment, r.status,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'model.type') AS model,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'data.name') AS data,
    (SELECT value FROM params WHERE run_id = r.run_id AND key = 'seed') AS seed,
    r.step,
    (SELECT value FROM stored_numbers WHERE number = r.number AND split = 'valid' AND name = 'bpc') AS valid_bpc,
    (SELECT value FROM stored_numbers WHERE number = r.number AND split = 'test' AND name = 'bpc') AS test_bpc,
    (SELECT value FROM stored_numbers WHERE number = r.number AND split = 'test' AND name = 'loss') AS test_loss,
    (SELECT value FROM stored_numbers WHERE number = r.number AND split = '' AND name = 'params') AS params,
    (SELECT value FROM stored_numbers WHERE number = r.number AND split = '' AND name = 'flops_per_token')
      AS flops_per_token,
    (SELECT value FROM stored_numbers WHERE number = r.number AND split = '' AND name = 'step_seconds') AS step_seconds,
    datetime(r.created, 'unixepoch') AS created,
    datetime(r.finished, 'unixepoch') AS finished,
    r.seed_group
  FROM stored_runs r WHERE r.is_evaluation = 0;

CREATE VIEW seeds AS
  SELECT seed_group, min(experiment) AS experiment, min(model) AS model, min(data) AS data, count(*) AS runs,
    avg(valid_bpc) AS valid_bpc, min(valid_bpc) AS valid_bpc_min, max(valid_bpc) AS valid_bpc_max,
    avg(test_bpc) AS test_bpc, min(test_bpc) AS test_bpc_min, max(test_bpc) AS test_bpc_max,
    group_concat(run_id, ' ') AS run_ids
  FROM results WHERE status = 'done' GROUP BY seed_group;

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
)sql";

/// Seed groups were told apart by keys that say only how a run was made, and by where its weights lay: the next sync
/// reads all journals again.
constexpr std::string_view kVersion6 = R"sql(
UPDATE stored_runs SET journal_bytes = -1, journal_time = 0;
)sql";

}  // namespace

const std::vector<std::string_view>& schema_versions() {
  static const std::vector<std::string_view> versions{kVersion1, kVersion2, kVersion3, kVersion4, kVersion5, kVersion6};
  return versions;
}

}  // namespace xlm
