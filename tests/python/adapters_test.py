"""The adapters with the real libraries: numbers, a stop in the middle, and the rest of the training."""
import importlib
import signal
import subprocess

import pytest
from conftest import lines_of, python, until


@pytest.fixture(params=["transformers", "lightning"])
def script(request):
    """A program that trains a small net for 60 steps; the test is skipped if its libraries cannot be opened."""
    for name in ("torch", {"transformers": "accelerate"}.get(request.param, "lightning.pytorch"), request.param):
        try:
            importlib.import_module(name)
        except (ImportError, OSError) as error:
            pytest.skip(f"[cuda] {name} cannot be opened ({error}): make readers test-skipped CUDA=1")
    return {"transformers": HUGGING_FACE, "lightning": LIGHTNING}[request.param]


NET = """
import time, torch, xlm
run = xlm.run()
torch.manual_seed(run.seed)

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def forward(self, inputs, labels=None):
        outputs = self.layer(inputs).squeeze(-1)
        return {"loss": ((outputs - labels) ** 2).mean(), "logits": outputs}

class Rows(torch.utils.data.Dataset):
    def __len__(self): return 240
    def __getitem__(self, i):
        inputs = torch.sin(torch.arange(4.0) + i)
        return {"inputs": inputs, "labels": inputs.sum()}
"""

HUGGING_FACE = NET + """
from transformers import Trainer, TrainerCallback, TrainingArguments
from xlm.adapters.hugging_face import XlmCallback, newest_checkpoint

class Slow(TrainerCallback):
    def on_step_begin(self, *args, **kwargs): time.sleep(0.02)

arguments = TrainingArguments(
    output_dir=str(run.checkpoints), max_steps=60, per_device_train_batch_size=4, logging_steps=5, eval_steps=20,
    eval_strategy="steps", save_steps=1000, report_to=[], use_cpu=True, disable_tqdm=True, learning_rate=0.01, seed=run.seed)
trainer = Trainer(Net(), arguments, train_dataset=Rows(), eval_dataset=Rows(), callbacks=[XlmCallback(run), Slow()])
trainer.train(resume_from_checkpoint=newest_checkpoint(run))
run.evaluation("test", final=True, loss=trainer.evaluate()["eval_loss"])
"""

LIGHTNING = NET + """
import lightning.pytorch as lightning
from xlm.adapters.lightning import XlmLogger, XlmStop

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()
    def training_step(self, batch, index):
        time.sleep(0.02)
        loss = self.net(**batch)["loss"]
        self.log("loss", loss)
        return loss
    def validation_step(self, batch, index): self.log("val_loss", self.net(**batch)["loss"])
    def test_step(self, batch, index): self.log("test_loss", self.net(**batch)["loss"])
    def configure_optimizers(self): return torch.optim.SGD(self.parameters(), lr=0.01)

rows = torch.utils.data.DataLoader(Rows(), batch_size=4)
trainer = lightning.Trainer(
    max_steps=60, logger=XlmLogger(run), callbacks=[XlmStop(run)], accelerator="cpu", log_every_n_steps=5,
    val_check_interval=20, enable_progress_bar=False, enable_model_summary=False, default_root_dir=str(run.folder),
    enable_checkpointing=False)
module = Module()
trainer.fit(module, rows, rows, ckpt_path=run.newest_checkpoint("*.ckpt"), weights_only=False)
trainer.test(module, rows, verbose=False)
"""


def train(script, stop=None):
    """The exit code of the program, and what it said; `stop` is asked when SIGTERM is due."""
    process = python(script, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if stop is not None:
        until(lambda: stop() or process.poll() is not None, seconds=300)
        process.send_signal(signal.SIGTERM)
    said = process.communicate(timeout=240)[0]
    return process.returncode, said


def test_numbers_arrive_and_a_stopped_training_resumes(script, inside, monkeypatch):
    metrics = inside / "metrics.jsonl"
    code, said = train(script, stop=lambda: metrics.exists() and any(line.get("step", 0) >= 4 for line in lines_of(inside)))
    assert code == 75, said
    before = lines_of(inside)
    stopped_at = max(line["step"] for line in before if "step" in line)
    assert 4 <= stopped_at < 20
    monkeypatch.setenv("XLM_RESUME", "1")
    code, said = train(script)
    assert code == 0, said
    after = lines_of(inside)[len(before):]
    losses = [line["step"] for line in after if "loss" in line and "split" not in line]
    # the first steps of the second part are not those of the first
    assert losses and min(losses) > 4, "it did not begin again"
    trained = {line["step"]: line["loss"] for line in before + after if "loss" in line and "split" not in line}
    assert trained[min(trained)] > trained[max(step for step in trained)] > 0, "it learns"
    valid = [line for line in before + after if line.get("split") == "valid"]
    assert {20, 40, 60} <= {line["step"] for line in valid} or {19, 39, 59} <= {line["step"] for line in valid}
    assert all(line["loss"] > 0 for line in valid)
    final = [line for line in after if line.get("final")]
    assert len(final) == 1 and final[0]["split"] == "test" and 0 < final[0]["loss"] < trained[min(trained)]
