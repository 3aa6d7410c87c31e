"""Chinese numbers, dates and percentages, recognised and rendered in English by rule.

    两千三百四十五万 23.45 million     百分之十二点五 12.5%     二〇一四年七月五日 July 5, 2014
    三分之二 two thirds               第二十一 21st            下午三点半 3:30 p.m.
    三四十 30 or 40                   十多 more than ten       二十世纪 20th century

Whole numbers from one to ten are words, greater ones digits, with commas from ten thousand on
and `million`, `billion`, `trillion` where that is exact in up to three decimals. What may be no
number is left alone: a character of a word that is listed below (一起 together, 万一 in case),
`一` alone, which is an article more often than a number, one character inside a longer word.

What is found does not depend on how the text is cut into words; the rules see characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from meantime.smt.words import HAN


@dataclass(frozen=True, slots=True)
class Expression:
    """What was found in a text, and its English."""

    start: int
    end: int
    kind: str
    """number, ordinal, percent, fraction, date, time, range, about, century, decade, money."""
    english: str


_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {
    "〇": 0, "○": 0, "两": 2, "兩": 2, "俩": 2, "壹": 1, "贰": 2, "叁": 3, "肆": 4, "伍": 5,
    "陆": 6, "柒": 7, "捌": 8, "玖": 9, "貳": 2, "參": 3, "陸": 6, "幺": 1,
}  # fmt: skip
_SMALL = {"十": 10, "百": 100, "千": 1000, "拾": 10, "佰": 100, "仟": 1000}
_GREAT = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
_TWENTIES = {"廿": 20, "卅": 30}
_MONTHS = (
    "January February March April May June July August September October November December".split()
)
_WORDS = "zero one two three four five six seven eight nine ten".split()
_ORDINALS = "zeroth first second third fourth fifth sixth seventh eighth ninth tenth".split()
_DENOMINATORS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh",
                 8: "eighth", 9: "ninth", 10: "tenth"}  # fmt: skip

# Words that hold a numeral and are no numbers; longest first when they are looked for.
_NO_NUMBER = """
    一起 一样 一般 一定 一直 一切 一些 一点 一下 一边 一旦 一旁 一带 一律 一致 一向 一再 一时 一同
    一生 一共 一面 一味 一贯 一心 一度 一方面 一会儿 一系列 一部分 一口气 一辈子 一连串 一瞬间
    一方 一端 一侧 万一 千万 万万 百姓 万物 万岁 千里 万里 百货 百科 百合 百叶 百度 百分比 百分点
    三明治 三轮 三角 三脚架 三文鱼 四周 四处 四季 四川 四肢 五官 五金 五颜六色 六神 七夕 八卦 八哥
    九寨 十分 十字 十足 九龙 三国 三峡 三亚 三星 不一 统一 唯一 单一 之一 万圣 第一时间 星期一
    星期二 星期三 星期四 星期五 星期六 周一 周二 周三 周四 周五 周六 礼拜一 礼拜二 礼拜三 礼拜四
    礼拜五 礼拜六 乱七八糟 三心二意 一五一十 四面八方 七嘴八舌 三三两两 一一 丢三落四 颠三倒四
    说三道四 五花八门 十全十美 千方百计 千千万万 成千上万 千变万化 万无一失 独一无二 一模一样
    一举一动 一心一意 一干二净 三番五次 四通八达 五彩 六合 七巧 百万富翁 百忙 千金 万能 万象 两边
    两侧 两旁 两岸 两极 两栖 两难 初一 一半 大半 多半 对半 零食 零件 零售 零钱 千瓦 百日咳 九宫
    三维 二维码 二手 三七 十几岁 亿万 五一劳动节 五一节 五四运动 九一八
    """.split()
_DIGIT = "零〇○一二两三四五六七八九"
_NUMERAL = _DIGIT + "十百千万亿兆兩廿卅壹贰叁肆伍陆柒捌玖拾佰仟萬億"
_NUMERALS = frozenset(_NUMERAL + "0123456789０１２３４５６７８９")
_KEPT = re.compile(
    rf"(?<![{_NUMERAL}0-9第])(?:"
    + "|".join(sorted(map(re.escape, _NO_NUMBER), key=len, reverse=True))
    # 十分之一, 十分钟 and 千万分之一 are numbers, as 一百货 is no word.
    + rf")(?![{_NUMERAL}]|之|钟|鐘)"
)

_D, _C = _DIGIT, _NUMERAL
_ARABIC = r"[0-9０-９]+(?:[,，][0-9０-９]{3})*(?:[.．][0-9０-９]+)?"
_NUMBER = (
    rf"(?:{_ARABIC}[亿億]{_ARABIC}[万萬]|{_ARABIC}|[{_C}]+)"
    rf"(?:点[{_D}0-9０-９]+)?[十百千万亿兆]*"
)
_MEASURES = (
    "个個位名只隻条條张張件本辆輛台座棵朵片块塊双雙对對群排根把头頭匹杯瓶碗盘盤幅次种種层層间間架艘套支枝"
    "串堆组組队隊颗顆份家所部页頁句首场場届屆天年岁歲月周日小分秒点點米公厘英吨噸斤克升元美度级級倍成楼樓号號"
    "步口门門扇面滴粒株束箱袋盒桶罐筐篮籃叠疊捆卷节節段顶頂项項道轮輪代时時"
)
_FULL = str.maketrans("０１２３４５６７８９．，％／：－", "0123456789.,%/:-")


def value_of(text: str) -> Fraction | None:
    """The number a text writes in Chinese or Arabic digits, or none.

    Understood are digits in a row (二〇一四), places (三千零五), great units behind either
    (2.5万, 一亿两千万), what leaves the last unit out (三百五 is 350, 两万三 23,000), and 半.
    """
    text = text.translate(_FULL)
    if not text:
        return None
    if text.endswith("半") and len(text) > 1:
        whole = value_of(text[:-1])
        return None if whole is None else whole + Fraction(1, 2) * _last_unit(text[:-1])
    if text == "半":
        return Fraction(1, 2)
    found = re.fullmatch(r"([0-9][0-9,]*(?:\.[0-9]+)?)([十百千万亿兆萬億]*)", text)
    if found:
        try:
            value = Fraction(Decimal(found[1].replace(",", "")))
        except InvalidOperation:
            return None
        for unit in found[2]:
            value *= (_SMALL | _GREAT)[unit]
        return value
    mixed = re.fullmatch(r"([0-9.,]+[万亿兆萬億])([0-9.,]+[千万萬]?)", text)
    if mixed:
        one, other = value_of(mixed[1]), value_of(mixed[2])
        return None if one is None or other is None or other >= one else one + other
    point = re.fullmatch(rf"([{_C}0-9]*?)点([{_D}0-9]+)([十百千万亿兆萬億]*)", text)
    if point:
        whole = value_of(point[1]) if point[1] else Fraction(0)
        if whole is None:
            return None
        digits = "".join(str(_DIGITS[c]) if c in _DIGITS else c for c in point[2])
        value = whole + Fraction(int(digits), 10 ** len(digits))
        for unit in point[3]:
            value *= (_SMALL | _GREAT)[unit]
        return value
    if any(
        c not in _DIGITS and c not in _SMALL and c not in _GREAT and c not in _TWENTIES
        for c in text
    ):
        return None
    if all(c in _DIGITS for c in text):
        return Fraction(int("".join(str(_DIGITS[c]) for c in text)))
    return _places(text)


def _last_unit(text: str) -> int:
    """The unit a text ends with, or 1."""
    return (_SMALL | _GREAT).get(text[-1], 1)


def _places(text: str) -> Fraction | None:
    """A number with units: below ten thousand, and each great unit in front of that."""
    total = 0
    section = 0
    digit: int | None = None
    zero = False
    last = 0
    """The last unit that was read."""
    greatest = 0
    for character in text:
        if character in _DIGITS:
            if digit is not None and digit != 0:
                return None
            digit = _DIGITS[character]
            zero = zero or digit == 0
            if digit == 0:
                digit = None
                zero = True
            continue
        if character in _TWENTIES:
            if digit is not None:
                return None
            section += _TWENTIES[character]
            last = 10
            continue
        if character in _SMALL:
            unit = _SMALL[character]
            if digit is None and unit > 10 and not total and not section:
                digit = 1
            if last and unit >= last and last < 10**4 and section:
                return None
            section += (1 if digit is None else digit) * unit
            digit, last, zero = None, unit, False
            continue
        unit = _GREAT[character]
        section += digit or 0
        if not section and not total:
            section = 1
        if greatest and unit >= greatest:
            # 一万亿: what stands in front counts as a whole.
            total = (total + section) * unit
        else:
            total += section * unit
        greatest = unit
        section, digit, last, zero = 0, None, unit, False
    if digit is not None:
        # 三百五: the unit below the last is left out; with a zero in between it is not.
        section += digit * (last // 10 if last >= 100 and not zero else 1)
    return Fraction(total + section)


# English


def render_number(value: Fraction, *, words: bool = True) -> str:
    """A number in English: words up to ten, digits, and great units where they are exact."""
    if value.denominator == 1:
        whole = value.numerator
        if words and 0 <= whole <= 10:
            return _WORDS[whole]
        great = _great(value)
        if great:
            return great
        return f"{whole:,}" if abs(whole) >= 10**4 else str(whole)
    great = _great(value)
    return great or _decimal(value)


def _great(value: Fraction) -> str | None:
    for unit, name in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if abs(value) >= unit:
            share = value / unit
            return f"{_decimal(share)} {name}" if (share * 1000).denominator == 1 else None
    return None


def _decimal(value: Fraction) -> str:
    """Digits without zeros at the end."""
    if value.denominator == 1:
        return f"{value.numerator:,}" if abs(value.numerator) >= 10**4 else str(value.numerator)
    text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def render_ordinal(number: int, *, words: bool = True) -> str:
    """first, 21st, 112th."""
    if words and 0 <= number <= 10:
        return _ORDINALS[number]
    teen = 10 < number % 100 < 14
    ending = "th" if teen else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}" if number >= 10**4 else f"{number}{ending}"


def render_fraction(above: Fraction, below: Fraction) -> str | None:
    """Two thirds, one half, 3/16."""
    if above.denominator != 1 or below.denominator != 1 or below <= 1 or above <= 0:
        return None
    name = _DENOMINATORS.get(int(below))
    if name is None or above > 10:
        return f"{int(above)}/{int(below)}"
    several = {"half": "halves"}.get(name, name + "s")
    return f"{_WORDS[int(above)]} {name if above == 1 else several}"


# Rules: a pattern, and what it makes of a match; none where it is no such expression.

_Y = rf"(?P<year>[{_D}]{{4}}|[0-9０-９]{{4}}|[{_D}]{{2}}|[0-9０-９]{{2}})年"
_NUM12 = r"(?:十[一二]?|[一二三四五六七八九]|[0-9０-９]{1,2})"
_NUM31 = (
    r"(?:三十一?|二?十[一二三四五六七八九]?|廿[一二三四五六七八九]?|卅一?|[一二两三四五六七八九]"
    r"|[0-9０-９]{1,2})"
)
_M = rf"(?P<month>{_NUM12})月(?!球|亮|光|饼)"
_DAY = rf"(?P<day>{_NUM31})[日号](?!线|楼|本)"


def _whole(text: str | None) -> int | None:
    value = value_of(text) if text else None
    return int(value) if value is not None and value.denominator == 1 else None


def _year(text: str) -> str | None:
    number = _whole(text)
    if number is None:
        return None
    if len(text) == 2:
        # 98年, 08年: of a century that is not said.
        return f"{1900 + number if number > 30 else 2000 + number}" if number != 10 else None
    return str(number)


def _date(found: re.Match[str]) -> str | None:
    groups = found.groupdict()
    month = _whole(groups.get("month"))
    day = _whole(groups.get("day"))
    if groups.get("month") and (month is None or not 1 <= month <= 12):
        return None
    if groups.get("day") and (day is None or not 1 <= day <= 31):
        return None
    year = _year(groups["year"]) if groups.get("year") else None
    if groups.get("year") and year is None:
        return None
    if month is None:
        return year
    named = _MONTHS[month - 1]
    if day is None:
        return f"{named} {year}" if year else named
    return f"{named} {day}, {year}" if year else f"{named} {day}"


def _plain_date(found: re.Match[str]) -> str | None:
    year, month, day = (int(found[n].translate(_FULL)) for n in ("y", "m", "d"))
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return f"{_MONTHS[month - 1]} {day}, {year}"


def _percent(found: re.Match[str]) -> str | None:
    value = value_of(found["n"])
    if value is None:
        return None
    return f"{_decimal(value)}%"


def _percent_range(found: re.Match[str]) -> str | None:
    one, other = value_of(found["n"]), value_of(found["m"])
    return None if one is None or other is None else f"{_decimal(one)}% to {_decimal(other)}%"


def _fraction(found: re.Match[str]) -> str | None:
    above, below = value_of(found["a"]), value_of(found["b"])
    if above is None or below is None:
        return None
    part = render_fraction(above, below)
    if part is None or not found["w"]:
        return part
    whole = value_of(found["w"])
    return None if whole is None else f"{render_number(whole)} and {part}"


def _ordinal(found: re.Match[str]) -> str | None:
    number = _whole(found["n"])
    return None if number is None else render_ordinal(number)


def _tenths(found: re.Match[str]) -> str | None:
    value = value_of(found["n"])
    return None if value is None or value > 10 else f"{_decimal(value * 10)}%"


def _discount(found: re.Match[str]) -> str | None:
    text = found["n"].translate(_FULL)
    value = value_of(text)
    if value is None or (value.denominator != 1 and value >= 10):
        return None
    # 八折 leaves eight tenths, 八五折 85 hundredths.
    left = value * 10 if value < 10 else value
    return None if not 0 < left < 100 else f"{_decimal(100 - left)}% off"


def _century(found: re.Match[str]) -> str | None:
    number = _whole(found["n"])
    if number is None or not 1 <= number <= 30:
        return None
    return f"{render_ordinal(number, words=False)} century"


def _decade(found: re.Match[str]) -> str | None:
    century, number = _whole(found["c"]), _whole(found["n"])
    if number is None or number % 10:
        return None
    if found["c"]:
        return f"{(century - 1) * 100 + number}s" if century else None
    if number >= 1000:
        return f"{number}s"
    return f"19{number:02}s" if 20 <= number <= 90 else None


def _time(found: re.Match[str]) -> str | None:
    hour = _whole(found["h"])
    if hour is None or not 0 <= hour <= 24:
        return None
    part = found["part"] or ""
    minute = 0
    if found["half"]:
        minute = 30
    elif found["quarter"]:
        minute = 15 * (_whole(found["quarter"]) or 0)
    elif found["m"]:
        minute = _whole(found["m"]) or 0
    elif not part and not found["sharp"]:
        # 三点 alone may be points, and 一点 a little.
        return None
    if not 0 <= minute < 60:
        return None
    clock = f"{hour}:{minute:02}" if minute else f"{hour} o'clock"
    return _time_of_day(hour, minute, part) or clock


def _time_of_day(hour: int, minute: int, part: str) -> str | None:
    """With a.m. or p.m., where a part of the day is named."""
    half = _HALVES.get(part)
    if half is None:
        return None
    clock = f"{hour}:{minute:02}" if minute else str(hour)
    if part == "中午" and hour in (11, 12):
        half = "a.m." if hour == 11 else "p.m."
    if hour > 12:
        clock = f"{hour - 12}:{minute:02}" if minute else str(hour - 12)
        half = "p.m."
    if part in ("晚上", "夜里", "深夜") and hour in (12, 1, 2, 3, 4):
        half = "a.m."
    return f"{clock} {half}"


_HALVES = {
    "凌晨": "a.m.", "清晨": "a.m.", "早上": "a.m.", "早晨": "a.m.", "上午": "a.m.",
    "中午": "p.m.", "下午": "p.m.", "傍晚": "p.m.", "晚上": "p.m.", "晚间": "p.m.",
    "夜里": "p.m.", "深夜": "p.m.",
}  # fmt: skip


def _digital(found: re.Match[str]) -> str | None:
    """下午3:00, and 15:30 as it is."""
    hour, minute = (int(found[name].translate(_FULL)) for name in ("h", "m"))
    if hour > 24 or minute > 59:
        return None
    return _time_of_day(hour, minute, found["part"] or "") or f"{hour}:{minute:02}"


def _range(found: re.Match[str]) -> str | None:
    one, other = value_of(found["n"]), value_of(found["m"])
    if one is None or other is None or one >= other:
        return None
    return f"{_alike(one, other)} to {render_number(other)}"


def _alike(one: Fraction, other: Fraction) -> str:
    return render_number(one, words=other <= 10)


def _either(found: re.Match[str]) -> str | None:
    """三四十 30 or 40, 十七八 17 or 18, 两三 two or three."""
    before = found["before"] or ""
    low, high, after = _DIGITS[found["a"]], _DIGITS[found["b"]], found["after"] or ""
    if high != low + 1 and (low, high) != (3, 5):
        return None
    one, other = value_of(f"{before}{found['a']}{after}"), value_of(f"{before}{found['b']}{after}")
    if one is None or other is None:
        return None
    great = re.fullmatch(r"([0-9.]+) (million|billion|trillion)", render_number(one))
    shown = great[1] if great and render_number(other).endswith(great[2]) else _alike(one, other)
    return f"{shown} or {render_number(other)}"


def _more(found: re.Match[str]) -> str | None:
    number = found["n"] + (found["u"] or "")
    value = value_of(number)
    if value is None or value < 10:
        return None
    return f"more than {render_number(value)}"


def _roughly(found: re.Match[str]) -> str | None:
    """二十来个 about 20."""
    value = value_of(found["n"] + found["u"])
    return None if value is None else f"about {render_number(value)}"


def _nearly(found: re.Match[str]) -> str | None:
    value = value_of(found["n"])
    word = {"近": "nearly", "约": "about", "大约": "about", "约有": "about", "将近": "nearly"}
    return None if value is None else f"{word[found['how']]} {render_number(value)}"


def _dozens(found: re.Match[str]) -> str | None:
    return _SEVERAL[found[0][1:]]


_SEVERAL = {
    "十": "dozens of", "百": "hundreds of", "千": "thousands of", "万": "tens of thousands of",
    "十万": "hundreds of thousands of", "百万": "millions of", "千万": "tens of millions of",
    "亿": "hundreds of millions of",
}  # fmt: skip


_CURRENCIES = {
    "元人民币": "yuan", "人民币": "yuan", "元": "yuan", "块钱": "yuan", "美元": "dollars",
    "美金": "dollars", "英镑": "pounds", "欧元": "euros", "日元": "yen", "韩元": "won",
    "港元": "Hong Kong dollars", "港币": "Hong Kong dollars", "卢布": "rubles",
}  # fmt: skip
_ONE = {"dollars": "dollar", "pounds": "pound", "euros": "euro", "rubles": "ruble",
        "Hong Kong dollars": "Hong Kong dollar"}  # fmt: skip


_MONEY = "|".join(sorted(_CURRENCIES, key=len, reverse=True))


def _money(found: re.Match[str]) -> str | None:
    value = value_of(found["n"])
    if value is None:
        return None
    unit = _CURRENCIES[found["unit"]]
    return f"{render_number(value)} {_ONE.get(unit, unit) if value == 1 else unit}"


def _number(found: re.Match[str]) -> str | None:
    text = found["n"]
    value = value_of(text)
    if value is None or text in _ALONE or re.match("[0０][0-9０-９]", text):
        # 007 is a name, and the zeros of 3:00 are no number.
        return None
    after = found.string[found.end() : found.end() + 1]
    if len(text) == 1 and HAN.match(text) and HAN.match(after) and after not in _COUNTED:
        # Part of a word or a name (八达岭), unless something is counted.
        return None
    return render_number(value, words=HAN.match(text) is not None)


_ALONE = frozenset("一 零 〇 ○ 百 千 万 亿 兆 萬 億".split())
"""One is an article more often than a number; the others are no numbers alone."""
_COUNTED = frozenset(_MEASURES + "人者大小男女老")


def _half_unit(found: re.Match[str]) -> str | None:
    """两年半, 一个半小时, 半个月."""
    name = _UNITS[found["unit"]]
    number = found.groupdict().get("n")
    if number is None:
        return "half an hour" if name == "hour" else f"half a {name}"
    value = value_of(number)
    return None if value is None else f"{render_number(value)} and a half {name}s"


_UNITS = {"小时": "hour", "钟头": "hour", "年": "year", "天": "day", "月": "month",
          "米": "meter", "公里": "kilometer", "公斤": "kilogram"}  # fmt: skip


def _thousandths(found: re.Match[str]) -> str | None:
    value = value_of(found["n"])
    return None if value is None else f"{_decimal(value)} per thousand"


Rule = tuple[str, re.Pattern[str], Callable[[re.Match[str]], str | None]]


def _rule(kind: str, pattern: str, render: Callable[[re.Match[str]], str | None]) -> Rule:
    return kind, re.compile(pattern), render


_PART = "|".join(_HALVES)
_TO = "(?:到|至|-|－|—|~|～)"
_EDGE = rf"(?<![{_C}0-9０-９.．点第])"

_CLOCK = (
    rf"(?P<part>{_PART})?{_EDGE}(?P<h>{_NUM31})[点點时時](?:(?P<half>半)|(?P<quarter>[一三])刻"
    rf"|(?P<m>[二三四五]?十[一二三四五六七八九]?|[零〇][一二三四五六七八九]|[0-9]{{1,2}})分?(?!之)"
    rf"|(?P<sharp>整|钟|鐘))?"
)
_NO_YEAR = "(?!代|级|级|以|来|前|后|多|的?时间|间|轻|龄|老|半)"
_AFTER_COUNT = f"(?=[{_MEASURES}人]|$)"

# All are tried where an expression may begin; the longest that means something is taken, of
# equals the first.
_RULES: tuple[Rule, ...] = (
    _rule("date", rf"{_EDGE}{_Y}(?:{_M}(?:{_DAY})?)?{_NO_YEAR}", _date),
    _rule("date", rf"{_EDGE}{_M}(?:{_DAY})?", _date),
    _rule(
        "date",
        rf"{_EDGE}(?P<y>[0-9０-９]{{4}})[-/.．](?P<m>[0-9０-９]{{1,2}})[-/.．](?P<d>[0-9０-９]{{1,2}})"
        "(?![0-9])",
        _plain_date,
    ),
    _rule("decade", rf"{_EDGE}(?:(?P<c>{_NUMBER})世纪)?(?P<n>{_NUMBER})年代", _decade),
    _rule("century", rf"{_EDGE}(?P<n>{_NUMBER})世纪", _century),
    _rule("time", _CLOCK, _time),
    _rule(
        "time",
        rf"(?P<part>{_PART})?{_EDGE}(?<![:：])(?P<h>[0-9０-９]{{1,2}})[:：](?P<m>[0-9０-９]{{2}})"
        "(?![0-9０-９:：])",
        _digital,
    ),
    _rule("percent", rf"百分之(?P<n>{_NUMBER}){_TO}(?:百分之)?(?P<m>{_NUMBER})", _percent_range),
    _rule("percent", rf"百分之(?P<n>{_NUMBER})", _percent),
    _rule("percent", rf"{_EDGE}(?P<n>{_ARABIC})[%％]?{_TO}(?P<m>{_ARABIC})[%％]", _percent_range),
    _rule("percent", rf"{_EDGE}(?P<n>{_ARABIC})[%％]", _percent),
    _rule("percent", rf"千分之(?P<n>{_NUMBER})", _thousandths),
    _rule("percent", rf"{_EDGE}(?P<n>[{_D}]点[{_D}]|[{_D}])成(?=[的左以]|$|\W)", _tenths),
    _rule(
        "percent",
        rf"{_EDGE}(?P<n>[{_D}]{{1,2}}|[0-9](?:\.[0-9])?|[0-9]{{2}})折(?![叠断磨射])",
        _discount,
    ),
    _rule(
        "fraction",
        rf"{_EDGE}(?P<w>)(?P<b>[{_C}]+|[0-9]+)分之(?P<a>[{_C}]+|[0-9]+)",
        _fraction,
    ),
    _rule(
        "fraction", rf"(?P<w>{_NUMBER})又(?P<b>[{_C}]+|[0-9]+)分之(?P<a>[{_C}]+|[0-9]+)", _fraction
    ),
    _rule("ordinal", rf"第(?P<n>[{_C}]+|[0-9０-９]+)", _ordinal),
    _rule("money", rf"{_EDGE}(?P<n>{_NUMBER})(?P<unit>{_MONEY})(?![旦宵素])", _money),
    _rule("about", rf"(?P<how>将近|大约|约有|近|约)(?P<n>{_NUMBER})(?![{_C}多几余])", _nearly),
    _rule("about", r"[几数](?:十万|百万|千万|十|百|千|万|亿)", _dozens),
    _rule(
        "about",
        rf"{_EDGE}(?P<n>{_NUMBER})[多余餘几](?P<u>[万亿萬億]?)(?=[{_MEASURES}人的]|$)",
        _more,
    ),
    _rule(
        "about",
        rf"{_EDGE}(?P<n>[{_C}]*[十百千])来(?P<u>[万亿萬億]?)(?=[{_MEASURES}人])",
        _roughly,
    ),
    _rule("half", rf"{_EDGE}(?P<n>[{_C}]+|[0-9]+)个半(?P<unit>小时|月|钟头)", _half_unit),
    _rule("half", rf"{_EDGE}(?P<n>[{_C}]+|[0-9]+)(?P<unit>小时|年|天|米|公里|公斤)半", _half_unit),
    _rule("half", r"(?<![一上下前后大])半个?(?P<unit>小时|钟头|年|月|公里|公斤)(?!级)", _half_unit),
    _rule("range", rf"{_EDGE}(?P<n>{_NUMBER}){_TO}(?P<m>{_NUMBER})(?![-－./月年])", _range),
    _rule(
        "range",
        rf"{_EDGE}(?P<before>[{_C}]*[十百千万])?(?P<a>[一二两三四五六七八])(?P<b>[二两三四五六七八九])"
        rf"(?P<after>[十百千万亿]+)?{_AFTER_COUNT}",
        _either,
    ),
    _rule("number", rf"{_EDGE}(?P<n>{_NUMBER})", _number),
)
_BEGINS = _NUMERALS | frozenset("第百千半几数近约将大十") | {part[0] for part in _HALVES}


def find(text: str) -> list[Expression]:
    """The expressions of a text, in order, none overlapping another."""
    kept = {found.start(): found.end() for found in _KEPT.finditer(text)}
    found: list[Expression] = []
    place = 0
    while place < len(text):
        if place in kept:
            place = kept[place]
            continue
        expression = _at(text, place) if text[place] in _BEGINS else None
        if expression is None:
            place = _past(text, place)
        else:
            found.append(expression)
            place = expression.end
    return found


def _at(text: str, place: int) -> Expression | None:
    best: Expression | None = None
    for kind, pattern, render in _RULES:
        match = pattern.match(text, place)
        if match is None or match.end() == place or (best and match.end() <= best.end):
            continue
        english = render(match)
        if english is not None:
            best = Expression(place, match.end(), kind, english)
    return best


def _past(text: str, place: int) -> int:
    """Behind what could not be read: all of a run of digits, so that no part of it is taken."""
    end = place + 1
    if text[place] in _ASCII_DIGITS:
        while end < len(text) and (text[end] in _ASCII_DIGITS or text[end] in ",.，．"):
            end += 1
    return end


_ASCII_DIGITS = frozenset("0123456789０１２３４５６７８９")
