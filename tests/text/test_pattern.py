"""Patterns: the language of Rust's `regex`, three engines that agree, and no search without a bound."""

import json
import sys
import time
from pathlib import Path

import pytest
import rurex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from evenhand.text import pattern as module
from evenhand.text.pattern import (
    MAX_PATTERN_LENGTH,
    PatternError,
    PatternLimitExceeded,
    compile_pattern,
    replace,
)
from evenhand.text.pattern_engines import CLOCKED, COUNTING, ClockedEngine, CountingEngine, LinearEngine
from evenhand.text.pattern_syntax import translated

HANG_GUARD_S = 60
STEPS = 1_000_000

ROWS = [
    json.loads(line) for line in (Path(__file__).parents[1] / "data/patterns.jsonl").read_text().splitlines()
]
TEXTS = {row["texts"]: row["values"] for row in ROWS if "values" in row}
CORPUS = [(row["pattern"], row["texts"]) for row in ROWS if "pattern" in row]


def counting(source: str) -> CountingEngine:
    """The counting engine on a pattern that does not need it: an empty look-ahead keeps it from being plain."""
    translation = translated(source, COUNTING)
    return CountingEngine(translation._replace(pattern=f"(?=){translation.pattern}"))


def clocked(source: str) -> ClockedEngine:
    return ClockedEngine(translated(source, CLOCKED))


CUT_OFF = "cut off"


def decided(source: str, text: str) -> bool | str:
    """What a search finds, or that it was cut off."""
    try:
        return compile_pattern(source).search(text)
    except PatternLimitExceeded as error:
        return CUT_OFF if "was stopped after" in str(error) else f"cut off without a reason: {error}"


# Engines agree


@pytest.mark.parametrize(("source", "texts"), CORPUS)
def test_every_engine_finds_what_rust_finds(source, texts):
    linear = LinearEngine(source)
    others = [counting(source), clocked(source)] if portable(source) else []
    for text in TEXTS[texts]:
        expected = linear.search(text)
        assert compile_pattern(source).search(text) is expected
        for engine in others:
            found = engine.search(text, STEPS) if isinstance(engine, CountingEngine) else engine.search(text)
            assert found is expected, (source, text, engine)


def portable(source: str) -> bool:
    """Whether the engines besides Rust's take the pattern; those they do not take must be refused aloud."""
    try:
        clocked(source)
    except PatternError:
        return False
    return True


def test_the_corpus_is_large_and_nearly_all_of_it_is_portable():
    pairs = sum(len(TEXTS[texts]) for _, texts in CORPUS)
    refused = [source for source, _ in CORPUS if not portable(source)]
    assert len(CORPUS) >= 150
    assert pairs >= 3_000
    assert all("-u" in source or "p{Lu}" in source for source in refused)


