"""Where a run was made."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from evenhand.io.provenance import branch_of_ci, git_state


def git(folder: Path, *words: str) -> None:
    settings = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *settings, "-C", str(folder), *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "begin")
    return tmp_path


@pytest.mark.parametrize(
    ("environ", "branch"),
    [
        ({}, ""),
        (
            {"GITHUB_HEAD_REF": "feature", "GITHUB_REF_NAME": "12/merge", "GITHUB_REF_TYPE": "branch"},
            "feature",
        ),
        ({"GITHUB_HEAD_REF": "", "GITHUB_REF_NAME": "main", "GITHUB_REF_TYPE": "branch"}, "main"),
        ({"GITHUB_REF_NAME": "v1.0", "GITHUB_REF_TYPE": "tag"}, ""),
        ({"CI_COMMIT_BRANCH": "main", "CI_COMMIT_REF_NAME": "main"}, "main"),
        ({"CI_MERGE_REQUEST_SOURCE_BRANCH_NAME": "feature/x"}, "feature/x"),
        ({"BUILD_SOURCEBRANCH": "refs/heads/feature/x"}, "feature/x"),
        ({"BUILD_SOURCEBRANCH": "refs/tags/v1"}, ""),
        ({"GIT_BRANCH": "origin/main"}, "main"),
    ],
)
def test_the_branch_that_a_ci_system_builds_is_read_from_its_variables(
    environ: dict[str, str], branch: str
) -> None:
    assert branch_of_ci(environ) == branch


def test_a_commit_without_a_branch_has_that_of_the_ci_system(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CI_COMMIT_BRANCH", "from-ci")
    on_branch = git_state(repository)
    assert on_branch is not None
    assert on_branch.branch == "main"
    git(repository, "checkout", "--detach")
    detached = git_state(repository)
    assert detached is not None
    assert detached.branch == "from-ci"
