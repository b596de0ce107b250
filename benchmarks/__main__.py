"""Print the table of benchmarks and store it in benchmarks/results/.

python -m benchmarks            everything, a few minutes
python -m benchmarks --quick    small sizes, to check that everything runs
python -m benchmarks moments    one part, nothing stored
"""

import argparse

from rich.console import Console
from rich.table import Table

from benchmarks import laplacian_fit, memory, moments, nystrom_ridge, paths
from benchmarks.lines import product_rate, write

PARTS = {
    "moments": moments,
    "laplacian_fit": laplacian_fit,
    "nystrom_ridge": nystrom_ridge,
    "paths": paths,
    "memory": memory,
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("parts", nargs="*", help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    arguments = parser.parse_args()
    for unknown in set(arguments.parts) - set(PARTS):
        parser.error(f"no part is called {unknown}; there are {', '.join(PARTS)}")
    console = Console()
    rate = product_rate()
    console.print(f"This machine's matrix products: {rate / 1e9:.0f} GFLOP/s")
    table = Table("work", "measured", "bar", "met", "detail")
    lines = []
    for name in arguments.parts or PARTS:
        console.print(f"{name} ...")
        for line in PARTS[name].run(quick=arguments.quick):
            lines.append(line)
            met = "[green]yes" if line.met else "[red]NO"
            table.add_row(line.work, line.figure, line.bar, met, line.detail)
    console.print(table)
    if not arguments.quick and not arguments.parts:
        write("bench", lines, rate)
        console.print("kept in benchmarks/results/bench.md and bench.json")


if __name__ == "__main__":
    main()
