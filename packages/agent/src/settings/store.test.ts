import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { withoutNulls } from "@slipway/protocol/schema/without-nulls";
import type { AgentSettings } from "@slipway/protocol/settings/agent-settings";
import { agentSettings } from "@slipway/protocol/settings/agent-settings";
import { formatDiskHint, parseDiskHint } from "@slipway/protocol/settings/disk-hint";
import { arbitraryFor } from "@slipway/testkit/arbitrary";
import { tries } from "@slipway/testkit/tries";
import { readExamples } from "@slipway/testkit/wire-examples";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StateNotWritten } from "../state/errors.ts";
import { SettingsNotFound } from "./errors.ts";
import type { FoundSettings } from "./find.ts";
import { SettingsStore } from "./store.ts";
import { AGENT_ID, fromOutside, NEVER, SETTINGS, SETTINGS_TEXT, tools } from "./testing/settings-lab.ts";

type Tools = Awaited<ReturnType<typeof tools>>;
const found = (settings: object = SETTINGS): FoundSettings => ({
  settings: settings as AgentSettings,
  origin: "settings from T",
});
const nothing = () => Promise.reject(SettingsNotFound({ attempts: ["T: gone"] }));

interface Source {
  find(): Promise<FoundSettings>;
}
const store = (t: Tools, source: Source, mountTmpfs: (directory: string) => Promise<void> = async () => {}) =>
  new SettingsStore({ paths: t.paths, finder: source, tools: t, mountTmpfs });
const started = async (t: Tools, source: Source = { find: async () => found() }) => {
  const one = store(t, source);
  await one.loadStored();
  await one.load(NEVER);
  return one;
};
const hint = (wire: unknown) => {
  const parsed = parseDiskHint(wire);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.hint;
};
const torn = async (path: string) =>
  (await readdir(dirname(path))).filter((name) => name.startsWith(`${basename(path)}.torn-`));

