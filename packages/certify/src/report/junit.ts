import { escaped, escapedAttribute, oneLine } from "./escape.ts";
import type { Judgement, Receipt } from "./receipt.ts";
import { byArea, countsOf, mixName } from "./summary.ts";

interface Case {
  readonly name: string;
  readonly judgement: Judgement;
}

interface Suite {
  readonly name: string;
  readonly cases: readonly Case[];
}

/** Returns the receipt as JUnit XML, which CI systems show: a suite for each area, and one for the mixes. */
export function junitOf(receipt: Receipt): string {
  const suites: readonly Suite[] = [
    ...byArea(receipt.results).map(({ area, rules }) => ({
      name: area,
      cases: rules.map((rule) => ({ name: `${rule.id} ${rule.title}`, judgement: rule })),
    })),
    ...(receipt.mixes === undefined
      ? []
      : [{ name: "mixes", cases: receipt.mixes.map((mix) => ({ name: mixName(mix), judgement: mix })) }]),
  ];
  const name = `slipway certify ${receipt.kind}`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${attributes({ name, ...numbers(suites.flatMap(({ cases }) => cases)) })}>`,
    ...suites.map((suite) => suiteXml(suite, receipt)),
    "</testsuites>",
    "",
  ].join("\n");
}

function suiteXml({ name, cases }: Suite, receipt: Receipt): string {
  const properties = {
    subject: receipt.subject.name,
    sha256: receipt.subject.sha256,
    rules: receipt.rules,
    seed: receipt.seed,
  };
  return [
    `  <testsuite ${attributes({ name, timestamp: receipt.date, ...numbers(cases) })}>`,
    "    <properties>",
    ...Object.entries(properties).map(
      ([property, value]) => `      <property ${attributes({ name: property, value })}/>`,
    ),
    "    </properties>",
    ...cases.map((one) => caseXml(one, `${receipt.kind}.${name}`)),
    "  </testsuite>",
  ].join("\n");
}

function caseXml({ name, judgement }: Case, classname: string): string {
  const head = attributes({
    classname: oneLine(classname),
    name: oneLine(name),
    time: seconds([judgement]),
  });
  const message = judgement.reason ?? "";
  if (judgement.verdict === "passed") return `    <testcase ${head}/>`;
  const inner =
    judgement.verdict === "failed"
      ? `<failure ${attributes({ type: "violation", message })}>${escaped(conversationText(judgement))}</failure>`
      : `<skipped ${attributes({ message: `${judgement.verdict}: ${message}` })}/>`;
  return `    <testcase ${head}>${inner}</testcase>`;
}

const conversationText = ({ reason = "", conversation = [] }: Judgement): string =>
  [
    reason,
    ...conversation.map(({ direction, text, marked }) => `${marked ? ">>> " : ""}${direction}: ${text}`),
  ].join("\n");

const numbers = (cases: readonly Case[]) => {
  const judgements = cases.map(({ judgement }) => judgement);
  const { failed, notApplicable, notRun } = countsOf(judgements);
  return {
    tests: String(cases.length),
    failures: String(failed),
    errors: "0",
    skipped: String(notApplicable + notRun),
    time: seconds(judgements),
  };
};

const seconds = (judgements: readonly Judgement[]): string =>
  (judgements.reduce((sum, { milliseconds }) => sum + milliseconds, 0) / 1000).toFixed(3);

const attributes = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}="${escapedAttribute(value)}"`)
    .join(" ");
