import { systemClock } from "@slipway/kernel/clock";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { describe, expect, it } from "vitest";
import type { CheckContext } from "./check.ts";
import { Messages } from "./messages.ts";
import { AgentConversation } from "./record.ts";
import { resultsOf } from "./results.ts";
import { AGENT_AREAS, AGENT_RULES } from "./rules.ts";
import { ALL_CHECKS, runChecks } from "./run.ts";

class Parrot extends Messages {
  override async deliver(): Promise<AgentReply> {
    return { value: "polly" };
  }
}

const context = (over: Partial<CheckContext> = {}): CheckContext => ({
  agent: new Parrot(systemClock),
  https: undefined,
  nats: undefined,
  baseDir: undefined,
  natsBaseDir: undefined,
  disks: undefined,
  imageDisk: undefined,
  machine: false,
  certificatesDir: "/nowhere",
  heartbeats: false,
  network: "private",
  certificate: "",
  uuid: () => "id",
  control: undefined,
  nextCertificate: undefined,
  differs: new Map(),
  absent: {},
  ...over,
});

describe("the rules of agents", () => {
  it("are decided by one check each", () => {
    expect(ALL_CHECKS.map(({ id }) => id).sort()).toEqual(Object.keys(AGENT_RULES).sort());
  });

  it("are numbered within their area without a gap", () => {
    const numbers = new Map<string, number[]>();
    for (const id of Object.keys(AGENT_RULES)) {
      const [, area = "", number = ""] = /^AGENT-([A-Z]+)-(\d{3})$/.exec(id) ?? [];
      numbers.set(area, [...(numbers.get(area) ?? []), Number(number)]);
    }
    for (const [area, all] of numbers) expect([area, all]).toEqual([area, all.map((_, at) => at + 1)]);
  });

  it("have a sentence of the contract and a cost that end with a full stop", () => {
    for (const [id, { contract, cost }] of Object.entries(AGENT_RULES))
      expect([id, contract.at(-1), cost.at(-1)]).toEqual([id, ".", "."]);
  });
});

describe("results of checks for a receipt", () => {
  it("have every rule once, in the order of the rules, with its area", async () => {
    const results = resultsOf(await runChecks(context()));
    expect(results.map(({ id }) => id)).toEqual(Object.keys(AGENT_RULES));
    expect(results[0]).toMatchObject({ area: AGENT_AREAS.wire, verdict: "not run", reason: "needs --mbus" });
  });

  it("have the conversation of a failure with the last message marked", async () => {
    const only = new Set(["AGENT-WIRE-004"]);
    const failed = resultsOf(await runChecks(context({ only }))).filter(
      ({ verdict }) => verdict === "failed",
    );
    expect(failed.map(({ id }) => id)).toEqual(["AGENT-WIRE-004"]);
    const said = failed[0]?.conversation ?? [];
    expect(said.at(-1)).toEqual({ direction: "response", text: '{"value":"polly"}', marked: true });
    expect(said[0]).toMatchObject({ direction: "request" });
    expect(said.filter(({ marked }) => marked)).toHaveLength(1);
  });

  it("excuse a difference by decision for an extended rule, and never for a core rule", async () => {
    const differs = new Map([
      ["AGENT-WIRE-008", "decision A"],
      ["AGENT-WIRE-004", "decision B"],
    ]);
    const results = resultsOf(await runChecks(context({ differs })));
    const of = (id: string) => results.find((one) => one.id === id);
    expect(of("AGENT-WIRE-008")).toMatchObject({
      verdict: "not applicable",
      reason: "it differs by decision: decision A",
    });
    expect(of("AGENT-WIRE-004")).toMatchObject({ verdict: "failed" });
  });

  it("leave out what --only does not name", async () => {
    const results = resultsOf(await runChecks(context({ only: new Set(["AGENT-WIRE-005"]) })));
    expect(results.filter(({ reason }) => reason !== "left out by --only").map(({ id }) => id)).toEqual([
      "AGENT-WIRE-005",
    ]);
  });
});

describe("the record of a conversation with an agent", () => {
  it("has no private key and no password hash", () => {
    const record = new AgentConversation();
    const cert = { ca: "CA", certificate: "CERT", private_key: "canary-key" };
    record.request("update_settings", [{ mbus: { cert } }], 3);
    record.request("ssh", ["setup", { user: "bosh_x", password: "canary-hash", public_key: "k" }], 3);
    expect(JSON.stringify(record.violation())).not.toContain("canary");
  });

  it("keeps a question that is asked again and again once", () => {
    const record = new AgentConversation();
    for (let times = 0; times < 50; times++) {
      record.request("get_task", ["1"], 3);
      record.reply("get_task", { value: { agent_task_id: "1", state: "running" } });
    }
    record.request("get_task", ["1"], 3);
    record.reply("get_task", { value: "done" });
    expect(record.violation().map(({ direction }) => direction)).toEqual([
      "request",
      "response",
      "request",
      "response",
    ]);
  });
});
