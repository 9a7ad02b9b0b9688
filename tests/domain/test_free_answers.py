"""Which texts read as a refusal: for a graph each of them would be true."""

import pytest

from interlock.domain.kinds import ClarificationBody
from interlock.domain.kinds.free_answers import reads_as_refusal


@pytest.mark.parametrize(
    "text",
    [
        *("no", "No.", "NO!", "no - too risky", "no because it is late", "no no no", "do not proceed", "don't approve"),
        *("please don't", "Hmm, no", "reject it", "cancel it", "I refuse", "nein danke", "null", "None", "👎"),
        *("I do not approve", "I don't approve this", "absolutely not", "please no", "hell no", "ok no", "it's a no"),
        *("I'd rather not", "rejected by me", "off", "n\u043e", "我不同意", "我拒绝", "绝对不行", "没门"),
        *(" No. ", "FALSE", "n\u200bo", "reject", "cancel!", "no, too much", "否", "不，太多", "取消。"),
        *("不", "不要执行", "别删", "先不要", "请不要", "拒绝", "取消吧", "ｎｏ"),
    ],
)
def test_a_refusal_is_read_as_one(text: str) -> None:
    assert reads_as_refusal(text)


@pytest.mark.parametrize(
    "text",
    [
        "yes",
        "go ahead",
        "eu-west-1",
        "0",
        "nothing else",
        "notify ann",
        "node 20",
        "不错，继续",
        "别的地方",
        "同意",
        "use port 8081 and not the other one that is taken",
        "knot",
        "cannon",
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert not reads_as_refusal(text)


def test_options_that_a_graph_gives_as_a_tuple_are_offered() -> None:
    assert ClarificationBody.of_free({"question": "Delete?", "options": ("yes", "no")}).options == ("yes", "no")
