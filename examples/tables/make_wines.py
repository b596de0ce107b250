"""Write wines.csv: scikit-learn's wine table with nine in ten labels blanked.

Every tenth wine keeps its label. Run it from the project's root:

    python examples/tables/make_wines.py
"""

import csv
from pathlib import Path

from sklearn.datasets import load_wine

KEPT = 10  # every tenth label


def main() -> None:
    wine = load_wine()
    columns = [name.replace("/", "_per_") for name in wine.feature_names]
    labels = [
        str(wine.target_names[target]) if i % KEPT == 0 else ""
        for i, target in enumerate(wine.target)
    ]
    path = Path(__file__).with_name("wines.csv")
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*columns, "cultivar"])
        for row, label in zip(wine.data, labels, strict=True):
            writer.writerow([*(f"{x:g}" for x in row), label])


if __name__ == "__main__":
    main()
