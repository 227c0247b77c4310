"""What a connection proves of a machine: the name that is remembered of it rests on nothing that the machine says."""

import hashlib
from collections.abc import Iterable

from recon.hosts.effective import Effective
from recon.hosts.trust import KnownHosts
from recon.hosts.wire import fingerprint, string


def proven(host: Effective, keys: Iterable[bytes]) -> str:
    """What tells a host from every other one, whoever answers for it.

    It is the address, the name under which its keys are known, who logs in there, and the keys. The account belongs to
    it: each decides by its start-up files what is answered, and must not speak for another.

    Args:
        host: How it is reached.
        keys: The one that it proved to hold; where only ssh knows that one, all by which it is known.
    """
    told = (host.hostname, str(host.port), host.known_as, str(host.known_port), host.user)
    parts = (*told, *sorted(map(fingerprint, keys)))
    return hashlib.sha256(b"".join(string(part.encode("utf-8", "surrogateescape")) for part in parts)).hexdigest()


def known_keys(host: Effective) -> tuple[bytes, ...]:
    """Keys and authorities of which ssh accepts one for a host."""
    files = (*host.user_known_hosts_files, *host.global_known_hosts_files)
    known = KnownHosts.from_files(files, host.revoked_host_keys)
    return tuple(line.blob for line in known.about(host.known_as, host.known_port))
