"""The same code in the embedded engine and in Node.js, so that both can be compared."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from typing import Any

READ_ALL = "let t = ''; process.stdin.setEncoding('utf8').on('data', (d) => t += d).on('end', () => "


def in_node(describe: str, items: Sequence[Any]) -> list[Any]:
    """What a function in JavaScript, from JSON text to JSON text, says of the items in Node.js."""
    done = subprocess.run(
        ["node", "-e", f"{READ_ALL}process.stdout.write(({describe})(t)))"],
        input=json.dumps(items),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    found: list[Any] = json.loads(done.stdout)
    return found


def embedded(describe: str, items: Sequence[Any]) -> list[Any]:
    """What the same function says of the items in the embedded engine."""
    function, _ = _described(describe)
    found: list[Any] = json.loads(function(json.dumps(items)))
    return found


@cache
def _described(describe: str) -> Any:
    """The function in a realm, and the realm that it lives in."""
    import _quickjs

    from evenhand.scripts.quickjs_worker import Realm, Worker

    sources = Worker(_quickjs, None)._sources  # type: ignore[arg-type]
    realm = Realm(_quickjs.Context, sources, harden=False, extras=True)
    return realm.context.eval(describe), realm
