"""What a library complains of, in a line: compilers and frameworks raise whole pages, of which people read one."""

import re

LONGEST = 300
_HEAD = 200
_NAMED = re.compile(r"\w*(?:Error|Exception|Unsupported)\b[:(]")
"""How a line begins that names an error, e.g. `NameError('x is not defined')`."""


def in_a_line(text: str) -> str:
    r"""What happened, with the value: the first line that says something, its middle left out where it is long.

    Where that line only opens what follows, as those of Triton's compiler do (`at 3:20:`, then source), the last line
    that names an error follows.

    >>> in_a_line("CompilationError: at 3:20:\ndef walk(x):\n    ^\nNameError('x is not defined')\n\nSet VERBOSE")
    "CompilationError: at 3:20: NameError('x is not defined')"
    """
    lines = [line for line in (" ".join(line.split()) for line in text.splitlines()) if line]
    if not lines:
        return ""
    first, *others = lines
    named = [line for line in others if _NAMED.match(line)]
    told = f"{first} {named[-1]}" if first.endswith(":") and named else first
    return told if len(told) <= LONGEST else f"{told[:_HEAD]} ... {told[_HEAD + 5 - LONGEST :]}"
