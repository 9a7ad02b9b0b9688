"""Every kind of channel, by name."""

from collections.abc import Sequence

from interlock.channels.feishu import FEISHU, FeishuKind
from interlock.channels.slack import SLACK, SlackKind
from interlock.ports.calls import Caller
from interlock.ports.channels import ChannelKind


def channel_kinds(hosts: Sequence[str], public_host: str, caller: Caller) -> dict[str, ChannelKind]:
    """Mail is the one that needs an extra; without it the others can be used."""
    kinds: dict[str, ChannelKind] = {SLACK: SlackKind(hosts, caller), FEISHU: FeishuKind(hosts, caller)}
    try:
        from interlock.channels.mail import MAIL, MailKind
    except ImportError:
        return kinds
    return {MAIL: MailKind(hosts, public_host), **kinds}
