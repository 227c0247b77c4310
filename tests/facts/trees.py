"""Small environments and packages that tests build; Python itself is asked what it would import from them."""

import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

FINDER = '''\
"""What setuptools writes for an editable install, in short."""
import sys
from importlib.util import spec_from_file_location

MAPPING: dict[str, str] = {mapping!r}
NAMESPACES: dict[str, list[str]] = {{}}


class Finder:
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name in MAPPING:
            folder = MAPPING[name]
            return spec_from_file_location(name, folder + "/__init__.py", submodule_search_locations=[folder])


def install():
    sys.meta_path.append(Finder)
'''

REDIRECT = '''\
"""What scikit-build-core writes for an editable install, in short."""
import sys
from importlib.util import spec_from_file_location


class Finder:
    def __init__(self, files):
        self.files = files

    def find_spec(self, name, path=None, target=None):
        if name in self.files:
            return spec_from_file_location(name, self.files[name])


def install(known_source_files, known_wheel_files, path=None):
    sys.meta_path.insert(0, Finder(known_source_files))


install({files!r}, {{}}, None)
'''


@dataclass(frozen=True)
class Venv:
    """A virtual environment, made by `python -m venv` without pip."""

    prefix: Path

    @property
    def site(self) -> Path:
        """Its site-packages."""
        return self.prefix / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages"

    def origin(self, package: str, environment: dict[str, str] | None = None) -> str:
        """The folder from which its Python would import a package; '' if from none."""
        code = (
            "import importlib.util as u, os, sys\n"
            "spec = u.find_spec(sys.argv[1])\n"
            "places = list(spec.submodule_search_locations) if spec else ['']\n"
            "print(os.path.dirname(spec.origin) if spec and spec.origin else places[0])"
        )
        # From a folder of its own and isolated from ours: only the environment decides.
        asked = [str(self.prefix / "bin" / "python"), "-c", code, package]
        done = subprocess.run(
            asked, cwd=self.prefix / "lib", env=environment or {}, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()


def make_venv(prefix: Path, *, system: bool = False) -> Venv:
    """A fresh virtual environment."""
    venv.create(prefix, with_pip=False, symlinks=True, system_site_packages=system)
    return Venv(prefix)


def make_package(parent: Path, name: str, version: str = "", *, regular: bool = True) -> Path:
    """A package folder with one module, and a version file if it has a version."""
    folder = parent / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "spec_decode.py").write_text("def propose(): ...\n")
    if regular:
        (folder / "__init__.py").write_text("")
    if version:
        (folder / "_version.py").write_text(f"__version__ = version = '{version}'\n")
    return folder


def make_dist(site: Path, name: str, version: str, **files: str) -> Path:
    """The metadata of a distribution; `direct_url`, `INSTALLER`, `RECORD` are texts of its files."""
    folder = site / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n\nVersion: no header\n")
    for key, text in files.items():
        (folder / {"direct_url": "direct_url.json"}.get(key, key)).write_text(text)
    return folder


def editable(folder: Path) -> str:
    """Text of the direct_url.json of an editable install."""
    return f'{{"url": "file://{folder}", "dir_info": {{"editable": true}}}}'


def redirect_late(site: Path, name: str, folder: Path) -> None:
    """Link a package as setuptools does where a path would expose too much."""
    module = f"__editable___{name}_1_0_finder"
    (site / f"{module}.py").write_text(FINDER.format(mapping={name: str(folder)}))
    (site / f"__editable__.{name}-1.0.pth").write_text(f"import {module}; {module}.install()\n")


def redirect_first(site: Path, name: str, folder: Path, module: str = "") -> None:
    """Link a package as scikit-build-core does; newer versions of it name the module otherwise."""
    module = module or f"_{name}_editable"
    (site / f"{module}.py").write_text(REDIRECT.format(files={name: str(folder / "__init__.py")}))
    (site / f"{module}.pth").write_text(f"import {module}\n")
