"""One namespace of a remote memory: what its file says, done."""

import time
from collections import Counter
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any

from memruler.errors import SystemUnderTestError
from memruler.model.system import Hit, MemoryItem, Ranking, SessionInput, TurnInput
from memruler.systems.remote.calls import Caller
from memruler.systems.remote.hook import hook_call, role_of, send_all, session_events
from memruler.systems.remote.result import dig, hits_of
from memruler.systems.remote.spec import EraseSpec, RemoteSpec, SearchSpec, WriteSpec
from memruler.systems.remote.template import Values
from memruler.systems.remote.words import distinct_words

__all__ = ["Connection", "RemoteMemory", "RemoteMemoryWithLineage", "remote_memory"]

_POLL = 0.1
_PROBE_CHARS = 200
_PROBE_DEPTH = 10


class Connection:
    """The callers of a memory, made when they are first needed.

    Args:
        http, mcp: What makes them.
    """

    def __init__(self, http: Callable[[], Caller], mcp: Callable[[], Caller]) -> None:
        self._makers = {"http": http, "mcp": mcp}
        self._made: dict[str, Caller] = {}

    def __call__(self, part: WriteSpec | SearchSpec | EraseSpec, values: Values) -> Any:
        """The reply to the one call that a part of the file makes."""
        way = "http" if part.http is not None else "mcp"
        return self.caller(way)(getattr(part, way), values)

    def caller(self, way: str) -> Caller:
        """The caller over HTTP or MCP."""
        if way not in self._made:
            self._made[way] = self._makers[way]()
        return self._made[way]

    def close(self) -> None:
        """Let go of every connection."""
        while self._made:
            self._made.popitem()[1].close()