describe("settings", () => {
  it("are kept in upstream's file, for their owner only, and used when no source answers", async () => {
    const t = await tools();
    await started(t);
    expect(JSON.parse(await readFile(t.paths.settings, "utf8"))).toEqual(SETTINGS);
    expect((await stat(t.paths.settings)).mode & 0o777).toBe(0o600);
    const later = await started(t, { find: nothing });
    expect(later.current().agent_id).toBe(AGENT_ID);
    expect(later.origin()).toMatch(
      /^settings from .*settings.json, because no source gave usable settings: T: gone$/,
    );
  });

  it("are the source's when it has newer ones", async () => {
    const t = await tools();
    await started(t);
    await started(t, { find: async () => found({ ...SETTINGS, mbus: "nats://new" }) });
    expect((await started(t, { find: nothing })).current().mbus).toBe("nats://new");
  });

  it("fail the start when neither source nor file knows them", async () => {
    const t = await tools();
    await expect(started(t, { find: nothing })).rejects.toSatisfy(SettingsNotFound.is);
  });

  it("survive the file whatever they hold", async () => {
    const t = await tools();
    await fc.assert(
      fc.asyncProperty(fromOutside(arbitraryFor(agentSettings)).map(withoutNulls), async (settings) => {
        const one = await started(t, { find: async () => found(settings as object) });
        const again = await started(t, { find: nothing });
        expect(again.current()).toEqual(one.current());
      }),
      { numRuns: tries(40) },
    );
  });

  it("are never trusted if torn at any length, but kept aside, and recovered from the source", async () => {
    const t = await tools();
    for (let length = 0; length < SETTINGS_TEXT.length; length += 7) {
      await writeFile(t.paths.settings, SETTINGS_TEXT.slice(0, length));
      const one = store(t, { find: async () => found() });
      expect(await one.loadStored()).toBe(false);
      expect((await torn(t.paths.settings)).length).toBe(1);
      expect((await one.load(NEVER)).agent_id).toBe(AGENT_ID);
      expect(await readFile(t.paths.settings, "utf8")).toBe(SETTINGS_TEXT);
      for (const name of await torn(t.paths.settings)) await rm(join(t.paths.boshDir, name));
    }
  });

  it.each([
    ["NULs", "\0".repeat(64)],
    ["another document", '{"a":1}'],
    ["settings with a wrong field", '{"agent_id":"a","networks":3}'],
  ])("are put aside with a line in the log if they turn out to be %s", async (_, text) => {
    const t = await tools();
    await writeFile(t.paths.settings, text);
    await started(t);
    expect(await torn(t.paths.settings)).toHaveLength(1);
    expect(t.log.lines.join()).toContain("settings.json is not used:");
  });

  it("are in use even when they cannot be kept", async () => {
    const t = await tools();
    const paths = { ...t.paths, settings: join(t.dir, "file", "settings.json") };
    await writeFile(join(t.dir, "file"), "");
    const one = await started({ ...t, paths });
    expect(one.current().agent_id).toBe(AGENT_ID);
    expect(t.log.lines.join()).toContain("in use but not kept");
  });

  it("are replaced by those of another agent at the start, with the stored ones put aside, and never later", async () => {
    const t = await tools();
    const one = await started(t);
    await one.addHint("vol-9", hint("/dev/sdx"));
    const other = { find: async () => found({ ...SETTINGS, agent_id: "other" }) };
    const next = await started(t, other);
    expect(next.current().agent_id).toBe("other");
    expect([...(await next.persistentDisks()).keys()]).toEqual(["vol-1"]);
    let answer = found({ ...SETTINGS, agent_id: "other" });
    const running = await started(t, { find: async () => answer });
    answer = found();
    expect((await running.reload(NEVER)).agent_id).toBe("other");
  });

  it("are refreshed on demand; a source that is down changes nothing", async () => {
    const t = await tools();
    const answers: (() => Promise<FoundSettings>)[] = [
      async () => found(),
      nothing,
      async () => found({ ...SETTINGS, disks: { persistent: { "vol-2": "/dev/sdg" } } }),
    ];
    const one = await started(t, { find: () => (answers.shift() ?? nothing)() });
    await one.reload(NEVER);
    expect([...(await one.persistentDisks()).keys()]).toEqual(["vol-1"]);
    await one.reload(NEVER);
    expect([...(await one.persistentDisks()).keys()]).toEqual(["vol-2"]);
  });

  it("are moved to a tmpfs with all related files if they must not touch a disk, and found there", async () => {
    const t = await tools();
    const one = await started(t);
    await one.addHint("vol-9", hint("/dev/sdx"));
    await one.saveUpdates({ trusted_certs: "PEM" });
    const secret = { ...SETTINGS, env: { bosh: { agent: { settings: { tmpfs: true } } } } };
    const mounted: string[] = [];
    const source = { find: async () => found(secret) };
    const mount = async (directory: string) => {
      mounted.push(directory);
      await mkdir(directory, { recursive: true });
    };
    const moved = store(t, source, mount);
    await moved.loadStored();
    await moved.load(NEVER);
    expect(mounted).toEqual([join(t.paths.boshDir, "settings")]);
    expect((await readdir(t.paths.boshDir)).filter((name) => name.endsWith(".json"))).toEqual([]);
    const again = store(t, { find: nothing }, mount);
    await again.loadStored();
    await again.load(NEVER);
    expect((await again.persistentDisks()).has("vol-9")).toBe(true);
    expect(again.updates().trusted_certs).toBe("PEM");
  });

  it("leave no half-written file of a killed start behind", async () => {
    const t = await tools();
    await writeFile(join(t.paths.boshDir, ".settings.json.abc.tmp"), "{");
    await started(t);
    expect(await readdir(t.paths.boshDir)).toEqual(["settings.json"]);
  });
});

