"""Looks at pages: what axe finds, what is too wide for a phone, what is loaded from where."""

from collections.abc import Generator
from pathlib import Path

from playwright.sync_api import Page, Request, Response, expect

from tests.web.person import DESKTOP, PHONE

AXE = Path(__file__).parents[2] / "packages" / "web" / "node_modules" / "axe-core" / "axe.min.js"
FAULTS = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ["violations"] });
  return violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}"""
# A table of an agent's may scroll by itself. In what is folded up, no layout is kept true.
WIDE = """async () => {
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const isWide = (element) => element.scrollWidth > element.clientWidth + 1;
  const scrolls = (element) => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
  const isTable = (element) => element.firstElementChild?.tagName === "TABLE";
  const seen = [...document.querySelectorAll("main, main *, dialog *")].filter((one) => one.checkVisibility());
  const inner = seen.filter((one) => isWide(one) && scrolls(one) && !isTable(one));
  const page = document.scrollingElement.scrollWidth > innerWidth ? [document.documentElement] : [];
  const told = (one) => `${one.tagName} ${one.className} ${one.scrollWidth}>${one.clientWidth} ${one.innerText}`;
  return [...page, ...inner].map((one) => told(one).slice(0, 200));
}"""
# Words of ours on a button are one line; names of an agent's may be longer.
BROKEN = """() => {
  const own = (one) => [...one.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
  const lines = (node) => {
    const words = document.createRange();
    words.selectNodeContents(node);
    return words.getClientRects().length;
  };
  const seen = [...document.querySelectorAll("button")].filter((one) => one.checkVisibility());
  return seen.filter((one) => own(one).some((node) => lines(node) > 1)).map((one) => `in lines: ${one.innerText}`);
}"""
# axe leaves out what stands in an empty field. Colours are painted, and read back as the eye gets them.
PLACEHOLDERS = """() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const painted = (...colours) => {
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const lightness = (colour) => {
    const [red, green, blue] = colour.map((one) => one / 255).map(
      (one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const grounds = (one) => (one ? [...grounds(one.parentElement), getComputedStyle(one).backgroundColor] : []);
  const contrast = (field) => {
    const hint = getComputedStyle(field, "::placeholder").color;
    const both = [painted(...grounds(field)), painted(...grounds(field), hint)];
    const [dark, light] = both.map(lightness).sort((one, other) => one - other);
    return (light + 0.05) / (dark + 0.05);
  };
  const all = [...document.querySelectorAll(":is(input, textarea):placeholder-shown")];
  const hinting = all.filter((one) => one.checkVisibility() && one.placeholder);
  return hinting.map((one) => [one.placeholder, contrast(one)]);
}"""
VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective));
"""


class Inspector:
    """Looks at pages in all colours, and hears what they load."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.faults: dict[str, list[str]] = {}
        self.wide: dict[str, list[str]] = {}
        self.hints: dict[str, dict[str, float]] = {"light": {}, "dark": {}}
        """What stands in empty fields, and its contrast."""
        self.violations: list[str] = []
        self.hosts: set[str] = set()
        self.policies: set[str] = set()
        self._axe = AXE.read_text()
        page.add_init_script(VIOLATIONS)
        page.on("request", self._asked)
        page.on("response", self._answered)
        page.reload()

    def looks(self, name: str) -> None:
        """Axe on a desktop in all colours and on a phone, and whether it fits the phone."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(self._axe)
        for scheme in self._schemes():
            self._note(self.faults, f"{name}, {scheme}", FAULTS)
            self.hints[scheme] |= dict(self.page.evaluate(PLACEHOLDERS))
        self.page.emulate_media(forced_colors="active")
        self._note(self.faults, f"{name}, forced colours", FAULTS)
        self.page.emulate_media(forced_colors="none")
        self.page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
        self.fits(name)
        self._note(self.faults, f"{name}, phone", FAULTS)
        self.page.set_viewport_size({"width": DESKTOP["width"], "height": DESKTOP["height"]})
        self.violations += self.page.evaluate("violations.splice(0)")

    def fits(self, name: str) -> None:
        for scheme in self._schemes():
            self._note(self.wide, f"{name}, {scheme}", WIDE)
        self._note(self.wide, f"{name}, buttons", BROKEN)

    def _schemes(self) -> Generator[str]:
        for scheme in ("dark", "light"):
            self.page.emulate_media(color_scheme=scheme)
            expect(self.page.locator("html")).to_have_attribute("data-theme", scheme)
            yield scheme

    def _note(self, notes: dict[str, list[str]], name: str, look: str) -> None:
        if found := self.page.evaluate(look):
            notes[name] = found

    def _asked(self, request: Request) -> None:
        self.hosts.add("/".join(request.url.split("/")[:3]))

    def _answered(self, response: Response) -> None:
        if response.request.resource_type == "document":
            self.policies.add(response.headers.get("content-security-policy", ""))
