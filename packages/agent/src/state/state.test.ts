import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { ApplySpec } from "@slipway/protocol/agent/apply-spec";
import { applySpec } from "@slipway/protocol/agent/apply-spec";
import { arbitraryFor } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fromOutside, tools } from "../settings/testing/settings-lab.ts";
import { fileAgentState } from "./agent-state.ts";
import { fileManagedDisk } from "./managed-disk.ts";
import { fileSpecStore } from "./spec-store.ts";

describe("the stored spec", () => {
  it("is what was saved, whatever it was, and nothing before that", async () => {
    const t = await tools();
    const spec = fileSpecStore(t.paths.spec, t);
    expect(await spec.load()).toBeUndefined();
    await fc.assert(
      fc.asyncProperty(fromOutside(arbitraryFor(applySpec)), async (given) => {
        await spec.save(given as ApplySpec);
        expect(await spec.load()).toEqual(given);
      }),
      { numRuns: tries(30) },
    );
    expect((await stat(t.paths.spec)).mode & 0o777).toBe(0o600);
  });

  it("is put aside and ignored if torn at any length", async () => {
    const t = await tools();
    const text = JSON.stringify({ deployment: "shop", networks: { a: { ip: "1" } } });
    for (let length = 0; length < text.length; length += 5) {
      await writeFile(t.paths.spec, text.slice(0, length));
      expect(await fileSpecStore(t.paths.spec, t).load()).toBeUndefined();
    }
    expect((await readdir(dirname(t.paths.spec))).every((name) => name.startsWith("spec.json.torn-"))).toBe(
      true,
    );
  });
});

describe("the disk to mount again", () => {
  it("is a bare cid, as upstream writes it, until it is cleared", async () => {
    const t = await tools();
    const disk = fileManagedDisk(t.paths.managedDisk, t);
    expect(await disk.load()).toBeUndefined();
    await disk.save("vol-1");
    expect(await readFile(t.paths.managedDisk, "utf8")).toBe("vol-1");
    expect(await disk.load()).toBe("vol-1");
    await disk.clear();
    await disk.clear();
    expect(await disk.load()).toBeUndefined();
  });

  it("is not written again when it is the same, as every mount_disk says it", async () => {
    const t = await tools();
    const path = t.paths.managedDisk;
    const disk = fileManagedDisk(path, t);
    await disk.save("vol-1");
    const { ino } = await stat(path);
    await disk.save("vol-1");
    expect((await stat(path)).ino).toBe(ino);
    await disk.save("vol-2");
    expect(await readFile(path, "utf8")).toBe("vol-2");
  });

  it.each(["", "\n", "\0\0\0\0", "vol 1", "vol-1\nvol-2"])("is none when the file holds %j", async (text) => {
    const t = await tools();
    await writeFile(t.paths.managedDisk, text);
    expect(await fileManagedDisk(t.paths.managedDisk, t).load()).toBeUndefined();
    expect(await readdir(t.paths.boshDir)).toHaveLength(1);
  });
});

describe("what is set up once", () => {
  it("is remembered in upstream's form beside what others wrote there", async () => {
    const t = await tools();
    await writeFile(t.paths.agentState, '{"Linux":{"other":1}}');
    const state = fileAgentState(t.paths.agentState, t);
    expect(await state.hostsConfigured()).toBe(false);
    await state.setHostsConfigured();
    expect(JSON.parse(await readFile(t.paths.agentState, "utf8"))).toEqual({
      Linux: { other: 1, hosts_configured: true },
    });
    expect(await state.hostsConfigured()).toBe(true);
  });

  it.each(["", "[]", "nul"])("is set up again when the file holds %j", async (text) => {
    const t = await tools();
    await writeFile(t.paths.agentState, text);
    expect(await fileAgentState(t.paths.agentState, t).hostsConfigured()).toBe(false);
  });
});
