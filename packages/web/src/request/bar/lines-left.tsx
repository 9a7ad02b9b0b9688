import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { linesLeft } from "../model/lines-left";
import { useReview } from "../review";
import { scrollerOf } from "../views/watch-end";

/** So often they are counted while somebody scrolls: each count looks at where every block of lines is. */
const PAUSE = 100;

/** How many lines lie below the screen still. Nothing else is drawn again for them: they change with each movement. */
export function LinesLeft() {
  const t = useTranslations("request.bar.obstacle");
  const { embedded } = useReview();
  const text = useRef<HTMLSpanElement>(null);
  const [lines, setLines] = useState(0);
  const count = useRef(() => {});
  useEffect(() => {
    count.current = () => setLines(text.current ? linesBelow(text.current, embedded) : 0);
    count.current();
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        count.current();
      }, PAUSE);
    };
    // What scrolls does not bubble.
    window.addEventListener("scroll", later, { passive: true, capture: true });
    window.addEventListener("resize", later);
    return () => {
      clearTimeout(timer);
      window.removeEventListener("scroll", later, { capture: true });
      window.removeEventListener("resize", later);
    };
  }, []);
  return <span ref={text}>{t("unread", { lines })}</span>;
}

/** A value may be in blocks of its own, in a block of arguments that counts its lines too. What an earlier call had is
 * beside what will run. */
const TO_BE_READ = "[data-lines]:not([data-lines] *, [data-aside] *)";

/** `embedded`: the bar that the text is in covers the end of the scroller. */
function linesBelow(text: Element, embedded: boolean): number {
  const found = text.closest("[data-review]")?.querySelectorAll<HTMLElement>(TO_BE_READ);
  const blocks = [...(found ?? [])];
  const [first] = blocks;
  if (!first) return 0;
  const covered = embedded ? (text.closest<HTMLElement>("[data-bar]")?.offsetHeight ?? 0) : 0;
  const edge = scrollerOf(first)?.getBoundingClientRect().bottom ?? window.innerHeight;
  return linesLeft(blocks.map(placed), Math.min(edge, window.innerHeight) - covered);
}

function placed(block: HTMLElement) {
  const { top, bottom } = block.getBoundingClientRect();
  return { top, bottom, lines: Number(block.dataset.lines) };
}
