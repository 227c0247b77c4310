"""The shapes by name, with the signs by which the first pass chooses functions for them."""

from recon.detectors.api import Feature as F  # noqa: N817 - named on every second line below
from recon.detectors.api import Shape
from recon.detectors.shapes.bits import mask_bits
from recon.detectors.shapes.blocks import block_parts
from recon.detectors.shapes.building import tree_choices
from recon.detectors.shapes.capture import captured_steps
from recon.detectors.shapes.chains import greedy_chains, leading_counts
from recon.detectors.shapes.drafting import branch_keys, draft_loops
from recon.detectors.shapes.draws import stochastic_walks
from recon.detectors.shapes.masks import ancestor_masks, mask_hooks
from recon.detectors.shapes.moves import cache_moves, freed_slots, lowered_lengths
from recon.detectors.shapes.positions import depth_positions, level_positions, linear_positions
from recon.detectors.shapes.ratios import stochastic_chains, target_chains
from recon.detectors.shapes.residuals import residuals
from recon.detectors.shapes.states import (
    counted_states,
    parent_states,
    picked_states,
    stepped_states,
    updated_states,
)
from recon.detectors.shapes.synthetic import synthetic_chains
from recon.detectors.shapes.templates import tree_templates
from recon.detectors.shapes.typical import lossy_rules
from recon.detectors.shapes.walks import greedy_walks
from recon.index.capturing import CAPTURES
from recon.index.feeding import FEEDS
from recon.index.measures import MEASURES
from recon.index.recurring import RECURS

