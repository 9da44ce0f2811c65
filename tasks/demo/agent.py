"""The scripted agent of the demo: it reads its assignment as any agent would, and works as fast as a file is written.

On its first turn at division it forgets the zero; the red check comes back to it, and the second turn mends that.
"""

import os
import sys
from pathlib import Path

TEST = """import unittest

from calc.{module} import {function}


class Test(unittest.TestCase):
    def test(self) -> None:
        self.assertEqual({function}({arguments}), {expected})
"""

ZERO = """
    def test_zero(self) -> None:
        with self.assertRaisesRegex(ValueError, "by zero"):
            divide(1, 0)
"""

MAIN = '''"""python3 -m calc LEFT OPERATION RIGHT"""

import sys

from calc.addition import add
from calc.division import divide

left, sign, right = sys.argv[1:]
print({"+": add, "/": divide}[sign](float(left), float(right)))
'''


def write(path: str, text: str) -> None:
    """Write a file and say so, as agents do."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
    print(f"wrote {path}")


def addition(prompt: str) -> None:
    """Task 2.1; the words of the task decide what is written."""
    text = "def add(left: float, right: float) -> float:\n    return left + right\n"
    if "subtract" in prompt:
        text += "\n\ndef subtract(left: float, right: float) -> float:\n    return left - right\n"
    write("calc/addition.py", text)
    write("tests/test_addition.py", TEST.format(module="addition", function="add", arguments="2, 3", expected=5))


def division(prompt: str) -> None:
    """Task 2.2: wrong at first, right when the red check came back."""
    guard = '    if right == 0:\n        raise ValueError("cannot divide by zero")\n' if "by zero" in prompt else ""
    if "This was red" not in prompt and "Still red" not in prompt:
        guard = ""
    write("calc/division.py", f"def divide(left: float, right: float) -> float:\n{guard}    return left / right\n")
    test = TEST.format(module="division", function="divide", arguments="6, 3", expected=2)
    write("tests/test_division.py", test + ZERO)


def main() -> int:
    """Do the task that the environment names."""
    prompt = sys.stdin.read()
    task = os.environ["BATON_TASK_ID"].partition(":")[2]
    if task == "2.1":
        addition(prompt)
    elif task == "2.2":
        division(prompt)
    elif task == "2.3":
        write("docs/operations.md", "# Operations\n\n`+` adds, `/` divides.\n")
    elif task == "3.1":
        write("calc/__main__.py", MAIN)
    else:
        print(f"no idea how to do {task}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
