"""References lead where the suite may read, and nowhere else."""

from __future__ import annotations

import os
import re
import socket
from pathlib import Path

import pytest

from evenhand.config import glob_walk
from evenhand.config.sandbox import MAX_REFERENCE_LENGTH, Sandbox, _is_inside
from evenhand.errors import SuiteError
from support.case_files import write_files


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite's folder inside a repository, with a secret beside each."""
    write_files(
        tmp_path,
        {
            "secret.txt": "outside of all",
            "repo/.git/config": "",
            "repo/common/check.py": "",
            "repo/secret.txt": "outside of the suite",
            "repo/evals/cases.yaml": "[]",
            "repo/evals/data/a.txt": "a",
        },
    )
    return tmp_path / "repo" / "evals"


def refused(sandbox: Sandbox, reference: str) -> str:
    with pytest.raises(SuiteError) as caught:
        sandbox.data_file(reference)
    return str(caught.value)


@pytest.mark.parametrize(
    "reference", ["file://data/a.txt", "data/a.txt", "data/../data/a.txt", "data\\a.txt"]
)
def test_files_below_the_folder_are_found(suite: Path, reference: str) -> None:
    found = Sandbox(suite).data_file(reference)
    assert (found.path, found.relative) == (suite / "data/a.txt", "data/a.txt")
    assert found.name == str(suite / "data/a.txt")


def test_absolute_path_inside_the_folder_is_found(suite: Path) -> None:
    assert Sandbox(suite).data_file(f"file://{suite}/data/a.txt").path == suite / "data/a.txt"


@pytest.mark.parametrize(
    "reference", ["../secret.txt", "data/../../secret.txt", "..\\secret.txt", "../../secret.txt"]
)
def test_parent_folders_are_refused(suite: Path, reference: str) -> None:
    assert "refuses to read outside the suite's folder" in refused(Sandbox(suite), reference)


def test_refusal_names_the_place_and_the_way_to_allow_it(suite: Path) -> None:
    assert refused(Sandbox(suite), "../secret.txt") == (
        f"refuses to read outside the suite's folder, found '../secret.txt', which is '{suite.parent}/secret.txt'; "
        f"keep the file inside, or allow its folder with `--allow-outside {suite.parent}`"
    )


@pytest.mark.parametrize(
    "reference", ["/etc/passwd", "file:///etc/passwd", "//server/share", "/proc/self/environ"]
)
def test_absolute_paths_are_refused(suite: Path, reference: str) -> None:
    assert "refuses to read outside" in refused(Sandbox(suite), reference)


def test_paths_of_windows_are_refused_elsewhere(suite: Path) -> None:
    assert "absolute path of Windows" in refused(Sandbox(suite), "C:\\data\\cases.yaml")


def test_links_that_lead_outside_are_refused(suite: Path) -> None:
    (suite / "link.txt").symlink_to(suite.parent / "secret.txt")
    (suite / "folder").symlink_to(suite.parent)
    assert "refuses to read outside" in refused(Sandbox(suite), "link.txt")
    assert "refuses to read outside" in refused(Sandbox(suite), "folder/secret.txt")


def test_links_that_stay_inside_are_followed_and_keep_their_name(suite: Path) -> None:
    (suite / "link.txt").symlink_to("data/a.txt")
    found = Sandbox(suite).data_file("link.txt")
    assert (found.path, found.relative) == (suite / "data/a.txt", "link.txt")


def test_parent_of_a_linked_folder_is_the_real_one(suite: Path) -> None:
    (suite / "folder").symlink_to(suite / "data")
    (suite / "data/deep").symlink_to(suite.parent.parent)
    assert "refuses to read outside" in refused(Sandbox(suite), "folder/deep/../secret.txt")


def test_suite_reached_through_a_link_is_its_real_folder(suite: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(suite)
    found = Sandbox(tmp_path / "alias").data_file("data/a.txt")
    assert found.path == suite / "data/a.txt"
    assert found.name == str(tmp_path / "alias/data/a.txt")


def test_folders_are_compared_by_identity_not_by_spelling(suite: Path, tmp_path: Path) -> None:
    # On a file system that ignores case the other spelling is not a link; the comparison is the same.
    (tmp_path / "EVALS").symlink_to(suite)
    assert _is_inside(tmp_path / "EVALS" / "data" / "a.txt", suite)
    assert not _is_inside(tmp_path / "secret.txt", suite)


def test_folder_whose_name_begins_alike_is_outside(suite: Path) -> None:
    write_files(suite.parent, {"evals-private/x.txt": ""})
    assert "refuses to read outside" in refused(Sandbox(suite), "../evals-private/x.txt")


def test_case_of_a_name_is_told(suite: Path) -> None:
    assert refused(Sandbox(suite), "DATA/A.TXT").startswith("no such file, found 'DATA/A.TXT'")
    assert refused(Sandbox(suite), "data/A.txt").endswith("did you mean 'a.txt'?")


def test_circle_of_links_is_refused(suite: Path) -> None:
    (suite / "one").symlink_to("two")
    (suite / "two").symlink_to("one")
    assert re.search("circle|too many levels of symbolic links", refused(Sandbox(suite), "one"))


def test_fifos_sockets_devices_and_folders_are_refused_without_waiting(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(suite / "pipe.yaml")
    monkeypatch.chdir(suite)  # The path of a socket must be short.
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s.yaml")
        assert "is a socket" in refused(Sandbox(suite), "s.yaml")
    (suite / "zero").symlink_to("/dev/zero")
    assert "is a FIFO; name a regular file" in refused(Sandbox(suite), "pipe.yaml")
    assert "is a device" in refused(Sandbox(suite, outside=(Path("/dev"),)), "zero")
    assert "is a folder; name files in it, as in `data/*.yaml`" in refused(Sandbox(suite), "data")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("a\0b", "NUL"),
        ("file://", "names no file"),
        (" ", "names no file"),
        ("n" * 300, "name too long"),
        ("n" * (MAX_REFERENCE_LENGTH + 1), "longer than 4,096 characters"),
        ("\ud800.yaml", "not valid Unicode"),
    ],
)
def test_unusable_paths_are_refused(suite: Path, reference: str, message: str) -> None:
    assert message in refused(Sandbox(suite), reference)


