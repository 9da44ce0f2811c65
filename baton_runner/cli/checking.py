"""``baton verify`` and ``baton doctor``: is everything whole, and is everything there."""

from baton_runner.cli.exits import Exit
from baton_runner.cli.output import bad, columns, faint, good, one_line, plural, say, wary
from baton_runner.cli.place import Place, command

__all__ = ["doctor_command", "verify_command"]


@command(name="verify", short_help="Check every receipt and packet, offline.")
def verify_command(place: Place) -> Exit:
    """Hash every receipt and packet again, and hold files against refs and git's objects.

    Runs no command of a plan and needs no network.
    """
    from baton_runner.controller.auditing import audit

    found = audit(place.project)
    for problem in found.problems:
        say(f"{bad('damaged:')} {one_line(str(problem))}")
    looked = f"{plural(found.receipts, 'receipt')}, {plural(found.packets, 'packet')}"
    if found.problems:
        say(f"{looked}: {bad(plural(len(found.problems), 'problem'))}")
        return Exit.FAILED
    say(f"{looked}: {good('all whole')}")
    return Exit.DONE


@command(name="doctor", short_help="Check this machine and repository.")
def doctor_command(place: Place) -> Exit:
    """Look at git, the agent, worktrees, disk, Python, LFS, submodules and boxes; each finding has its remedy.

    Ends with 1 when something would keep a run from working.
    """
    from baton_runner.controller.doctor import Health, diagnose

    found = diagnose(place.project)
    signs = {Health.GOOD: good("ok  "), Health.DOUBT: wary("note"), Health.BAD: bad("bad ")}
    rows = columns((signs[each.health], each.about, one_line(each.what)) for each in found)
    for each, text in zip(found, rows, strict=True):
        say(text)
        if each.todo:
            say(faint(f"      -> {one_line(each.todo)}"))
    return Exit.FAILED if any(each.health is Health.BAD for each in found) else Exit.DONE
