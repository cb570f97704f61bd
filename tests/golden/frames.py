"""Audit what a program holds, with the functions of Python: `python frames.py CASE`."""

import sys

import numpy as np
import pandas as pd

import mipaudit

frame = pd.read_csv("small.csv")
loss, conf = frame["loss"].to_numpy(), frame["conf"].to_numpy()
member = frame["member"].to_numpy() == 1


def on_dask():
    """Audit a file with workers of a cluster on this machine."""
    import distributed

    with (
        distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as cluster,
        cluster.get_client() as client,
    ):
        executor = client.get_executor()
        return mipaudit.estimate("many_groups.parquet", score_col="loss", executor=executor)


CASES = {
    "frame": lambda: mipaudit.estimate(frame),
    "single": lambda: mipaudit.estimate(frame.astype({"loss": "float32", "conf": "float32"})),
    "arrow": lambda: mipaudit.estimate(frame.convert_dtypes(dtype_backend="pyarrow")),
    "pair": lambda: mipaudit.estimate(members=loss[member], holdout=loss[~member]),
    "vectors": lambda: mipaudit.estimate(
        members=np.column_stack((loss, conf))[member],
        holdout=np.column_stack((loss, conf))[~member],
    ),
    "frames": lambda: mipaudit.estimate(members=frame[member], holdout=frame[~member]),
    "limits": lambda: mipaudit.estimate(
        frame,
        max_advantage=0.1,
        limits=[{"quantity": "auc", "max": 0.6, "score": "loss"}],
        waivers=[
            {"quantity": "auc", "reason": "r", "person": "p", "expires": "2099-12-31"},
        ],
        on_inconclusive="fail",
    ),
    "compare": lambda: mipaudit.compare(frame, score_col=["loss", "conf"]),
    "dask": on_dask,
    "check": lambda: mipaudit.check(frame),
    "records": lambda: mipaudit.records(frame, score_col="loss", by="sex"),
    "attack": lambda: mipaudit.attack(frame, score_col="loss"),
    "path": lambda: mipaudit.estimate("small.csv", seed=5, prior=0.2, strict=True),
    "bounds": lambda: mipaudit.bounds(mu=1.0, baseline=0.1),
}

if __name__ == "__main__":
    sys.stdout.write(mipaudit.to_json(CASES[sys.argv[1]]()).decode())
