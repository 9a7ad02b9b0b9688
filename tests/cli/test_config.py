"""The settings: flags, then the environment, then defaults; what cannot be is refused by its name."""

from pathlib import Path

import pytest

from interlock.config import Config, load
from interlock.domain.errors import InvalidInput
from interlock_client.cli.config import load_client


def test_flags_come_before_the_environment_and_that_before_the_defaults() -> None:
    environment = {"INTERLOCK_PORT": "9001", "INTERLOCK_LOCALE": "en", "UNRELATED": "x"}
    config = load({"port": 9002, "host": None, "agents": ()}, environment)
    assert (config.port, config.locale, config.host) == (9002, "en", "127.0.0.1")
    assert load({}, {}) == Config()


def test_an_empty_variable_is_as_none() -> None:
    assert load({}, {"INTERLOCK_PORT": " ", "INTERLOCK_DATABASE": ""}) == Config()


def test_lists_are_parted_by_commas_or_blanks() -> None:
    config = load({}, {"INTERLOCK_AGENTS": "a=x:y, b=z:w", "INTERLOCK_ALLOWED_HOSTS": "one.example two.example"})
    assert config.agents == ("a=x:y", "b=z:w")
    assert config.allowed_hosts == ("one.example", "two.example")


def test_hosts_of_webhooks_are_names_or_addresses() -> None:
    config = load({}, {"INTERLOCK_WEBHOOK_HOSTS": "Hooks.example.com *.example.org 10.0.0.1 ::1 localhost"})
    assert config.webhook_hosts == ("hooks.example.com", "*.example.org", "10.0.0.1", "::1", "localhost")
    assert not config.webhook_private


def test_the_database_is_in_the_data_folder_unless_it_is_named() -> None:
    assert load({"data": Path("kept")}, {}).database_url == "sqlite:///kept/interlock.db"
    assert load({}, {"INTERLOCK_DATABASE": "postgresql://h/d"}).database_url == "postgresql://h/d"


@pytest.mark.parametrize(("text", "is_open"), [("on", True), ("open", True), ("0", False), ("Closed", False)])
def test_registration_is_open_or_closed(text: str, is_open: bool) -> None:
    assert load({}, {"INTERLOCK_REGISTRATION": text}).registration is is_open


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "eighty"),
        ("PORT", "99999"),
        ("PORT", "-1"),
        ("AUTH", "maybe"),
        ("LOCALE", "fr"),
        ("REGISTRATION", "sometimes"),
        ("APPROVAL_TIMEOUT", "-1"),
        ("APPROVAL_TIMEOUT", "soon"),
        ("FOLLOW_GRACE", "nan"),
        ("LEASE_SECONDS", "0"),
        ("RATE_LIMIT", "0"),
        ("RATE_LIMIT", "nan"),
        ("RATE_BURST", "1.5"),
        ("RATE_BURST", "0"),
        ("STREAMS_PER_CALLER", "-1"),
        ("SLOW_SECONDS", "never"),
        ("LOG_LEVEL", "loud"),
        ("DATABASE", "mysql://x/y"),
        ("DATABASE", "nonsense"),
        ("WEBHOOK_HOSTS", "https://hooks.example.com"),
        ("WEBHOOK_HOSTS", "hooks.example.com:8080"),
        ("WEBHOOK_HOSTS", "*"),
        ("WEBHOOK_PRIVATE", "maybe"),
    ],
)
def test_a_variable_that_cannot_be_is_named(name: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=f"INTERLOCK_{name}"):
        load({}, {f"INTERLOCK_{name}": value})


@pytest.mark.parametrize(("name", "value"), [("port", 99999), ("auth", "maybe"), ("locale", "fr")])
def test_a_flag_that_cannot_be_is_named(name: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=name):
        load({name: value}, {})


SIGN_ON = {
    "OIDC_ISSUER": "https://id.example/realm",
    "OIDC_CLIENT_ID": "interlock",
    "OIDC_CLIENT_SECRET": "kept-to-itself",
    "PUBLIC_URL": "https://Interlock.example/",
}


def sign_on_with(**changed: str | None) -> Config:
    given = {**SIGN_ON, **changed}
    return load({}, {f"INTERLOCK_{name}": value for name, value in given.items() if value is not None})


