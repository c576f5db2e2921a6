import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@slipway/kernel/atomic-file";
import { badgeOf } from "./badge.ts";
import { htmlOf } from "./html.ts";
import { junitOf } from "./junit.ts";
import { type Receipt, receiptText } from "./receipt.ts";

/** Files of a report: the receipt and its other forms. */
export const REPORT_FILES = {
  receipt: "receipt.json",
  html: "report.html",
  junit: "junit.xml",
  badge: "badge.svg",
} as const;

/** Writes a receipt in all its forms into a directory, which is made if it does not exist. */
export async function writeReports(dir: string, receipt: Receipt): Promise<void> {
  await mkdir(dir, { recursive: true });
  const files: readonly (readonly [string, string])[] = [
    [REPORT_FILES.html, htmlOf(receipt)],
    [REPORT_FILES.junit, junitOf(receipt)],
    [REPORT_FILES.badge, badgeOf(receipt)],
    // Last: whoever finds a receipt finds the others.
    [REPORT_FILES.receipt, receiptText(receipt)],
  ];
  // Readable for everybody: they are made to be published, and hold no secret.
  for (const [name, content] of files) await replaceFile(join(dir, name), content, 0o644);
}
