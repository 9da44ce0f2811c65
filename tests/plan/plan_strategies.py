"""Random plans: any mixture of the lines that real plans are made of, and lines that only look like them."""

from hypothesis import strategies as st

__all__ = ["WORDS", "messy_plans", "tidy_plans"]

WORDS = st.lists(
    st.sampled_from(
        [
            "add",
            "the",
            "table",
            "index",
            "of",
            "rows",
            "naïve",
            "日本",
            "größe",
            "x",
            "[x]",
            "(see)",
            "`code`",
            "a.b,",
            "U+0041",
            "end",
        ]
    ),
    min_size=1,
    max_size=6,
).map(" ".join)

_INDENT = st.sampled_from(["", "", "", "  ", "    ", "\t", " ", "      "])
_BULLET = st.sampled_from(["- ", "- ", "* ", "+ ", "1. ", "2) ", "-", "- \u00a0"])
_BOX = st.sampled_from(["[ ]", "[ ]", "[x]", "[X]", "[]", "[~]", "[ x ]", "[  ]", "[-]", "[✓]", "[\t]"])
_ID = st.sampled_from(["", " 1.1", " 1.2", " 2.1", " **1.3**", " T001", " 1.", " (1.4)", " A.1", "* 2.3"])
_BOX_LINE = st.builds(lambda *parts: "".join(parts), _INDENT, _BULLET, _BOX, _ID, st.just(" "), WORDS)
_OTHER_LINE = st.sampled_from(
    [
        "", "", "## 1. Storage", "## Service", "### Label", "# Title", "```", "  ```bash", "~~~", "<!--", "-->", "<!-- id: 3 -->",
        "  body words", "    deeper words", "lazy words", "- bullet", "  - Verify: `make a`", "- [link](x)", "> - [ ] quoted",
        "  Depends on: 1.1", "- [WIP] no", "  <!-- run: make -->", "\u2028 odd \x0c line", "10. [ ](x)", "- [🚧] no",
    ]
)  # fmt: skip
_END = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r\r\n"])


def messy_plans() -> st.SearchStrategy[bytes]:
    """Lines of every kind in any order, with any line end, perhaps with a BOM, perhaps without a final newline."""
    lines = st.lists(st.tuples(_BOX_LINE | _BOX_LINE | _OTHER_LINE, _END), min_size=1, max_size=25)
    return st.builds(
        lambda bom, found, final: (bom + "".join(text + end for text, end in found) + final).encode(),
        st.sampled_from(["", "", "\ufeff"]),
        lines,
        st.sampled_from(["", "- [ ] 9.9 last"]),
    )


@st.composite
def tidy_plans(draw: st.DrawFn) -> bytes:
    """Plans as a careful author writes them: numbered sections, distinct ids, steps, bodies, checks."""
    lines = []
    for section in range(1, draw(st.integers(1, 4)) + 1):
        lines += [f"## {section}. {draw(WORDS)}", ""]
        for task in range(1, draw(st.integers(1, 4)) + 1):
            lines.append(f"- {draw(st.sampled_from(['[ ]', '[x]']))} {section}.{task} {draw(WORDS)}")
            lines += draw(
                st.lists(
                    st.sampled_from(["  - [ ] a step", "  - [x] b step", "  words below", "  - Verify: `make a`", ""]),
                    max_size=4,
                )
            )
        lines.append("")
    return "\n".join(lines).encode()
