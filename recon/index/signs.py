"""The cheap signs of a function: what a call, a comparison or a loop says, by structure alone."""

import ast
import re
from dataclasses import dataclass, field
from functools import lru_cache

from recon.index.records import Feature
from recon.index.spell import words

LOADS = words("load gather gather_ index_select take take_along_dim take_along_axis")
"""Calls that read by address, as a subscript does."""
_AXIS = words("dim axis keepdim keepdims dims keep_dims")


def _table() -> dict[str, int]:
    words = {
        Feature.SCAN: "cumprod cumsum cummin cummax cumprod_ cumsum_ associative_scan logcumsumexp inclusive_scan "
        "exclusive_scan accumulate cumulative_sum cumulative_prod takewhile next",
        Feature.ARGMAX: "argmax topk nanargmax top_k",
        Feature.RANDOM: "rand randn randint rand_like randn_like uniform uniform_ multinomial exponential_ exponential "
        "bernoulli bernoulli_ randint4x rand4x randn4x normal normal_ philox",
        Feature.EXP: "exp exp2 exp_ expm1 softmax log_softmax log log2 log1p log_ logsumexp softmax_",
        Feature.DOT: "dot dot_scaled matmul einsum bmm mm baddbmm addmm mma wgmma warpgroup_mma tcgen05_mma",
        Feature.STORE: "store index_put_ index_put scatter_ scatter scatter_add_ index_copy_ index_fill_ index_add_ "
        "masked_scatter_ atomic_add atomic_max atomic_min atomic_cas atomic_xchg atomic_or atomic_and",
        Feature.WHERE: "where masked_fill masked_fill_ flatnonzero argwhere",
        Feature.REDUCE: "argmin nanargmin flatnonzero argwhere",
        Feature.LOOP: "while_loop fori_loop scan",  # which run a function of the caller's in a loop
    }
    table: dict[str, int] = {}
    for bit, names in words.items():
        for name in names.split():
            table[name] = table.get(name, 0) | int(bit)
    return table


_CALLS = _table()
_REDUCTIONS = words("sum min max any all amax amin prod mean reduce xor_sum nansum")
_COMPARISONS = {
    **dict.fromkeys(words("eq ne eq_ ne_ equal not_equal"), int(Feature.COMPARE_EQ)),
    **dict.fromkeys(words("lt le gt ge less less_equal greater greater_equal"), int(Feature.COMPARE_ORDER)),
    **dict.fromkeys(words("div div_ divide true_divide fdiv div_rn"), int(Feature.DIVIDE)),
}
_CLASS = re.compile(r"_?[A-Z]\w*[a-z]\w*(?:\(\))?$")
_PICKS = frozenset({"max", "min"})
_ARRAYS = frozenset({"np", "numpy", "jnp"})
_TRITON = frozenset({"tl", "gl", "tlx"})
TELLING = frozenset(_CALLS) | _REDUCTIONS | frozenset(_COMPARISONS) | LOADS | {"store", "get"}
"""Last parts of callees that say something; most calls have none of them."""
_LOAD, _REDUCE, _ARGMAX = int(Feature.LOAD), int(Feature.REDUCE), int(Feature.ARGMAX)


def of_call(last: str, root: str, call: ast.Call, *, jit: bool) -> int:
    """Bits that a call gives, by the last part of its callee and by its arguments.

    Args:
        last: Last part of the callee.
        root: First part of it; of a library, what most call it.
        call: The call.
        jit: Whether it stands in a kernel.
    """
    in_kernel = jit or root in _TRITON
    if last == "load":
        return _LOAD if in_kernel else 0
    if last == "store":
        return _CALLS[last] if in_kernel else 0
    bits = _CALLS.get(last, 0)
    if last in _COMPARISONS and not (all(map(is_constant, call.args)) and not is_difference(receiver(call))):
        bits |= _COMPARISONS[last]
    if last in _REDUCTIONS and isinstance(call.func, ast.Attribute):
        bits |= _of_reduction(last, root, call, in_kernel=in_kernel)
    return bits


def _of_reduction(last: str, root: str, call: ast.Call, *, in_kernel: bool) -> int:
    """Bits of `sum`, `max` and their like, which outside of kernels reduce only where they are given an axis."""
    keywords = {keyword.arg for keyword in call.keywords}
    takes_array = (root == "torch" or root in _ARRAYS) and not isinstance(receiver(call), ast.Call)
    position = 1 if takes_array else 0  # `torch.where(...).amin(1)` takes none
    over_axis = bool(keywords & _AXIS) or (len(call.args) > position and _is_axis(call.args[position]))
    bits = _REDUCE if over_axis or in_kernel else 0
    gives_indices = over_axis and not in_kernel and root not in _ARRAYS
    if last in _PICKS and (gives_indices or "return_indices" in keywords):
        bits |= _ARGMAX
    return bits


def _is_axis(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp):
        node = node.operand
    if isinstance(node, ast.Tuple | ast.List):
        return all(map(_is_axis, node.elts))
    return isinstance(node, ast.Constant) and type(node.value) is int


