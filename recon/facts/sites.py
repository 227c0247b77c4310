"""What lies in `site-packages` folders, and in package folders: read by sh, without starting any Python.

Two facts share a vocabulary of lines: `sites` lists the metadata, links and packages of site folders, `packages`
looks at package folders that links point to.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from recon.facts.fact import PLAIN, Fact, FactUnreadable, quote
from recon.facts.names import DISTRIBUTIONS, PACKAGES
from recon.facts.texts import INSTALLER, VERSION_FILES, cleaned, installer_in, is_plain, version_in
from recon.ports import Reply

TEXT_BYTES = 1 << 16
"""What is read of one small text: metadata, a `.pth`."""
REDIRECT_BYTES = 1 << 18
"""What is read of a redirecting module, which lists every module of its package."""
RECORD_BYTES = 1 << 24
LINKS = 500
"""Links that are read in one site folder."""
PATHS = 500
"""Lines that are looked at of one of them."""


@dataclass(frozen=True, slots=True)
class Dist:
    """The metadata of one distribution."""

    folder: str
    """Its `.dist-info` or `.egg-info`, which may be a file."""
    name: str
    version: str
    installer: str
    direct_url: str
    """Text of direct_url.json, already without credentials; '' if there is none."""
    tops: tuple[str, ...]
    """Folders beside it that hold Python files of it, as RECORD or top_level.txt says."""


@dataclass(frozen=True, slots=True)
class Link:
    """A small file by which Python finds packages elsewhere: `.pth`, `.egg-link`, or a redirecting module."""

    file: str
    """Name in the site folder."""
    text: str


@dataclass(frozen=True, slots=True)
class Package:
    """A package folder."""

    path: str
    real: str
    """Where its files lie, links resolved."""
    regular: bool
    """Whether it has an `__init__`; otherwise Python takes it only if no other place has one."""
    version: str
    """As its own files say; '' if they do not."""

    @property
    def name(self) -> str:
        """The import package."""
        return self.path.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Site:
    """One site folder."""

    folder: str
    real: str
    readable: bool
    dists: tuple[Dist, ...]
    links: tuple[Link, ...]
    """Of any kind, in the order of their names."""
    packages: tuple[Package, ...]


@dataclass(frozen=True, slots=True)
class Sites:
    """Several site folders, and what the machine says of its import path."""

    sites: tuple[Site, ...]
    python_path: tuple[str, ...]
    """PYTHONPATH of the shell that was asked."""


LOOK = r"""
unset CDPATH
T=$(printf '\t'); R=$(printf '\r'); N='
'
odd() { case $1 in *"$T"*|*"$N"*) return 0;; *) return 1;; esac; }
real() { ( cd -P -- "$1" 2>/dev/null && pwd -P ); }
package() {
  [ -d "$1" ] || return 0
  odd "$1" && return 0
  home=$(real "$1"); where=$home; regular=no
  for init in "$1"/__init__.py "$1"/__init__.*so; do
    [ -f "$init" ] || continue
    regular=yes
    if [ -L "$init" ]; then
      target=$(readlink -f -- "$init" 2>/dev/null)
      case $target in */__init__.*) where=${target%/*};; esac
    fi
    break
  done
  printf 'package\t%s\t%s\t%s\n' "$1" "$where" "$regular"
  for name in @VERSION_FILES@; do
    plain "$1/$name" "$home" && head -c @TEXT_BYTES@ "$1/$name" | tr '\t\r' '  ' |
      grep -E '^(__version__|version|VERSION)( *:[^=]*)? *=' | head -n 5 |
      while IFS= read -r line; do printf 'version\t%s\n' "$line"; done
  done
}
"""

LIST = r"""
# Credentials stay on the machine. JSON may write characters as escapes, and a password may hold any of them: as
# texts.redact does, all up to the last @ goes. T stands for ://, R for that of file:///, which has no user.
bare() {
  LC_ALL=C sed -e 's|\\\\|%5C|g' -e 's|\\u005[cC]|%5C|g' -e 's|\\/|/|g' -e 's|\\"|%22|g' -e 's|\\u0022|%22|g' \
    -e 's|\\u002[fF]|/|g' -e 's|\\u0040|@|g' -e 's|\\u003[aA]|:|g' -e 's|\\u003[fF]|?|g' -e 's|\\u0023|#|g' \
    -e "s|file:///|file:$R|g" -e "s|://|$T|g" -e "s|[$T$R][^\"]*\$||" \
    -e "s|\"\([^\"$T$R]*\)$T[^\"/?#$T$R]*@\([^\"@]*\)\"|\"\1$T\2\"|g" \
    -e "s|\"\([^\"$T$R]*\)$T[^\"]*@\([^\"@]*\)\"|\"\1$T[secret]@\2\"|g" \
    -e "s|\"\([^\"$T$R]*\)$R[^\"]*$T[^\"]*@\([^\"@]*\)\"|\"\1$T[secret]@\2\"|g" \
    -e "s|\(\"url\" *: *\"\)[^\"$T$R]*@[^\"]*\"|\1\"|g" -e "s|\(\"url\" *: *\"[^\"?#]*\)[?#][^\"]*\"|\1\"|g" \
    -e "s|\(\"[^\"$T$R]*[$T$R][^\"?#]*\)[?#][^\"]*\"|\1\"|g" -e "s|$R|///|g" -e "s|$T|://|g"
}
dist() {
  [ -e "$1" ] || return 0
  odd "$1" && return 0
  printf 'dist\t%s\n' "$1"
  for file in "$1/METADATA" "$1/PKG-INFO" "$1"; do
    plain "$file" "$here" || continue
    head -c @TEXT_BYTES@ "$file" | tr '\t\r' '  ' | sed -n -e '/^$/q' -e "s/^Name: */name$T/p" -e "s/^Version: */is$T/p"
    break
  done
  plain "$1/INSTALLER" "$here" && printf 'installer\t%s\n' "$(
    head -c 4096 "$1/INSTALLER" | tr '\t\r' '  ' | head -n 1 | sed 's/ *$//' | grep -E '^(@INSTALLER@)$')"
  plain "$1/direct_url.json" "$here" && printf 'url\t%s\n' "$(
    head -c 8192 "$1/direct_url.json" | tr '\t\r\n' '   ' | bare)"
  {
    plain "$1/top_level.txt" "$here" && head -c 4096 "$1/top_level.txt"
    plain "$1/RECORD" "$here" && head -c @RECORD_BYTES@ "$1/RECORD" |
      sed -n 's#^\([A-Za-z_][A-Za-z0-9_]*\)/.*\.py,.*#\1#p' | uniq
  } | tr '\t\r' '  ' | sort -u | head -n 50 | while IFS= read -r line; do
    [ -n "$line" ] && [ -d "${1%/*}/$line" ] && printf 'top\t%s\n' "$line"
  done
}
# Of a .pth go along folders, and of lines of code the names of redirecting modules: all else may be anything.
paths() {
  head -n @PATHS@ | awk '
    { text = $0; sub(/ +$/, "", text) }
    NR == 1 { sub(/^\357\273\277/, "", text) }
    text == "" || text ~ /^#/ { next }
    text ~ /^import / {
      names = ""
      while (match(text, /[A-Za-z0-9_]+/)) {
        word = substr(text, RSTART, RLENGTH); text = substr(text, RSTART + RLENGTH)
        if (word ~ /^(__editable__|_editable_)|_editable$/) names = names " " word
      }
      if (names != "") print "import" names
      next
    }
    text !~ /:\/\// { print text }' | while IFS= read -r line; do
    case $line in
      "import "*) ;;
      /*) [ -d "$line" ] || continue;;
      *) [ -d "$1/$line" ] || continue;;
    esac
    printf 'line\t%s\n' "$line"
  done
}
site() {
  [ -d "$1" ] || return 0
  readable=no; [ -r "$1" ] && [ -x "$1" ] && readable=yes
  here=$(real "$1")
  printf 'site\t%s\t%s\t%s\n' "$1" "$here" "$readable"
  printf '%s\n' "$1"/*.dist-info "$1"/*.egg-info | awk '
    { base = tolower($0); sub(/.*\//, "", base); gsub(/[.-]+/, "_", base) }
    base ~ /^(@DISTRIBUTIONS@)(_v?[0-9].*)?_(dist|egg)_info$/' | while IFS= read -r found; do dist "$found"; done
  for name in @PACKAGES@; do package "$1/$name"; done
  count=0
  for link in "$1"/*.pth "$1"/*.egg-link "$1"/__editable__*_finder.py "$1"/_editable_*.py "$1"/_*_editable.py; do
    plain "$link" "$here" || continue
    odd "$link" && continue
    count=$((count + 1)); [ "$count" -gt @LINKS@ ] && break
    printf 'link\t%s\n' "${link##*/}"
    case $link in
      *.py) head -c @REDIRECT_BYTES@ "$link" | tr '\t\r' '  ' | awk '{ print "line\t" $0 }';;
      *) head -c @TEXT_BYTES@ "$link" | tr '\t\r' '  ' | paths "$1";;
    esac
  done
}
[ -n "${PYTHONPATH:-}" ] && printf 'pythonpath\t%s\n' "$PYTHONPATH" | tr '\n' ' ' && printf '\n'
"""

VALUES = {
    "@VERSION_FILES@": " ".join(VERSION_FILES),
    "@TEXT_BYTES@": str(TEXT_BYTES),
    "@REDIRECT_BYTES@": str(REDIRECT_BYTES),
    "@RECORD_BYTES@": str(RECORD_BYTES),
    "@LINKS@": str(LINKS),
    "@PATHS@": str(PATHS),
    "@INSTALLER@": INSTALLER,
    "@PACKAGES@": " ".join(PACKAGES),
    "@DISTRIBUTIONS@": "|".join(DISTRIBUTIONS),
}


def sites(folders: Sequence[str]) -> Fact[Sites]:
    """The fact for some site folders, in their order."""
    asks = [f"site {quote(folder)}" for folder in folders]
    return Fact(name="sites", command="\n".join([_filled(PLAIN + LOOK + LIST), *asks, ":"]), parse=parse_sites)


def packages(paths: Sequence[str]) -> Fact[tuple[Package, ...]]:
    """The fact for some package folders; those that are no folders are left out."""
    asks = [f"package {quote(path)}" for path in paths]
    return Fact(name="packages", command="\n".join([_filled(PLAIN + LOOK), *asks, ":"]), parse=parse_packages)


def _filled(script: str) -> str:
    for name, value in VALUES.items():
        script = script.replace(name, value)
    return script


@dataclass(slots=True)
class _Block:
    """One entry of the reply: its head line, and the keyed lines below it."""

    head: list[str]
    lines: list[tuple[str, str]] = field(default_factory=list)

    def all(self, key: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.lines if name == key)

    def first(self, key: str) -> str:
        return next((cleaned(value) for name, value in self.lines if name == key), "")


def parse_sites(reply: Reply) -> Sites:
    """Read the blocks of the command.

    Raises:
        FactUnreadable: the command broke off, or a line is none of ours.
    """
    found: list[Site] = []
    python_path: tuple[str, ...] = ()
    content: list[_Block] = []
    for block in [*_blocks(reply, "the look into site-packages"), _Block(["end"])]:
        match block.head:
            case ["pythonpath", value]:
                python_path = tuple(part for part in value.strip().split(":") if part.startswith("/"))
            case ["site", *_] | ["end"]:
                if content:
                    found.append(_site(content))
                content = [block]
            case ["dist" | "link" | "package", *_] if content:
                content.append(block)
            case _:
                raise FactUnreadable(f"the look into site-packages answered: {' '.join(block.head)[:80]}")
    return Sites(tuple(found), python_path)


def parse_packages(reply: Reply) -> tuple[Package, ...]:
    """Read the package blocks of the command.

    Raises:
        FactUnreadable: the command broke off, or a line is none of ours.
    """
    return tuple(_package(block) for block in _blocks(reply, "the look into package folders"))


HEADS = {"pythonpath": 2, "site": 4, "dist": 2, "link": 2, "package": 4}
"""First word of a head line, and how many fields it has."""
KEYS = frozenset({"name", "is", "installer", "url", "top", "line", "version"})


def _blocks(reply: Reply, what: str) -> list[_Block]:
    """Cut a reply into blocks.

    Raises:
        FactUnreadable: the command broke off, or a line is none of ours.
    """
    if reply.status:
        raise FactUnreadable(f"{what} ended with status {reply.status}")
    blocks: list[_Block] = []
    for line in reply.stdout.split("\n"):
        fields = line.split("\t")
        if HEADS.get(fields[0]) == len(fields):
            blocks.append(_Block(fields))
        elif blocks and fields[0] in KEYS and len(fields) == 2:
            blocks[-1].lines.append((fields[0], fields[1]))
        elif line:
            raise FactUnreadable(f"{what} answered: {line[:80]}")
    return [block for block in blocks if all(map(is_plain, block.head))]


def _site(content: list[_Block]) -> Site:
    _, folder, real, readable = content[0].head
    return Site(
        folder,
        real or folder,
        readable == "yes",
        dists=tuple(_dist(block) for block in content if block.head[0] == "dist"),
        links=tuple(
            sorted(
                (Link(block.head[1], "\n".join(block.all("line"))) for block in content if block.head[0] == "link"),
                key=lambda link: link.file,
            )
        ),
        packages=tuple(_package(block) for block in content if block.head[0] == "package"),
    )


def _dist(block: _Block) -> Dist:
    return Dist(
        block.head[1],
        block.first("name"),
        block.first("is"),
        installer_in(block.first("installer")),
        next(iter(block.all("url")), ""),
        tuple(filter(is_plain, block.all("top"))),
    )


def _package(block: _Block) -> Package:
    _, path, real, regular = block.head
    return Package(path, real or path, regular == "yes", version_in(block.all("version")))
