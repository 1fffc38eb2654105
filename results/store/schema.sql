-- An empty store. Documented in docs/store.md; the program contains this text (results/pages/assets.cpp.in).
--
-- What many runs would repeat is stored once, and what is only asked for together is packed as JSON that SQLite reads
-- itself: flat tables of twenty thousand runs take a minute to write and half a gigabyte. Views show flat tables.
-- Tables name runs by numbers. Rows of one run are found by its number; a column of all runs is one walk over
-- stored_numbers, or over the groups of settings that have a key.

CREATE TABLE stored_runs (
  number        INTEGER PRIMARY KEY,  -- of the run in this store
  run_id        TEXT NOT NULL UNIQUE,
  experiment    TEXT,                 -- the one it was made for
  status        TEXT NOT NULL,
  reason        TEXT,
  created       REAL,                 -- seconds since 1970
  started       REAL,                 -- when a worker first had it
  finished      REAL,
  step          INTEGER NOT NULL,     -- the last seen
  seed_group    TEXT NOT NULL,        -- equal for runs that differ in nothing but the seed
  journal_bytes INTEGER NOT NULL,     -- what the journal was when it was read; -1: none
  journal_time  INTEGER NOT NULL,     -- its time of change, nanoseconds
  is_evaluation INTEGER NOT NULL,     -- 1: not trained here, but measured
  costs         TEXT NOT NULL,        -- {name: value}
  parent        TEXT,                 -- the run from whose checkpoint it goes on
  parent_step   INTEGER,              -- of that checkpoint
  tag           TEXT,                 -- the tags that people gave it: a, b
  note          TEXT,
  bad           TEXT                  -- why it is left out of what is shown
);
CREATE INDEX stored_runs_by_parent ON stored_runs (parent) WHERE parent IS NOT NULL;

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

CREATE VIEW runs AS
  SELECT run_id, experiment, status, reason, created, started, finished, step, seed_group, journal_bytes, journal_time,
    is_evaluation, parent, parent_step, tag, note, bad
  FROM stored_runs;

CREATE VIEW params AS
  SELECT r.run_id, s.key, s.value
  FROM stored_runs r JOIN stored_run_settings USING (number) JOIN stored_settings s USING (settings);

CREATE VIEW metrics AS
  SELECT r.run_id, s.name, CAST(p.key AS BIGINT) AS step, CAST(p.value AS DOUBLE) AS value
  FROM stored_runs r JOIN stored_series s USING (number), json_each(s.points) p;

CREATE VIEW evaluations AS
  SELECT r.run_id, e.split, v.key AS metric, e.step, e.settings, CAST(v.value AS DOUBLE) AS value, e.final, e.main,
    e.time, e.at
  FROM stored_runs r JOIN stored_evaluations e USING (number), json_each(e."values") v;

CREATE VIEW evaluation_settings AS
  SELECT r.run_id, s.at, s.key, s.value FROM stored_runs r JOIN stored_evaluation_settings s USING (number);

CREATE VIEW costs AS
  SELECT r.run_id, c.key AS name, CAST(c.value AS DOUBLE) AS value FROM stored_runs r, json_each(r.costs) c;

CREATE VIEW grids AS
  SELECT r.run_id, g.name, g.step, json_extract(c.value, '$[0]') AS row, json_extract(c.value, '$[1]') AS column,
    CAST(json_extract(c.value, '$[2]') AS DOUBLE) AS value
  FROM stored_runs r JOIN stored_grids g USING (number), json_each(g.cells) c;

CREATE VIEW traces AS
  SELECT r.run_id, t.split, t.name, p.key + 1 AS place, json_extract(p.value, '$[0]') AS token,
    CAST(json_extract(p.value, '$[1]') AS DOUBLE) AS value
  FROM stored_runs r JOIN stored_traces t USING (number), json_each(t.points) p;

CREATE VIEW experiments AS
  SELECT r.run_id, e.experiment FROM stored_runs r JOIN stored_experiments e USING (number);

CREATE VIEW final_evaluations AS
  SELECT run_id, split || '.' || metric AS name, value, step, settings FROM evaluations WHERE main = 1;

CREATE VIEW last_grids AS
  SELECT r.run_id, g.name, json_extract(c.value, '$[0]') AS row, json_extract(c.value, '$[1]') AS column,
    CAST(json_extract(c.value, '$[2]') AS DOUBLE) AS value, g.step
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
    datetime(r.started, 'unixepoch') AS started,
    datetime(r.finished, 'unixepoch') AS finished,
    r.seed_group
  FROM stored_runs r WHERE r.is_evaluation = 0;

CREATE VIEW seeds AS
  SELECT seed_group, min(experiment) AS experiment, min(model) AS model, min(data) AS data, count(*) AS runs,
    avg(valid_bpc) AS valid_bpc, min(valid_bpc) AS valid_bpc_min, max(valid_bpc) AS valid_bpc_max,
    avg(test_bpc) AS test_bpc, min(test_bpc) AS test_bpc_min, max(test_bpc) AS test_bpc_max,
    group_concat(run_id, ' ') AS run_ids
  FROM results WHERE status = 'done' AND run_id NOT IN (SELECT run_id FROM runs WHERE bad <> '') GROUP BY seed_group;

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
  FROM evaluation_results
  WHERE status = 'done' AND is_evaluation = 0 AND run_id NOT IN (SELECT run_id FROM runs WHERE bad <> '')
  GROUP BY seed_group, name;
