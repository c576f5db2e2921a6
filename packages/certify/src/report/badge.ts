import { escaped } from "./escape.ts";
import type { Receipt } from "./receipt.ts";
import { countsOf, standingOf } from "./summary.ts";

/** Width of a character in the badge's font, at its size; the text is stretched to it where fonts differ. */
const CHARACTER = 6.6;
const PADDING = 8;
const HEIGHT = 20;
const COLORS = { certified: "#1a7f37", failed: "#b3261e", incomplete: "#5f6368" } as const;

/** Returns an SVG of one line with what the receipt says as a whole, to be shown in a README. */
export function badgeOf(receipt: Receipt): string {
  const label = receipt.kind === "cpi" ? "BOSH CPI contract" : "BOSH agent contract";
  const standing = standingOf(receipt);
  const value = valueText(receipt);
  const [left, right] = [widthOf(label), widthOf(value)];
  const cell = (text: string, at: number, width: number) =>
    `<text x="${at + width / 2}" y="14" textLength="${width - 2 * PADDING}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="${HEIGHT}" role="img" aria-label="${escaped(`${label}: ${value}`)}">
<title>${escaped(`${label}: ${value}`)}</title>
<rect width="${left + right}" height="${HEIGHT}" rx="3" fill="#3c4043"/>
<path d="M${left} 0h${right - 3}a3 3 0 0 1 3 3v${HEIGHT - 6}a3 3 0 0 1-3 3h-${right - 3}z" fill="${COLORS[standing]}"/>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
${cell(label, 0, left)}
${cell(value, left, right)}
</g>
</svg>
`;
}

function valueText(receipt: Receipt): string {
  const { passed, failed } = countsOf([...receipt.results, ...(receipt.mixes ?? [])]);
  const standing = standingOf(receipt);
  if (standing === "failed") return `${failed} failed`;
  if (standing === "incomplete") return "incomplete";
  return `${passed} passed`;
}

const widthOf = (text: string): number => Math.round(text.length * CHARACTER) + 2 * PADDING;
