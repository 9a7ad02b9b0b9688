"""What the scripted model says, in both languages. Placeholders are filled in by `replies`."""

from collections.abc import Mapping

from interlock.agents.demo.asks import Language
from interlock.agents.demo.grammar import Missing
from interlock.agents.demo.outcomes import Ending
from interlock.agents.demo.phrases import Topic

Texts = Mapping[Language, str]

_ABILITIES: Texts = {
    "zh": (
        "你可以对我说：\n"
        "- 「创建一个 hello.py 文件」「查看 hello.py」「删除 hello.py」\n"
        "- 「运行 ls -la」\n"
        "- 「创建 a.txt 和 b.txt，然后运行 ls」\n"
        "- 「问我三个问题」「澄清一下」「帮我决定」「我需要密钥」\n"
        "写入、编辑、删除文件和执行命令之前，我都会先问你。"
    ),
    "en": (
        "You could say:\n"
        '- "create hello.py", "show hello.py", "delete hello.py"\n'
        '- "run ls -la"\n'
        '- "create a.txt and b.txt, then run ls"\n'
        '- "ask me three questions", "clarify", "decide", "I need a key"\n'
        "I ask you before I write, edit or delete a file, and before I run a command."
    ),
}

_REAL_MODEL: Texts = {
    "zh": "想换成真正的模型，请设置 INTERLOCK_MODEL（例如 INTERLOCK_MODEL=openai:gpt-5）和它的密钥，再重启服务。",
    "en": "For a real model, set INTERLOCK_MODEL (say, INTERLOCK_MODEL=openai:gpt-5) and its key, then restart.",
}

TALK: Mapping[Topic, Texts] = {
    "greeting": {
        "zh": f"你好！我是 Interlock 的演示助手，很高兴见到你。\n\n{_ABILITIES['zh']}",
        "en": f"Hello! I'm Interlock's demo agent, nice to meet you.\n\n{_ABILITIES['en']}",
    },
    "well": {
        "zh": "我很好，谢谢关心！今天想让我做点什么？比如「创建一个 hello.py 文件」。",
        "en": 'Very well, thank you! What shall we do today? Try "create hello.py".',
    },
    "who": {
        "zh": (
            "我是 Interlock 的演示助手。说实话，我背后没有大模型，只是一段认得几句话的脚本；"
            f"但我的工具都是真的，操作的是工作区里真实的文件。{_REAL_MODEL['zh']}"
        ),
        "en": (
            "I'm Interlock's demo agent. To be honest, there is no large model behind me, only a script that knows a "
            f"few phrases; my tools are real, though, and so are the files they touch. {_REAL_MODEL['en']}"
        ),
    },
    "model": {
        "zh": f"现在跟你说话的是一个脚本模型：不需要密钥，也不联网。{_REAL_MODEL['zh']}",
        "en": f"You are talking to a scripted model: it needs no key and no network. {_REAL_MODEL['en']}",
    },
    "help": {"zh": f"当然可以。{_ABILITIES['zh']}", "en": f"Gladly. {_ABILITIES['en']}"},
    "thanks": {"zh": "不客气！还有什么需要，随时叫我。", "en": "You're welcome! I'm here if you need anything else."},
    "bye": {
        "zh": "再见！我们的对话都保存着，随时可以回来接着聊。",
        "en": "Goodbye! Our conversation is kept, come back any time.",
    },
    "long": {
        "zh": f"这段话太长了，我只是一个脚本演示模型，只读得懂短句。{_REAL_MODEL['zh']}",
        "en": f"That is too long for me: I'm a scripted demo model and only read short messages. {_REAL_MODEL['en']}",
    },
    "unknown": {
        "zh": f"这句话我没听懂：我只是一个脚本演示模型，认得的话不多。{_ABILITIES['zh']}\n\n{_REAL_MODEL['zh']}",
        "en": (
            "I didn't get that: I'm only a scripted demo model and know just a few phrases. "
            f"{_ABILITIES['en']}\n\n{_REAL_MODEL['en']}"
        ),
    },
}

INCOMPLETE: Mapping[Missing, Texts] = {
    "file": {
        "zh": "请告诉我是哪个文件，比如「创建 hello.py」或「删除 notes.txt」。",
        "en": 'Which file do you mean? For example "create hello.py" or "delete notes.txt".',
    },
    "command": {
        "zh": "请告诉我要运行什么命令，比如「运行 ls -la」。",
        "en": 'Which command shall I run? For example "run ls -la".',
    },
    "edit": {
        "zh": "请告诉我要改什么，比如「把 hello.py 里的 你好 改成 再见」。",
        "en": 'What shall I change? For example "replace hello with goodbye in hello.py".',
    },
}

LEAD_IN: Mapping[str, Texts] = {
    "write_file": {
        "zh": "好的，我将为您创建 {path}，写入前请您确认。",
        "en": "Sure, I'll write {path}. Please confirm it first.",
    },
    "edit_file": {
        "zh": "好的，我来修改 {path}，改动前请您确认。",
        "en": "Sure, I'll edit {path}. Please confirm it first.",
    },
    "delete_file": {
        "zh": "我来删除 {path}。删除后无法恢复，请您先确认。",
        "en": "I'll delete {path}. That can't be undone, so please confirm it first.",
    },
    "execute": {
        "zh": "好的，我来运行 `{command}`，执行前请您确认。",
        "en": "Sure, I'll run `{command}`. Please confirm it first.",
    },
    "read_file": {"zh": "好的，我来看看 {path}。", "en": "Let me look at {path}."},
    "list_files": {"zh": "好的，我来看看有哪些文件。", "en": "Let me see which files there are."},
    "ask_user": {"zh": "好的，我有几个问题想问您。", "en": "Sure, here is what I'd like to know."},
    "request_clarification": {
        "zh": "动手之前，有一点想先跟您确认。",
        "en": "Before I begin, there is one thing I'd like to make clear.",
    },
    "request_decision": {"zh": "这件事应该由您来决定。", "en": "This one is yours to decide."},
    "request_env_vars": {
        "zh": "我需要 {names}。请放心：值会加密保存，我只会知道它的名字。",
        "en": "I need {names}. The value is stored encrypted, and I only learn its name.",
    },
}
LEAD_IN_MANY: Texts = {
    "zh": "好的，我同时来做这 {count} 件事：{list}。需要确认的会逐个问您。",
    "en": "Sure, I'll do these {count} things at once: {list}. I'll ask about each that needs your word.",
}
LEAD_IN_NEXT: Texts = {"zh": "接下来：", "en": "Next: "}

