#!/usr/bin/env python3
"""`kilter app kmeans` against scikit-learn: from the same centres both come to the same clusters.

    kmeans_reference.py KILTER ENVIRONMENT

ENVIRONMENT is a Python environment with numpy and scikit-learn, which scripts/setup.sh makes;
without it the exit status is 77. Kilter's centres after one iteration are where scikit-learn
begins; then both go on until nothing moves.
"""

import pathlib
import subprocess
import sys
import tempfile

import environment

POINTS, DIMENSIONS, CLUSTERS = 4000, 6, 9


def clusters_of(kilter, table, iterations, *more):
    """Centres and the cluster of each point, as the command writes them."""
    out = table.with_suffix(f".{iterations}.csv")
    subprocess.run(
        [
            kilter,
            "app",
            "kmeans",
            "--input",
            table,
            "--clusters",
            str(CLUSTERS),
            "--seed",
            "3",
            "--changed",
            "0",
            "--iterations",
            str(iterations),
            "--output",
            out,
            "--repeat",
            "1",
            "--quiet",
            *more,
        ],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    centres, labels = [], []
    for line in out.read_text().splitlines():
        words = line.split(",")
        if words[0] == "centre":
            centres.append([float(word) for word in words[1:]])
        else:
            labels.append(int(line))
    return np.array(centres), np.array(labels)


def main():
    kilter = sys.argv[1]
    random = np.random.default_rng(11)
    groups = random.uniform(-50, 50, (CLUSTERS, DIMENSIONS))
    points = (
        groups[random.integers(CLUSTERS, size=POINTS)] + random.normal(0, 12, (POINTS, DIMENSIONS))
    ).round(2)
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder) / "points of a test.csv"
        np.savetxt(table, points, delimiter=",", fmt="%.2f")
        begin, _ = clusters_of(kilter, table, 1)
        reference = KMeans(
            CLUSTERS, init=begin, n_init=1, max_iter=1000, tol=0, algorithm="lloyd"
        ).fit(points)
        assert reference.n_iter_ > 5, (
            f"scikit-learn had nothing to do: {reference.n_iter_} iterations"
        )
        for more in [], ["--cut", "tasks", "--policy", "dam-c"], ["--model", "loop-dynamic"]:
            centres, labels = clusters_of(kilter, table, 1000, *more)
            off = np.abs(centres - reference.cluster_centers_).max()
            assert off < 1e-3, f"{more}: a centre is off by {off}"
            differ = (labels != reference.labels_).sum()
            assert differ == 0, f"{more}: {differ} of {POINTS} points are in other clusters"
            print(
                f"{' '.join(more) or 'auto'}: centres within {off:.1e}, all {POINTS} points in "
                f"the same clusters after {reference.n_iter_} iterations"
            )


if __name__ == "__main__":
    environment.enter(sys.argv[2], "numpy", "sklearn")
    import numpy as np
    from sklearn.cluster import KMeans

    main()
