import { messageTrail } from "@slipway/kernel/errors";
import type { MonitAction, Rule, Test } from "../monit-file/model.ts";
import { RateCounter } from "./rates.ts";
import { evaluate, type TestTools } from "./tests.ts";
import type { WatchedService } from "./watched.ts";

/** A rule whose state changed in this cycle, in monit's words. */
export interface RuleChange {
  readonly key: string;
  readonly event: string;
  readonly text: string;
  readonly failed: boolean;
  readonly action: MonitAction;
}

/** The rules of one service, and what they remember from cycle to cycle. */
export class RuleBook {
  readonly #counters = new Map<Rule, RateCounter>();
  readonly #before = new Map<string, string>();

  /** All rules of a service once; resolves to those whose state has changed. */
  async cycle(one: WatchedService, tools: Omit<TestTools, "before">): Promise<readonly RuleChange[]> {
    const verdicts: RuleChange[] = [];
    for (const rule of one.service.rules) {
      const outcome = await evaluate(rule.test, one, { ...tools, before: this.#before }).catch(
        (error: unknown) => ({ holds: undefined, text: messageTrail(error) }),
      );
      const counter = this.#counters.get(rule) ?? new RateCounter(rule.rate);
      this.#counters.set(rule, counter);
      const became = counter.add(outcome.holds);
      if (became === "same") continue;
      const failed = became === "failed";
      const action = failed ? rule.action : rule.recovery;
      verdicts.push({
        key: keyOf(rule),
        event: eventOf(rule.test, failed),
        text: outcome.text,
        failed,
        action,
      });
    }
    return verdicts;
  }

  /** Clears the history of a restarted service. */
  reset(): void {
    for (const counter of this.#counters.values()) counter.reset();
  }
}

const keyOf = (rule: Rule): string => `${rule.test.on} line ${rule.line}`;

/** Returns monit's name for the event. */
function eventOf(test: Test, failed: boolean): string {
  const pair = (bad: string, good: string) => (failed ? bad : good);
  switch (test.on) {
    case "resource":
    case "space":
    case "inode":
      return pair("resource limit matched", "resource limit succeeded");
    case "restarts":
      return pair("timeout", "timeout recovery");
    case "existence":
      return pair(test.exists ? "exist failed" : "does not exist", "exists");
    case "changed":
      return pair(`${test.what} changed`, `${test.what} not changed`);
    case "match":
      return pair("content failed", "content succeeded");
    default:
      return pair(`${test.on} failed`, `${test.on} succeeded`);
  }
}
