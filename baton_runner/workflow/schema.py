"""The JSON Schema of the front matter, generated from the declarations of the settings.

``python -m baton_runner.workflow.schema > schemas/workflow.schema.json`` writes the file that editors use.
"""

import json
import sys
from typing import Any

from baton_runner.workflow.declaration import section_schema
from baton_runner.workflow.settings import section_types

__all__ = ["schema_text", "workflow_schema"]


def workflow_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the settings. Unknown keys are allowed, as they never stop a run (R-007)."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "WORKFLOW.md front matter",
        "description": "Settings of baton: how a plan is built, verified and integrated, and by whom.",
        "type": ["object", "null"],
        "properties": {name: section_schema(section) for name, section in section_types().items()},
    }


def schema_text() -> str:
    """The schema as the checked-in file holds it."""
    return json.dumps(workflow_schema(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
