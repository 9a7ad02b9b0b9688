"""A form for each kind of request that is answered with more than a yes or a no."""

from collections.abc import Callable, Mapping

from interlock_client.cli.terminal.forms.decision import DecisionForm
from interlock_client.cli.terminal.forms.env_var import EnvVarForm
from interlock_client.cli.terminal.forms.form import Form, Incomplete
from interlock_client.cli.terminal.forms.free import FreeForm
from interlock_client.cli.terminal.forms.questions import ClarificationForm, QuestionsForm
from interlock_client.cli.terminal.open_request import Kind, OpenRequest

_FORMS: Mapping[Kind, Callable[[OpenRequest], Form]] = {
    "clarification": ClarificationForm,
    "decision": DecisionForm,
    "env_var": EnvVarForm,
    "questions": QuestionsForm,
}


def form_of(waiting: OpenRequest) -> Form | None:
    """None for an approval, which has keys instead."""
    form = FreeForm if waiting.is_free else _FORMS.get(waiting.kind)
    return form(waiting) if form else None


__all__ = ["Form", "Incomplete", "form_of"]
