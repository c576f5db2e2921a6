import { readFile } from "node:fs/promises";
import { AGENT_RULES, AGENT_RULES_VERSION } from "@slipway/certify/agent/rules";
import { digestOf } from "@slipway/certify/report/digest";
import { readReceipt } from "@slipway/certify/report/receipt";
import { type Finding, verifyReceipt } from "@slipway/certify/report/verify";
import { CPI_RULES } from "@slipway/certify/rules/catalogue";
import { RULES_VERSION } from "@slipway/certify/rules/rule";
import { messageTrail } from "@slipway/kernel/errors";
import { FileUnreadable, NoSubject } from "./errors.ts";

const RULES = {
  cpi: { version: RULES_VERSION, ids: Object.keys(CPI_RULES) },
  agent: { version: AGENT_RULES_VERSION, ids: Object.keys(AGENT_RULES) },
} as const;

export interface ToVerify {
  readonly receipt: string;
  /** One of them is given. */
  readonly cpi: string | undefined;
  readonly agent: string | undefined;
}

/** Reads the receipt, digests the executable, and compares them. */
export async function verifyFile({ receipt, cpi, agent }: ToVerify): Promise<readonly Finding[]> {
  const path = cpi ?? agent;
  if (path === undefined || (cpi !== undefined && agent !== undefined)) throw NoSubject({});
  const kind = cpi === undefined ? "agent" : "cpi";
  const source = await readable(receipt, readFile(receipt, "utf8"));
  const sha256 = await readable(path, digestOf(path));
  return verifyReceipt(readReceipt(source, receipt), { sha256, kind, rules: RULES[kind] });
}

const readable = <T>(path: string, reading: Promise<T>): Promise<T> =>
  reading.catch((cause: unknown) => {
    throw FileUnreadable({ path, why: messageTrail(cause) }, { cause });
  });