GREEDY_WALK = Shape(
    "walk",
    "a walk over candidates that compares the drafted token with the target's choice at the node reached: links, "
    "dictionaries, parents, frontiers, tables and sets of paths",
    (
        F.LOOP | F.COMPARE_EQ,
        F.SCAN | F.COMPARE_EQ,
        F.LOOP | F.CHASE | F.INDEX_BY_INDEX,
        F.COMPARE_EQ | F.ARGMAX,
        F.COMPARE_EQ | F.INDEX_BY_INDEX,
        F.CUDA | F.COMPARE_EQ | F.REDUCE,
        RECURS,
        MEASURES,
    ),
    greedy_walks,
)
STOCHASTIC_WALK = Shape(
    "draws",
    "siblings tried in turn against a random number, with what is left of the distribution sampled in the end",
    (
        F.LOOP | F.COMPARE_ORDER | F.CHASE,
        F.LOOP | F.COMPARE_ORDER | F.RANDOM,
        F.LOOP | F.COMPARE_ORDER | F.DIVIDE,
    ),
    stochastic_walks,
)
GREEDY_CHAIN = Shape(
    "chain",
    "drafted tokens compared with the target's choices position by position, up to the first mismatch",
    (
        F.LOOP | F.COMPARE_EQ,
        F.SCAN | F.COMPARE_EQ,
        F.COMPARE_EQ | F.REDUCE | F.WHERE,
        F.COMPARE_EQ | F.REDUCE | F.INDEX_BY_INDEX,
        F.COMPARE_EQ | F.ARGMAX,
        F.CUDA | F.COMPARE_EQ | F.REDUCE,
        F.CUDA | F.COMPARE_EQ | F.STORE,
        RECURS,
    ),
    greedy_chains,
)
LEADING_COUNT = Shape(
    "leading",
    "a number of leading matches of two token sequences, handed back or stored without any token",
    (F.SCAN | F.COMPARE_EQ, F.JIT | F.COMPARE_EQ | F.STORE, F.CUDA | F.COMPARE_EQ | F.STORE),
    leading_counts,
)
STOCHASTIC_CHAIN = Shape(
    "ratio",
    "two probabilities of one token set against a random number, as a quotient, a product or in logarithms",
    (
        F.COMPARE_ORDER | F.DIVIDE,
        F.COMPARE_ORDER | F.LOOP | F.INDEX_BY_INDEX,
        F.COMPARE_ORDER | F.RANDOM,
        F.JIT | F.COMPARE_ORDER | F.INDEX_BY_INDEX,
    ),
    stochastic_chains,
)
TARGET_CHAIN = Shape(
    "target",
    "the target's probability of a drafted token alone set against a random number, and the rest sampled without it",
    STOCHASTIC_CHAIN.wanted,
    target_chains,
)
SYNTHETIC_CHAIN = Shape(
    "synthetic",
    "tokens accepted by a rate for their position, or up to a length given from outside",
    (
        F.LOOP | F.COMPARE_ORDER | F.STORE | F.LOAD,
        F.LOOP | F.COMPARE_ORDER | F.RANDOM,
        F.JIT | F.STORE | F.WHERE,
        F.STORE | F.INDEX_BY_INDEX | F.COMPARE_ORDER,
        F.STORE | F.RANDOM,
    ),
    synthetic_chains,
)
RESIDUAL = Shape(
    "residual",
    "a difference of two distributions cut off at zero",
    (
        F.JIT | F.ARGMAX,
        F.JIT | F.REDUCE | F.WHERE,
        F.RANDOM | F.REDUCE,
        F.DIVIDE | F.REDUCE,
        F.RANDOM | F.COMPARE_ORDER,
        F.CUDA | F.LOOP | F.REDUCE,
        F.COMPARE_ORDER | F.DIVIDE,
        F.COMPARE_ORDER | F.LOOP | F.INDEX_BY_INDEX,
        F.JIT | F.COMPARE_ORDER | F.INDEX_BY_INDEX,
    ),
    residuals,
)
BLOCK_PARTS = Shape(
    "block",
    "the parts of block verification: a running product of quotients held at one, the mass of its residual, a test of "
    "mass / (mass + 1 - product) whose last success wins",
    (
        F.COMPARE_ORDER | F.DIVIDE,
        F.COMPARE_ORDER | F.LOOP | F.INDEX_BY_INDEX,
        F.COMPARE_ORDER | F.RANDOM,
        F.JIT | F.REDUCE | F.INDEX_BY_INDEX,
        F.RANDOM | F.REDUCE,
        F.DIVIDE | F.REDUCE,
    ),
    block_parts,
)
LOSSY_RULE = Shape(
    "typical",
    "a drafted token accepted by a threshold that falls with the entropy of the target's distribution, by a fixed one, "
    "or let stand where the entropy is high",
    (
        F.EXP | F.COMPARE_ORDER,
        F.EXP | F.REDUCE,
        F.COMPARE_ORDER | F.DIVIDE | F.LOOP,
        F.COMPARE_ORDER | F.LOOP | F.INDEX_BY_INDEX,
        F.COMPARE_ORDER | F.RANDOM,
        F.COMPARE_EQ | F.COMPARE_ORDER | F.SCAN,
        F.COMPARE_EQ | F.COMPARE_ORDER | F.LOOP | F.STORE,
    ),
    lossy_rules,
)
TREE_CHOICE = Shape(
    "build",
    "the nodes of a draft tree chosen by the scores or counts of their paths: over all levels at once, level by level, "
    "or the best one again and again; or a given choice linked",
    (
        F.ARGMAX,
        F.LOOP | F.STORE | F.INDEX_BY_INDEX,
        F.NESTED_LOOP | F.STORE,
        F.NESTED_LOOP | F.COMPARE_ORDER,
        F.LOOP | F.COMPARE_ORDER | F.STORE | F.DIVIDE,
    ),
    tree_choices,
)
TREE_TEMPLATE = Shape(
    "template",
    "a fixed list of paths laid out level by level, or levels expanded by a fixed table of widths",
    (F.NESTED_LOOP | F.STORE, F.LOOP | F.STORE | F.COMPARE_ORDER, F.LOOP | F.ARGMAX),
    tree_templates,
)
MASK_HOOK = Shape(
    "hook",
    "an attention kernel over a paged cache whose scores take a mask or bias loaded by query and key",
    (F.JIT | F.DOT | F.LOAD,),
    mask_hooks,
)
MASK_BITS = Shape(
    "bits",
    "a function that tells by a bit of a packed mask whether a query may see a key",
    (F.BIT,),
    mask_bits,
)
ANCESTOR_MASK = Shape(
    "mask",
    "a mask in which each node's ancestors are marked, found by climbing parents, by prefixes or by inheriting rows",
    (F.NESTED_LOOP | F.STORE, F.LOOP | F.STORE | F.INDEX_BY_INDEX),
    ancestor_masks,
)
DRAFT_LOOP = Shape(
    "loop",
    "a loop that runs a model on what was chosen from its last output",
    (F.LOOP | F.ARGMAX, FEEDS),
    draft_loops,
)
BRANCH_KEYS = Shape(
    "branches",
    "a kernel that writes a key list for each branch: the shared prefix, then the branch's own entries",
    (F.JIT | F.STORE | F.LOAD,),
    branch_keys,
)
COUNTED_STATE = Shape(
    "counted",
    "a recurrence or convolution whose first state lies at a place found with a count of tokens",
    (F.JIT | F.LOOP | F.STORE | F.LOAD, F.CUDA | F.LOOP | F.STORE, F.LOOP | F.STORE | F.INDEX_BY_INDEX),
    counted_states,
)
STEPPED_STATE = Shape(
    "stepped",
    "a recurrence or convolution that keeps the state after each token at a place of its own",
    COUNTED_STATE.wanted,
    stepped_states,
)
PICKED_STATE = Shape(
    "picked",
    "a copy of one of the entries kept for a request, chosen by its step",
    (F.JIT | F.STORE | F.LOAD, F.STORE | F.INDEX_BY_INDEX),
    picked_states,
)
PARENT_STATE = Shape(
    "parent",
    "a recurrence or convolution in which each node starts from its parent's state or inputs",
    COUNTED_STATE.wanted,
    parent_states,
)
UPDATED_STATE = Shape(
    "updated",
    "a kernel that reads a state, multiplies something into it and writes it back",
    (F.JIT | F.STORE | F.LOAD,),
    updated_states,
)
CAPTURED_STEP = Shape(
    "capture",
    "a captured step whose requests have one token more than are drafted, or which runs as a verification",
    (CAPTURES,),
    captured_steps,
)
CACHE_MOVE = Shape(
    "move",
    "entries of every layer's buffer copied to other places of the same buffer",
    (F.JIT | F.STORE | F.LOAD, F.LOOP | F.STORE, F.STORE | F.INDEX_BY_INDEX),
    cache_moves,
)
FREED_SLOTS = Shape(
    "freed",
    "slots kept by the index of accepted nodes, and the others given back by a mask",
    (F.STORE | F.INDEX_BY_INDEX,),
    freed_slots,
)
LOWERED_LENGTH = Shape(
    "lowered",
    "a request's length lowered by the tokens that were refused",
    (F.LOOP | F.STORE | F.INDEX_BY_INDEX, F.LOOP | F.COMPARE_ORDER | F.INDEX_BY_INDEX | F.CHASE),
    lowered_lengths,
)
DEPTH_POSITION = Shape(
    "depth",
    "positions made of the length before a tree and each node's depth in it",
    (*COUNTED_STATE.wanted, F.JIT | F.STORE | F.LOAD, F.STORE | F.REDUCE),
    depth_positions,
)
LEVEL_POSITION = Shape(
    "level",
    "one position for all nodes of a level, in the loop that drafts them",
    DRAFT_LOOP.wanted,
    level_positions,
)
LINEAR_POSITION = Shape(
    "linear",
    "positions counted through: the computed length of each token's request and the token's index behind it",
    (F.STORE | F.INDEX_BY_INDEX,),
    linear_positions,
)
