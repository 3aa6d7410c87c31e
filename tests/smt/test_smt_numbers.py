"""Chinese numbers, dates and percentages in English, over many forms."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from meantime.smt.numbers import find, render_number, render_ordinal, value_of

DIGITS = "零一二三四五六七八九"


def in_chinese(number: int) -> str:
    """A whole number as it is written in full; made apart from the rules that read it."""
    if number < 0 or number >= 10**12:
        raise ValueError(number)
    if number == 0:
        return "零"
    text = ""
    for unit, name in ((10**8, "亿"), (10**4, "万"), (1, "")):
        section = number // unit % 10**4
        if not section:
            if text and not text.endswith("零"):
                text += "零"
            continue
        if text and section < 1000 and not text.endswith("零"):
            text += "零"
        text += _section(section) + name
    text = text.rstrip("零")
    return text[1:] if text.startswith("一十") else text


def _section(number: int) -> str:
    text = ""
    gap = False
    for unit, name in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
        digit = number // unit % 10
        if digit:
            text += ("零" if gap and text else "") + DIGITS[digit] + name
            gap = False
        else:
            gap = True
    return text


NUMBERS = sorted(
    {*range(1, 130), *(7 * n * n + n for n in range(1, 120)), *(3**n for n in range(5, 25))}
    | {10**n for n in range(1, 12)}
    | {10**n + 1 for n in range(1, 12)}
    | {305 * 10**n for n in range(9)}
)


def test_whole_numbers_are_read_as_they_are_written() -> None:
    wrong = [n for n in NUMBERS if value_of(in_chinese(n)) != n]
    assert not wrong
    assert len(NUMBERS) > 280


def test_whole_numbers_are_found_and_rendered() -> None:
    for number in NUMBERS:
        if number == 1:
            continue
        text = f"有{in_chinese(number)}个人"
        [found] = find(text)
        assert text[found.start : found.end] == in_chinese(number)
        assert found.english == render_number(Fraction(number))


YEARS = {1066: "一〇六六", 1949: "一九四九", 2000: "二〇〇〇", 2008: "二零零八", 2014: "二〇一四"}
MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]  # fmt: skip


def test_every_day_of_a_year() -> None:
    for month, name in enumerate(MONTHS, start=1):
        for day in range(1, 32):
            written = (f"{in_chinese(month)}月{in_chinese(day)}日", f"{month}月{day}号")
            for text in written:
                assert [(e.kind, e.english) for e in find(f"在{text}，")] == [
                    ("date", f"{name} {day}")
                ], text


@pytest.mark.parametrize("month", range(1, 13))
def test_dates_with_years(month: int) -> None:
    for year, chinese in YEARS.items():
        for text in (f"{chinese}年{in_chinese(month)}月三日", f"{year}年{month}月3日"):
            assert [e.english for e in find(text)] == [f"{MONTHS[month - 1]} 3, {year}"]
        assert [e.english for e in find(f"{year}年{month}月")] == [f"{MONTHS[month - 1]} {year}"]


def test_every_percentage() -> None:
    for number in range(1, 101):
        for text in (f"百分之{in_chinese(number)}", f"{number}%", f"{number}％"):
            assert [(e.kind, e.english) for e in find(f"约为{text}。")] == [
                ("percent", f"{number}%")
            ], text


@pytest.mark.parametrize(
    ("text", "english"),
    [
        # Numbers
        ("两个", "two"),
        ("三百五", "350"),
        ("三百零五", "305"),
        ("两千三百四十五万", "23.45 million"),
        ("一亿两千万", "120 million"),
        ("2.5万", "25,000"),
        ("3.2亿", "320 million"),
        ("一万二", "12,000"),
        ("一万零二", "10,002"),
        ("廿一", "21"),
        ("卅", "30"),
        ("伍佰", "500"),
        ("三点五", "3.5"),
        ("零点零五", "0.05"),
        ("三点一四一五九", "3.14159"),
        ("1,234", "1234"),
        ("12,345", "12,345"),
        ("１２３", "123"),
        ("一万亿", "1 trillion"),
        ("1亿3000万", "130 million"),
        # Ordinals
        ("第一", "first"),
        ("第二十一", "21st"),
        ("第12", "12th"),
        ("第一百零二", "102nd"),
        ("第一百一十三", "113th"),
        # Percentages and fractions
        ("百分之十二点五", "12.5%"),
        ("百分之零点三", "0.3%"),
        ("百分之三十到四十", "30% to 40%"),
        ("百分之三十至百分之四十", "30% to 40%"),
        ("10%-20%", "10% to 20%"),
        ("千分之五", "5 per thousand"),
        ("三分之二", "two thirds"),
        ("二分之一", "one half"),
        ("四分之三", "three quarters"),
        ("十分之一", "one tenth"),
        ("十六分之三", "3/16"),
        ("一又二分之一", "one and one half"),
        ("八折", "20% off"),
        ("八五折", "15% off"),
        # Dates and times
        ("1998年", "1998"),
        ("98年", "1998"),
        ("08年", "2008"),
        ("一九九八年", "1998"),
        ("十二月", "December"),
        ("2014-07-05", "July 5, 2014"),
        ("2014/7/5", "July 5, 2014"),
        ("二十世纪", "20th century"),
        ("21世纪", "21st century"),
        ("二十世纪八十年代", "1980s"),
        ("90年代", "1990s"),
        ("1960年代", "1960s"),
        ("下午三点半", "3:30 p.m."),
        ("上午十点", "10 a.m."),
        ("晚上八点一刻", "8:15 p.m."),
        ("早上6点15分", "6:15 a.m."),
        ("中午十二点", "12 p.m."),
        ("凌晨两点", "2 a.m."),
        ("三点钟", "3 o'clock"),
        ("14点30分", "14:30"),
        ("下午15点", "3 p.m."),
        ("下午3:00", "3 p.m."),
        ("早上７：３０", "7:30 a.m."),
        ("15:30", "15:30"),
        ("3:00", "3:00"),
        # About, ranges, halves
        ("十多个", "more than ten"),
        ("三百多人", "more than 300"),
        ("十几个", "more than ten"),
        ("二十几岁", "more than 20"),
        ("十几万人", "more than 100,000"),
        ("二十来个", "about 20"),
        ("一两天", "one or two"),
        ("五百余人", "more than 500"),
        ("近三千人", "nearly 3000"),
        ("大约二十个", "about 20"),
        ("约有100人", "about 100"),
        ("几十个", "dozens of"),
        ("数百万人", "millions of"),
        ("几千人", "thousands of"),
        ("三四十个", "30 or 40"),
        ("两三个", "two or three"),
        ("十七八岁", "17 or 18"),
        ("五六百人", "500 or 600"),
        ("三五个", "three or five"),
        ("3-5个", "three to five"),
        ("十到二十", "10 to 20"),
        ("十至十五人", "10 to 15"),
        ("半小时", "half an hour"),
        ("半年", "half a year"),
        ("一个半小时", "one and a half hours"),
        ("三个半月", "three and a half months"),
        ("两年半", "two and a half years"),
        # Money
        ("五百美元", "500 dollars"),
        ("一美元", "one dollar"),
        ("三块钱", "three yuan"),
        ("二十元", "20 yuan"),
        ("一百万英镑", "1 million pounds"),
        ("50欧元", "50 euros"),
    ],
)
def test_forms(text: str, english: str) -> None:
    assert [found.english for found in find(text)] == [english]
    assert [found.english for found in find(f"他说{text}。")] == [english]


@pytest.mark.parametrize(
    "text",
    """
    一起 一个男孩 一样 统一 星期一 周三 礼拜五 四川 万一 十分高兴 千万不要 八达岭 三明治 百货公司
    唯一 一直 一边 三轮车 百度 四周 不一样 一点 一会儿 第一时间 成千上万 乱七八糟 三星 之一 一半
    十字路口 百合花 三角形 四季 两边 一一 五金 一些人 零食 七夕 亿万富翁 五一劳动节 007
    十来自 十几岁 05:03:07
    """.split(),
)
def test_what_is_no_number(text: str) -> None:
    assert find(text) == []


def test_found_in_order_and_apart() -> None:
    text = "2014年7月5日，三名工人花了百分之二十的钱，在第二天下午四点买了1,500个苹果。"
    found = find(text)
    assert [e.english for e in found] == [
        "July 5, 2014", "three", "20%", "second", "4 p.m.", "1500",
    ]  # fmt: skip
    assert all(one.end <= other.start for one, other in itertools.pairwise(found))


@pytest.mark.parametrize(
    "text",
    [
        *("", "。", "一" * 50, "9" * 40),
        *"百百百 十十 千 点五 百分之 分之 第 年月日 13月40日 二二二万万 1.2.3.4".split(),
        *"零零零 半半 3点99分 百分之百 两两 三三".split(),
    ],
)
def test_odd_text_is_read_without_failing(text: str) -> None:
    for one in find(text):
        assert 0 <= one.start < one.end <= len(text)
        assert one.english


@pytest.mark.parametrize(
    ("text", "value"),
    [("三万五千", 35000), ("半", Fraction(1, 2)), ("两万半", 25000), ("十", 10), ("百十", 110),
     ("男", None), ("", None), ("百二", 120), ("一千零一十", 1010), ("十亿", 10**9)],
)  # fmt: skip
def test_values(text: str, value: int | Fraction | None) -> None:
    assert value_of(text) == value


def test_ordinals() -> None:
    shown = [render_ordinal(n) for n in (1, 2, 3, 4, 10, 11, 12, 13, 21, 22, 23, 101, 111, 10001)]
    assert shown == (
        "first second third fourth tenth 11th 12th 13th 21st 22nd 23rd 101st 111th 10,001st".split()
    )
