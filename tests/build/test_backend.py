"""doit's database beside plans: none, until a task of the user's needs one."""

from pathlib import Path

from doit.dependency import JSONCodec

from baton_runner.build.backend import LazyDatabase


def _open(path: Path) -> LazyDatabase:
    return LazyDatabase(str(path), JSONCodec())


def test_reading_and_forgetting_make_no_file(tmp_path: Path) -> None:
    path = tmp_path / "db"
    database = _open(path)
    assert database.get("a", "deps:") is None
    assert not database.in_("a")
    database.remove("a")
    database.remove_all()
    database.dump()
    assert not path.exists()


def test_what_is_written_is_read_by_the_next_run(tmp_path: Path) -> None:
    path = tmp_path / "db"
    first = _open(path)
    first.set("a", "deps:", ["x"])
    first.dump()
    second = _open(path)
    assert second.in_("a")
    assert second.get("a", "deps:") == ["x"]
    second.remove("a")
    second.dump()
    third = _open(path)
    assert third.get("a", "deps:") is None
    third.dump()
