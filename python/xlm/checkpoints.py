"""Files that appear whole or not at all, and the newest of a folder."""
from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import tempfile
from typing import Iterator, Optional, Union

StrPath = Union[str, "os.PathLike[str]"]
_UNFINISHED = ".unfinished-"  # what the names of files begin with while they are written


@contextlib.contextmanager
def saving(path: StrPath) -> Iterator[pathlib.Path]:
    """A path to write to, of a file or a folder, that takes the place of `path` at the end of the block.

    After a kill at any moment `path` is the earlier one or the new one, whole. If the block raises, or has written
    nothing, `path` stays as it was. (A folder that is there already is moved aside first: between the two moves a kill
    leaves neither. Give each folder its own name.)

        with xlm.saving("last.pt") as file:
            torch.save(model.state_dict(), file)
    """
    target = pathlib.Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    staged = pathlib.Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=target.parent))
    try:
        new = staged / target.name
        yield new
        if new.exists():
            _flush_tree(new)
            if new.is_dir() and target.exists():
                os.replace(target, staged / "earlier")
            os.replace(new, target)
            _flush(target.parent)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def newest(folder: StrPath, pattern: str = "*") -> Optional[pathlib.Path]:
    """The file or folder that was written last among those that match `pattern`, without unfinished ones; None if
    there is none."""
    found = [path for path in pathlib.Path(folder).glob(pattern) if not path.name.startswith(_UNFINISHED)]
    return max(found, key=lambda path: (path.stat().st_mtime_ns, path.name), default=None)


def _flush_tree(path: pathlib.Path) -> None:
    """A name that is there after a power cut must not name an empty file."""
    if path.is_dir() and not path.is_symlink():
        for entry in path.iterdir():
            _flush_tree(entry)
    if path.exists():  # a link may lead nowhere
        _flush(path)


def _flush(path: pathlib.Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
