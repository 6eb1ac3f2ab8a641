"""Builds the wheel: CMake compiles the extension, without CUDA.

ROOFCAST_BUILD_DIR names a configured build folder to compile in instead of a new one.
"""

import importlib
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


def project_version():
    """The version that CMakeLists.txt names, the only place where it stands."""
    text = (ROOT / "CMakeLists.txt").read_text()
    found = re.search(r"project\(\s*roofcast\s+VERSION ([\d.]+)", text)
    return found.group(1)


class CMakeBuild(build_ext):
    """Compiles the target roofcast_python and takes the file that it makes."""

    def build_extension(self, extension):
        build = os.environ.get("ROOFCAST_BUILD_DIR")
        if build is None:
            build = Path(self.build_temp).resolve() / "cmake"
            self.configure(build)
        jobs = str(os.cpu_count() or 1)
        subprocess.run(
            ["cmake", "--build", build, "--target", "roofcast_python", "--parallel", jobs],
            check=True,
        )
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        made = Path(build) / "python" / target.name
        if not made.exists():
            found = ", ".join(path.name for path in made.parent.glob("_core*")) or "none"
            raise SystemExit(
                f"{made} was not built (found: {found}): {build} is configured for another Python. "
                f"Configure it with -DPython_EXECUTABLE={sys.executable}"
            )
        self.copy_file(str(made), str(target))

    def configure(self, build):
        options = {
            "CMAKE_BUILD_TYPE": "Release",
            "Python_EXECUTABLE": sys.executable,
            "ROOFCAST_CUDA": "OFF",
            "ROOFCAST_EXPLORER": "OFF",
            "ROOFCAST_PYTHON": "ON",
            "ROOFCAST_REPORT_BUNDLE": "OFF",
            "ROOFCAST_TESTS": "OFF",
        }
        # Where pybind11 comes from a package index, CMake does not find it by itself.
        if importlib.util.find_spec("pybind11"):
            options["pybind11_DIR"] = importlib.import_module("pybind11").get_cmake_dir()
        given = [f"-D{name}={value}" for name, value in options.items()]
        subprocess.run(["cmake", "-S", ROOT, "-B", build, "-G", "Ninja", *given], check=True)


setup(
    version=project_version(),
    ext_modules=[Extension("roofcast._core", sources=[])],
    cmdclass={"build_ext": CMakeBuild},
)
