"""What a machine is: its platform, its id, its name."""

import re
from dataclasses import dataclass

from recon.facts.fact import Fact, FactUnreadable
from recon.facts.texts import cleaned
from recon.ports import Reply

COMMAND = """\
printf 'platform %s\\n' "$(uname -srm)"
printf 'hostname %s\\n' "$(uname -n)"
for file in /etc/machine-id /var/lib/dbus/machine-id; do
  [ -f "$file" ] && [ -r "$file" ] && printf 'id %s\\n' "$(head -c 64 "$file")"
done
[ "$(uname -s)" = Darwin ] && printf 'id %s\\n' "$(sysctl -n kern.uuid 2>/dev/null)"
:
"""

ID = re.compile(r"[0-9a-fA-F]{32}|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, as it names itself."""

    platform: str
    """`uname -srm`."""
    hostname: str
    machine_id: str
    """32 hexadecimal digits, or the UUID of a Mac; empty where the machine has none, as in many containers."""


def parse(reply: Reply) -> Machine:
    r"""Read the keyed lines of the command.

    Raises:
        FactUnreadable: there is no platform in them.

    >>> parse(Reply("platform Linux 6.1.0 x86_64\nhostname gpu07\nid uninitialized\n", "", 0))
    Machine(platform='Linux 6.1.0 x86_64', hostname='gpu07', machine_id='')
    """
    told = [cleaned(line).partition(" ") for line in reply.stdout.split("\n")]
    platform = next((value for key, _, value in told if key == "platform"), "")
    if not platform:
        raise FactUnreadable(f"uname said nothing (status {reply.status})")
    return Machine(
        platform,
        hostname=next((value for key, _, value in told if key == "hostname"), ""),
        machine_id=next((value.lower() for key, _, value in told if key == "id" and ID.fullmatch(value)), ""),
    )


MACHINE = Fact(name="machine", command=COMMAND, parse=parse)
