/** Where the bars of a plot stand. */

export const WIDTH = 360;
export const HEIGHT = 180;
const LEFT = 40;
/** For half of the last label. */
const RIGHT = 12;
const TOP = 8;
const FOOT = 24;
const MOST_LABELS = 6;

export interface Series {
  name: string;
  values: readonly number[];
}

export interface Bar {
  series: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Plot {
  bars: Bar[];
  /** Of the axis: a round number above everything, and the places of its marks. */
  marks: { value: number; y: number }[];
  labels: { text: string; x: number }[];
  left: number;
  bottom: number;
}

/** Bars that stand on each other, a pile for each label. `top`: where the axis ends, whatever the values are. */
export function plotOf(labels: readonly string[], series: readonly Series[], top?: number): Plot {
  const bottom = HEIGHT - FOOT;
  const piles = labels.map((_, place) => series.reduce((sum, one) => sum + (one.values[place] ?? 0), 0));
  const highest = top ?? roundUp(Math.max(1, ...piles));
  const scale = (bottom - TOP) / highest;
  const step = (WIDTH - LEFT - RIGHT) / Math.max(1, labels.length);
  const width = Math.min(36, step * 0.7);
  const middle = (place: number) => LEFT + step * (place + 0.5);
  const bars = labels.flatMap((_, place) => {
    let y = bottom;
    return series.flatMap(({ values }, index) => {
      const height = (values[place] ?? 0) * scale;
      y -= height;
      return height > 0 ? [{ series: index, x: middle(place) - width / 2, y, width, height }] : [];
    });
  });
  const every = Math.ceil(labels.length / MOST_LABELS);
  return {
    bars,
    marks: [0, highest / 2, highest].map((value) => ({ value, y: bottom - value * scale })),
    // The last one is the one that goes on.
    labels: labels
      .map((text, place) => ({ text, x: middle(place) }))
      .filter((_, place) => (labels.length - 1 - place) % every === 0),
    left: LEFT,
    bottom,
  };
}

/** To the next even number with one digit that counts, so that half of it can be said too. */
export function roundUp(value: number): number {
  if (value <= 2) return 2;
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 4, 6, 8, 10].map((one) => one * power);
  return steps.find((one) => one >= value && one % 2 === 0) ?? power * 10;
}