def test_code_may_come_from_the_repository_and_data_may_not(suite: Path) -> None:
    sandbox = Sandbox(suite, suite.parent)
    assert sandbox.code_file("../common/check.py").relative == "../common/check.py"
    assert "refuses to read outside the suite's folder" in refused(sandbox, "../common/check.py")


def test_code_outside_the_repository_is_refused(suite: Path) -> None:
    with pytest.raises(SuiteError, match=r"refuses to read outside the repository .*`--allow-outside "):
        Sandbox(suite, suite.parent).code_file("../../secret.txt")


def test_code_without_a_repository_stays_in_the_folder(suite: Path) -> None:
    with pytest.raises(SuiteError, match="outside the suite's folder"):
        Sandbox(suite).code_file("../common/check.py")


def test_code_is_looked_up_beside_the_file_that_names_it(suite: Path) -> None:
    sandbox = Sandbox(suite, suite.parent)
    found = sandbox.code_file("check.py", beside=suite / ".." / "common")
    assert (found.path, found.relative) == (suite.parent / "common/check.py", "../common/check.py")


def test_allowed_folders_widen_data_and_code(suite: Path, tmp_path: Path) -> None:
    sandbox = Sandbox(suite, None, (tmp_path,))
    assert sandbox.data_file("../../secret.txt").path == tmp_path / "secret.txt"
    assert sandbox.code_file("../../secret.txt").path == tmp_path / "secret.txt"


def test_pattern_expands_in_the_order_of_paths(suite: Path) -> None:
    names = ["t/b.yaml", "t/a.yaml", "t/a/z.yaml", "t/a-b/c.yaml", "t/.hidden.yaml", "t/a.txt"]
    write_files(suite, dict.fromkeys(names, ""))
    found = [file.relative for file in Sandbox(suite).data_files("file://t/**/*.yaml")]
    assert found == ["t/a/z.yaml", "t/a-b/c.yaml", "t/a.yaml", "t/b.yaml"]


def test_backslashes_of_a_pattern_divide_folders(suite: Path) -> None:
    write_files(suite, {"cases/a.yaml": ""})
    assert [file.relative for file in Sandbox(suite).data_files("file://cases\\*.yaml")] == ["cases/a.yaml"]


def test_pattern_without_matches_is_refused(suite: Path) -> None:
    with pytest.raises(SuiteError, match=r"'cases/\*\.yaml' matched no files"):
        Sandbox(suite).data_files("file://cases/*.yaml")


def test_pattern_does_not_look_outside(suite: Path) -> None:
    (suite / "folder").symlink_to(suite.parent)
    for pattern in ("../*.txt", "folder/*.txt", "*/secret.txt", "/etc/*"):
        with pytest.raises(SuiteError, match="refuses to read outside"):
            Sandbox(suite).data_files(pattern)


def test_pattern_refuses_a_match_that_leads_outside(suite: Path) -> None:
    (suite / "data/b.txt").symlink_to(suite.parent / "secret.txt")
    with pytest.raises(SuiteError, match="refuses to read outside"):
        Sandbox(suite).data_files("data/*.txt")


def test_pattern_that_looks_at_too_much_is_refused(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(glob_walk, "MAX_ENTRIES", 1)
    with pytest.raises(SuiteError, match="looks at more than"):
        Sandbox(suite).data_files("**/*.yaml")


def test_pattern_passes_over_folders_and_refuses_fifos(suite: Path) -> None:
    os.mkfifo(suite / "data" / "b.txt")
    (suite / "data" / "c.txt").mkdir()
    with pytest.raises(SuiteError, match=r"'data/b\.txt' is a FIFO"):
        Sandbox(suite).data_files("data/*.txt")
    (suite / "data" / "b.txt").unlink()
    assert [file.relative for file in Sandbox(suite).data_files("data/*.txt")] == ["data/a.txt"]


def test_file_whose_name_is_no_unicode_is_refused(suite: Path) -> None:
    (suite / os.fsdecode(b"data/\xff.txt")).touch()
    with pytest.raises(SuiteError, match="is not valid Unicode; rename the file"):
        Sandbox(suite).data_files("data/*.txt")


def test_name_that_looks_like_a_pattern_is_the_file_of_that_name(suite: Path) -> None:
    write_files(suite, {"cases[1].yaml": "", "cases1.yaml": ""})
    assert [file.relative for file in Sandbox(suite).data_files("cases[1].yaml")] == ["cases[1].yaml"]
    assert [file.relative for file in Sandbox(suite).data_files("cases[12].yaml")] == ["cases1.yaml"]
