"""The keys of configuration: what may be set, of which type, with which default, and by whom."""

from dataclasses import dataclass

_HOSTS = ("scan", "probe-kernels", "doctor")


@dataclass(frozen=True, slots=True)
class Key:
    """One thing that can be configured."""

    name: str
    """`TABLE.KEY`, or `KEY` outside of any table; options of the same last name come before it."""
    default: str | int | float | bool | tuple[str, ...]
    """Its type is that of the key."""
    help: str
    choices: tuple[str, ...] = ()
    """Words that will do; empty for any."""
    least: float | None = None
    in_project: bool = False
    """Whether the file of a project may set it: nothing that moves folders or reaches hosts."""
    commands: tuple[str, ...] = ()
    """Commands whose option of that name it is the default of."""

    @property
    def variable(self) -> str:
        """The variable of the environment that sets it.

        >>> Key("policy.fail-on", (), "").variable
        'RECON_POLICY_FAIL_ON'
        """
        return "RECON_" + self.name.replace(".", "_").replace("-", "_").upper()

    @property
    def parameter(self) -> str:
        """The parameter of those commands."""
        return self.name.rpartition(".")[2].replace("-", "_")


KEYS = (
    Key("color", "auto", "colour of what is printed", ("auto", "always", "never")),
    Key("progress", "auto", "how to say how far work is", ("auto", "plain", "json", "none")),
    Key("cache-dir", "", "folder of blobs, outlines and call graphs; empty for the user's cache folder"),
    Key("state-dir", "", "folder of run files and audit files; empty for the user's state folder"),
    Key("hosts.transport", "auto", "what carries SSH", ("auto", "paramiko", "openssh"), commands=_HOSTS),
    Key("hosts.batch", False, "ask nobody for a passphrase or a password", commands=_HOSTS),
    Key("hosts.host-timeout", 300.0, "seconds that one host is asked at most", least=1, commands=_HOSTS[:2]),
    Key("scan.max-load", 0.0, "leave a host alone whose load for each core is higher", least=0, commands=("scan",)),
    Key("scan.workers", 0, "processes that read sources; 0 means one for each core", least=0, commands=("scan",)),
    Key("policy.fail-on", (), "what no engine may answer, as --fail-on", in_project=True),
    Key("policy.require", (), "what every engine must answer, as --require", in_project=True),
)
FILE = "recon.toml"
"""Name of the files that hold configuration."""
WORDS = "verdicts"
"""The list of tables in which users give their own word."""


def key_of(name: str) -> Key | None:
    """The key of that name."""
    return next((each for each in KEYS if each.name == name), None)
