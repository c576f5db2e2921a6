import { rename } from "node:fs/promises";
import { join } from "node:path";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AgentMachine } from "@slipway/testkit/agent-machine";
import { eventually } from "@slipway/testkit/eventually";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { diskShop } from "./testing/test-disks.ts";
import { fillTree, treeHash } from "./testing/tree.ts";

const sandboxes = needs("userns", await canUseSandboxes(), "mount namespaces cannot be made");
const bundle = agentBundle();

describe.runIf(sandboxes)("a real agent process whose disk is missing when it starts", () => {
  let machine: AgentMachine;
  beforeEach(async () => {
    machine = await AgentMachine.open({ bundle: bundle(), mounts: true });
  });
  afterEach(() => machine.close());

  it("tells whoever pings what it waits for, and goes on by itself when the disk comes", async () => {
    const scratch = await temporaryDirectory();
    onTestFinished(scratch.remove);
    const shop = await diskShop("directories", scratch.path, fillTree);
    const disk = await shop.filled(machine.dir, "disk-late");
    const first = await machine.started();
    await machine.caller.value("mount_disk", disk.cid, disk.hint);
    await first.kill();
    await machine.sandbox?.run("umount", machine.paths.store);
    const away = join(machine.dir, "detached");
    await rename(disk.hint.path, away);

    const agent = machine.start();
    const cause = await eventually("the cause", async () => {
      const said = await machine.caller.ping();
      return String(said).includes("device of persistent disk") ? String(said) : undefined;
    });
    expect(cause).toMatch(
      /^restarting agent: waiting for the device of persistent disk disk-late \(persistent disk, \d+ s\)$/,
    );
    expect(agent.over).toBe(false);

    await rename(away, disk.hint.path);
    await machine.caller.pong();
    expect(await machine.caller.value("list_disk")).toEqual([disk.cid]);
    expect(treeHash(machine.sandbox?.path(machine.paths.store) ?? "")).toBe(shop.hash);
  });
});
