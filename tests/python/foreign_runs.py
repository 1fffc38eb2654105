"""Files of trackers, as their own libraries write them: made by hand where the standard library suffices."""
import json
import math
import sqlite3

STEPS = tuple(range(0, 200, 10))
BAD = {0: math.nan, 10: math.inf, 20: -math.inf}


def loss_of(lr, seed, step):
    return 2 * math.exp(-step * lr / 10) + 0.01 * seed


# The tables that mlflow 3.17.2 reads and writes, without those that hold no numbers of runs.
MLFLOW = """
CREATE TABLE experiments (experiment_id INTEGER NOT NULL PRIMARY KEY, name VARCHAR(256) NOT NULL, artifact_location VARCHAR(256),
  lifecycle_stage VARCHAR(32), creation_time BIGINT, last_update_time BIGINT, workspace VARCHAR(63) DEFAULT 'default' NOT NULL);
CREATE TABLE runs (run_uuid VARCHAR(32) NOT NULL PRIMARY KEY, name VARCHAR(250), source_type VARCHAR(20), source_name VARCHAR(500),
  entry_point_name VARCHAR(50), user_id VARCHAR(256), status VARCHAR(9), start_time BIGINT, end_time BIGINT,
  source_version VARCHAR(50), lifecycle_stage VARCHAR(20), artifact_uri VARCHAR(200), experiment_id INTEGER, deleted_time BIGINT);
CREATE TABLE metrics ("key" VARCHAR(250) NOT NULL, value FLOAT NOT NULL, timestamp BIGINT NOT NULL, run_uuid VARCHAR(32) NOT NULL,
  step BIGINT DEFAULT '0' NOT NULL, is_nan BOOLEAN DEFAULT '0' NOT NULL,
  CONSTRAINT metric_pk PRIMARY KEY ("key", timestamp, step, run_uuid, value, is_nan));
CREATE TABLE params ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000) NOT NULL, run_uuid VARCHAR(32) NOT NULL);
CREATE TABLE tags ("key" VARCHAR(250) NOT NULL, value VARCHAR(8000), run_uuid VARCHAR(32) NOT NULL);
"""


def mlflow_store(file, seeds=(1, 2, 3), lr=0.1, steps=STEPS, status="FINISHED"):
    """An SQLite store of mlflow: numbers that are not finite stand there as mlflow keeps them."""
    with sqlite3.connect(file) as store:
        store.executescript(MLFLOW)
        store.execute("INSERT INTO experiments VALUES (1, 'lab', '', 'active', 1, 1, 'default')")
        for seed in seeds:
            add_mlflow_run(store, f"{seed:032x}", seed, lr, steps, status)
        add_mlflow_run(store, "f" * 32, 9, lr, steps, status, stage="deleted")


def add_mlflow_run(store, run, seed, lr, steps, status, stage="active"):
    begin = 1_700_000_000_000 + 1000 * seed
    end = begin + 5000 if status == "FINISHED" else None
    store.execute(
        "INSERT INTO runs VALUES (?, ?, 'LOCAL', '', '', 'ada', ?, ?, ?, '', ?, '', 1, NULL)", (run, f"s{seed}", status, begin, end, stage)
    )
    settings = {"lr": str(lr), "seed": str(seed), "opt.name": "sgd", "flag": "True", "version": "1.2.3"}
    store.executemany("INSERT INTO params VALUES (?, ?, ?)", [(key, value, run) for key, value in settings.items()])
    tags = {"mlflow.user": "ada", "mlflow.source.git.commit": "c0ffee", "mlflow.note.content": "two\nlines", "team": "a"}
    store.executemany("INSERT INTO tags VALUES (?, ?, ?)", [(key, value, run) for key, value in tags.items()])
    largest = 1.7976931348623157e308
    for step in steps:
        rows = [("train/loss", loss_of(lr, seed, step), 0), ("val_loss", loss_of(lr, seed, step) + 0.1, 0)]
        if step in BAD:
            value = BAD[step]
            rows.append(("bad", 0.0 if math.isnan(value) else math.copysign(largest, value), int(math.isnan(value))))
        if step == steps[-1] and status == "FINISHED":
            rows.append(("test_loss", loss_of(lr, seed, step) + 0.2, 0))
        for key, value, is_nan in rows:
            store.execute("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, ?)", (key, value, begin + step, run, step, is_nan))


