"""What a machine can build and run kernels with: its programs, and the torch and Triton of its Python environments.

Triton compiles a launcher in C when a kernel is first run, so it needs a C compiler and the headers of its Python.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from recon.facts.fact import PLAIN, Fact, FactUnreadable, quote
from recon.facts.texts import cleaned
from recon.ports import Reply
from recon.records.host import PythonEnv

LOOKING_NEEDS = ("find", "sed", "awk", "grep", "head", "tr", "sort", "uniq", "readlink")
"""Programs without which engines are not found, on this machine as on a host."""
READING_NEEDS = ("tail", "od", "dd", "cat")
"""Programs without which a host does not send what it holds; on this machine files are read without them."""
READING_LIKES = ("tar", "gzip", "sha256sum", "md5sum", "setsid", "timeout", "nice", "ionice")
"""Programs in whose place something else can do."""
PROGRAMS = ("gcc", "clang", *LOOKING_NEEDS, *READING_NEEDS, *READING_LIKES)
_LISTERS = ("find-printf", "stat-c")
"""Abilities of which a listing needs one."""

LOOK_FOR = f"""
for name in {" ".join(PROGRAMS)}; do
  found=$(command -v "$name" 2>/dev/null) && printf '%s %s\\n' "$name" "$found"
done
find / -prune -printf '' >/dev/null 2>&1 && echo find-printf yes
stat -c %s / >/dev/null 2>&1 && echo stat-c yes
:
"""

ENVIRONMENT = r"""
versions() {
  for kind in torch triton; do
    for site in "$@"; do
      for dist in "$site/$kind"-*.dist-info "$site/pytorch_$kind"-*.dist-info "$site/pytorch_$kind"_*.dist-info; do
        [ -d "$dist" ] || continue
        dist=${dist##*/}; dist=${dist%.dist-info}
        printf '%s %s\n' "$kind" "${dist#*-}"
        break 2
      done
    done
  done
}
headers() {
  base=$1
  plain "$1/pyvenv.cfg" "$(cd -P -- "$1" 2>/dev/null && pwd -P)" &&
    base=$(head -c 8192 "$1/pyvenv.cfg" | sed -n 's#^home *= *\(.*\)/bin *$#\1#p' | head -n 1)
  for folder in "$1" "$base" "$(cd -P -- "$base" 2>/dev/null && pwd -P)"; do
    [ -n "$folder" ] && [ -f "$folder/include/python$2/Python.h" ] || continue
    printf 'headers %s\n' "$folder/include/python$2"
    return
  done
}
"""


@dataclass(frozen=True, slots=True)
class Toolchain:
    """Programs of a machine."""

    programs: dict[str, str]
    """Path by name, of those of PROGRAMS that are there."""
    lists: bool = True
    """Whether its find or its stat can print sizes and times, as listings need."""

    @property
    def compiler(self) -> str:
        """The C compiler that Triton would take; '' for none."""
        return self.programs.get("gcc") or self.programs.get("clang") or ""


@dataclass(frozen=True, slots=True)
class KernelEnv:
    """A Python environment that has torch or Triton."""

    prefix: str
    python: str
    """e.g. `3.12`."""
    torch: str
    """Version, '' where it is missing."""
    triton: str
    headers: str
    """Folder of Python.h; '' where it is missing."""


def parse(reply: Reply) -> Toolchain:
    r"""Read the names and paths of programs.

    Raises:
        FactUnreadable: the command broke off.

    >>> parse(Reply("gcc /usr/bin/gcc\ntar /bin/tar\n", "", 0)).compiler
    '/usr/bin/gcc'
    """
    if reply.status:
        raise FactUnreadable(f"the look for programs ended with status {reply.status}")
    told = [line.partition(" ") for line in reply.stdout.splitlines()]
    # A sh with programs of its own, such as busybox's, says their names instead of paths.
    found = {name: cleaned(path) for name, _, path in told if name in PROGRAMS}
    there = {name: path for name, path in found.items() if path.startswith("/") or path == name}
    return Toolchain(there, lists=any(name in _LISTERS for name, _, _ in told))


TOOLCHAIN = Fact(name="toolchain", command=LOOK_FOR, parse=parse)


def kernel_envs(environments: Sequence[PythonEnv]) -> Fact[tuple[KernelEnv, ...]]:
    """The fact: which of these environments have torch or Triton, and which versions."""
    commands = [PLAIN + ENVIRONMENT]
    for each in environments:
        sites = " ".join(map(quote, each.site_packages))
        prefix, version = quote(each.prefix), quote(each.version or "-")
        told = f"printf 'environment %s %s\\n' {version} {prefix}"
        commands.append(f"{told}; versions {sites}; headers {prefix} {version}")
    return Fact(name="kernels", command="\n".join([*commands, ":", ""]), parse=parse_envs)


def parse_envs(reply: Reply) -> tuple[KernelEnv, ...]:
    r"""Read the environments that have torch or Triton.

    Raises:
        FactUnreadable: the command broke off, or said something else.

    >>> parse_envs(Reply("environment 3.12 /opt/v\ntorch 2.9.0\nheaders /usr/include/python3.12\n", "", 0))[0].torch
    '2.9.0'
    """
    if reply.status:
        raise FactUnreadable(f"the look for torch and Triton ended with status {reply.status}")
    found: list[dict[str, str]] = []
    for key, _, value in (line.partition(" ") for line in reply.stdout.splitlines()):
        if key == "environment":
            python, _, prefix = value.partition(" ")
            found.append({"prefix": cleaned(prefix), "python": "" if python == "-" else cleaned(python)})
        elif key in {"torch", "triton", "headers"} and found:
            found[-1][key] = cleaned(value)
        else:
            raise FactUnreadable(f"the look for torch and Triton answered: {key[:40]} {value[:40]}")
    blank = {"torch": "", "triton": "", "headers": ""}
    made = (KernelEnv(**{**blank, **each}) for each in found)
    return tuple(each for each in made if each.torch or each.triton)
