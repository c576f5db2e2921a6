import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { eventually } from "@slipway/testkit/eventually";
import { sampleOf } from "@slipway/testkit/sample";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { describe, expect, it, onTestFinished } from "vitest";
import { EnvLab } from "./testing/env-lab.ts";
import { builtPrograms } from "./testing/programs.ts";

const programs = builtPrograms();

/** Runs, and never answers. */
const SILENT = "setInterval(() => undefined, 60_000);\n";

describe("create-env that was stopped while it waited for an agent", () => {
  const WAYS: readonly [way: string, recreate: boolean][] = [
    ["--recreate", true],
    ["a manifest that has changed", false],
  ];
  it.each(sampleOf("waited in vain", WAYS, 1))("replaces the VM with %s", async (_, recreate) => {
    const { path, remove } = await temporaryDirectory();
    onTestFinished(remove);
    const agent = join(path, "agent.cjs");
    const lab = await EnvLab.open({ ...programs(), agent });
    await lab.stemcell();
    const manifest = (more: object) => lab.manifest({ provider: lab.embedded(more) });
    await writeFile(agent, SILENT);
    const stopping = new AbortController();
    const waiting = lab.create(manifest({}), { recreate, stop: stopping.signal });
    const ended = waiting.catch((error: unknown) => error);
    const before = await eventually("a VM in the state file", async () => {
      const { slipway } = await lab.document();
      return slipway.instance?.vms[0];
    });
    stopping.abort(new Error("stopped by the test"));
    expect(String(await ended)).toContain("stopped by the test");
    expect(await lab.vms()).toEqual([before.cid]);

    await copyFile(programs().agent, agent);
    const again = recreate ? manifest({}) : manifest({ hide: ["/nonexistent"] });
    const said = await lab.create(again, { recreate });
    expect(said).toContain(`Deleting sandbox '${before.cid}' of an interrupted run... Finished`);
    const after = await lab.document();
    expect(await lab.vms()).toEqual([after.current_vm_cid]);
    expect(after.current_vm_cid).not.toBe(before.cid);
    await lab.delete(again);
    expect([await lab.vms(), await lab.processes()]).toEqual([[], []]);
  });
});
