"""`from interlock import preview`: show people what a call of a tool would do, before they answer."""

from interlock.agents.previews import diff, file, table, text, with_preview
from interlock.domain.preview import FilePreview, NoPreview, Table, Text

__all__ = ["FilePreview", "NoPreview", "Table", "Text", "diff", "file", "table", "text", "with_preview"]