def test_single_sign_on_is_set_up_by_its_issuer_and_keeps_its_secret_to_itself() -> None:
    config = sign_on_with(OIDC_ROLES='admin=/ops "reviewer:refunds=Refund team"', PASSWORDS="off")
    assert config.oidc_issuer == "https://id.example/realm"
    assert config.public_url == "https://interlock.example"
    assert [(rule.role, rule.agent, rule.group) for rule in config.oidc_roles] == [
        ("admin", None, "/ops"),
        ("reviewer", "refunds", "Refund team"),
    ]
    assert not config.passwords
    assert "kept-to-itself" not in repr(config)
    assert sign_on_with(OIDC_ISSUER="http://127.0.0.1:9/realm", PUBLIC_URL="http://localhost:8000").public_url


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"OIDC_ISSUER": "http://id.example"}, "INTERLOCK_OIDC_ISSUER=.*https://"),
        ({"OIDC_ISSUER": "https://user@id.example"}, "INTERLOCK_OIDC_ISSUER="),
        ({"OIDC_ISSUER": "https://id.example?x=1"}, "INTERLOCK_OIDC_ISSUER="),
        ({"OIDC_ISSUER": "https://id.example:x"}, "INTERLOCK_OIDC_ISSUER="),
        ({"OIDC_ISSUER": None}, "needs INTERLOCK_OIDC_ISSUER"),
        ({"OIDC_CLIENT_ID": None}, "needs INTERLOCK_OIDC_CLIENT_ID"),
        ({"PUBLIC_URL": None}, "needs INTERLOCK_PUBLIC_URL"),
        ({"PUBLIC_URL": "https://interlock.example/path"}, "INTERLOCK_PUBLIC_URL=.*without a path"),
        ({"PUBLIC_URL": "interlock.example"}, "INTERLOCK_PUBLIC_URL="),
        ({"OIDC_ROLES": "owner=x"}, "admin=GROUP or reviewer:AGENT=GROUP"),
        ({"OIDC_ROLES": 'admin="x'}, "INTERLOCK_OIDC_ROLES="),
        ({"OIDC_HOSTS": "*.example"}, "name each one"),
        ({"OIDC_NAME": "x" * 41}, "40 characters"),
        ({"PASSWORDS": "perhaps"}, "on or off"),
        ({"AUTH": "none"}, "--auth accounts"),
    ],
)
def test_single_sign_on_that_cannot_be_is_refused_by_name(changed: dict[str, str | None], said: str) -> None:
    with pytest.raises(InvalidInput, match=said) as refused:
        sign_on_with(**changed)
    assert "kept-to-itself" not in refused.value.message


def test_passwords_are_not_turned_off_without_another_way_to_sign_in() -> None:
    with pytest.raises(InvalidInput, match="INTERLOCK_OIDC_ISSUER"):
        load({}, {"INTERLOCK_PASSWORDS": "off"})


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "example.org", "localhost.example.org"])
def test_no_accounts_is_for_loopback_only(host: str) -> None:
    with pytest.raises(InvalidInput, match="loopback"):
        load({"auth": "none", "host": host}, {})
    assert load({"auth": "accounts", "host": host}, {}).host == host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_no_accounts_is_fine_on_loopback(host: str) -> None:
    assert load({"auth": "none", "host": host}, {}).auth == "none"


def test_a_client_takes_flags_before_the_environment_and_keeps_its_key_to_itself() -> None:
    environment = {"INTERLOCK_URL": "http://there:1", "INTERLOCK_KEY": "ms_sk_secret", "EDITOR": "ed"}
    config = load_client({"url": None, "user": "li"}, environment)
    assert (config.url, config.key, config.user, config.editor) == ("http://there:1", "ms_sk_secret", "li", "ed")
    assert "ms_sk_secret" not in repr(config)
    assert load_client({"url": "http://here:2"}, environment | {"VISUAL": "vi"}).url == "http://here:2"
    assert load_client({}, environment | {"VISUAL": "vi"}).editor == "vi"


def test_a_client_without_settings_has_its_defaults() -> None:
    config = load_client({}, {"INTERLOCK_URL": " ", "INTERLOCK_KEY": ""})
    assert (config.url, config.key, config.user, config.editor) == ("http://127.0.0.1:8000", None, None, None)


def test_credentials_are_in_the_configuration_folder() -> None:
    assert load_client({}, {"XDG_CONFIG_HOME": "/etc/x"}).credentials == Path("/etc/x/interlock/credentials.json")
    for relative in ("", "not/absolute"):
        config = load_client({}, {"XDG_CONFIG_HOME": relative})
        assert config.credentials == Path.home() / ".config" / "interlock" / "credentials.json"


@pytest.mark.parametrize(
    ("mistyped", "meant"),
    [
        ("INTERLOCK_REGISTRATON", "INTERLOCK_REGISTRATION"),
        ("INTERLOCK_DATABSE", "INTERLOCK_DATABASE"),
        ("INTERLOCK_TRUSTED_PROXY", "INTERLOCK_TRUSTED_PROXIES"),
        ("INTERLOCK_WORKER", "INTERLOCK_WORKERS"),
    ],
)
def test_a_mistyped_variable_is_refused_with_the_one_that_is_meant(mistyped: str, meant: str) -> None:
    with pytest.raises(InvalidInput, match=f"{mistyped} is no setting: is it {meant} "):
        load({}, {mistyped: "off"})


def test_variables_of_others_are_left_alone() -> None:
    others = ("INTERLOCK_SERVICE_HOST", "INTERLOCK_PORT_8000_TCP", "INTERLOCK_URL", "INTERLOCK_MY_AGENT", "INTERLOCKED")
    assert load({}, dict.fromkeys(others, "x")) == Config()


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("TRUSTED_PROXIES", "proxy.internal", "no address of a proxy"),
        ("TRUSTED_PROXIES", "10.0.0.0/99", "no address of a proxy"),
        ("ALLOWED_ORIGINS", "app.example.org", "no origin"),
        ("ALLOWED_ORIGINS", "https://app.example.org/page", "no origin"),
        ("OPEN_IN_ALL", "many", "it must be a whole number"),
        ("RATE_LIMIT", "fast", "it must be a number"),
    ],
)
def test_a_value_that_would_never_hold_is_refused(name: str, text: str, reason: str) -> None:
    with pytest.raises(InvalidInput, match=f"INTERLOCK_{name}.*{reason}"):
        load({}, {f"INTERLOCK_{name}": text})


def test_proxies_are_addresses_networks_or_anybody() -> None:
    assert load({}, {"INTERLOCK_TRUSTED_PROXIES": "10.0.0.7, fd00::/8 *"}).trusted_proxies == (
        "10.0.0.7",
        "fd00::/8",
        "*",
    )
