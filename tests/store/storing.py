"""A process that stores results: `python storing.py STORE RUN_ID COUNT MODE`.

It prints `committed N` after each flush. Mode `finish` ends the run properly; `hang` adds results beyond the last
flush and waits to be killed; `trickle` adds without ever flushing, prints `added N`, and waits to be killed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from evenhand.store.store import open_store
from support.stored_results import a_result, a_run, finished

FLUSH_EVERY = 250


def main(path: str, run_id: str, count: int, mode: str) -> None:
    store = open_store(Path(path))
    run = a_run(run_id)
    writer = store.begin(run)
    for place in range(count):
        writer.add(a_result(place, output=f"answer {place} of {run_id}"))
        if mode != "trickle" and (place + 1) % FLUSH_EVERY == 0:
            writer.flush()
            print(f"committed {place + 1}", flush=True)
    if mode == "finish":
        writer.finish(finished(run))
        store.close()
        print("finished", flush=True)
        return
    print(f"added {count}", flush=True)
    time.sleep(60)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4])
