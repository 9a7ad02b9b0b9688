"""Every kind of channel, by name."""

from collections.abc import Sequence

from interlock.channels.feishu import FEISHU, FeishuKind
from interlock.channels.slack import SLACK, SlackKind
from interlock.channels.web_push import WEB_PUSH, WebPushKind
from interlock.domain.subscription import PushHosts
from interlock.ports.calls import Caller
from interlock.ports.channels import ChannelKind
from interlock.ports.clock import Clock
from interlock.ports.webhooks import Poster


def channel_kinds(hosts: Sequence[str], public_host: str, caller: Caller) -> dict[str, ChannelKind]:
    """Mail is the one that needs an extra; without it the others can be used."""
    kinds: dict[str, ChannelKind] = {SLACK: SlackKind(hosts, caller), FEISHU: FeishuKind(hosts, caller)}
    try:
        from interlock.channels.mail import MAIL, MailKind
    except ImportError:
        return kinds
    return {MAIL: MailKind(hosts, public_host), **kinds}


def apprise_kinds(allowed: Sequence[str]) -> dict[str, ChannelKind]:
    """None without the extra."""
    try:
        from interlock.channels.apprise import APPRISE, AppriseKind
    except ImportError:
        return {}
    return {APPRISE: AppriseKind(allowed)}


def push_kinds(hosts: Sequence[str], poster: Poster, public_url: str, clock: Clock) -> dict[str, ChannelKind]:
    """Web Push posts to other hosts than the rest speaks to."""
    return {WEB_PUSH: WebPushKind(PushHosts(tuple(hosts)), poster, public_url, clock)}