def is_constant(node: ast.expr) -> bool:
    """Whether an operand is a literal, negated or not."""
    return isinstance(node, ast.Constant) or (isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant))


def is_difference(node: ast.expr | None) -> bool:
    """Whether a term is `a - b`: set against zero it asks whether the two are equal."""
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub)


def receiver(call: ast.Call) -> ast.expr | None:
    """What a method is called on."""
    return call.func.value if isinstance(call.func, ast.Attribute) else None


def is_kernel_decorator(name: str) -> bool:
    """Whether a decorator makes a function a kernel of a just-in-time compiler."""
    last = name.rpartition(".")[2].lower()
    return "jit" in last or last in {"autotune", "heuristics", "prim_func"} or name in {"cute.kernel", "gluon.kernel"}


@lru_cache(maxsize=1 << 14)  # the same names come again and again, and in bodies around bodies
def names_class(name: str) -> bool:
    """Whether the last part of a name is spelled as classes are."""
    return _CLASS.match(name, name.rfind(".") + 1) is not None


def ends_walk(test: ast.expr) -> set[str]:
    """Names that a loop's condition holds against an end: `cur != -1`, `cur >= 0`, `node is not None`, `node`."""
    names: set[str] = set()
    stack = [test]
    while stack:
        node = stack.pop()
        match node:
            case ast.BoolOp():
                stack += node.values
            case ast.UnaryOp(op=ast.Not()):
                stack.append(node.operand)
            case ast.Name(id=name) | ast.NamedExpr(target=ast.Name(id=name)):
                names.add(name)
            case ast.Compare(
                left=ast.Name(id=name) | ast.NamedExpr(target=ast.Name(id=name)), ops=[op], comparators=[other]
            ):
                if _is_end(op, other):
                    names.add(name)
    return names


def is_endless(test: ast.expr) -> bool:
    """Whether a loop goes on until something else ends it: its test is a constant, a field, or a call."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    if isinstance(test, ast.BoolOp):
        return all(map(is_endless, test.values))
    return isinstance(test, ast.Constant | ast.Attribute | ast.Call)


def _is_end(op: ast.cmpop, other: ast.expr) -> bool:
    match other:
        case ast.Constant(value=None):
            return isinstance(op, ast.IsNot | ast.NotEq)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=1)):
            return isinstance(op, ast.NotEq | ast.Gt | ast.IsNot)
        case ast.Constant(value=0) if other.value is not False:
            return isinstance(op, ast.GtE)
    return False


@dataclass(slots=True)
class Loop:
    """What one loop assigns: enough to see a chase when the loop ends."""

    ends: set[str] = field(default_factory=set)
    assigned: set[str] = field(default_factory=set)
    flows: list[tuple[list[str], set[str], set[str]]] = field(default_factory=list)
    """Of each assignment: names bound, names used, names used in an address."""
    addresses: set[str] = field(default_factory=set)

    def is_chase(self) -> bool:
        """Whether a name is assigned from a load that uses a name assigned in the loop, or walks until an end."""
        if any(not addresses.isdisjoint(self.assigned) for _, _, addresses in self.flows):
            return True
        return any(self._feeds_itself(name) for name in self.ends & self.assigned)

    def _feeds_itself(self, name: str) -> bool:
        """Whether a name's next value depends on its last one through plain assignments."""
        seen: set[str] = set()
        todo = [name]
        while todo:
            wanted = todo.pop()
            for targets, used, _ in self.flows:
                if wanted in targets:
                    if name in used:
                        return True
                    todo += (used & self.assigned) - seen
                    seen |= used
        return False


CUDA_CALLS: dict[str, int] = {
    name: int(bit)
    for bit, names in {
        Feature.SCAN: "InclusiveSum ExclusiveSum InclusiveScan ExclusiveScan inclusive_scan exclusive_scan cumsum "
        "cumprod",
        Feature.ARGMAX: "ArgMax argmax topk",
        Feature.RANDOM: "curand curand4 curand_uniform curand_uniform4 curand_uniform_double curand_normal curand_init "
        "exponential_ uniform_ multinomial",
        Feature.EXP: "exp expf __expf exp2 exp2f __exp2f ex2 log logf __logf log2 log2f __log2f softmax ptx_exp2",
        Feature.DOT: "mma_sync gemm matmul mma wgmma dot",
        Feature.STORE: "atomicAdd atomicMax atomicMin atomicCAS atomicExch atomicOr atomicAnd",
        Feature.LOAD: "__ldg ldg __ldcg __ldcs ld_global",
        Feature.REDUCE: "__shfl_xor_sync __shfl_down_sync __reduce_add_sync __reduce_max_sync __ballot_sync Reduce "
        "Sum Max __syncthreads_or __syncthreads_and __any_sync __all_sync",
        Feature.DIVIDE: "__fdividef __fdiv_rn __frcp_rn",
    }.items()
    for name in names.split()
}
"""Bits that a CUDA or C++ call gives by the last part of its callee."""