class RemoteMemory:
    """See `Memory`, `Erases` and `CountsTruncated`.

    Args:
        spec: What the file says.
        ask: Makes its calls.
        values: For placeholders: the namespace and what the system knows.
        namespace: Its name for the server.
        end: Called by `close`: ends what belongs to this namespace alone.
        forget: Called by `erase` after the file's own call.
    """

    def __init__(
        self,
        spec: RemoteSpec,
        ask: Connection,
        values: Values,
        *,
        namespace: str,
        end: Callable[[], None],
        forget: Callable[[], None],
    ) -> None:
        self._spec = spec
        self._ask = ask
        self._values = values.with_(namespace=namespace)
        self._namespace = namespace
        self._end = end
        self._forget = forget
        self._first: str | None = None
        self._last: TurnInput | None = None
        self._cut: dict[str, str] = {}
        self._items: list[MemoryItem] = []
        self._gone = False

    def ingest(self, session: SessionInput) -> None:
        """Write a session, unit by unit, as the file says."""
        if self._first is None:
            self._first = session.turns[0].speaker
        if self._spec.write.hook is not None:
            self._hook(session)
        elif self._spec.write.unit == "session":
            self._write(session, _whole(session))
        else:
            for turn in session.turns:
                self._write(session, turn)
        self._last = session.turns[-1]

    def settle(self) -> None:
        """Wait as the file says until what was written last can be found."""
        how = self._spec.settle
        time.sleep(how.seconds)
        if not how.poll or self._last is None:
            return
        end = time.monotonic() + how.timeout
        while not self._found(self._last):
            if time.monotonic() >= end:
                raise SystemUnderTestError(
                    f"what was written last cannot be found after {how.timeout:g} s",
                    where=self._last.key,
                    hint="raise settle.timeout, or see whether the server stores at all",
                    kind="timeout",
                )
            time.sleep(_POLL)

    def search(self, text: str, k: int, at: datetime) -> Ranking:
        """Ask the server; see `Memory`. One that went with its namespace holds nothing."""
        if self._gone:
            return Ranking(())
        search = self._spec.search
        if not search.words:
            return Ranking(self._asked(text, k, at))
        found: dict[str, Hit] = {}
        votes: Counter[str] = Counter()
        for word in distinct_words(text):
            hits = self._asked(word, k, at)
            votes.update({hit.item for hit in hits})
            for hit in hits:
                found.setdefault(hit.item, hit)
        # The order of first sight decides among equals; dicts keep it.
        best = sorted(found, key=lambda item: -votes[item])[:k]
        return Ranking(tuple(found[item] for item in best))

    def truncated(self) -> int:
        """Texts that were cut by the cap of the hook policy."""
        return len(self._cut)

    def cut_keys(self) -> frozenset[str]:
        """Keys of the units of which something never reached the server."""
        return frozenset(self._cut)

    def erase(self) -> None:
        """Remove the namespace; see `Erases`."""
        erase = self._spec.erase
        if erase.http is not None or erase.mcp is not None:
            self._ask(erase, self._values)
        self._forget()
        server = self._spec.server
        self._gone = server is not None and server.per == "namespace"

    def close(self) -> None:
        """Let go of the connections, and end a server that only this namespace has."""
        self._ask.close()
        self._end()

    def _asked(self, text: str, k: int, at: datetime) -> tuple[Hit, ...]:
        values = self._values.with_(
            query=text, k=k, at=at.isoformat(), date=f"{at:%Y-%m-%d}", epoch=at.timestamp()
        )
        search = self._spec.search
        hits = hits_of(search.result, self._ask(search, values))
        return hits[:k] if search.cut else hits

    def _found(self, turn: TurnInput) -> bool:
        probe = turn.text.strip()[:_PROBE_CHARS]
        if not probe:
            return True
        with suppress(SystemUnderTestError):
            hits = self.search(probe, _PROBE_DEPTH, turn.time or datetime(2000, 1, 1))  # noqa: DTZ001
            return any(turn.key in (hit.sources or (hit.item,)) for hit in hits.hits) or any(
                probe in (hit.text or "") for hit in hits.hits
            )
        return False

    def _write(self, session: SessionInput, turn: TurnInput) -> None:
        when = turn.time
        reply = self._ask(
            self._spec.write,
            self._values.with_(
                session=session.key,
                key=turn.key,
                text=turn.text,
                speaker=turn.speaker,
                role=role_of(turn.speaker, self._first or ""),
                time=None if when is None else when.isoformat(),
                date=None if when is None else f"{when:%Y-%m-%d}",
                epoch=None if when is None else when.timestamp(),
            ),
        )
        write = self._spec.write
        native = None if write.id is None else dig(reply, write.id)
        said = None if write.refused is None else dig(reply, write.refused)
        reason = said if isinstance(said, str) and said else ("refused" if said is True else None)
        self._note(turn, None if native is None else str(native), reason, turn.text)

    def _hook(self, session: SessionInput) -> None:
        policy = self._spec.write.hook
        assert policy is not None  # noqa: S101 - asked before
        turns = {turn.key: turn for turn in session.turns}

        def cut(turn: TurnInput) -> None:
            self._cut[turn.key] = turn.text

        events = list(session_events(session, self._first or "", policy, cut))
        caller = self._ask.caller("http")
        taken = send_all(
            events,
            policy,
            lambda batch: caller(hook_call(policy, self._namespace, batch), self._values),
        )
        for event in events:
            if event.id in turns:
                said = taken[event.id]
                self._note(turns[event.id], said.item, said.refused, event.text or "")

    def _note(self, turn: TurnInput, native: str | None, reason: str | None, text: str) -> None:
        self._items.append(
            MemoryItem(
                # What was refused has no id; its key cannot be taken for another item's.
                id=native if native is not None and reason is None else f"key:{turn.key}",
                kind="turn",
                sources=(turn.key,),
                text=text,
                status="stored" if reason is None else "refused",
                reason=reason,
            )
        )


class RemoteMemoryWithLineage(RemoteMemory):
    """A remote memory whose writes are answered with its own ids; see `ExportsLineage`."""

    def lineage(self) -> Iterable[MemoryItem]:
        """What was written, in order, with what the server said of it."""
        seen: set[str] = set()
        for item in self._items:
            # A server that gives one id to two equal texts has stored one item: the first.
            if item.id not in seen:
                seen.add(item.id)
                yield item


def remote_memory(spec: RemoteSpec) -> type[RemoteMemory]:
    """The class that fits what the file says: lineage needs the server's ids."""
    known = spec.write.id is not None or spec.write.hook is not None
    return RemoteMemoryWithLineage if known else RemoteMemory


def _whole(session: SessionInput) -> TurnInput:
    return TurnInput(
        key=session.key,
        text="\n".join(turn.text for turn in session.turns),
        speaker=session.turns[0].speaker,
        time=session.time,
    )
