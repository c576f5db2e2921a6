import { join } from "node:path";
import { CpiNotRunnable } from "@slipway/certify/errors";
import { standingOf } from "@slipway/certify/report/summary";
import { tableOf } from "@slipway/certify/report/text";
import { REPORT_FILES, writeReports } from "@slipway/certify/report/write-reports";
import { type Certified, certify } from "@slipway/certify/session/certify";
import { errorText } from "@slipway/kernel/errors";
import type { TypedInput } from "../command.ts";
import { makeHome } from "../home/make-home.ts";
import type { Tools } from "../tools.ts";
import type { Progress } from "../ui/ui.ts";
import { orderOf } from "./order.ts";

/** Some rule failed; the CPI or its cloud could not be used, or something of the run is left. */
const FAILED = 1;
const BROKEN = 3;
const INTERRUPTED = 130;

/** Parent of the directories of all runs. */
export const runsIn = (tools: Pick<Tools, "home">): string => join(tools.home.dir, "certify");

/** `slipway certify`; resolves to the exit code. */
export async function runCertify(given: TypedInput, tools: Tools): Promise<number> {
  const { ui, clock, random, stop } = tools;
  const order = await orderOf(given, random);
  // A Director may be started in it later.
  await makeHome(tools.home, process.getuid?.() ?? 1);
  let line: Progress | undefined;
  try {
    const done = await certify(
      order,
      { clock, random, stop, runs: runsIn(tools) },
      {
        onRule: ({ id, rule }, place, of) => {
          // In a pipe one line for each rule is enough.
          line = ui.live && !ui.json ? ui.progress(`${place}/${of} ${id} ${rule.title}`) : undefined;
        },
        onResult: ({ id, title, verdict, milliseconds }) => {
          const text = `${verdict.padEnd("not applicable".length)} ${id} ${title} (${milliseconds} ms)`;
          if (line === undefined) ui.note(text);
          else if (verdict === "failed") line.failed(text);
          else line.done(text);
        },
        onCleanUp: () => ui.aside("Removing what was made"),
      },
    );
    await report(done, given.text("report"), tools);
    return done.stopped ? INTERRUPTED : exitCode(done);
  } catch (error) {
    if (!CpiNotRunnable.is(error)) throw error;
    line?.failed();
    ui.note(errorText(error));
    return BROKEN;
  }
}

async function report({ receipt, left, stopped }: Certified, dir: string | undefined, { ui }: Tools) {
  if (ui.json) ui.block(`${JSON.stringify(receipt, null, 2)}\n`);
  else ui.block(`\n${tableOf(receipt)}`);
  for (const { thing, why } of left) ui.note(`not removed: ${thing}: ${why}`);
  if (left.length > 0) ui.note("`slipway certify clean` tries again to remove what is left.");
  if (stopped) ui.note("Stopped before the end: this is no receipt, and none is written.");
  if (dir === undefined || stopped) return;
  await writeReports(dir, receipt);
  ui.aside(
    `${join(dir, REPORT_FILES.html)} shows each rule; ${join(dir, REPORT_FILES.receipt)} is the receipt.`,
  );
}

function exitCode({ receipt, left }: Certified): number {
  const standing = standingOf(receipt);
  if (standing === "failed") return FAILED;
  return standing === "certified" && left.length === 0 ? 0 : BROKEN;
}
