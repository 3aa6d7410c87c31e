"""XML as the localisation formats share it: parsing, text, attributes, serialising.

Nothing outside the file is ever loaded, and a file that declares entities is refused: none of
these formats needs them, and they can be used to exhaust the memory or to read other files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from lxml import etree

from meantime.errors import FormatError
from meantime.formats.opening import Text

XML_LANG = "{http://www.w3.org/XML/1998/namespace}lang"


def parse_tree(text: Text, root: str) -> etree._Element:
    """The root element of a file.

    Raises:
        FormatError: The file is empty, no XML, declares entities or has
            another root than `root`.
    """
    content = text.content
    if not content.strip():
        raise FormatError(f"{text.name}:1: holds no segment; the file is empty, check its name")
    if "<!ENTITY" in content:
        line = content.count("\n", 0, content.index("<!ENTITY")) + 1
        raise FormatError(f"{text.name}:{line}: declares entities; remove them and the DOCTYPE")
    parser = etree.XMLParser(
        encoding="utf-8",  # whatever the declaration says: the text is decoded already
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
    )
    try:
        element = etree.fromstring(content.encode("utf-8"), parser)
    except UnicodeEncodeError as error:
        raise FormatError(
            f"{text.name}:1: holds half a character (a lone surrogate); convert it to UTF-8"
        ) from error
    except etree.XMLSyntaxError as error:
        raise FormatError(
            f"{text.name}:{error.lineno or 1}: not well-formed XML ({error.msg}); "
            "repair it or export it again"
        ) from error
    if local_name(element) != root:
        raise fault(
            text,
            element,
            f"the root is <{local_name(element)}>, expected <{root}>; state the format",
        )
    return element


def fault(text: Text, element: etree._Element, what: str) -> FormatError:
    """The error for something wrong with an element."""
    return FormatError(f"{text.name}:{line_of(element)}: {what}")


def line_of(element: etree._Element) -> int:
    """The line where an element begins."""
    line = element.sourceline
    return line if isinstance(line, int) else 1


def local_name(element: etree._Element) -> str:
    """An element's name without its namespace; empty for comments and instructions."""
    return etree.QName(element).localname if isinstance(element.tag, str) else ""


def children(element: etree._Element, *names: str) -> Iterator[etree._Element]:
    """The children of these names, whatever their namespace."""
    return (child for child in element if local_name(child) in names)


def child(element: etree._Element, name: str) -> etree._Element | None:
    """The first child of this name."""
    return next(children(element, name), None)


def descendants(element: etree._Element, name: str) -> Iterator[etree._Element]:
    """Everything of this name below an element, in order."""
    return (one for one in element.iter() if local_name(one) == name)


def attribute(element: etree._Element, *names: str) -> str | None:
    """The first of these attributes that is there and not empty."""
    return next((str(value) for name in names if (value := element.get(name))), None)


def text_of(text: Text, element: etree._Element, codes: Collection[str] = ()) -> str:
    """What an element says; inline elements named in `codes` say nothing.

    Raises:
        FormatError: It holds an entity that XML does not define.
    """
    parts = [element.text or ""]
    for inner in element:
        if inner.tag is etree.Entity:
            raise fault(text, element, f"entity {inner.text} is not defined; write the character")
        if isinstance(inner.tag, str) and local_name(inner) not in codes:
            parts.append(text_of(text, inner, codes))
        parts.append(inner.tail or "")
    return "".join(parts)


def attributes(**values: str | None) -> dict[str, str]:
    """Attributes for a new element, without those that are `None`."""
    return {name.rstrip("_"): value for name, value in values.items() if value is not None}


def add_text(parent: etree._Element, name: str, text: str, **values: str | None) -> etree._Element:
    """Append an element that holds a text."""
    element = etree.SubElement(parent, name, attributes(**values))
    element.text = text
    return element


def serialise(root: etree._Element) -> str:
    """The file of a root element, indented, texts untouched."""
    etree.indent(root)
    body = str(etree.tostring(root, encoding="unicode"))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{body}\n'
