import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { withDeadline } from "@slipway/kernel/deadline";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { tellTried } from "@slipway/testkit/hostile-count";
import { call, type HttpsCall } from "@slipway/testkit/https-client";
import { fractionsOf } from "@slipway/testkit/sample";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { expect } from "vitest";

/** `SLIPWAY_HOSTILE` says how many random inputs a family gets. */
export const COUNT = Number(process.env.SLIPWAY_HOSTILE ?? 300);

export type Dice = () => number;
export const dice = (family: string): Dice => fractionsOf(`hostile ${family}`);

export const pick = <T>(from: readonly T[], fraction: number): T => {
  const found = from[Math.floor(fraction * from.length)];
  if (found === undefined) throw new Error("nothing to choose from");
  return found;
};

/** An answer may take its time; that none comes is what is looked for. */
const ANSWER_MS = 60_000;
const SECRETS = /s3cret|PRIVATE KEY/;
/** Words of the language itself, which show unhandled cases. The agent's log has every refusal and every failed task. */
const UNTHOUGHT =
  /^.*(Cannot read prop|is not a function|is not iterable|must be of type|null bytes|Maximum call stack|Invalid array length).*$/m;

export interface AgentResponse {
  /** 0: the connection was cut, which is an answer, too. */
  readonly status: number;
  readonly text: string;
}

/** The agent as it is delivered, in its own process and mounts. Beside its directory is a file of another owner. */
export class AgentTarget {
  readonly machine: AgentMachine;
  readonly outside: string;
  #tried = 0;

  private constructor(machine: AgentMachine) {
    this.machine = machine;
    this.outside = join(machine.dir, "outside");
  }

  static async start(bundle: string): Promise<AgentTarget> {
    const target = new AgentTarget(await AgentMachine.open({ bundle, mounts: await canUseSandboxes() }));
    await writeFile(target.outside, "untouched");
    await target.machine.started();
    return target;
  }

  /** Sends one input, and holds the agent to what it owes everybody: an answer or a refusal, no secret, and life. */
  async attack(path: string, options: HttpsCall): Promise<AgentResponse> {
    this.#tried += 1;
    const told = await this.#send(path, options);
    const what = `${options.method} ${path.slice(0, 200)} ${String(options.body ?? "").slice(0, 300)}`;
    const log = () => this.machine.agent?.output().slice(-500);
    expect(this.machine.agent?.over, `the agent ended after ${what}: ${log()}`).toBe(false);
    expect(told.text, what).not.toMatch(SECRETS);
    // Upstream's answer to what is no envelope, without a word.
    const refused = told.status < 500 || (told.status === 500 && told.text === "");
    expect(refused, `${what}: ${told.status} ${told.text.slice(0, 200)} ${log()}`).toBe(true);
    if (told.status === 200 && path === "/agent") {
      const reply = JSON.parse(told.text) as object;
      expect("value" in reply !== "exception" in reply, `${what}: ${told.text.slice(0, 200)}`).toBe(true);
    }
    return told;
  }

  message(body: string): Promise<AgentResponse> {
    return this.attack("/agent", { method: "POST", body });
  }

  /** Checks that the agent works as before, and that files of others are unchanged. */
  async expectWell(): Promise<void> {
    const { caller, dir, agent } = this.machine;
    expect(await caller.ping()).toBe("pong");
    expect(await caller.value("get_state")).toMatchObject({ agent_id: "agent-1" });
    expect(await readFile(this.outside, "utf8")).toBe("untouched");
    expect((await readdir(dir)).sort()).toEqual(["agent.json", "outside", "user-data.json", "vcap"]);
    expect(agent?.output()).not.toMatch(SECRETS);
    expect(UNTHOUGHT.exec(agent?.output() ?? "")?.[0].slice(0, 500)).toBeUndefined();
  }

  async stop(family: string): Promise<void> {
    tellTried(family, this.#tried);
    await this.machine.close();
  }

  async #send(path: string, options: HttpsCall): Promise<AgentResponse> {
    return await withDeadline("an answer of the agent", ANSWER_MS, systemClock, undefined, async () => {
      try {
        const { status = 0, text } = await call(this.machine.port, path, options);
        return { status, text };
      } catch {
        return { status: 0, text: "" };
      }
    });
  }
}
