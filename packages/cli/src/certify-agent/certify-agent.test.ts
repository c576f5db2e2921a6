import { chmod, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { readReceipt } from "@slipway/certify/report/receipt";
import { bundled } from "@slipway/testkit/bundle";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCli } from "../testing/run-cli.ts";

const agent = bundled("../../../agent/src/bin/slipway-agent.ts", import.meta.url);

const directory = async () => {
  const { path, remove } = await temporaryDirectory();
  onTestFinished(remove);
  return path;
};

/** Limit for what hangs: an agent is started three times. */
const HANGS_MS = 180_000;

describe("slipway certify-agent", { timeout: HANGS_MS }, () => {
  it("starts an agent, restarts it, checks the rules that are named, and writes a receipt", async () => {
    const report = join(await directory(), "report");
    const only = ["AGENT-WIRE-001", "AGENT-WIRE-002", "AGENT-START-004"];
    const { code, out, err } = await runCli([
      ...["certify-agent", agent(), "--report", report],
      ...only.flatMap((rule) => ["--only", rule]),
    ]);
    expect([code, err, code === 0 ? "" : out]).toEqual([0, "", ""]);
    expect(out).toContain("3 passed, 0 failed");
    const receipt = readReceipt(await readFile(join(report, "receipt.json"), "utf8"), "receipt.json");
    expect(receipt).toMatchObject({
      kind: "agent",
      subject: { info: { api_version: 1 } },
      options: { only },
    });
    expect(receipt.results.filter(({ verdict }) => verdict === "passed").map(({ id }) => id)).toEqual(only);
  });

  it("says what an agent wrote that ends at once", async () => {
    const broken = join(await directory(), "agent.sh");
    await writeFile(broken, "#!/bin/sh\necho 'no such platform' >&2\nexit 1\n");
    await chmod(broken, 0o755);
    const { code, err } = await runCli(["certify-agent", broken]);
    expect(code).toBe(1);
    expect(err).toMatch(/did not start: it ended 3 times; it said: .*no such platform/);
  });

  it("says that there is no agent at a path", async () => {
    expect(await runCli(["certify-agent", "/nowhere/agent"])).toMatchObject({
      code: 2,
      err: expect.stringContaining("there is no agent at /nowhere/agent"),
    });
  });
});