describe("disk hints", () => {
  it("are kept in upstream's exact form, with how to mount as the settings said then", async () => {
    const t = await tools();
    const one = await started(t);
    await one.addHint("vol-2", hint("/dev/sdg"));
    expect(JSON.parse(await readFile(t.paths.persistentDiskHints, "utf8"))).toEqual({
      "vol-2": {
        ID: "vol-2",
        DeviceID: "",
        VolumeID: "/dev/sdg",
        Lun: "",
        HostDeviceID: "",
        Path: "/dev/sdg",
        ISCSISettings: { InitiatorName: "", Username: "", Target: "", Password: "" },
        FileSystemType: "xfs",
        MountOptions: ["noatime"],
        Partitioner: "",
      },
    });
    expect((await stat(t.paths.persistentDiskHints)).mode & 0o777).toBe(0o600);
  });

  it.each(readExamples("hints").map((example) => [example.path, example.content]))(
    "%s comes back as it was given",
    async (_, wire) => {
      const t = await tools();
      await (await started(t)).addHint("vol-2", hint(wire));
      const disk = (await (await started(t)).persistentDisks()).get("vol-2");
      expect(disk && formatDiskHint(disk.hint)).toEqual(wire);
      expect(disk).toMatchObject({ cid: "vol-2", fileSystem: "xfs", mountOptions: ["noatime"] });
    },
  );

  it("come before what the settings say of the same disk; without one the settings count again", async () => {
    const t = await tools();
    const one = await started(t);
    await one.addHint("vol-1", hint({ id: "abc" }));
    expect((await one.persistentDisks()).get("vol-1")?.hint.kind).toBe("id");
    await one.removeHint("vol-1");
    await one.removeHint("vol-1");
    expect((await one.persistentDisks()).get("vol-1")?.hint.kind).toBe("path");
  });

  it("are all kept if added at the same time", async () => {
    const t = await tools();
    const one = await started(t);
    const cids = Array.from({ length: 20 }, (_, at) => `vol-${at + 10}`);
    await Promise.all(cids.map((cid) => one.addHint(cid, hint(`/dev/${cid}`))));
    expect((await (await started(t)).persistentDisks()).size).toBe(21);
  });

  it("are put aside if torn at any length, and the disks of the settings remain", async () => {
    const t = await tools();
    await (await started(t)).addHint("vol-2", hint("/dev/sdg"));
    const whole = await readFile(t.paths.persistentDiskHints, "utf8");
    for (let length = 0; length < whole.length; length += 11) {
      await writeFile(t.paths.persistentDiskHints, whole.slice(0, length));
      const disks = await (await started(t)).persistentDisks();
      expect([...disks.keys()]).toEqual(["vol-1"]);
    }
    expect(t.log.lines.join()).toContain("the disk hints are lost");
  });

  it("are refused if they cannot be written, and the known ones stay", async () => {
    const t = await tools();
    const one = await started(t);
    await one.addHint("vol-2", hint("/dev/sdg"));
    await rm(t.paths.persistentDiskHints);
    await mkdir(join(t.paths.persistentDiskHints, "in-the-way"), { recursive: true });
    await expect(one.addHint("vol-3", hint("/dev/sdh"))).rejects.toSatisfy(StateNotWritten.is);
    expect([...(await one.persistentDisks()).keys()]).toEqual(["vol-1", "vol-2"]);
  });
});

describe("pushed settings", () => {
  it("are kept, and torn ones forgotten: the Director sends them again", async () => {
    const t = await tools();
    const one = await started(t);
    expect(await one.saveUpdates({ trusted_certs: "PEM", mbus: { urls: ["nats://x"] } })).toEqual({
      restart: true,
    });
    expect((await started(t)).updates()).toMatchObject({
      trusted_certs: "PEM",
      mbus: { urls: ["nats://x"] },
    });
    const whole = await readFile(t.paths.updateSettings, "utf8");
    for (let length = 0; length < whole.length; length += 9) {
      await writeFile(t.paths.updateSettings, whole.slice(0, length));
      expect((await started(t)).updates()).toEqual({});
    }
  });
});

describe("disks that update_settings names", () => {
  const cids = async (one: SettingsStore) => [...(await one.persistentDisks()).keys()].sort();
  const pathOf = async (one: SettingsStore, cid: string) => {
    const disk = (await one.persistentDisks()).get(cid);
    return disk && formatDiskHint(disk.hint);
  };

  it("are known at once, beside those of the settings, and after a restart", async () => {
    const t = await tools();
    const one = await started(t);
    await one.saveDisks({ persistent: { "vol-2": "/dev/sdg" } });
    for (const now of [one, await started(t)]) {
      expect(await cids(now)).toEqual(["vol-1", "vol-2"]);
      expect(await pathOf(now, "vol-2")).toEqual("/dev/sdg");
    }
  });

  it("stay when another update says nothing of disks, and go as a whole when one does", async () => {
    const one = await started(await tools());
    await one.saveDisks({ persistent: { "vol-2": "/dev/sdg" } });
    await one.saveUpdates({ trusted_certs: "" });
    expect(await cids(one)).toEqual(["vol-1", "vol-2"]);
    await one.saveDisks({ persistent: { "vol-3": "/dev/sdh" } });
    expect(await cids(one)).toEqual(["vol-1", "vol-3"]);
  });

  it("are overridden by later hints and override earlier ones; forgetting a disk forgets both", async () => {
    const one = await started(await tools());
    await one.addHint("vol-2", hint("/dev/sdx"));
    await one.saveDisks({ persistent: { "vol-2": "/dev/sdg" } });
    expect(await pathOf(one, "vol-2")).toEqual("/dev/sdg");
    await one.addHint("vol-2", hint("/dev/sdy"));
    expect(await pathOf(one, "vol-2")).toEqual("/dev/sdy");
    await one.removeHint("vol-2");
    expect(await cids(one)).toEqual(["vol-1"]);
  });
});
