"""Start-up: `baton --help` against the import of click alone. Bar: within a factor of 3."""

import sys

from benchmarks.world import best_of


def main() -> None:
    """Print the ratio."""
    click = best_of(5, [sys.executable, "-c", "import click"])
    shown = best_of(5, [sys.executable, "-m", "baton_runner", "--help"])
    print(f"import click {click:.3f} s, baton --help {shown:.3f} s, ratio {shown / click:.2f}")


if __name__ == "__main__":
    main()
