"""The wheel of the module `xlm` and of the program, with the recipes.

The program comes as the portable folder (scripts/portable.sh), so that it runs on systems older than the one that it was
built on. libtorch comes from the torch wheel that it depends on, of the version that it was built with. XLM_BUILD names a
build that is there already (build/release); otherwise `make build` makes one. XLM_BUILD=none makes a wheel of the module
alone, which is pure Python and depends on nothing: for machines where programs only report their numbers.
"""
import os
import pathlib
import re
import shutil
import subprocess

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent
BUILD = os.environ.get("XLM_BUILD")


def found(pattern, file):
    return re.search(pattern, (ROOT / file).read_text(), re.MULTILINE)[1]


class BuildProgram(build_py):
    def run(self):
        super().run()
        build = BUILD
        if not build:
            subprocess.run(["make", "build"], cwd=ROOT, check=True)
            build = ROOT / "build" / "release"
        subprocess.run(["cmake", "--build", build, "--target", "launcher"], cwd=ROOT, check=True)
        package = pathlib.Path(self.build_lib).resolve() / "xlm"
        made = package.with_name("program")
        subprocess.run(
            [ROOT / "scripts" / "portable.sh", build, made, "0"], cwd=ROOT, check=True, env={**os.environ, "ARCHIVE": "0"}
        )
        (folder,) = made.iterdir()
        for part in ("bin", "lib", "libexec", "share"):
            (folder / part).replace(package / part)
        shutil.rmtree(made)


class Wheel(bdist_wheel):
    """Of this machine's processor, and of any Python 3: nothing in it is linked with Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


def torch_version():
    """Of the build that is there, otherwise of the one that `make build` is going to make."""
    if BUILD:
        return found('kTorchVersion = "(.*)"', f"{BUILD}/generated/base/version.h")
    wanted = ROOT / ".deps" / "wanted-torch"
    return wanted.read_text().strip() if wanted.exists() else found("^pinned_torch=(.*)$", "scripts/setup.sh")


PARTS = {"install_requires": [], "entry_points": {}}
if BUILD != "none":
    PARTS = {
        "install_requires": [f"torch=={torch_version()}"],
        "entry_points": {"console_scripts": ["xlm = xlm:main"]},
        "cmdclass": {"build_py": BuildProgram, "bdist_wheel": Wheel},
    }
setup(version=found(r"^project\(xlm VERSION ([0-9.]+)", "CMakeLists.txt"), **PARTS)
