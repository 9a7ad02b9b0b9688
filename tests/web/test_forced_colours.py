"""The person's own few colours: what is chosen, and what is risky, is told without a ground of its own."""

import base64
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.support.inbox import asked
from tests.support.threads import ThreadsClient
from tests.web.conftest import Visit
from tests.web.person import NOWHERE, PHONE, lead
from tests.web.stage import shown

# What is drawn of an element when all grounds are alike.
EDGES = """(one) => {
  const style = getComputedStyle(one);
  const sides = ["Top", "Right", "Bottom", "Left"].filter((side) => parseFloat(style[`border${side}Width`]) > 0);
  return sides.map((side) => `${side} ${style[`border${side}Color`]} ${style[`border${side}Style`]}`).join();
}"""
# How often light and dark follow each other along a line of a picture: once for each stroke of a letter.
STROKES = """async (data) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data: dots } = canvas.getImageData(0, 0, image.width, image.height);
  const light = (x, y) => dots[4 * (y * image.width + x)] + dots[4 * (y * image.width + x) + 1];
  const along = (y) => {
    let count = 0;
    for (let x = 1; x < image.width; x += 1) if (Math.abs(light(x, y) - light(x - 1, y)) > 60) count += 1;
    return count;
  };
  return Math.max(...Array.from({ length: image.height }, (_, y) => along(y)));
}"""
WORDS = """(one) => {
  const range = document.createRange();
  range.selectNodeContents(one);
  const { x, y, width, height } = range.getBoundingClientRect();
  return { x, y, width, height };
}"""
GROUND = "(one) => getComputedStyle(one).backgroundColor"


def strokes(one: Locator) -> int:
    """Of the letters of something, as they are seen."""
    seen = one.page.screenshot(clip=one.evaluate(WORDS))
    blank = one.page.context.new_page()
    try:
        return blank.evaluate(STROKES, base64.b64encode(seen).decode())
    finally:
        blank.close()


def drawn(one: Locator) -> str:
    return one.evaluate(EDGES)


@pytest.fixture(params=["light", "dark"])
def forced(owner: ThreadsClient, visit: Visit, request: pytest.FixtureRequest) -> tuple[Page, dict[str, Any]]:
    high, medium = asked(owner, ("execute", {"command": "ls"}), ("guarded", {"name": "plain"}))
    page = visit(owner, forced_colors="active", color_scheme=request.param).opens(f"/requests/{high['request_id']}")
    return page, {"high": high["request_id"], "medium": medium["request_id"]}


def test_what_is_open_current_and_pressed_differs_from_what_is_not(forced: tuple[Page, dict[str, Any]]) -> None:
    page, ids = forced
    rows = {name: page.locator(f"li[data-request={one}] a") for name, one in ids.items()}
    assert drawn(rows["high"]) != drawn(rows["medium"])
    nav = page.get_by_role("banner").get_by_role("navigation")
    assert drawn(nav.get_by_role("link", name="Inbox")) != drawn(nav.get_by_role("link", name="History"))
    looks = page.get_by_role("group", name="Show as")
    assert drawn(looks.get_by_role("button", name="Command")) != drawn(looks.get_by_role("button", name="JSON"))
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    tabs = page.get_by_role("navigation", name="Main").last
    assert drawn(tabs.get_by_role("link", name="Inbox")) != drawn(tabs.get_by_role("link", name="History"))


def test_nothing_that_is_not_chosen_has_a_line_that_is_seen(forced: tuple[Page, dict[str, Any]]) -> None:
    page, ids = forced
    closed = page.locator(f"li[data-request={ids['medium']}] a")
    assert page.locator("body").evaluate(GROUND) in drawn(closed)


def test_high_risk_has_another_edge_than_medium(forced: tuple[Page, dict[str, Any]]) -> None:
    page, ids = forced
    panel = page.get_by_role("region", name="What will run")
    expect(panel).to_contain_text("High")
    high = drawn(panel)
    shown(page, f"/requests/{ids['medium']}")
    expect(panel).to_contain_text("Medium")
    assert drawn(panel) != high
    assert "Left" in high


def test_the_words_of_a_filled_button_are_seen(forced: tuple[Page, dict[str, Any]]) -> None:
    """Their letters stand on a ground that the browser draws, not on the button's own."""
    page, ids = forced
    shown(page, f"/requests/{ids['medium']}")
    approve = page.locator("[data-act=yes]")
    expect(approve).not_to_have_attribute("aria-disabled", "true")
    refuse = page.locator("[data-act=refuse]")
    assert strokes(approve) > strokes(refuse) / 2
    lead(page, NOWHERE)
    way = page.get_by_role("main").get_by_role("link", name="Go to the inbox")
    way.wait_for()
    assert strokes(way) > len("Go to the inbox")
