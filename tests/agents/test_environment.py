"""The agent's environment: what is not named does not pass."""

import pytest

from baton_runner.agents.environment import BASE_NAMES, GIT_IDENTITY, Identity, agent_environment

OWN = {
    "PATH": "/usr/bin",
    "HOME": "/home/u",
    "LC_ALL": "C.UTF-8",
    "HTTPS_PROXY": "http://proxy:3128",
    "GITHUB_TOKEN": "tracker-token",
    "GH_TOKEN": "tracker-token",
    "AWS_SECRET_ACCESS_KEY": "cloud",
    "ANTHROPIC_API_KEY": "model-key",
    "CLAUDECODE": "1",
    "CLAUDE_CODE_ENTRYPOINT": "cli",
    "BATON_MARKER": "outer",
    "MY_TOOL": "on",
}


def test_only_the_base_list_passes_by_itself() -> None:
    """Threat 11: the whole of it, as a golden set."""
    assert agent_environment(OWN) == {
        "PATH": "/usr/bin",
        "HOME": "/home/u",
        "LC_ALL": "C.UTF-8",
        "HTTPS_PROXY": "http://proxy:3128",
    }


def test_adapter_and_policy_name_more() -> None:
    environ = agent_environment(OWN, needed=["ANTHROPIC_*"], named=["MY_TOOL", "NOT_SET"])
    assert environ["ANTHROPIC_API_KEY"] == "model-key"
    assert environ["MY_TOOL"] == "on"
    assert "NOT_SET" not in environ


def test_the_trackers_token_passes_under_no_name() -> None:
    """R-025c: also where the policy names a variable that happens to hold it."""
    environ = agent_environment(OWN, named=["GITHUB_TOKEN", "GH_TOKEN", "MY_TOOL"], withheld=["tracker-token"])
    assert "tracker-token" not in environ.values()
    assert environ["MY_TOOL"] == "on"


def test_the_agents_own_token_is_given_under_both_names() -> None:
    environ = agent_environment(OWN, token="agents-own", withheld=["tracker-token"])
    assert (environ["GITHUB_TOKEN"], environ["GH_TOKEN"]) == ("agents-own", "agents-own")


def test_the_same_token_for_both_is_the_policys_decision() -> None:
    environ = agent_environment(OWN, token="tracker-token", withheld=["tracker-token"])
    assert environ["GH_TOKEN"] == "tracker-token"


@pytest.mark.parametrize("pattern", ["CLAUDECODE", "CLAUDE*", "*", "BATON_MARKER", "BATON_*"])
def test_marks_of_an_enclosing_agent_never_pass(pattern: str) -> None:
    """Field report 34: a nested Claude Code refuses to start when it sees CLAUDECODE."""
    environ = agent_environment(OWN, named=[pattern])
    assert not {"CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "BATON_MARKER"} & environ.keys()


def test_an_identity_is_given_where_git_has_none() -> None:
    environ = agent_environment(OWN, identity=Identity("Ada", "ada@example.org"))
    assert [environ[name] for name in GIT_IDENTITY] == ["Ada", "ada@example.org"] * 2
    assert not set(GIT_IDENTITY) & agent_environment(OWN).keys()


def test_the_base_list_names_no_credentials() -> None:
    assert not [name for name in BASE_NAMES if any(word in name for word in ("TOKEN", "KEY", "SECRET", "AUTH"))]
