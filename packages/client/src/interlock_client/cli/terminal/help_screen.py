"""Which key does what."""

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

KEYS = """\
THE LIST
  j k, arrows      move          g G     first, last
  Enter, o         open          /       search, Esc ends it
  a r e            open, to act  f       choose whose
  q                quit

A REQUEST
  a                approve: asks for a second act
  r                refuse, with a reason
  e                edit the arguments, then confirm the changes
  m                reply in the tool's place
  Ctrl+N           do not answer: cancel it
  j k, Space, b    scroll        Esc, q  back to the list
  c F2, x F3       I have it; release    t F4  comment
  d F5             pass it on            u F6  take my yes back

A FORM
  Tab              next field
  Space, 1-9       choose
  Ctrl+S           send
  Esc              back; nothing is sent

Enter never approves anything. Where the risk is high a word is typed.
"""


class HelpScreen(ModalScreen[None]):
    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape,q,question_mark,enter", "leave", show=False)]
    DEFAULT_CSS = """
    HelpScreen { align: center middle; }
    HelpScreen VerticalScroll { width: 76; max-width: 100%; height: auto; max-height: 100%; }
    HelpScreen VerticalScroll { padding: 0 1; background: $panel; }
    """

    def compose(self) -> ComposeResult:
        with VerticalScroll():
            yield Static(Content(KEYS), markup=False)

    def action_leave(self) -> None:
        self.dismiss(None)
