from __future__ import annotations

from pathlib import Path

from support.suites_on_disk import BROKEN, PASSING, SUITE, write_suite


def test_a_valid_suite_is_summed_up(evenhand) -> None:
    write_suite(SUITE)
    done = evenhand("validate")
    assert (done.code, done.out) == (0, "evenhand.yaml: valid, 2 cases, 2 providers, 2 prompts\n")


def test_every_problem_is_told_with_its_place(evenhand) -> None:
    write_suite(BROKEN, Path("suites"))
    done = evenhand("validate", "suites")
    assert (done.code, done.out) == (2, "")
    lines = done.err.splitlines()
    assert lines[-1] == "error: 2 problems found"
    assert all(line.startswith("suites/evenhand.yaml:") for line in lines[:-1])


def test_warnings_do_not_fail_unless_strict(evenhand) -> None:
    write_suite(
        PASSING.replace("assert: [{type: contains, value: Paris}]", "description: nothing is checked")
    )
    done = evenhand("validate")
    assert done.code == 0
    assert done.out.endswith("1 warning\n")
    assert done.err.startswith("warning: evenhand.yaml:")
    strict = evenhand("validate", "--strict")
    assert (strict.code, strict.out) == (2, "")
    assert strict.err.endswith("error: 1 problem found\n")


def test_a_suite_without_cases_is_told(evenhand) -> None:
    write_suite(PASSING.split("tests:")[0])
    done = evenhand("validate")
    assert (done.code, done.out) == (0, "evenhand.yaml: valid, 0 cases, 1 provider, 1 prompt\n")
    assert done.err == "warning: evenhand.yaml: there are no cases, so nothing would be asked; add `tests`\n"


def test_generators_that_were_not_run_are_told(evenhand) -> None:
    write_suite(PASSING.split("tests:")[0] + "tests: [{generator: {command: [python3, cases.py]}}]\n")
    done = evenhand("validate")
    assert done.out == (
        "evenhand.yaml: valid, 0 cases, 1 provider, 1 prompt, 1 generator not run (`--generators` runs them)\n"
    )
    assert done.err == ""


def test_a_path_without_suite_exits_2(evenhand) -> None:
    done = evenhand("validate", "nowhere")
    assert done.code == 2
    assert "nowhere" in done.err
    assert "Traceback" not in done.err
    assert evenhand("validate").code == 2


def test_validate_tells_every_warning_and_other_commands_the_first_few(evenhand) -> None:
    tests = "".join(f"  - {{id: t{number}, vars: {{answer: x{number}}}}}\n" for number in range(30))
    write_suite(PASSING.split("tests:")[0] + f"tests:\n{tests}")
    assert evenhand("validate").err.count("warning: ") == 30
    done = evenhand("list", "tests")
    assert done.err.count("warning: ") == 20
    assert done.err.endswith("and 10 more warnings: `evenhand validate .`\n")
