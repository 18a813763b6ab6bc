"""Where evenhand keeps what it remembers."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.errors import StoreError
from evenhand.store.state import create_state_directory, state_directory, store_path


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A suite's folder two levels below a folder that no `.git` or `.evenhand` stands above."""
    folder = tmp_path / "project" / "evals" / "qa"
    folder.mkdir(parents=True)
    return folder


def test_environment_variable_names_the_folder(suite: Path, tmp_path: Path) -> None:
    (suite / ".evenhand").mkdir()
    assert state_directory(suite, {"EVENHAND_HOME": str(tmp_path / "state")}) == tmp_path / "state"


def test_blank_environment_variable_names_nothing(suite: Path) -> None:
    assert state_directory(suite, {"EVENHAND_HOME": "  "}) == suite / ".evenhand"


def test_home_of_an_unknown_user_is_taken_as_written(suite: Path) -> None:
    found = state_directory(suite, {"EVENHAND_HOME": "~no-such-user-here/state"})
    assert found == Path("~no-such-user-here/state").absolute()


def test_nearest_state_folder_above_the_suite_is_used(suite: Path) -> None:
    (suite.parents[1] / ".evenhand").mkdir()
    (suite.parents[0] / ".evenhand").mkdir()
    (suite.parents[0] / ".git").mkdir()
    assert state_directory(suite, {}) == suite.parents[0] / ".evenhand"


def test_state_folder_far_above_beats_a_repository_nearby(suite: Path) -> None:
    (suite.parents[1] / ".evenhand").mkdir()
    (suite / ".git").mkdir()
    assert state_directory(suite, {}) == suite.parents[1] / ".evenhand"


def test_file_of_that_name_is_no_state_folder(suite: Path) -> None:
    (suite / ".evenhand").write_text("")
    (suite.parent / ".git").mkdir()
    assert state_directory(suite, {}) == suite.parent / ".evenhand"


@pytest.mark.parametrize("is_worktree", [False, True])
def test_state_folder_stands_beside_the_nearest_repository(suite: Path, is_worktree: bool) -> None:
    repository = suite.parents[1] / ".git"
    if is_worktree:
        repository.write_text("gitdir: elsewhere\n")
    else:
        repository.mkdir()
    assert state_directory(suite, {}) == suite.parents[1] / ".evenhand"


def test_suite_outside_any_repository_has_its_own_state_folder(suite: Path) -> None:
    assert state_directory(suite, {}) == suite / ".evenhand"
    assert not (suite / ".evenhand").exists()


def test_relative_suite_folder_is_found_from_the_working_folder(
    suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (suite.parent / ".evenhand").mkdir()
    monkeypatch.chdir(suite.parent)
    assert state_directory(Path("qa"), {}) == suite.parent / ".evenhand"


def test_created_folder_ignores_itself_in_repositories(suite: Path) -> None:
    folder = state_directory(suite, {})
    create_state_directory(folder)
    assert (folder / ".gitignore").read_text() == "*\n"
    assert store_path(folder).parent == folder


def test_existing_folder_is_left_as_it_is(suite: Path) -> None:
    create_state_directory(suite)
    assert list(suite.iterdir()) == []


def test_folder_that_cannot_be_created_is_named(suite: Path) -> None:
    (suite / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be created, found") as caught:
        create_state_directory(suite / "file" / "state")
    assert str(caught.value).startswith(str(suite / "file" / "state"))
    assert "EVENHAND_HOME" in str(caught.value)
