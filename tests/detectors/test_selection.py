"""By which words a tree selects drafters: the forms in which engines write it, and what only looks like one."""

from textwrap import dedent

import pytest

from recon.detectors.drafters import find_drafter
from recon.detectors.selection import selections_of
from recon.detectors.testing import indexed
from recon.detectors.words import apart, drafters_in, is_drafter, options_in, speaks_of_drafting
from recon.records.evidence import Evidence, Grade
from recon.records.findings import Findings

CLASSES = """
class Alpha:
    def propose(self, tokens):
        return tokens


class Beta:
    def propose(self, tokens):
        return tokens


class Options:
    def check(self):
        return True
"""


def selected(source: str) -> set[tuple[str, str]]:
    """Each word's drafter with the class that it selects; '' for whatever no word takes."""
    index = indexed({"e/a.py": CLASSES + dedent(source)})
    return {
        (drafter, index.names.qualname(each.made))
        for each in selections_of(index).selections
        for drafter in each.drafters or {""}
    }


def found(drafter: str, **files: str) -> Findings:
    """What is found of one drafter in files given by the names of their modules."""
    return find_drafter(indexed({f"e/{name}.py": dedent(source) for name, source in files.items()}), drafter)


def symbols(places: tuple[Evidence, ...]) -> list[str]:
    """Symbols of places, in order."""
    return [each.symbol for each in places]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("use_eagle", "_use_eagle_"),
        ("DeepSeekMTPModel", "_deep_seek_mtp_model_"),
        ("LlamaForCausalLMEagle3", "_llama_for_causal_lm_eagle3_"),
        ("NGRAMWorker", "_ngram_worker_"),
        ("[ngram]", "_ngram_"),
        ("--prompt-lookup-max", "_prompt_lookup_max_"),
        ("", "__"),
    ],
)
def test_a_name_is_taken_apart(name: str, words: str) -> None:
    assert words == apart(name)


@pytest.mark.parametrize(
    ("name", "drafters"),
    [
        ("eagle", {"eagle"}),
        ("EAGLE3", {"eagle3"}),
        ("EAGLE-3", {"eagle3"}),
        ("deepseek_mtp", {"mtp"}),
        ("DeepseekV3ForCausalLMNextN", {"mtp"}),
        ("NEXTN", {"mtp"}),
        ("EagleDeepSeekMTPModel", {"eagle", "mtp"}),
        ("[ngram]", {"ngram"}),
        ("NGramWorker", {"ngram"}),
        ("DFlash2Speculator", {"dflash"}),
        ("DSPARK", {"dflash"}),
        ("UnoWorkerV2", {"dflash"}),
        ("uses_draft_model", {"draft_model"}),
        ("STANDALONE", {"draft_model"}),
        ("is_draft_model", set()),
        ("beagle", set()),
        ("flash", set()),
        ("mtpr", set()),
        ("unordered", set()),
        ("suffixes", set()),
    ],
)
def test_words_stand_for_drafters(name: str, drafters: set[str]) -> None:
    """Whole words only, however they are joined."""
    assert drafters == drafters_in(name)


def test_only_looking_back_is_an_option_that_selects() -> None:
    """Slots for tokens ahead are kept for every drafter."""
    names = ("ngram_prompt_lookup_max", "num_lookahead_slots", "eagle_topk")

    assert ["ngram_prompt_lookup_max"] == [name for name in names if options_in(name)]


def test_methods_and_classes_say_that_they_draft() -> None:
    """What belongs to drafting without doing it does not."""
    says = ["propose", "draft", "get_spec_proposals", "forward_draft_extend", "_prepare_draft_tokens", "speculate"]
    not_so = ["is_draft_input", "_config_draft_model", "draft_worker", "update_draft_buffers", "expect", "specific"]

    assert says == [name for name in says + not_so if speaks_of_drafting(name)]
    assert ["MedusaDrafter", "BaseProposer", "EagleSpeculator"] == [
        name
        for name in ("MedusaDrafter", "BaseProposer", "EagleSpeculator", "DraftInput", "Worker")
        if is_drafter(name)
    ]


