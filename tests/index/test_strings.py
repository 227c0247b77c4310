"""CUDA in the strings of Python files: read in its place, joined to callers, named where not all of it is there."""

import time
from itertools import pairwise
from textwrap import dedent

import pytest

from recon.detectors.testing import indexed
from recon.index.index import Index
from recon.index.pool import outline_of
from recon.index.records import Parsed, ScopeKind
from recon.index.strings import MARK, cuda_in, may_hold_cuda
from recon.index.tables import Ref
from recon.records.path import Tier
from recon.records.unknown import PARTLY

KERNEL = "__global__ void walk(int* a, int n) { for (int i = 0; i < n; ++i) { a[i] = i; } }"
DOUBLED = KERNEL.replace("{", "{{").replace("}", "}}")
HOW_WRITTEN = {
    "raw": f"s = r'''{KERNEL}'''",
    "bytes": f"s = b'''{KERNEL}'''",
    "in rows": "s = (\n" + "".join(f'    "{row};"  # so\n' for row in KERNEL.split(";")) + ")",
    "in rows with notes": "s = (\n" + "".join(f'    "{row};"  # it\'s\n' for row in KERNEL.split(";")) + ")",
    "with a directive": f"s = '#define MOST 8\\n{KERNEL}'",
    "in a sum with what is made of it": f"s = '' + dedent('''{KERNEL}''')",
    "with escapes": 's = \'extern \\"C\\" {\\n' + KERNEL.replace(";", ";\\n") + "\\n}'",
    "with a macro": f"s = '''\n#define ONCE a[0] = 0\n{KERNEL.replace('{ for', '{ ONCE; for')}'''",
    "under a linkage that is closed elsewhere": f"s = 'extern \"C\" {{\\n typedef enum {{ A }} kind;\\n {KERNEL}'",
    "with a note before an escaped newline": f"s = '// it begins {{ here\\n{KERNEL}'",
    "a format": f"s = '''{DOUBLED.replace('< n', '< {n}')}'''",
    "an f-string": f"s = f'''{DOUBLED.replace('< n', '< {n + 1}')}'''",
    "fields beside doubled braces": f"s = f'''{DOUBLED.replace('a[i] = i;', 'a[i] = {{{n}}};')}'''",
    "fields in percent": f"s = '''{KERNEL.replace('< n', '< %(n)s')}''' % d",
    "numbers in percent": f"s = '''{KERNEL.replace('i = 0', 'i = %d')}''' % d",
    "a template": f"s = Template('''{KERNEL.replace('< n', '< $n')}''')",
    "a text that is replaced": f"s = '''{KERNEL.replace('< n', '< {n}')}'''.replace('{{n}}', '8')",
    "a sum": f"s = HEAD + '''{KERNEL[:30]}''' + '''{KERNEL[30:]}'''",
    "a sum with a value": "s = '''" + KERNEL.replace("< n", "< ''' + str(n) + '''") + "'''",
}
GAPS = {
    "a text that is replaced": "s = '''__global__ void f(int* a) {\n  BODY\n}'''.replace('BODY', body)",
    "a field of a format": "s = '''__global__ void f(int* a) {{\n  {body}\n}}'''.format(body=body)",
    "a sum": "s = '''__global__ void f(int* a) {\n''' + body + '''}'''",
    "a text that ends too early": "head = '__global__ void f(int* a) {'\n",
    "a field with a semicolon": "s = f'''__global__ void f(int* a) {{ {body}; }}'''",
    "a name behind a note": "s = '''__global__ void f(int* a) {\n  int i = 0; // {\n  // ; so\n  $rest\n}'''",
    "a name behind a statement": "s = '''__global__ void f(int* a) {\n  int i = 0;\n  $rest\n}'''",
}
MAKING = f"""
import cupy

S = '''{KERNEL}'''
"""


def of_strings(source: str) -> Index:
    return indexed({"a.py": source})


def callers(files: dict[str, str]) -> list[tuple[str, str]]:
    """Who calls the kernel `walk` of `k.py`, without guesses."""
    index = indexed({path: dedent(text) for path, text in files.items()})
    kernel = next(s for s in index.files[f"k.py{MARK}"].scopes if s.name == "walk")
    edges = index.graph.edges_to(Ref(f"k.py{MARK}", kernel.id))
    return sorted((each.source.path, index.names.qualname(each.source)) for each in edges if each.tier is Tier.LIKELY)


@pytest.mark.parametrize("how", HOW_WRITTEN)
def test_a_kernel_is_read_however_its_string_is_written(how: str) -> None:
    """By the grammar of CUDA, whole, with nothing that is put in but values and names."""
    outline = outline_of("a.py", HOW_WRITTEN[how].encode()).strings
    assert outline is not None

    assert (Parsed.FULL, "") == (outline.parsed, outline.problem)
    assert ["walk"] == [scope.name for scope in outline.scopes if scope.kind is ScopeKind.FUNCTION]


@pytest.mark.parametrize("how", HOW_WRITTEN)
def test_every_line_of_a_string_keeps_its_place(how: str) -> None:
    """So that a place in the string is a place in the Python file."""
    source = f"# äöü\r\n\n{HOW_WRITTEN[how]}\n".encode()
    found = cuda_in(source)

    assert found is not None
    assert len(source) == len(found.text)
    assert [len(row) for row in source.splitlines()] == [len(row) for row in found.text.splitlines()]


@pytest.mark.parametrize("how", GAPS)
def test_a_kernel_into_which_statements_are_put_is_named_as_read_in_part(how: str) -> None:
    """Nobody knows what they do."""
    [unknown] = of_strings(GAPS[how]).unread

    assert (PARTLY, "a.py") == (unknown.what, unknown.where)
    assert "put together at run time" in unknown.why


