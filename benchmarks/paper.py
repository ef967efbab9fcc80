"""The paper's claims, one by one: runs every experiment at full size and writes docs/paper.md with its figures."""

import json
import shutil
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from benchmarks import machine
from boundsep.experiments import runner

ROOT = Path(__file__).parent.parent
OUT = ROOT / "out" / "figures"
FIGURES = ROOT / "docs" / "figures"


def main() -> None:
    """Run what is not done yet, and write the page."""
    OUT.mkdir(parents=True, exist_ok=True)
    FIGURES.mkdir(parents=True, exist_ok=True)
    lines = [
        "# The paper's claims, one by one",
        "",
        "Each is reproduced by `boundsep reproduce NAME`, all of them by `make figures`, which wrote this page.",
        f"Ten seeds; {machine.describe()}.",
        "",
    ]
    with Progress(console=Console(stderr=True)) as progress:
        for name in runner.NAMES:
            task = progress.add_task(name, total=None)
            verdict = runner.run(
                name,
                OUT,
                progress=lambda done, total, task=task: progress.update(task, completed=done, total=total),
            )
            kept = json.loads((OUT / f"{name}.json").read_text())
            shutil.copy(OUT / f"{name}.png", FIGURES / f"{name}.png")
            lines += [
                f"## {name}",
                "",
                f"*Claim.* {kept['claim']}",
                "",
                f"**{'It holds' if verdict.holds else 'It does not hold as stated'}**: {verdict.text}.",
                "",
                f"![{name}](figures/{name}.png)",
                "",
            ]
    (ROOT / "docs" / "paper.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