FORMS = {
    "a literal": 'if c.method == "eagle":\n    x = Alpha()',
    "one of several literals": 'if c.method in ("medusa", "eagle"):\n    x = Alpha()',
    "a literal inside a name": 'if "eagle" in c.method.lower():\n    x = Alpha()',
    "an elif": 'if c.method == "none":\n    x = None\nelif c.method == "eagle":\n    x = Alpha()',
    "a match": 'match c.method:\n    case "eagle":\n        x = Alpha()',
    "a member of an enum": "if c.algorithm == Algorithm.EAGLE:\n    x = Alpha()",
    "a predicate": "if c.is_eagle():\n    x = Alpha()",
    "a flag": "if c.enable_eagle:\n    x = Alpha()",
    "a set of names": "if c.method in EAGLE_METHODS:\n    x = Alpha()",
    "the kind of a configuration": "if isinstance(c, EagleConfig):\n    x = Alpha()",
    "a class that is handed out": 'def f(c):\n    if c.method == "eagle":\n        return Alpha',
    "a class that is handed on": 'if c.method == "eagle":\n    x = build(Alpha, c)',
    "a maker": 'def make(c):\n    return Alpha(c)\n\nif c.method == "eagle":\n    x = make(c)',
    "a dotted string": 'if c.method == "eagle":\n    x = load("e.a.Alpha")',
    "a table": 'T = {"ngram": Beta, "eagle": Alpha}',
    "a table that is asked at once": 'x = {"ngram": Beta, "eagle": Alpha}[c.method]',
    "a table of dotted strings": 'T = {"eagle": "e.a.Alpha"}',
    "a decorator": '@register("eagle")\nclass Gamma(Alpha):\n    pass',
    "a decorator with a keyword": '@R.register_module(name="eagle")\nclass Gamma(Alpha):\n    pass',
    "a decorated maker": '@register("eagle")\ndef factory(c):\n    return Alpha',
    "a call that registers": 'register("eagle", Alpha)',
    "a call that registers a maker": 'def make():\n    return Alpha()\n\nregister("EAGLE", worker_cls=make)',
    "a branch inside another": 'if c.speculate:\n    if c.method == "eagle":\n        x = Alpha()',
    "a branch around another": 'if c.method == "eagle":\n    if c.overlap:\n        x = Alpha()',
}


@pytest.mark.parametrize("form", FORMS)
def test_a_form_selects(form: str) -> None:
    """However it is written, the word selects the class."""
    assert {drafter for drafter, made in selected(FORMS[form]) if made in {"Alpha", "Gamma"}} >= {"eagle"}


LOOKS = {
    "a comment": "# eagle\nx = Alpha()",
    "a documentation": '"""Selects eagle."""\nx = Alpha()',
    "what must not hold": 'if c.method != "eagle":\n    x = Alpha()',
    "a predicate that must not hold": "if not c.is_eagle():\n    x = Alpha()",
    "what is not among": 'if c.method not in ("eagle", "mtp"):\n    x = Alpha()',
    "a plain field": "if c.eagle_topk:\n    x = Alpha()",
    "a body that only raises": 'if c.method == "eagle":\n    raise ValueError(c)\nx = Alpha()',
    "a body that configures": 'if c.method == "eagle":\n    x = Options()\ny = Alpha()',
    "a body that asks": 'if c.method == "eagle":\n    assert isinstance(c.drafter, Alpha)',
    "a call without a class": 'log("eagle", c)\nx = Alpha()',
    "a table of words": 'T = {"eagle": "how to draft", "ngram": "lookup"}\nx = Alpha()',
    "an inner word": 'if c.method in ("eagle", "ngram"):\n    if c.method == "ngram":\n        x = Alpha()',
}


@pytest.mark.parametrize("look", LOOKS)
def test_what_only_looks_like_one_selects_nothing(look: str) -> None:
    """No class for that word."""
    assert [] == [made for drafter, made in selected(LOOKS[look]) if drafter == "eagle"]


