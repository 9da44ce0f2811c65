"""Headings of sections: the number they carry, and what their last parentheses ask for.

``## Phase 2: Build (sequential)`` is number ``2``, title ``Phase 2: Build (sequential)``, subject ``Build`` and flow
sequential. The number is a label: the order of sections is that of the document.
"""

import re
from dataclasses import dataclass

from baton_runner.plan.model import Flow, Wait
from baton_runner.plan.notes import names_before_numbers, waits_of

__all__ = ["Heading", "parse_heading"]

_KEYWORDS = (
    # English, German, French, Spanish, Portuguese, Italian, Dutch, Polish, Russian, Chinese, Japanese, Korean
    "phase|stage|step|part|group|task|pr|milestone|slice|batch|wave|sprint|section|"
    "schritt|etappe|teil|gruppe|aufgabe|meilenstein|abschnitt|"
    "étape|etape|partie|groupe|tâche|tache|jalon|lot|"
    "fase|etapa|paso|parte|grupo|tarea|hito|sección|seccion|"
    "passo|tarefa|marco|seção|secao|gruppo|compito|traguardo|sezione|"
    "stap|deel|groep|taak|mijlpaal|sectie|krok|część|grupa|zadanie|etap|sekcja|"
    "фаза|этап|шаг|часть|группа|задача|веха|раздел|спринт|"
    "阶段|階段|步骤|步驟|部分|任务|任務|里程碑|批次|小组|章节|"
    "フェーズ|ステージ|ステップ|パート|グループ|タスク|マイルストーン|セクション|スプリント|"
    "단계|스텝|파트|그룹|작업|마일스톤|섹션|스프린트"
)
_NUMBER = re.compile(
    rf"[\W_]*(?:(?i:{_KEYWORDS})[\s#_-]*|第\s*)?"
    r"(?P<number>\d{1,4}[a-z]?(?:\.\d{1,4}[a-z]?)*|[A-Z](?=[.):：]))"  # noqa: RUF001
    r"(?:\s*(?:阶段|階段|步|章|节|部分|単元)|\s*단계)?"
    r"(?:[*_`]*\s*[.):：．）、–—-]+|[*_`]*(?=\s|$))[*_`]*\s*",  # noqa: RUF001
)
_WORDED_LETTER = re.compile(
    rf"[\W_]*(?i:{_KEYWORDS})\s+(?P<number>[A-Z])(?=\s*[.):：–—-]|\s*$)[.):：\s–—-]*",  # noqa: RUF001
)
_NAMES = names_before_numbers(_KEYWORDS)
_SUFFIX = re.compile(r"\(([^()]*)\)\s*$")
_FLOW = {"sequential": Flow.SEQUENTIAL, "parallel": Flow.PARALLEL}


@dataclass(frozen=True, slots=True)
class Heading:
    """What a heading says: its label, the words that remain without it, and how its tasks are to run."""

    number: str | None
    subject: str
    flow: Flow | None
    waits: tuple[Wait, ...] | None


def parse_heading(title: str, line: int) -> Heading:
    """Read one heading's text; ``line`` is where a complaint about its note belongs."""
    rest, flow, waits = title, None, None
    while found := _SUFFIX.search(rest):
        asked = [
            part.strip()
            for part in re.split(
                r"[;,](?=\s*(?:sequential|parallel|depend|blocked|after))", found[1], flags=re.IGNORECASE
            )
        ]
        flows = [_FLOW[part.lower()] for part in asked if part.lower() in _FLOW]
        noted = [refs for part in asked if (refs := waits_of(part, line, names=_NAMES)) is not None]
        if len(flows) + len(noted) != len(asked):
            break
        flow = flows[0] if flows else flow
        waits = noted[0] if noted else waits
        rest = rest[: found.start()].rstrip()
    number = _NUMBER.match(rest) or _WORDED_LETTER.match(rest)
    if number is None:
        return Heading(None, rest, flow, waits)
    return Heading(number["number"], rest[number.end() :].strip(), flow, waits)
