"""Foreign text inside a prompt: between fences that nothing in it can close."""

__all__ = ["fenced"]


def fenced(text: str) -> str:
    """A text between fences that nothing in it can close."""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}\n{text.rstrip()}\n{fence}"