def test_the_else_of_such_branches_takes_the_rest() -> None:
    """Its own branches by other words, and those of an inner else, are told apart."""
    source = """
    def f(kind, c):
        if kind == "medusa":
            worker = Alpha(c)
        else:
            if kind == "mlp":
                worker = Gamma(c)
            else:
                worker = Beta(c)


    class Gamma:
        def propose(self):
            pass
    """

    assert {("medusa", "Alpha"), ("", "Beta")} == selected(source)


def test_a_record_and_a_configuration_do_not_draft() -> None:
    """Whatever their methods are called."""
    source = """
    @dataclass
    class Input:
        def draft(self):
            pass


    if c.method == "eagle":
        x = Input(Options())
    """

    assert set() == selected(source)


def test_evidence_begins_where_the_word_is_asked_for() -> None:
    """Then the class, the model and its registration, and where words are listed."""
    spec = """
    class EagleProposer:
        def propose(self):
            pass


    class NgramProposer:
        def propose(self):
            pass


    class ModelRunner:
        def __init__(self, c):
            if c.method == "eagle":
                self.drafter = EagleProposer()
            elif c.method == "ngram":
                self.drafter = NgramProposer()
    """
    config = 'Method = Literal["ngram", "eagle"]\n'
    registry = '_MODELS = {\n    "EagleLlama": ("llama_eagle", "EagleLlama"),\n}\n'
    model = "class EagleLlama:\n    def forward(self):\n        pass\n\n    def load_weights(self, w):\n        pass\n"
    findings = found("eagle", spec=spec, config=config, registry=registry, llama_eagle=model)

    assert ["ModelRunner.__init__", "EagleProposer", "EagleLlama", "_MODELS"] == symbols(findings.evidence)[:4]
    assert {Grade.DECLARED} == {each.grade for each in findings.evidence}
    assert ("runner ModelRunner",) == findings.evidence[0].scope
    assert "Method" in symbols(findings.evidence)
    assert "Chosen by name in ModelRunner.__init__, which constructs EagleProposer." == findings.reason


def test_what_is_absent_says_where_it_would_be_added() -> None:
    """Where it is listed, then where others are selected."""
    spec = """
    class NgramProposer:
        def propose(self):
            pass


    def build(c):
        if c.method == "ngram":
            return NgramProposer()
    """
    config = 'Method = Literal["ngram", "draft_model"]\n'
    findings = found("draft_model", spec=spec, config=config)

    assert () == findings.evidence
    assert ["Method", "build"] == symbols(findings.nearest)
    assert {Grade.NAMED} == {each.grade for each in findings.nearest}
    assert "It is listed in Method, but nothing that drafts is constructed for it" in findings.reason
    assert "NgramProposer" in findings.reason


def test_an_alias_in_a_table_counts_for_layers_of_the_target() -> None:
    """And for no other drafter: its word would not run it."""
    source = """
    ALIASES = {"NEXTN": "EAGLE", "MEDUSA": "EAGLE"}


    class EagleWorker:
        def draft(self):
            pass


    def build(c):
        if c.algorithm == "EAGLE":
            return EagleWorker()
    """

    assert "EagleWorker" in symbols(found("mtp", a=source).evidence)
    assert () == found("medusa", a=source).evidence


def test_a_class_named_after_another_drafter_is_not_this_one() -> None:
    """Heads like EAGLE's share one; others do not."""
    source = """
    class EagleProposer:
        def propose(self):
            pass


    def build(c):
        if c.method in ("eagle", "eagle3", "suffix", "draft_model"):
            return EagleProposer()
    """
    are = {name: bool(found(name, a=source).evidence) for name in ("eagle", "eagle3", "suffix", "draft_model")}

    assert {"eagle": True, "eagle3": True, "suffix": False, "draft_model": False} == are


def test_tests_and_benchmarks_speak_last() -> None:
    """Alpha test may construct what it likes."""
    source = """
    class EagleProposer:
        def propose(self):
            pass


    def build(c):
        if c.method == "eagle":
            return EagleProposer()
    """
    index = indexed({"e/tests/a.py": dedent(source), "e/b.py": dedent(source).replace("build", "real")})
    places = find_drafter(index, "eagle").evidence

    assert ["e/b.py", "e/b.py", "e/tests/a.py", "e/tests/a.py"] == [each.path for each in places]
