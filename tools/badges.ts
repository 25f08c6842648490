/** The label, the value and the color of the value's background. */
type Badge = [label: string, value: string, color: string];

/** Returns an SVG badge with the label on the left and the value on the right. */
function drawBadge([label, value, color]: Badge): string {
  const [left, right] = [label, value].map((text) => Math.round(text.length * 6.6) + 14) as [number, number];
  const text = (x: number, width: number, content: string) =>
    `<text x="${x + width / 2}" y="14" textLength="${width - 14}">${content}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${label}: ${value}">
  <clipPath id="round"><rect width="${left + right}" height="20" rx="4"/></clipPath>
  <g clip-path="url(#round)">
    <rect width="${left}" height="20" fill="#374151"/>
    <rect x="${left}" width="${right}" height="20" fill="${color}"/>
  </g>
  <g fill="#fff" text-anchor="middle" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">
    ${text(0, left, label)}
    ${text(left, right, value)}
  </g>
</svg>
`;
}

/** Returns the badges of the README as SVG files, by path. */
export function drawBadges(badges: Record<string, Badge>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(badges).map(([name, badge]) => [`docs/badges/${name}.svg`, drawBadge(badge)]),
  );
}
