"""Environment variables: values for named fields, some of them secret."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from interlock.domain.errors import FieldError
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds.fields import Faults, Fields
from interlock.domain.kinds.kind import AnswerValue, RequestBody, RequestKind, wrong
from interlock.domain.redaction import HIDDEN

LONGEST_VALUE = 32_768
"""Of a variable. Every text of its run is held against it, run by run; an environment takes little more either."""


_FIELDS = ("name", "label", "required", "sensitive", "description")


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    label: str = ""
    required: bool = True
    sensitive: bool = True
    description: str = ""

    @classmethod
    def read(cls, faults: Faults, where: str, given: JsonValue) -> "Variable":
        if isinstance(given, str):
            given = {"name": given}
        if not isinstance(given, Mapping):
            faults.add(where, "not_a_field", f"{where} must be a string or an object with a name")
            return cls(where)
        data = cast("Mapping[str, JsonValue]", given)
        name = faults.text(f"{where}.name", data.get("name"))
        return cls(
            name,
            faults.text(f"{where}.label", data.get("label", name), required=False),
            faults.flag(f"{where}.required", data.get("required"), default=True),
            faults.flag(f"{where}.sensitive", data.get("sensitive"), default=True),
            faults.text(f"{where}.description", data.get("description", ""), required=False),
        )

    def to_json(self) -> JsonObject:
        return {name: getattr(self, name) for name in _FIELDS}


@dataclass(frozen=True, slots=True)
class EnvVarAnswer(AnswerValue):
    kind: ClassVar[RequestKind] = RequestKind.ENV_VAR

    values: Mapping[str, str]
    save: bool = False
    handles: Mapping[str, str] | None = None
    """By name, what stands for a secret value that is sealed apart; None before that, and for readers."""

    def to_json(self) -> JsonObject:
        handles = {} if self.handles is None else {"handles": dict(self.handles)}
        return {"values": dict(self.values), **handles, "save": self.save}

    def readable(self) -> "EnvVarAnswer":
        return EnvVarAnswer({**self.values, **dict.fromkeys(self.handles or (), HIDDEN)}, self.save)

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(data["values"], data["save"], data.get("handles"))


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvVarBody(RequestBody):
    kind: ClassVar[RequestKind] = RequestKind.ENV_VAR
    id_prefix: ClassVar[str] = "envv"

    fields: tuple[Variable, ...]
    allow_save: bool

    @classmethod
    def ask(cls, fields: Sequence[str | Mapping[str, JsonValue]], *, allow_save: bool = True) -> Self:
        faults = Faults()
        variables = tuple(Variable.read(faults, f"fields[{index}]", one) for index, one in enumerate(fields))
        names = [variable.name for variable in variables]
        if not variables:
            faults.add("fields", "empty", "fields must not be empty")
        if len(set(names)) != len(names):
            faults.add("fields", "repeated", "two fields have the same name")
        faults.raise_any("environment variables")
        return cls(fields=variables, allow_save=allow_save)

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls.ask(fields.items("fields"), allow_save=fields.flag("allow_save", default=True))

    @classmethod
    def own_from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        fields = [Variable(*(one[name] for name in _FIELDS)) for one in data["fields"]]
        return cls(fields=tuple(fields), allow_save=data.get("allow_save") is not False)

    def own_json(self) -> JsonObject:
        return {"fields": [variable.to_json() for variable in self.fields], "allow_save": self.allow_save}

    @property
    def sensitive(self) -> frozenset[str]:
        """The names of the fields that are asked for in confidence."""
        return frozenset(variable.name for variable in self.fields if variable.sensitive)

    @property
    def headline(self) -> str:
        return ", ".join(variable.name for variable in self.fields)

    def default(self) -> None: ...

    def check(self, given: Mapping[str, JsonValue]) -> EnvVarAnswer:
        values = given.get("values")
        if not isinstance(values, Mapping):
            raise wrong(FieldError("values", "not_an_object", "values must be an object of names and texts"))
        texts = cast("Mapping[str, JsonValue]", values)
        names = {variable.name for variable in self.fields}
        errors = [
            FieldError(f"values.{name}", "not_asked", f"{name} was not asked for") for name in texts.keys() - names
        ]
        checked: dict[str, str] = {}
        for variable in self.fields:
            name, text = variable.name, texts.get(variable.name, "")
            if not isinstance(text, str):
                errors.append(FieldError(f"values.{name}", "not_text", f"{name} must be a string"))
            elif len(text) > LONGEST_VALUE:
                errors.append(FieldError(f"values.{name}", "too_long", f"{name} is over {LONGEST_VALUE} characters"))
            elif text:
                checked[name] = text
            elif variable.required:
                errors.append(FieldError(f"values.{name}", "missing", f"{name} is required"))
        if errors:
            raise wrong(*sorted(errors, key=lambda error: error.field))
        save = given.get("save", False)
        if not isinstance(save, bool):
            raise wrong(FieldError("save", "not_a_boolean", "save must be true or false"))
        return EnvVarAnswer(checked, save and self.allow_save)
