"""Money and tokens: what is reserved and spent together never exceeds a ceiling."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from baton_runner.store.database import Database
from baton_runner.store.ledger import Ceilings, Ledger, Refusal, Reservation, Spent

CENT = 1e-9


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "state.db")
    yield database
    database.close()


def _reserved(found: Reservation | Refusal) -> Reservation:
    assert isinstance(found, Reservation)
    return found


@pytest.mark.parametrize("ceilings", [Ceilings(run_usd=0), Ceilings(task_usd=0), Ceilings(run_tokens=0)])
def test_nothing_means_nothing(database: Database, ceilings: Ceilings) -> None:
    """A ceiling of 0 refuses the first turn."""
    refused = Ledger(database, "run", ceilings).reserve("c", "1.1")
    assert isinstance(refused, Refusal)
    assert (refused.value, refused.spent) == (0, 0)


def test_without_a_ceiling_everything_is_counted_and_nothing_refused(database: Database) -> None:
    ledger = Ledger(database, "run", Ceilings())
    first = _reserved(ledger.reserve("c", "1.1"))
    assert first.usd is None
    ledger.settle(first, usd=4.5, tokens=900)
    _reserved(ledger.reserve("c", "1.1"))
    assert ledger.spent() == Spent(4.5, 900)


def test_a_worker_gets_its_share_and_settling_gives_back_the_rest(database: Database) -> None:
    ledger = Ledger(database, "run", Ceilings(run_usd=8.0), workers=4)
    first = _reserved(ledger.reserve("c", "1.1"))
    assert first.usd == 2.0
    ledger.settle(first, usd=0.5, tokens=10)
    assert ledger.spent() == Spent(0.5, 10)
    assert _reserved(ledger.reserve("c", "1.2")).usd == pytest.approx(7.5 / 4)


def test_a_tasks_ceiling_binds_that_task_alone(database: Database) -> None:
    ledger = Ledger(database, "run", Ceilings(run_usd=100, task_usd=1.0))
    first = _reserved(ledger.reserve("c", "1.1"))
    assert first.usd == 1.0
    ledger.settle(first, usd=1.0, tokens=1)
    assert ledger.reserve("c", "1.1") == Refusal("budget.task_usd", 1.0, 1.0)
    assert _reserved(ledger.reserve("c", "1.2")).usd == 1.0


def test_tokens_are_refused_from_the_ceiling_on(database: Database) -> None:
    ledger = Ledger(database, "run", Ceilings(run_tokens=1000))
    ledger.settle(_reserved(ledger.reserve("c", "1.1")), usd=0, tokens=1200)
    assert ledger.reserve("c", "1.1") == Refusal("budget.run_tokens", 1000, 1200)


def test_a_reservation_of_the_dead_stays_counted_and_a_new_run_starts_afresh(database: Database) -> None:
    """What a killed turn cost is not known, and too little is the safe error."""
    ceilings = Ceilings(run_usd=1.0)
    _reserved(Ledger(database, "run", ceilings).reserve("c", "1.1"))
    assert Ledger(database, "run", ceilings).reserve("c", "1.2") == Refusal("budget.run_usd", 1.0, 1.0)
    assert isinstance(Ledger(database, "another run", ceilings).reserve("c", "1.2"), Reservation)


STEPS = st.lists(st.tuples(st.sampled_from(["1.1", "1.2", "2.1"]), st.floats(0, 1), st.booleans()), max_size=30)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.floats(0, 5), st.floats(0, 3), st.integers(1, 5))
def test_reserved_and_spent_together_stay_below_every_ceiling(
    tmp_path: Path, steps: list[tuple[str, float, bool]], run_usd: float, task_usd: float, workers: int
) -> None:
    """Whatever order turns start and end in, as long as a turn keeps to what it was given."""
    database = Database(tmp_path / "state.db")
    run = f"{id(steps)}-{run_usd}-{task_usd}"
    with database.transaction() as connection:
        connection.execute("DELETE FROM spend")
    ledger = Ledger(database, run, Ceilings(run_usd=run_usd, task_usd=task_usd), workers=workers)
    open_turns: list[tuple[str, Reservation]] = []
    taken: dict[str, float] = {}
    for key, share, ends in steps:
        found = ledger.reserve("c", key)
        if isinstance(found, Reservation):
            assert found.usd is not None
            taken[key] = taken.get(key, 0) + found.usd
            open_turns.append((key, found))
        if ends and open_turns:
            owner, turn = open_turns.pop(0)
            cost = (turn.usd or 0) * share
            ledger.settle(turn, usd=cost, tokens=1)
            taken[owner] += cost - (turn.usd or 0)
        assert ledger.spent().usd <= run_usd + CENT
        assert ledger.spent().usd == pytest.approx(sum(taken.values()))
        assert all(usd <= task_usd + CENT for usd in taken.values())
    database.close()


def test_threads_that_ask_at_once_never_get_more_than_there_is(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    granted: list[float] = []

    def work(number: int) -> None:
        database = Database(path)
        ledger = Ledger(database, "run", Ceilings(run_usd=1.0), workers=2)
        for _ in range(10):
            found = ledger.reserve("c", str(number))
            if isinstance(found, Reservation):
                granted.append(found.usd or 0.0)
        database.close()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0.9 < sum(granted) <= 1.0 + CENT


SPENDER = """\
import sys
from pathlib import Path
from baton_runner.store.database import Database
from baton_runner.store.ledger import Ceilings, Ledger, Reservation
database = Database(Path(sys.argv[1]))
ledger = Ledger(database, "run", Ceilings(run_tokens=None, run_usd=1.0, task_usd=0.25))
total = 0.0
for number in range(8):
    found = ledger.reserve("c", str(number))
    total += (found.usd or 0.0) if isinstance(found, Reservation) else 0.0
database.close()
print(total)
"""


def test_processes_that_ask_at_once_never_get_more_than_there_is(tmp_path: Path, database: Database) -> None:
    running = [
        subprocess.Popen([sys.executable, "-c", SPENDER, str(database.path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    totals = [float(process.communicate(timeout=60)[0]) for process in running]
    assert sum(totals) == pytest.approx(1.0)
    assert Ledger(database, "run", Ceilings()).spent().usd == pytest.approx(1.0)