CHARACTERS = "aabAB01_ -éßſKσςΣ\n\r.iIİıkS٣\u0301\u200d"
LITERALS = [*"abAB01_ -éßſKσς\n.i", r"\.", r"\n", r"\x41", r"\u{e9}", r"\-"]
ESCAPES = [r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", r"\p{L}", r"\P{L}", r"\p{Greek}", r"\pN"]
ANCHORS = ["^", "$", r"\b", r"\B", r"\A", r"\z", r"\b{start}", r"\b{end}", r"\<", r"\>"]
RANGES = ["a-c", "A-C", "0-9", "α-ω", "a-z", "K-S", "[:alpha:]", "[:^digit:]", "[:word:]", "[:space:]"]
QUANTIFIERS = ["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?", "??", "{1,2}?"]


def joined(*parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(*parts).map("".join)


members = st.lists(st.sampled_from([*"abAB01_éßσi", *RANGES, *ESCAPES]), min_size=1, max_size=3).map("".join)
operations = joined(st.sampled_from(["&&", "--", "~~"]), members)
plain_classes = joined(st.sampled_from(["[", "[^"]), members, st.just("]"))
classes = joined(
    st.sampled_from(["[", "[^"]), members, plain_classes | operations | st.just(""), st.just("]")
)
leaves = st.sampled_from([*LITERALS, *ESCAPES, "."]) | classes
openers = st.sampled_from(["(", "(?:", "(?i:", "(?s:", "(?m:", "(?U:", "(?x: a", "(?R:"])


def larger(patterns: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    grouped = joined(openers, patterns, st.just(")"))
    repeated = joined(grouped | leaves, st.sampled_from(QUANTIFIERS))
    return (
        joined(patterns, patterns)
        | grouped
        | repeated
        | joined(patterns, st.just("|"), patterns)
        | joined(st.sampled_from(ANCHORS), patterns)
        | joined(patterns, st.sampled_from(ANCHORS))
        | joined(st.sampled_from(["(?i)", "(?s)", "(?m)"]), patterns)
    )


patterns = st.recursive(leaves, larger, max_leaves=8)
texts = st.text(CHARACTERS, max_size=10)


@settings(max_examples=300, deadline=None)
@given(source=patterns, samples=st.lists(texts, min_size=1, max_size=5))
def test_engines_agree_on_generated_patterns(source, samples):
    try:
        linear = LinearEngine(source)
    except PatternError:
        assume(False)
    assume(portable(source))
    translation = translated(source, COUNTING)
    assert translation.plain_source == source
    counter, clock = counting(source), clocked(source)
    for text in samples:
        expected = linear.search(text)
        assert counter.search(text, STEPS) in (expected, None)
        assert clock.search(text) is expected


@settings(max_examples=200, deadline=None)
@given(
    source=st.lists(
        joined(leaves, st.sampled_from(["", "", "+", "*", "?", "{1,2}"])), min_size=1, max_size=4
    ).map("".join),
    text=texts,
)
def test_matches_lie_where_the_crate_finds_them(source, text):
    assume(portable(source))
    try:
        expected = rurex.search(source, text)
    except rurex.PatternError:
        assume(False)  # it looks for mistakes on its own and takes some sound quantifiers for one
    first = next(clocked(source).matches(text), None)
    assert (first and first.span()) == (expected and expected.span())


looks = st.sampled_from(
    [
        r"(?=\w)",
        "(?=.*b)",
        "(?!b)",
        r"(?!\d|$)",
        "(?<=a)",
        "(?<!é)",
        r"(?<=\b|x)",
        r"(\w)\1",
        "(?P<q>[ab])(?P=q)",
    ]
)


@settings(max_examples=300, deadline=None)
@given(before=patterns, look=looks, after=patterns, samples=st.lists(texts, min_size=1, max_size=5))
def test_engines_agree_on_look_around(before, look, after, samples):
    source = f"(?:{before}){look}(?:{after})"
    if "\\1" in look:
        source = look + source.replace(look, "")
    assume(portable(source))
    found, clock = compile_pattern(source), clocked(source)
    for text in samples:
        assert decided(source, text) in (clock.search(text), CUT_OFF)
        assert found.place(text) is None or clock.search(text)


# The language


@pytest.mark.parametrize(
    ("source", "flags", "text", "expected"),
    [
        ("ab$", "", "ab\n", False),
        ("a.c", "", "a\nc", False),
        ("a.c", "s", "a\nc", True),
        ("^b", "m", "a\nb", True),
        ("straSSe", "i", "STRASSE", True),
        (r"^\d+$", "", "٣٤", True),
        (r"\bé\b", "", "an é here", True),
        ("(?x) a b # c", "", "ab", True),
        (r"(?<!\d)7(?!\d)", "", "47", False),
        (r"(?<!\d)7(?!\d)", "", "4 7", True),
        (r"^(?!.*sorry).*answer", "i", "The Answer", True),
        (r"^(?!.*sorry).*answer", "i", "Sorry, no answer", False),
        (r"\b(\w+) \1\b", "", "it is is so", True),
        (r"\b(\w+) \1\b", "", "it is so", False),
        (r"(?P<q>['\"]).*?(?P=q)", "", "say 'x'", True),
        (r"(?<q>['\"]).*?\k<q>", "", "say 'x\"", False),
        (r"(?<=\$)[a-z&&[^aeiou]]+(?=;)", "", "$xyz;", True),
        (r"(?=.*[A-Z])(?=.*\d)^.{8,}$", "", "Passw0rd", True),
        (r"(?x) (?= a ) [a b] # note", "", "a", True),
        (r"(é)\1", "i", "éÉ", True),
        (r"(?<=a.*)z(?!y)", "", "a long zz", True),
        (r"(?=a)a++b", "", "aab", True),
    ],
)
def test_language(source, flags, text, expected):
    assert compile_pattern(source, flags).search(text) is expected


def test_possessive_spelling_is_a_repeated_repetition_with_and_without_look_around():
    assert compile_pattern("a++ab").search("aaab")
    assert compile_pattern("a++ab(?=)").search("aaab")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("(", "unclosed group (at character 1,"),
        ("[a-", "unclosed character class (at character 1,"),
        ("ab\ncd(x\n", "(at character 6,"),
        ("(?=x)[z-a]", "invalid character class range"),
        (r"(a)\2", "back-reference to group 2, but the pattern has 1 (at character 4,"),
        (r"\k<x>(?=a)", "back-reference to an unknown group `x`"),
        (r"\h(?=a)", "unrecognized escape sequence"),
        ("(?>a)b", "unrecognized flag"),
        (r"\p{Klingon}", "Unicode property not found"),
        ("a{1000}{1000}", "compiles to more than 10 MB"),
        ("x" * (MAX_PATTERN_LENGTH + 1), "the pattern has 10,001 characters"),
        ("(" * 200 + "(?=a)" + ")" * 200, "groups inside one another"),
        ("(?-u)(?=a)", "flag `u` cannot be switched off"),
        ("a(?=b)*", "not supported"),
    ],
)
def test_error_says_what_is_wrong_and_where(source, message):
    with pytest.raises(PatternError) as caught:
        compile_pattern(source)
    assert message in str(caught.value)


def test_position_of_an_error_counts_in_the_pattern_without_the_flags():
    with pytest.raises(PatternError) as caught:
        compile_pattern("ab(", "im")
    assert caught.value.position == 2


def test_unknown_flag_is_refused():
    with pytest.raises(PatternError, match="unknown flag 'g'"):
        compile_pattern("a", "gi")


@given(
    source=st.text("()[]{}\\?*+|^$.-&~#<>=!:abdkPpxu0129, \n", max_size=30),
    flags=st.sampled_from(["", "i", "ms"]),
)
@settings(max_examples=400, deadline=None)
def test_any_text_compiles_or_is_refused_with_a_pattern_error(source, flags):
    error = None
    try:
        found = compile_pattern(source, flags).search("a1\nb")
    except PatternError as refusal:
        error = refusal
    if error is None:
        assert found in (True, False)
    else:
        assert str(error)
        assert error.position is None or 0 <= error.position <= len(source)


def test_unpaired_surrogates_in_a_text_do_not_hide_its_other_characters():
    assert compile_pattern("b$").search("a\ud800b")
    assert compile_pattern(r"^a\Wb$").search("a\ud800b")
    assert compile_pattern(r"a(?=.b)").search("a\ud800b")
    assert replace("b", "a\ud800b", "c") == "a\ud800c"


# Bounds

RUNAWAY = [
    (r"^(a+)+$", "a" * 40 + "!"),
    (r"^(a|aa)+$", "a" * 40 + "!"),
    (r"^(a|a?)+$", "a" * 40 + "!"),
    (r"(x+x+)+y", "x" * 5_000),
    (r"^(([a-z])+.)+[A-Z]([a-z])+$", "a" * 5_000),
    (r"(.*)*,(.*)*=", "x" * 5_000),
    (r"\s+$", " " * 20_000 + "x"),
    (r"[01]*1[01]{300}$", "01" * 20_000 + "x"),
]
RUNAWAY_BEYOND_RUST = [
    (r"^(?=(a+)+$)", "a" * 40 + "!"),
    (r"^(a+)+\1$", "a" * 40 + "!"),
    (r"^(?:(?=a*b)|a)*c", "a" * 5_000 + "-c"),
    (r"((a+)+)(?=a*b)\1c", "a" * 5_000 + "c"),
    (r"(a*)*(?=[ab]*a[ab]{100}c)\1", "ab" * 5_000),
    (r"(.*)(.*)(.*)\1\2\3!", "ab" * 5_000 + "-!"),
    (r"(?<=a*)b(?=c)", "a" * 20_000 + "-b"),
    (r"(?:(?=[ab]*a[ab]{60}c)|a|ab|b)*(?!-)d", "ab" * 3_000 + "--d"),
]


@pytest.mark.parametrize(("source", "text"), RUNAWAY)
def test_runaway_repetition_is_decided(source, text):
    started = time.monotonic()
    assert compile_pattern(source).search(text) is False
    assert time.monotonic() - started < HANG_GUARD_S


@pytest.mark.parametrize(("source", "text"), RUNAWAY_BEYOND_RUST)
def test_runaway_look_around_is_decided_or_cut_off(source, text):
    started = time.monotonic()
    assert decided(source, text) in (False, CUT_OFF)
    assert time.monotonic() - started < HANG_GUARD_S


def test_a_limit_is_an_error_and_never_an_answer():
    with pytest.raises(PatternLimitExceeded, match="steps back"):
        compile_pattern(r"((a+)+)(?=a*b)\1c").search("a" * 3_000 + "c")


@pytest.fixture(scope="module")
def huge_text() -> str:
    return "ab " * (50_000_000 // 3)


@pytest.mark.parametrize(
    "source",
    ["x", r"(a+)+$|é", r"(?i)\bB\w*\d", r"(a|ab|b|\s)*!", "[ab ]*a[ab ]{500}c", r"(?<!\d)7(?!\d)", r"(\w)\1"],
)
def test_fifty_megabytes_are_searched_or_cut_off(source, huge_text):
    started = time.monotonic()
    assert decided(source, huge_text) in (True, False, CUT_OFF)
    assert time.monotonic() - started < HANG_GUARD_S


def test_long_text_does_not_make_an_honest_look_around_fail():
    found = compile_pattern(r"\b(?!the\b)\w+ing\b").search("the thing is " * 20_000)
    assert found
    assert not compile_pattern(r"(?<![\w.])\w+@(?!example\.com)\w+\.\w{2,10}\b").search(
        "a@example.com, " * 2_000
    )


@given(
    source=st.sampled_from([r"(\w+\s?)+$", r"(?=(\w+)*!)", r"(a|b|ab)*c\b", r"(.+)+\1\1\1$"]),
    text=st.text("ab !", max_size=60),
)
@settings(max_examples=60, deadline=None)
def test_search_is_repeatable(source, text):
    assert decided(source, text) == decided(source, text)


# Replacement


@pytest.mark.parametrize(
    ("source", "text", "replacement", "expected"),
    [
        ("a*", "baaac", "-", "-b-c-"),
        ("|a", "aab", "-", "-a-a-b-"),
        (r"\b", "ab cd", "|", "|ab| |cd|"),
        ("a*?", "aa", "-", "-a-a-"),
        ("(a)|b", "ab", "[$1]", "[a][]"),
        ("(?P<x>a)", "a", "${x}y $$ ${1}a $ $x", "ay $ aa $ a"),
        ("é*", "éaé", "-", "-a-"),
        ("$", "a\n", "E", "a\nE"),
        ("(?m)^", "a\nb\n", ">", ">a\n>b\n>"),
        ("", "é", "-", "-é-"),
        (r"\s+", "  a \n b ", " ", " a b "),
        (r"(\w+) (\w+)", "hello world", "$2 $1", "world hello"),
        (r"(?<=\d)(?=(\d{3})+$)", "1234567", ",", "1,234,567"),
        (r"(?i)straße", "STRAßE", "x", "x"),
        ("x", "no match", "y", "no match"),
    ],
)
def test_replace_does_what_the_crate_does(source, text, replacement, expected):
    assert replace(source, text, replacement) == expected


@pytest.mark.parametrize("replacement", ["$2", "$1a", "${b}", "${}", "$99999999999999999999"])
def test_replacement_by_a_group_that_is_not_there_is_refused(replacement):
    with pytest.raises(PatternError, match="which the pattern does not have"):
        replace("(a)", "a", replacement)


def test_replacement_is_bounded_in_time():
    started = time.monotonic()
    with pytest.raises(PatternLimitExceeded):
        replace(r"(a+)+\b!", "a" * 50_000, "")
    assert time.monotonic() - started < HANG_GUARD_S


def test_replacement_is_bounded_in_size(monkeypatch):
    monkeypatch.setattr(module, "MAX_RESULT_LENGTH", 1_000)
    with pytest.raises(PatternLimitExceeded, match="1,000 characters"):
        replace("(.*)", "a" * 200, "$1" * 20)


@given(text=st.text(CHARACTERS, max_size=40), literal=st.sampled_from(["a", "é", "\n", "ab"]))
def test_replacing_a_literal_is_what_str_replace_does(text, literal):
    assert replace(literal, text, "<>") == text.replace(literal, "<>")


@given(source=patterns, text=texts)
@settings(max_examples=150, deadline=None)
def test_replacing_each_match_by_itself_changes_nothing(source, text):
    assume(portable(source))
    assert replace(f"({source})", text, "$1") == text


def test_compiling_a_large_pattern_leaves_no_trace_in_the_recursion_limit():
    with pytest.raises(PatternError):
        compile_pattern("(?=" * 3_000)
    assert sys.getrecursionlimit() > 0
