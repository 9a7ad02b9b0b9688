"""The saver's interface for code that cannot wait: a hosted graph's sync node that invokes a subgraph.

Each call runs its async twin on the loop that owns the database, and blocks the calling thread until that is done.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    BaseCheckpointSaver,
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    CheckpointTuple,
    DeltaChannelHistory,
)
from langgraph.checkpoint.serde.base import SerializerProtocol

T = TypeVar("T")


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


class BridgedSaver(BaseCheckpointSaver[str]):
    def __init__(self, *, serde: SerializerProtocol | None, loop: asyncio.AbstractEventLoop | None) -> None:
        super().__init__(serde=serde)
        self._loop = loop or _running_loop()

    def _wait(self, call: Callable[[], Coroutine[Any, Any, T]]) -> T:
        if self._loop is None or not self._loop.is_running():
            raise RuntimeError("the checkpoint saver has no running event loop to work on: pass it one as `loop`")
        if _running_loop() is self._loop:
            raise RuntimeError(
                "a sync call to the checkpoint saver on its own event loop would wait for itself: "
                "use the async methods (ainvoke, aget_state), or call from another thread"
            )
        return asyncio.run_coroutine_threadsafe(call(), self._loop).result()

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        return self._wait(lambda: self.aget_tuple(config))

    def spaces(self, thread_id: str, space: str) -> Mapping[str, Mapping[str, Any]]:
        return self._wait(lambda: self.aspaces(thread_id, space))

    async def aspaces(self, thread_id: str, space: str) -> Mapping[str, Mapping[str, Any]]:
        raise NotImplementedError

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        return self._wait(lambda: self.aput(config, checkpoint, metadata, new_versions))

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        self._wait(lambda: self.aput_writes(config, writes, task_id, task_path))

    def delete_thread(self, thread_id: str) -> None:
        self._wait(lambda: self.adelete_thread(thread_id))

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        self._wait(lambda: self.adelete_for_runs(run_ids))

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        self._wait(lambda: self.acopy_thread(source_thread_id, target_thread_id))

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        self._wait(lambda: self.aprune(thread_ids, strategy=strategy))

    def get_delta_channel_history(
        self, *, config: RunnableConfig, channels: Sequence[str]
    ) -> Mapping[str, DeltaChannelHistory]:
        return self._wait(lambda: self.aget_delta_channel_history(config=config, channels=channels))

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        async def gather() -> Sequence[CheckpointTuple]:
            return [found async for found in self.alist(config, filter=filter, before=before, limit=limit)]

        return iter(self._wait(gather))
