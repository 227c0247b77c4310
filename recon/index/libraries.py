"""What most call the libraries of arrays, whatever a file calls them: shapes know each by one name."""

from recon.index.records import Import

SHORT = {
    "torch": "torch",
    "torch.nn.functional": "F",
    "triton": "triton",
    "triton.language": "tl",
    "triton.language.extra.tlx": "tlx",
    "triton.experimental.gluon.language": "gl",
    "numpy": "np",
    "jax.numpy": "jnp",
    "math": "math",
}
"""Libraries by their full name, and what most call them."""
Aliases = tuple[tuple[str, str], ...]
"""Names of a file that are not what most call their library, each with what they do."""


def library(item: Import) -> str:
    """What most call the library that an import binds; '' where it binds something else."""
    if item.name:
        return SHORT.get(f"{item.module}.{item.name}", "")
    first, dot, _ = item.module.partition(".")
    return SHORT.get(item.module, "") if not dot or item.alias != first else ""