def mlruns(folder, seeds=(1, 2, 3), lr=0.1):
    """The same as files of mlflow."""
    experiment = folder / "1"
    experiment.mkdir(parents=True)
    (experiment / "meta.yaml").write_text("experiment_id: '1'\nlifecycle_stage: active\nname: lab\n")
    for seed in seeds:
        run = experiment / f"{seed:032x}"
        (run / "metrics" / "train").mkdir(parents=True)
        for part in ("params", "tags"):
            (run / part).mkdir()
        begin = 1_700_000_000_000 + 1000 * seed
        (run / "meta.yaml").write_text(
            f"end_time: {begin + 5000}\nlifecycle_stage: active\nrun_id: {run.name}\nrun_name: s{seed}\n"
            f"start_time: {begin}\nstatus: 3\ntags: []\nuser_id: ada\n"
        )
        for key, value in {"lr": str(lr), "seed": str(seed), "opt.name": "sgd", "flag": "True", "version": "1.2.3"}.items():
            (run / "params" / key).write_text(value)
        for key, value in {"mlflow.user": "ada", "mlflow.source.git.commit": "c0ffee", "team": "a"}.items():
            (run / "tags" / key).write_text(value)
        lines = {"train/loss": "", "val_loss": "", "bad": "", "test_loss": ""}
        for step in STEPS:
            loss = loss_of(lr, seed, step)
            lines["train/loss"] += f"{begin + step} {loss} {step}\n"
            lines["val_loss"] += f"{begin + step} {loss + 0.1} {step}\n"
            if step in BAD:
                lines["bad"] += f"{begin + step} {BAD[step]} {step}\n"
        lines["test_loss"] = f"{begin} {loss + 0.2} {STEPS[-1]}\n"
        for key, text in lines.items():
            (run / "metrics" / key).write_text(text)


TRACKIO = """
CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, timestamp TEXT NOT NULL, run_name TEXT NOT NULL,
  step INTEGER NOT NULL, metrics TEXT NOT NULL, log_id TEXT, space_id TEXT);
CREATE TABLE configs (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT NOT NULL, run_name TEXT NOT NULL, config TEXT NOT NULL,
  created_at TEXT NOT NULL, UNIQUE(run_id));
"""


def trackio_project(file, seeds=(1, 2, 3), lr=0.1):
    """A project as trackio 0.43.0 keeps it: what JSON does not have as text."""
    with sqlite3.connect(file) as store:
        store.executescript(TRACKIO)
        for seed in seeds:
            run, when = f"{seed:032x}", f"2026-11-28T17:38:0{seed}.500000+00:00"
            config = {"lr": lr, "seed": seed, "opt": {"name": "sgd"}, "flag": True, "version": "1.2.3", "_Username": None, "_Created": when}
            store.execute("INSERT INTO configs VALUES (NULL, ?, ?, ?, ?)", (run, f"s{seed}", json.dumps(config), when))
            for step in STEPS:
                loss = loss_of(lr, seed, step)
                numbers = {"train/loss": loss, "val/loss": loss + 0.1, "word": "x"}
                if step in BAD:
                    words = {math.inf: "Infinity", -math.inf: "-Infinity"}
                    numbers["bad"] = words.get(BAD[step], "NaN")
                if step == STEPS[-1]:
                    numbers["test/loss"] = loss + 0.2
                store.execute(
                    "INSERT INTO metrics VALUES (NULL, ?, ?, ?, ?, ?, 'x', NULL)", (run, when, f"s{seed}", step, json.dumps(numbers).encode())
                )


def rows_of_runs(seeds=(1, 2, 3), lr=0.1):
    for seed in seeds:
        for step in STEPS:
            loss = loss_of(lr, seed, step)
            row = {"run": f"s{seed}", "step": step, "lr": lr, "seed": seed, "opt.name": "sgd", "train/loss": loss, "val_loss": loss + 0.1}
            if step in BAD:
                row["bad"] = BAD[step]
            if step == STEPS[-1]:
                row["test_loss"] = loss + 0.2
            yield row


def csv_file(file, **settings):
    rows = list(rows_of_runs(**settings))
    columns = list(dict.fromkeys(key for row in rows for key in row))
    lines = [",".join(columns)] + [",".join(str(row.get(key, "")) for key in columns) for row in rows]
    file.write_text("\n".join(lines) + "\n")


def jsonl_file(file, **settings):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows_of_runs(**settings)))


def lm_eval_file(file, model, accuracy, shots=0):
    """Results as lm-eval 0.4 writes them, without samples."""
    file.parent.mkdir(parents=True, exist_ok=True)
    results = {
        "hellaswag": {"alias": "hellaswag", "acc,none": accuracy, "acc_stderr,none": 0.01, "acc_norm,none": accuracy + 0.1},
        "gsm8k": {"alias": "gsm8k", "exact_match,strict-match": accuracy / 2, "exact_match_stderr,strict-match": "N/A"},
    }
    config = {"model": "hf", "model_args": f"pretrained={model},dtype=float32", "batch_size": 1, "limit": None}
    content = {"results": results, "config": config, "n-shot": {"hellaswag": shots, "gsm8k": 5}, "git_hash": "abc123"}
    content.update(date=1_700_000_000.5, model_name=model, lm_eval_version="0.4.9")
    file.write_text(json.dumps(content))
