"""What `ssh -G` printed, by keyword; or what ssh would say without any configuration, where there is no ssh."""

from dataclasses import dataclass

from recon.hosts.target import Target, written
from recon.hosts.tokens import Here

_NONE = frozenset({"none", "none,"})
_TRUE = frozenset({"yes", "true"})
DEFAULT_IDENTITIES = ("id_rsa", "id_ecdsa", "id_ecdsa_sk", "id_ed25519", "id_ed25519_sk")

_UNFOLLOWED = {
    "stricthostkeychecking": (("false", "off", "no", "accept-new"), "unknown host keys are refused all the same"),
    "nohostauthenticationforlocalhost": (("yes", "true"), "the keys of this machine are checked all the same"),
    "verifyhostkeydns": (("yes", "true", "ask"), "fingerprints in DNS are not looked up"),
    "checkhostip": (("yes", "true"), "keys are looked up by name only"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """Values by keyword in lower case."""

    values: dict[str, tuple[str, ...]]
    notes: tuple[str, ...] = ()
    """What the user should know."""

    def all(self, keyword: str) -> tuple[str, ...]:
        """Every value of a keyword that may stand more than once; none where it says `none`."""
        return tuple(each for each in self.values.get(keyword, ()) if each.lower() not in _NONE)

    def word(self, keyword: str, otherwise: str = "") -> str:
        """The value of a keyword; what is given otherwise where it is missing, '' where it says `none`."""
        if keyword not in self.values:
            return otherwise
        return next(iter(self.all(keyword)), "")

    def number(self, keyword: str, otherwise: int) -> int:
        """The number of a keyword."""
        word = self.word(keyword)
        return int(word) if word.isascii() and word.isdecimal() else otherwise

    def flag(self, keyword: str) -> bool:
        """Whether a keyword says yes."""
        return self.word(keyword).lower() in _TRUE

    def listed(self, keyword: str) -> tuple[str, ...]:
        """The parts of a value with commas."""
        return tuple(part for part in self.word(keyword).split(",") if part)


def read(printed: str) -> Settings:
    r"""The settings that `ssh -G` printed.

    >>> read("port 22\nidentityfile ~/a\nidentityfile ~/b\n").all("identityfile")
    ('~/a', '~/b')
    """
    values: dict[str, tuple[str, ...]] = {}
    for line in printed.split("\n"):
        keyword, _, value = line.partition(" ")
        values[keyword.lower()] = (*values.get(keyword.lower(), ()), value)
    notes = (
        f"{keyword} {value} of the ssh configuration is not followed: {instead}"
        for keyword, (told, instead) in _UNFOLLOWED.items()
        for value in values.get(keyword, ())
        if value.lower() in told
    )
    return Settings(values, tuple(notes))


def minimal(target: Target, via: tuple[Target, ...], here: Here) -> Settings:
    """What ssh would say if it were installed and nothing were configured."""
    values = {
        "hostname": (target.host,),
        "port": (str(target.port or 22),),
        "user": (target.user or here.user,),
        "identityfile": tuple(f"~/.ssh/{name}" for name in DEFAULT_IDENTITIES),
        "userknownhostsfile": ("~/.ssh/known_hosts ~/.ssh/known_hosts2",),
        "globalknownhostsfile": ("/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2",),
        "proxyjump": (",".join(map(written, via)),),
    }
    return Settings(values, ("there is no ssh program, so ~/.ssh/config was not read",))
