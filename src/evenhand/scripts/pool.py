"""Warm workers that answer batches of scripts, with a clock that they cannot stop.

A batch goes to one worker. Whoever takes too long is killed and replaced; only the script that ran pays for it, the
others are asked again elsewhere. Nothing starts before the first batch comes.
"""

from __future__ import annotations

import asyncio
import functools
from collections import deque
from collections.abc import Sequence

from evenhand.scripts.batch import Answer, Batch, Given, Purpose, Reply, Script
from evenhand.scripts.worker import Launch, Worker, decode_answer

START_LIMIT_S = 30.0
"""How long a worker may take until it answers for the first time."""
TICK_S = 0.05
"""How often the clock is looked at."""
FLUSH_GRACE_S = 0.15
"""How long finished answers of a batch may stay with the worker: see `quickjs_worker`."""
STEAL_AFTER_S = 0.2
"""How long batches wait behind a slow one before another worker gets them."""
LARGE = 1_000_000
"""Characters beyond which a batch is sent to an idle worker only."""
MAX_FAILED_STARTS = 3


class WorkerPool:
    """Up to `size` workers of one kind. Every batch is answered, whatever happens to the workers.

    `depth` batches may be sent to a worker ahead of its answers; beyond one this hides the way there and back, and is
    for scripts without side effects only, since a batch behind a slow script is asked again elsewhere.
    """

    def __init__(self, launch: Launch, *, size: int, depth: int = 1) -> None:
        self._launch = launch
        self._size = size
        self._depth = depth
        self._workers: list[Worker] = []
        self._ended: list[Worker] = []
        self._waiting: deque[Batch] = deque()
        self._starting = 0
        self._starts: set[asyncio.Task[None]] = set()
        self._failed_starts = 0
        self._clock: asyncio.TimerHandle | None = None
        self._closed = False

    async def evaluate(
        self,
        scripts: Sequence[Script],
        output: Given,
        context: Given,
        *,
        purpose: Purpose = "verdict",
        dry: bool = False,
    ) -> list[Answer]:
        """The answers to scripts over one answer of a system under test, in their order; `dry` runs none."""
        batch = Batch(scripts, output, context, purpose=purpose, dry=dry)
        self._waiting.append(batch)
        self._dispatch()
        return await batch.done

    async def close(self) -> None:
        """End every worker."""
        self._closed = True
        if self._clock is not None:
            self._clock.cancel()
        for task in self._starts:
            task.cancel()
        if self._starts:
            await asyncio.wait(self._starts)
        for worker in [*self._workers, *self._ended]:
            await worker.close()

    def _dispatch(self) -> None:
        while self._waiting:
            if self._waiting[0].done.done():
                self._waiting.popleft()
                continue
            worker = self._free_worker(self._waiting[0])
            if worker is None:
                break
            self._send(worker, self._waiting.popleft())
        # One at a time: most suites need no second worker by the time that the first is there.
        is_free_to_grow = not self._starting and all(worker.ready for worker in self._workers)
        if self._waiting and is_free_to_grow and len(self._workers) < self._size and not self._closed:
            self._starting += 1
            task = asyncio.ensure_future(self._start())
            self._starts.add(task)
            task.add_done_callback(self._starts.discard)
        if self._clock is None and (self._workers or self._waiting) and not self._closed:
            self._clock = asyncio.get_running_loop().call_later(TICK_S, self._tick)

    def _free_worker(self, batch: Batch) -> Worker | None:
        best = None
        room = 1 if batch.size > LARGE else self._depth
        for worker in self._workers:
            load = len(worker.in_flight)
            if worker.ready and load < room:
                best, room = worker, load
        return best

    def _send(self, worker: Worker, batch: Batch) -> None:
        sources = {}
        rows = []
        for index, script in enumerate(batch.scripts):
            if batch.answers[index] is not None:
                continue
            if script.key not in worker.known:
                worker.known.add(script.key)
                sources[script.key] = script.source
            rows.append((script.key, script.config.text, script.config.specials, index))
        if not worker.in_flight:
            worker.head_since = asyncio.get_running_loop().time()
        worker.in_flight.append(batch)
        output, context = batch.output, batch.context
        worker.send(
            {
                "sources": sources,
                "scripts": rows,
                "purpose": batch.purpose,
                "dry": batch.dry,
                "output": output.text,
                "output_is_text": output.is_text,
                "output_specials": output.specials,
                "context": context.text,
                "context_specials": context.specials,
            }
        )

    async def _start(self) -> None:
        worker = Worker(self._launch, self)
        worker.head_since = asyncio.get_running_loop().time()
        try:
            await worker.start()
        except (OSError, ValueError) as error:
            # ValueError: a system that hands no open channel to a child.
            self._starting -= 1
            self._fail_waiting(f"the worker cannot be started: {error}")
            return
        except BaseException:
            self._starting -= 1
            self._ended.append(worker)
            raise
        self._starting -= 1
        self._workers.append(worker)

    def heard(self, worker: Worker, reply: Reply) -> None:
        """Take in what a worker says."""
        if reply.ready:
            worker.ready = True
            self._failed_starts = 0
            self._dispatch()
            return
        worker.head_since = asyncio.get_running_loop().time()
        if not worker.in_flight:
            return
        batch = worker.in_flight[0]
        if batch is not None:
            for index, raw in reply.results:
                answer = decode_answer(raw)
                if 0 <= index < len(batch.answers) and batch.answers[index] is None:
                    if answer.unknown:
                        worker.known.clear()
                        continue
                    batch.answers[index] = answer if batch.room.takes(len(raw)) else Answer(crowded=True)
        if reply.done:
            worker.in_flight.popleft()
            if batch is not None:
                batch.settle()
                if not batch.done.done():
                    self._waiting.appendleft(batch)
            if reply.last:
                worker.ready = False
                worker.kill("replaced")
            self._dispatch()

    def lost(self, worker: Worker) -> None:
        """Replace a worker that is gone and see to what it had been asked."""
        if worker in self._workers:
            self._workers.remove(worker)
            self._ended = [ended for ended in self._ended if ended.exit_code is None]
            self._ended.append(worker)
        if self._closed:
            return
        if not worker.ready and not worker.in_flight and worker.fault != "replaced":
            self._failed_starts += 1
            if self._failed_starts >= MAX_FAILED_STARTS or not worker.fault:
                self._fail_waiting(_in_words("the worker did not start", worker))
        head = worker.in_flight.popleft() if worker.in_flight else None
        self._waiting.extendleft(batch for batch in reversed(worker.in_flight) if batch is not None)
        worker.in_flight.clear()
        if head is not None:
            self._blame(head, worker)
        self._dispatch()

    def _blame(self, batch: Batch, worker: Worker) -> None:
        """Find the script that ended a worker. Where it could be one of several, each is asked by itself."""
        missing = batch.missing()
        if batch.done.done():
            return
        if worker.fault == "timeout":
            batch.answers[missing[0]] = Answer(timed_out=True)
        elif len(missing) == 1:
            batch.answers[missing[0]] = Answer(broken=_in_words("the worker died", worker))
        else:
            for index in missing:
                alone = Batch(
                    [batch.scripts[index]],
                    batch.output,
                    batch.context,
                    purpose=batch.purpose,
                    dry=batch.dry,
                    room=batch.room,
                )
                alone.done.add_done_callback(functools.partial(_take_over, batch, index))
                self._waiting.appendleft(alone)
            return
        batch.settle()
        if not batch.done.done():
            self._waiting.appendleft(batch)

    def _fail_waiting(self, reason: str) -> None:
        while self._waiting:
            batch = self._waiting.popleft()
            for index in batch.missing():
                batch.answers[index] = Answer(broken=reason)
            batch.settle()

    def _tick(self) -> None:
        self._clock = None
        now = asyncio.get_running_loop().time()
        for worker in list(self._workers):
            spent = now - worker.head_since
            if not worker.ready and not worker.in_flight:
                if spent > START_LIMIT_S:
                    worker.kill(f"did not answer within {START_LIMIT_S:g} s")
            elif worker.in_flight:
                self._look_at(worker, spent)
        self._dispatch()

    def _look_at(self, worker: Worker, spent_s: float) -> None:
        batch = worker.in_flight[0]
        if batch is not None and batch.done.cancelled():
            worker.kill("the case was given up")
            return
        if batch is not None:
            missing = batch.missing()
            limit_s = batch.scripts[missing[0]].timeout_ms / 1_000
            if spent_s > limit_s + (FLUSH_GRACE_S if len(missing) > 1 else 0):
                worker.kill("timeout")
                return
        if spent_s > STEAL_AFTER_S and len(worker.in_flight) > 1:
            behind = [later for later in list(worker.in_flight)[1:] if later is not None]
            for place in range(1, len(worker.in_flight)):
                worker.in_flight[place] = None
            self._waiting.extendleft(reversed(behind))


def _take_over(batch: Batch, index: int, done: asyncio.Future[list[Answer]]) -> None:
    if not done.cancelled():
        batch.answers[index] = done.result()[0]
        batch.settle()


def _in_words(what: str, worker: Worker) -> str:
    lines = [line for line in worker.output.splitlines() if line.strip()]
    said = f": {lines[-1][:300]}" if lines else ""
    code = worker.exit_code
    how = worker.fault or (f"exit code {code}" if code is not None else "")
    return f"{what} ({how}){said}" if how else f"{what}{said}"
