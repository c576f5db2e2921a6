import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import type { AgentReply } from "@slipway/protocol/agent/envelope";
import { CA } from "@slipway/testkit/certificates";
import { freePort } from "@slipway/testkit/free-port";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CheckContext, CheckOutcome } from "./check.ts";
import { conformanceCommand } from "./cli.ts";
import { Messages } from "./messages.ts";
import { ALL_CHECKS, isPassed, outcomeTable, runChecks } from "./run.ts";

/** Answers everything the same way, which is wrong for nearly everything. */
class Parrot extends Messages {
  override async deliver(method: string): Promise<AgentReply> {
    return method === "info" ? { value: { api_version: 1 } } : { value: "polly" };
  }
}

const context: CheckContext = {
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
  absent: { nats: "no bus on this machine" },
};

const resultOf = (outcomes: readonly CheckOutcome[], number: number, part?: string) =>
  outcomes.find(({ check }) => check.number === number && check.part === part);

describe("the list of checks", () => {
  it("has every number of the protocol's list, each check once and by a name of its own", () => {
    const numbers = new Set(ALL_CHECKS.map(({ number }) => number));
    expect([...numbers].sort((a, b) => a - b)).toEqual(Array.from({ length: 55 }, (_, at) => at + 1));
    const labels = ALL_CHECKS.map(({ number, part = "" }) => `${number}${part}`);
    expect(new Set(labels).size).toBe(labels.length);
    expect(new Set(ALL_CHECKS.map(({ name }) => name)).size).toBe(ALL_CHECKS.length);
  });
});

describe("checking an agent", () => {
  it("fails what it gets wrong, passes what it gets right, and says why the rest was not run", async () => {
    const outcomes = await runChecks(context);
    expect(resultOf(outcomes, 6)).toMatchObject({ result: "passed" });
    expect(resultOf(outcomes, 5)).toMatchObject({ result: "failed", why: expect.stringContaining("polly") });
    expect(resultOf(outcomes, 1)).toMatchObject({ result: "not run", why: "no bus on this machine" });
    expect(resultOf(outcomes, 2)).toMatchObject({ result: "not run", why: "needs --mbus" });
    expect(resultOf(outcomes, 16)).toMatchObject({ result: "not run", why: "needs --base-dir" });
    expect(resultOf(outcomes, 47)).toMatchObject({ why: "changes the machine; needs --machine" });
    const table = outcomeTable(outcomes);
    expect(table).toContain(
      "\nnot run: no bus on this machine\n    1   AGENT-BUS-001     ping is answered over NATS",
    );
    expect(table).toMatch(/\n\d+ passed, \d+ failed, \d+ not run\n$/);
    expect(outcomes).toHaveLength(ALL_CHECKS.length);
  });

  it("has passed when nothing failed, and where all is wanted, when nothing was left out either", async () => {
    const outcomes = await runChecks(context);
    const without = (...results: readonly string[]) =>
      outcomes.filter(({ result }) => !results.includes(result));
    expect(isPassed(outcomes, false)).toBe(false);
    expect(isPassed(without("failed"), false)).toBe(true);
    expect(isPassed(without("failed"), true)).toBe(false);
    expect(isPassed(without("failed", "not run"), true)).toBe(true);
  });
});

describe("the program", () => {
  const run = async (...argv: string[]) => {
    const said: string[] = [];
    const io = { out: (text: string) => void said.push(text), err: (text: string) => void said.push(text) };
    return { code: await conformanceCommand(argv, "", io), said: said.join("") };
  };

  it("says in one line that no agent answers, over HTTPS and over NATS", async () => {
    const port = await freePort();
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const ca = join(path, "ca.pem");
    await writeFile(ca, CA);
    const https = await run("--ca", ca, "--mbus", `https://u@127.0.0.1:${port}`);
    expect(https.code).toBe(2);
    expect(https.said).toMatch(
      /^CER-010 no agent answers at https:\/\/u@127\.0\.0\.1:\d+: .*ECONNREFUSED.*\n$/,
    );
    const pair = ["--nats-cert", ca, "--nats-key", ca, "--agent-id", "a"];
    const nats = await run("--ca", ca, "--nats", `nats://127.0.0.1:${port}`, ...pair);
    expect(nats).toMatchObject({
      code: 2,
      said: expect.stringMatching(/^CER-010 no NATS server answers .*\n$/),
    });
  });

  it("explains itself and refuses what it does not understand", async () => {
    expect(await run("--help")).toMatchObject({ code: 0, said: expect.stringContaining("--nats") });
    expect(await run()).toMatchObject({ code: 2, said: expect.stringContaining("--ca is needed") });
    expect(await run("--frob")).toMatchObject({ code: 2 });
    expect(await run("--ca", "package.json")).toMatchObject({
      code: 2,
      said: expect.stringContaining("--mbus or --nats is needed"),
    });
    expect(await run("--ca", "package.json", "--mbus", "https://u:secret@h:1")).toMatchObject({
      code: 2,
      said: expect.not.stringContaining("secret"),
    });
    const whole = ["--ca", "package.json", "--mbus", "https://u@h:1"];
    for (const [flag, value, why] of [
      ["--control", '"reboot"', "a JSON array of strings"],
      ["--control", "[]", "a JSON array of strings"],
      ["--differs", "45", "RULE=WHY"],
      ["--differs", "99=why", "there is no rule 99"],
      ["--next-cert", "package.json", "--next-key is needed"],
    ])
      expect(await run(...whole, `${flag}`, `${value}`)).toMatchObject({
        code: 2,
        said: expect.stringContaining(`${why}`),
      });
  });
});
