import { basename } from "node:path";
import type { Clock } from "@slipway/kernel/clock";
import { digestOf } from "../report/digest.ts";
import { RECEIPT_FORMAT, type Receipt } from "../report/receipt.ts";
import type { CheckOutcome } from "./check.ts";
import type { Messages } from "./messages.ts";
import { resultsOf } from "./results.ts";
import { AGENT_RULES_VERSION } from "./rules.ts";

/** Options that change what is checked; the others are places of this machine. */
const RECORDED = ["only", "differs", "heartbeats", "machine", "network"] as const;

interface AgentReceiptOf {
  readonly outcomes: readonly CheckOutcome[];
  readonly agent: Messages;
  /** `agent`: path of the executable. */
  readonly subject: { readonly agent: string };
  readonly flags: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
}

export async function agentReceipt({
  outcomes,
  agent,
  subject,
  flags,
  clock,
}: AgentReceiptOf): Promise<Receipt> {
  const info = await agent.value("info").catch(() => undefined);
  return {
    format: RECEIPT_FORMAT,
    kind: "agent",
    subject: {
      name: basename(subject.agent),
      sha256: await digestOf(subject.agent),
      ...(info === undefined ? {} : { info }),
    },
    rules: AGENT_RULES_VERSION,
    date: new Date(clock.now()).toISOString(),
    seed: typeof flags.seed === "string" ? flags.seed : "",
    options: Object.fromEntries(
      RECORDED.flatMap((name) => (flags[name] === undefined ? [] : [[name, flags[name]]])),
    ),
    results: resultsOf(outcomes),
  };
}
