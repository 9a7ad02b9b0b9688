import { useEffect } from "react";

/** So little height, as with a phone's keyboard or a zoom of 200%, that bars leave no room for what they are about. */
const SHORT = 480;
/** No bar of a browser is as high; a keyboard is higher. */
const KEYBOARD = 120;

/** The page is as high as what is seen of it: some browsers lay their keyboard over it. */
export function useVisibleHeight(): void {
  useEffect(() => {
    const seen = globalThis.visualViewport;
    if (!seen) return;
    const look = () => adapt(seen);
    look();
    seen.addEventListener("resize", look);
    return () => seen.removeEventListener("resize", look);
  }, []);
}

function adapt({ height, scale }: VisualViewport): void {
  // Zoomed in with two fingers a part is seen, of a page that has not changed.
  if (scale !== 1) return;
  const { dataset, style } = document.documentElement;
  const isCovered = innerHeight - height > KEYBOARD;
  style.setProperty("--height", isCovered ? `${height}px` : "100dvh");
  dataset.height = height <= SHORT ? "short" : "full";
  if (isCovered) scrollTo(0, 0);
}
