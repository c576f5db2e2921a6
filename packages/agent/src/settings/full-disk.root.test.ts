import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import type { AgentSettings } from "@slipway/protocol/settings/agent-settings";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it, onTestFinished } from "vitest";
import { pathsUnder } from "../paths.ts";
import { fileAgentState } from "../state/agent-state.ts";
import { StateNotWritten } from "../state/errors.ts";
import { fileManagedDisk } from "../state/managed-disk.ts";
import { fileSpecStore } from "../state/spec-store.ts";
import { SettingsStore } from "./store.ts";
import { AGENT_ID, NEVER, SETTINGS, tools } from "./testing/settings-lab.ts";

const root = needs("root-loop", process.getuid?.() === 0, "mounting a small disk needs root");

/** A file system so small that it can be filled. */
async function smallDisk(dir: string) {
  const base = join(dir, "small");
  await mkdir(base);
  const mounted = await systemExec("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", base]);
  expect(mounted.code).toBe(0);
  onTestFinished(async () => void (await systemExec("umount", [base])));
  const fill = join(base, "fill");
  return {
    paths: pathsUnder(base),
    fill: () => writeFile(fill, Buffer.alloc(1 << 20)).catch(() => undefined),
    free: () => rm(fill),
  };
}

describe.runIf(root)("on a disk that is really full", () => {
  it("state is refused, what was kept stays whole, nothing is left half-written, and all is well once there is room", async () => {
    const t = await tools();
    const disk = await smallDisk(t.dir);
    const spec = fileSpecStore(disk.paths.spec, t);
    const managed = fileManagedDisk(disk.paths.managedDisk, t);
    const state = fileAgentState(disk.paths.agentState, t);
    await spec.save({ name: "old" });
    await managed.save("vol-1");
    const before = (await readdir(disk.paths.boshDir)).sort();
    await disk.fill();
    // Larger than what a file may still get of a page that is its own already.
    const large = { name: "x".repeat(70_000) };
    await expect(spec.save(large)).rejects.toSatisfy(StateNotWritten.is);
    await expect(managed.save("vol-2")).rejects.toSatisfy(StateNotWritten.is);
    await expect(state.setHostsConfigured()).rejects.toSatisfy(StateNotWritten.is);
    expect(await spec.load()).toEqual({ name: "old" });
    expect(await managed.load()).toBe("vol-1");
    expect((await readdir(disk.paths.boshDir)).sort()).toEqual(before);
    await disk.free();
    await managed.save("vol-2");
    await state.setHostsConfigured();
    expect([await managed.load(), await state.hostsConfigured()]).toEqual(["vol-2", true]);
  });

  it("settings are used, changes are refused, what was kept stays, and all is well once there is room", async () => {
    const t = await tools();
    const disk = await smallDisk(t.dir);
    const { paths } = disk;
    const found = { settings: SETTINGS as unknown as AgentSettings, origin: "settings from T" };
    const start = async (settings = found) => {
      const store = new SettingsStore({
        paths,
        finder: { find: async () => settings },
        tools: t,
        mountTmpfs: async () => {},
      });
      await store.loadStored();
      await store.load(NEVER);
      return store;
    };
    const store = await start();
    await store.addHint("vol-2", { kind: "text", text: "/dev/sdg" });
    await disk.fill();

    await expect(store.addHint("vol-3", { kind: "text", text: "x" })).rejects.toSatisfy(StateNotWritten.is);
    await expect(store.saveUpdates({ trusted_certs: "PEM" })).rejects.toSatisfy(StateNotWritten.is);
    const newer = { ...found, settings: { ...found.settings, mbus: "nats://new" } };
    const again = await start(newer);
    expect(again.current().mbus).toBe("nats://new");
    expect([...(await again.persistentDisks()).keys()]).toEqual(["vol-1", "vol-2"]);

    await disk.free();
    await again.addHint("vol-3", { kind: "text", text: "x" });
    expect((await (await start()).persistentDisks()).size).toBe(3);
    expect((await start()).current().agent_id).toBe(AGENT_ID);
    expect((await readdir(paths.boshDir)).sort()).toEqual(["persistent_disk_hints.json", "settings.json"]);
  });
});
