// Draws the pictures of the docs from their texts: lanes side by side, messages from top to bottom.

const LANE = 150;
const MARGIN = 20;
const GAP = 30;
const ROW = 44;
const HEAD = 96;
const FONT = "system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif";
const COLOURS = ["#1f6feb", "#8250df", "#bc4c00", "#1a7f37"];
const NOTE_CHARS_PER_PX = 1 / 7.9;

const escaped = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

/** What the text says: diagrams with lanes, messages and a note. A line that says nothing known is a mistake. */
export function read(text) {
  const diagrams = [];
  for (const [at, line] of text.split("\n").entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const refuse = (why) => {
      throw new Error(`line ${at + 1}: ${why}: ${line}`);
    };
    const now = diagrams.at(-1);
    const title = /^diagram (.+)$/.exec(line)?.[1];
    if (title !== undefined) {
      diagrams.push({ title, lanes: [], messages: [], note: "" });
      continue;
    }
    if (now === undefined) refuse("outside of a diagram");
    const lanes = /^lanes (.+)$/.exec(line)?.[1];
    const note = /^note (.+)$/.exec(line)?.[1];
    const message = /^(\S+) (--?>) (\S+): (.+)$/.exec(line);
    if (lanes !== undefined) now.lanes = lanes.split(" | ");
    else if (note !== undefined) now.note = note;
    else if (message !== null) {
      const [, from, arrow, to, label] = message;
      for (const lane of [from, to]) if (!now.lanes.includes(lane)) refuse(`there is no lane ${lane}`);
      now.messages.push({
        from: now.lanes.indexOf(from),
        to: now.lanes.indexOf(to),
        answer: arrow === "-->",
        label,
      });
    } else refuse("not understood");
  }
  return diagrams;
}

const MONO = "ui-monospace, SFMono-Regular, Menlo, Consolas, Liberation Mono, monospace";
const CHAR = 7.9;
const LINE = 20;
/** Widest line of a terminal. Longer ones go on below. */
const COLUMNS = 112;

/** A terminal after `terminal TITLE`: what was typed begins with `$ `. */
function drawTerminal(title, lines) {
  const shown = lines.flatMap((line) => (line === "" ? [""] : wrapped(line, COLUMNS)));
  const width = 2 * MARGIN + Math.ceil(COLUMNS * CHAR);
  const height = 40 + shown.length * LINE + MARGIN;
  const text = shown.map((line, at) => {
    const colour = line.startsWith("$ ")
      ? "#79c0ff"
      : /Visits|count goes on/.test(line)
        ? "#7ee787"
        : "#e6edf3";
    return `<text x="${MARGIN}" y="${58 + at * LINE}" fill="${colour}">${escaped(line)}</text>`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="${MONO}" font-size="13" role="img">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${width}" height="${height}" rx="10" fill="#0d1117"/>`,
    ...["#ff5f56", "#ffbd2e", "#27c93f"].map(
      (colour, at) => `<circle cx="${MARGIN + 4 + at * 18}" cy="20" r="6" fill="${colour}"/>`,
    ),
    ...text,
    "</svg>",
    "",
  ].join("\n");
}

/** The whole picture: a terminal, or diagrams beside each other. */
export function draw(text) {
  const [first = "", ...lines] = text.trimEnd().split("\n");
  const terminal = /^terminal (.+)$/.exec(first)?.[1];
  if (terminal !== undefined) return drawTerminal(terminal, lines);
  const diagrams = read(text);
  const widths = diagrams.map(({ lanes }) => Math.max(lanes.length, 3.4) * LANE);
  const notes = diagrams.map(({ note }, at) =>
    wrapped(note, Math.floor((widths[at] - 10) * NOTE_CHARS_PER_PX)),
  );
  const rows = Math.max(...diagrams.map(({ messages }) => messages.length));
  const noteLines = Math.max(...notes.map((lines) => lines.length));
  const width = widths.reduce((sum, one) => sum + one, 0) + GAP * (diagrams.length - 1) + 2 * MARGIN;
  const height = HEAD + rows * ROW + 30 + noteLines * 20 + MARGIN;
  let x = MARGIN;
  const parts = diagrams.map((diagram, at) => {
    const part = one(diagram, notes[at], x, widths[at], rows, noteLines);
    x += widths[at] + GAP;
    return part;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${FONT}" role="img" aria-label="${escaped(diagrams.map(({ title }) => title).join("; "))}">
<!-- Drawn by tools/draw.mjs. Change the text beside it, and run npm run docs. -->
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join("\n")}
</svg>
`;
}

function one({ title, lanes, messages }, note, left, width, rows, noteLines) {
  const lane = width / lanes.length;
  const middle = (index) => left + lane * (index + 0.5);
  const bottom = HEAD + rows * ROW + 4;
  const out = [
    `<rect x="${left - 8}" y="12" width="${width + 16}" height="${bottom + noteLines * 20 + 12}" rx="10" fill="#f6f8fa" stroke="#d0d7de"/>`,
    `<text x="${left + width / 2}" y="38" text-anchor="middle" font-size="18" font-weight="600" fill="#1f2328">${escaped(title)}</text>`,
  ];
  for (const [index, name] of lanes.entries()) {
    const colour = colourOf(name);
    out.push(
      `<line x1="${middle(index)}" y1="82" x2="${middle(index)}" y2="${bottom}" stroke="${colour}" stroke-opacity="0.35" stroke-width="2"/>`,
      `<rect x="${middle(index) - 52}" y="54" width="104" height="30" rx="6" fill="${colour}"/>`,
      `<text x="${middle(index)}" y="74" text-anchor="middle" font-size="15" font-weight="600" fill="#ffffff">${escaped(name)}</text>`,
    );
  }
  for (const [row, { from, to, answer, label }] of messages.entries()) {
    const y = HEAD + row * ROW + 28;
    const [a, b] = [middle(from), middle(to)];
    const way = Math.sign(b - a);
    const colour = colourOf(lanes[from]);
    out.push(
      `<line x1="${a + way * 4}" y1="${y}" x2="${b - way * 9}" y2="${y}" stroke="${colour}" stroke-width="2"${answer ? ' stroke-dasharray="5 4"' : ""}/>`,
      `<path d="M ${b - way * 3} ${y} l ${-way * 9} -5 l 0 10 z" fill="${colour}"/>`,
      label_(label, (a + b) / 2, y - 7, left, width),
    );
  }
  for (const [at, line] of note.entries())
    out.push(
      `<text x="${left + 4}" y="${bottom + 26 + at * 20}" font-size="14" fill="#57606a">${escaped(line)}</text>`,
    );
  return out.join("\n");
}

/** With a ground of its own, so that lines behind it do not cross it; never beyond the edge of its diagram. */
function label_(text, x, y, left, width) {
  const half = text.length * 3.6 + 4;
  const at = Math.min(Math.max(x, left + half), left + width - half);
  return `<rect x="${at - half}" y="${y - 13}" width="${half * 2}" height="17" fill="#f6f8fa"/><text x="${at}" y="${y}" text-anchor="middle" font-size="13" fill="#1f2328">${escaped(text)}</text>`;
}

const NAMES = ["Director", "CPI", "Registry", "Agent"];
const colourOf = (name) => COLOURS[NAMES.indexOf(name)] ?? "#57606a";

function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== "" && last.length + word.length + 1 > most) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return lines;
}
