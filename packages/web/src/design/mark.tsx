/** Two halves that hold each other: neither goes on without the other. */
export function Mark({ size = 20 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="4 4 24 24" aria-hidden="true" focusable="false">
      <path d="M8 4h7v6h5v5H10v9h5v4H8a4 4 0 0 1-4-4V8a4 4 0 0 1 4-4Z" fill="var(--accent)" />
      <path d="M24 28h-7v-6h-5v-5h10V8h-5V4h7a4 4 0 0 1 4 4v16a4 4 0 0 1-4 4Z" fill="var(--text)" />
    </svg>
  );
}