def test_documentation_and_sentences_are_no_source() -> None:
    """What is said of a kernel runs nowhere."""
    said = f'"""{KERNEL}"""\n\n\ndef f():\n    """{KERNEL}"""\n    raise ValueError("a __global__ of {{this}} kind")\n'

    assert may_hold_cuda(said.encode())
    assert ["a.py"] == list(of_strings(said).files)


def test_a_file_whose_strings_cannot_be_found_is_named_as_unread() -> None:
    """Newer syntax than this parser knows may hold a kernel as well."""
    [unknown] = of_strings(f"s = '''{KERNEL}'''  # {' ' * 4_000_000}").unread
    with pytest.raises(ValueError, match="were not read"):
        cuda_in(f"s = '''{KERNEL}'''\nif:".encode())

    assert ("source", "a.py") == (unknown.what, unknown.where)
    assert "too large" in unknown.why


HOSTILE = {
    "notes behind statements": "s = '''__global__ void f() {" + "// ;\n" * 50_000 + "}'''",
    "notes in one line": "s = '''__global__ void f() {" + "; // " * 50_000 + "\n}'''",
    "directives": "s = '__global__ void f() {" + "#" * 400_000 + "}'",
    "gaps": "s = '''__global__ void f() {" + ";\na\n" * 50_000 + "}'''",
    "sums": "s = '__global__ void f() {}'\n" + f"{'+'.join('a' * 900)}\n" * 60,
}


@pytest.mark.parametrize("how", HOSTILE)
def test_a_file_that_a_stranger_wrote_is_read_in_a_time_that_grows_with_it(how: str) -> None:
    """No form of it costs more than its length: each of these would take minutes or hours."""
    began = time.process_time()
    found = cuda_in(HOSTILE[how].encode())

    assert found is not None
    assert time.process_time() - began < 8


def test_uses_in_a_file_that_a_stranger_wrote_are_joined_in_a_time_that_grows_with_it() -> None:
    """A file of many kernels, of many names and of many calls, each of which may be any of them."""
    kernels = "\n".join(f"__global__ void f{n}() {{}}" for n in range(2000))
    listed = ", ".join(f"'f{n}'" for n in range(2000))
    source = (
        f"S = '''{kernels}'''\n\n\ndef made():\n    return [{listed}]\n\n\nk = made()\n\n\ndef run():\n"
        + "    k()\n" * 2000
    )
    index = of_strings(source)
    began = time.process_time()

    assert 20_000 >= sum(1 for _ in index.graph.edges())
    assert time.process_time() - began < 8


def test_a_place_in_a_string_is_told_as_one_in_its_file() -> None:
    """By its path, its symbol and its line."""
    index = of_strings(f"\n\n\ns = '''{KERNEL}'''\n")
    [function] = index.functions()

    assert ("a.py", "walk", 4) == (function.file, function.symbol, function.scope.line)
    assert function.ref == index.place("a.py", "walk")
    assert 1 == index.counts.python_files
    assert 0 == index.counts.cuda_files


def test_who_calls_an_object_made_by_a_kernels_name_calls_the_kernel() -> None:
    """In its own file, through a function that makes it, and where it is imported."""
    made = f"{MAKING}k = cupy.RawKernel(S, 'walk')\n\n\ndef run(a):\n    k((1,), (1,), (a,))\n"
    other = "from k import k as started\n\n\ndef go(a):\n    started((1,), (1,), (a,))\n"
    module = "import k\n\n\ndef go(a):\n    k.k((1,), (1,), (a,))\n"
    maker = (
        f"{MAKING}\n\ndef make():\n    return cupy.RawKernel(S, 'walk')\n\n\nk = make()\n\n\ndef run(a):\n    k(a)\n"
    )

    assert [("k.py", "run")] == callers({"k.py": made})
    assert [("k.py", "run"), ("o.py", "go")] == callers({"k.py": made, "o.py": other})
    assert [("k.py", "run"), ("o.py", "go")] == callers({"k.py": made, "o.py": module})
    assert [("k.py", "make"), ("k.py", "run")] == callers({"k.py": maker})


def test_who_calls_a_function_of_a_module_built_from_strings_calls_it() -> None:
    """By its name, whatever the module is called; an object keeps it as well."""
    built = f"{MAKING}m = load_inline('m', cuda_sources=S, functions=['walk'])\n\n\ndef run(a):\n    m.walk(a)\n"
    kept = (
        f"{MAKING}\n\nclass Box:\n    def __init__(self):\n        self.k = build(S).get_function('walk')\n\n"
        "    def run(self, a):\n        self.k(a)\n"
    )

    assert [("k.py", "run")] == callers({"k.py": built})
    assert [("k.py", "Box.__init__"), ("k.py", "Box.run")] == callers({"k.py": kept})


def test_a_namesake_that_the_tree_defines_is_not_the_kernel() -> None:
    """Nor is a local of the name of what was made."""
    own = (
        f"{MAKING}\n\nclass Dog:\n    def walk(self):\n        pass\n\n\ndef run():\n    dog = Dog()\n    dog.walk()\n"
    )
    local = f"{MAKING}k = cupy.RawKernel(S, 'walk')\n\n\ndef run(a, k):\n    k(a)\n"

    assert [] == callers({"k.py": own})
    assert [] == callers({"k.py": local})


def test_variants_of_a_kernel_are_all_different() -> None:
    """A way of writing that is listed twice would be none."""
    assert all(one != other for one, other in pairwise(sorted(HOW_WRITTEN.values())))
