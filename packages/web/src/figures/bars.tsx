import { useId } from "react";
import styles from "./figures.module.css";
import { HEIGHT, plotOf, type Series, WIDTH } from "./plot";

interface Props {
  title: string;
  labels: readonly string[];
  series: readonly Series[];
  top?: number;
  format: (value: number) => string;
}

/** The numbers themselves stand in the table beside it, for who cannot see it, too. */
export function Bars({ title, labels, series, top, format }: Props) {
  const id = useId();
  const plot = plotOf(labels, series, top);
  return (
    <div className={styles.plot}>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={title}>
        <defs>
          {series.map((_, index) => (
            <Hatch key={HATCHES[index]} id={`${id}${index}`} index={index} />
          ))}
        </defs>
        {plot.marks.map(({ value, y }) => (
          <g key={value}>
            <line className={styles.grid} x1={plot.left} x2={WIDTH} y1={y} y2={y} />
            <text className={styles.mark} x={plot.left - 6} y={y + 4}>
              {format(value)}
            </text>
          </g>
        ))}
        {plot.bars.map(({ series: index, ...bar }) => (
          <rect key={`${index} ${bar.x}`} className={styles.bar} fill={`url(#${id}${index})`} {...bar} />
        ))}
        {plot.labels.map(({ text, x }) => (
          <text key={text} className={styles.label} x={x} y={HEIGHT - 6}>
            {text}
          </text>
        ))}
      </svg>
      {series.length > 1 && (
        <ul className={styles.legend}>
          {series.map(({ name }, index) => (
            <li key={name}>
              <svg className={styles.swatch} viewBox="0 0 16 16" aria-hidden="true">
                <rect className={styles.bar} fill={`url(#${id}${index})`} x="1" y="1" width="14" height="14" />
              </svg>
              {name}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

const HATCHES = ["full", "slanted", "level", "none"] as const;

/** Told apart by its lines, not by a colour. */
function Hatch({ id, index }: { id: string; index: number }) {
  const kind = HATCHES[index];
  return (
    <pattern id={id} width="6" height="6" patternUnits="userSpaceOnUse">
      <rect className={kind === "full" ? styles.ink : styles.ground} width="6" height="6" />
      {kind === "slanted" && <path className={styles.stroke} d="M-1 1 1 -1 M0 6 6 0 M5 7 7 5" />}
      {kind === "level" && <path className={styles.stroke} d="M0 3h6" />}
    </pattern>
  );
}
