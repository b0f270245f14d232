"""A small study in Chinese and one in Arabic, for the pictures that `collect_screenshots.py` takes."""

from __future__ import annotations

STUDY = """
language = "{language}"
title = "{title}"
mode = "rate"
[texts]
instructions = "{instructions}"
consent = "{consent}"
[[dimensions]]
name = "joy"
question = "{joy}"
anchors = ["{low}", "{high}"]
[[dimensions]]
name = "clear"
question = "{clear}"
kind = "likert"
choices = ["{low}", "", "", "", "{high}"]
[[dimensions]]
name = "topic"
question = "{topic}"
kind = "choice"
choices = ["{home}", "{work}"]
[[dimensions]]
name = "remark"
question = "{remark}"
kind = "text"
[items]
source = "table"
"""
# language -> sentences that are not included, and what the study says
LANGUAGES: dict[str, tuple[str, dict[str, str]]] = {
    "zh": (
        "",
        {
            "title": "这些信说了什么？",
            "instructions": "请阅读每一封信，然后回答问题。",
            "consent": "参与是自愿的。",
            "joy": "信中有多少喜悦？",
            "low": "完全没有",
            "high": "非常多",
            "clear": "这封信容易理解。",
            "topic": "它是关于什么的？",
            "home": "家庭",
            "work": "工作",
            "remark": "有什么奇怪的地方吗？",
            "text": "我等了你一整个下午，后来下雨了。",
        },
    ),
    "ar": (
        "",
        {
            "title": "ماذا تقول هذه الرسائل؟",
            "instructions": "اقرأ كل رسالة ثم أجب عن الأسئلة.",
            "consent": "المشاركة طوعية.",
            "joy": "كم من الفرح فيها؟",
            "low": "لا شيء",
            "high": "كثير",
            "clear": "الرسالة سهلة الفهم.",
            "topic": "عن ماذا تتحدث؟",
            "home": "البيت",
            "work": "العمل",
            "remark": "هل هناك شيء غريب؟",
            "text": "انتظرتك طوال بعد الظهر ثم هطل المطر.",
        },
    ),
}
