import { createHash } from "node:crypto";
import { escaped } from "./escape.ts";
import { STYLE } from "./html-style.ts";
import type { Exchange, Judgement, Receipt, RuleResult, Verdict } from "./receipt.ts";
import { byArea, countsOf, mixName, standingOf, summarySentence } from "./summary.ts";

const CLASS: Readonly<Record<Verdict, string>> = {
  passed: "passed",
  failed: "failed",
  "not applicable": "na",
  "not run": "notrun",
};

/** Signs beside the words, for readers who do not see the colors. */
const SIGN: Readonly<Record<Verdict, string>> = {
  passed: "✓",
  failed: "✗",
  "not applicable": "–",
  "not run": "○",
};

const STANDING = {
  certified: "Keeps the contract: nothing failed, and every core rule was judged.",
  failed: "Does not keep the contract.",
  incomplete: "No proof yet: nothing failed, but not every core rule was judged.",
} as const;

/**
 * Returns the receipt as one HTML page that needs no server, no script and no other file. Everything in it comes from
 * programs that are not trusted, so all of it is escaped, and the page's own policy forbids whatever could still get in.
 */
export function htmlOf(receipt: Receipt): string {
  const noun = receipt.kind === "cpi" ? "CPI" : "Agent";
  const title = `${noun} ${receipt.subject.name}: contract rules`;
  const digest = createHash("sha256").update(STYLE).digest("base64");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${digest}'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
${headerHtml(receipt, noun)}
<main>
${byArea(receipt.results).map(areaHtml).join("\n")}
${mixesHtml(receipt)}
</main>
<footer>Written by <code>slipway certify</code>. The same verdicts are in the receipt beside this page, which
<code>slipway certify verify</code> compares with the executable.</footer>
</body>
</html>
`;
}

function headerHtml(receipt: Receipt, noun: string): string {
  const standing = standingOf(receipt);
  const { results, mixes = [] } = receipt;
  const facts: readonly (readonly [string, string])[] = [
    ["sha256", `<code>${escaped(receipt.subject.sha256)}</code>`],
    ...(receipt.subject.info === undefined
      ? []
      : [["info", `<code>${escaped(JSON.stringify(receipt.subject.info))}</code>`] as const]),
    ["rules", `version ${escaped(receipt.rules)}`],
    ["date", `<time datetime="${escaped(receipt.date)}">${escaped(receipt.date)}</time>`],
    ["seed", `<code>${escaped(receipt.seed)}</code>`],
    ...Object.entries(receipt.options).map(
      ([name, value]) =>
        [`option ${escaped(name)}`, `<code>${escaped(JSON.stringify(value) ?? "")}</code>`] as const,
    ),
  ];
  return `<header>
<h1>${noun} ${escaped(receipt.subject.name)}</h1>
<p class="standing ${standing}">${STANDING[standing]}</p>
<dl class="facts">
${facts.map(([name, value]) => `<dt>${name}</dt><dd>${value}</dd>`).join("\n")}
</dl>
<p>${escaped(summarySentence(results))}${mixes.length === 0 ? "" : `; ${escaped(summarySentence(mixes, "mix"))}`}</p>
${barHtml([...results, ...mixes])}
${filtersHtml([...results, ...mixes])}
</header>`;
}

function barHtml(judgements: readonly Judgement[]): string {
  const { passed, failed, notApplicable, notRun } = countsOf(judgements);
  const parts = [
    ["failed", failed],
    ["passed", passed],
    ["na", notApplicable],
    ["notrun", notRun],
  ] as const;
  // As drawings: the policy of the page forbids styles of single elements.
  const total = Math.max(judgements.length, 1);
  let at = 0;
  const bars = parts
    .filter(([, count]) => count > 0)
    .map(([name, count]) => {
      const bar = `<rect class="${name}" x="${((at * 100) / total).toFixed(2)}" width="${((count * 100) / total).toFixed(2)}" height="4"/>`;
      at += count;
      return bar;
    });
  return `<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">${bars.join("")}</svg>`;
}

function filtersHtml(judgements: readonly Judgement[]): string {
  const { passed, failed, notApplicable, notRun } = countsOf(judgements);
  const choices = [
    ["all", `All ${judgements.length}`],
    ["failed", `Failed ${failed}`],
    ["passed", `Passed ${passed}`],
    ["left", `Not judged ${notApplicable + notRun}`],
    ["core", "Core only"],
  ] as const;
  const radio = ([id, label]: readonly [string, string]) =>
    `<label><input type="radio" name="show" id="show-${id}"${id === "all" ? " checked" : ""}>${label}</label>`;
  return `<fieldset><legend>Show</legend>\n${choices.map(radio).join("\n")}\n</fieldset>`;
}

function areaHtml({ area, rules }: { readonly area: string; readonly rules: readonly RuleResult[] }): string {
  return `<section>
<h2>${escaped(area)} <small>${escaped(summarySentence(rules))}</small></h2>
${rules.map((rule) => rowHtml(rule.id, rule.title, rule.level, rule)).join("\n")}
</section>`;
}

function mixesHtml({ mixes = [] }: Receipt): string {
  if (mixes.length === 0) return "";
  const rows = mixes.map((mix, at) => rowHtml(`MIX-${at + 1}`, mixName(mix), "core", mix));
  return `<section>
<h2>Mixes of versions <small>${escaped(summarySentence(mixes, "mix"))}</small></h2>
${rows.join("\n")}
</section>`;
}

function rowHtml(id: string, title: string, level: "core" | "extended", judgement: Judgement): string {
  const { verdict, reason, milliseconds, conversation = [] } = judgement;
  const more = [
    reason === undefined || reason === "" ? "" : `<p class="reason">${escaped(reason)}</p>`,
    conversation.length === 0 ? "" : conversationHtml(conversation, verdict === "failed"),
  ].join("");
  return `<article class="rule ${CLASS[verdict]} ${level}" id="${escaped(id)}">
<span class="verdict"><span aria-hidden="true">${SIGN[verdict]}</span> ${verdict}</span>
<a href="#${escaped(id)}"><code>${escaped(id)}</code></a>
<span class="title">${escaped(title)} <span class="level">${level}</span></span>
<span class="time">${milliseconds} ms</span>
${more === "" ? "" : `<div class="more">${more}</div>`}
</article>`;
}

function conversationHtml(conversation: readonly Exchange[], isOpen: boolean): string {
  const pieces = conversation.map(
    ({ direction, text, marked = false }) =>
      `<div class="exchange${marked ? " marked" : ""}"><b>${escaped(direction)}${marked ? ", which violates the rule" : ""}</b><pre>${escaped(indented(text))}</pre></div>`,
  );
  const count = `${conversation.length} ${conversation.length === 1 ? "message" : "messages"}`;
  return `<details${isOpen ? " open" : ""}><summary>Conversation, ${count}</summary>${pieces.join("")}</details>`;
}

/** Returns compact JSON over several lines. Any other text stays as it is, so that a reader sees what was really sent. */
function indented(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text.trim() ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