SHORT: Mapping[str, Texts] = {
    "write_file": {"zh": "写入 {path}", "en": "write {path}"},
    "edit_file": {"zh": "修改 {path}", "en": "edit {path}"},
    "delete_file": {"zh": "删除 {path}", "en": "delete {path}"},
    "execute": {"zh": "运行 `{command}`", "en": "run `{command}`"},
    "read_file": {"zh": "查看 {path}", "en": "show {path}"},
    "list_files": {"zh": "列出文件", "en": "list the files"},
    "ask_user": {"zh": "问您几个问题", "en": "ask you a few questions"},
    "request_clarification": {"zh": "向您确认一点", "en": "clear one thing up with you"},
    "request_decision": {"zh": "请您做个决定", "en": "put a decision to you"},
    "request_env_vars": {"zh": "向您要 {names}", "en": "ask you for {names}"},
}

DONE: Mapping[str, Texts] = {
    "write_file": {"zh": "{path} 已经写好了。", "en": "{path} is written."},
    "edit_file": {"zh": "{path} 已经改好了。", "en": "{path} is edited."},
    "delete_file": {"zh": "{path} 已经删除。", "en": "{path} is deleted."},
    "execute": {"zh": "`{command}` 的结果：\n{output}", "en": "Here is the result of `{command}`:\n{output}"},
    "read_file": {"zh": "{path} 的内容如下：\n{output}", "en": "Here is {path}:\n{output}"},
    "list_files": {"zh": "这里有：\n{output}", "en": "Here is what I found:\n{output}"},
    "ask_user": {"zh": "谢谢！您的回答是：\n{answers}", "en": "Thank you! You chose:\n{answers}"},
    "request_clarification": {"zh": "明白了：{answer}。我会照此进行。", "en": "Got it: {answer}. I'll go by that."},
    "request_decision": {
        "zh": "好的，您的决定是：{decision}{reason}。",
        "en": "All right, your decision is: {decision}{reason}.",
    },
    "request_env_vars": {
        "zh": "收到了 {names}，谢谢！我只知道名字，看不到值。",
        "en": "I have {names} now, thank you! I know the name only, not the value.",
    },
}
ANY_DONE: Texts = {"zh": "完成了：\n{output}", "en": "Done:\n{output}"}
REASON: Texts = {"zh": "（理由：{reason}）", "en": " (because: {reason})"}
SPOKEN_FOR: Texts = {
    "zh": "关于「{short}」，结果由您直接给出：\n{output}",
    "en": 'As for "{short}", you gave me the result yourself:\n{output}',
}
"""A person may answer in place of the tool: saying "written" could then be a lie."""
_EXPIRED: Texts = {"zh": "时间到了。", "en": "the time ran out."}
_CANCELLED: Texts = {"zh": "已取消。", "en": "it was cancelled."}
REASONS: Mapping[str, Texts] = {
    "expired": _EXPIRED,
    "nobody answered before the deadline": _EXPIRED,
    "cancelled": _CANCELLED,
    "the request was cancelled": _CANCELLED,
}
"""Reasons that the server gives, as people would say them."""

ENDED: Mapping[Ending, Texts] = {
    "edited": {
        "zh": "按您修改后的参数做了（{short}）。\n{done}",
        "en": "Done the way you changed it ({short}).\n{done}",
    },
    "refused": {
        "zh": "好的，您没有同意，所以我没有{short}。{reason}",
        "en": "All right, you refused, so I did not {short}.{reason}",
    },
    "unanswered": {
        "zh": "没有等到您的答复，所以我没有{short}。需要的话再跟我说一声就好。{reason}",
        "en": "Nobody answered in time, so I did not {short}. Just tell me again when you want it.{reason}",
    },
    "skipped": {"zh": "这一步跳过了：{short}。{reason}", "en": "I skipped this: {short}.{reason}"},
    "failed": {"zh": "没能{short}，出错了：\n{output}", "en": "I could not {short}:\n{output}"},
}
ENDED_REASON: Texts = {"zh": "原因：{reason}", "en": " The reason: {reason}"}
ENDED_ASK: Mapping[Ending, Texts] = {
    "unanswered": {
        "zh": "没有收到您的回答，我先不往下做。需要的话再跟我说一声就好。{reason}",
        "en": "I got no answer, so I'll leave it there. Just tell me again when you want to go on.{reason}",
    },
    "refused": {
        "zh": "好的，您不想回答，那就先到这里。{reason}",
        "en": "All right, you'd rather not answer. I'll leave it there.{reason}",
    },
}
NOT_GONE_ON: Texts = {
    "zh": "后面的步骤我也先停下了：{list}。",
    "en": "I have not gone on with the rest either: {list}.",
}
EMPTY: Texts = {"zh": "（空）", "en": "(empty)"}
