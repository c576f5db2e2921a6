import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { needs } from "@slipway/testkit/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { DiskMount } from "../../disks.ts";
import { diskSettings, pathHint } from "../../testing/loop-lab.ts";
import { canUseUserNamespaces, NamespaceLab } from "../../testing/namespace-lab.ts";

const ready = needs("userns", canUseUserNamespaces(), "unprivileged user namespaces are not permitted");

describe.runIf(ready)("disks of a namespace, without root", () => {
  let lab: NamespaceLab;
  let disk: (name: string) => string;
  let store: string;
  let next: string;
  beforeEach(async () => {
    lab = await NamespaceLab.open();
    disk = (name) => join(lab.base, "disks", name);
    store = join(lab.base, "vcap/store");
    next = join(lab.base, "vcap/store_migration_target");
    for (const name of ["a", "b"]) await lab.ask({ do: "mkdir", path: disk(name) });
  });
  afterEach(() => lab.close());

  const mounts = () => lab.ask<DiskMount[]>({ do: "mounts" });
  const mount = (name: string, target: string, options: string[] = []) =>
    lab.ask({ do: "mount", path: disk(name), target, options });

  it("are directories, found by their path and mounted by binding them, once", async () => {
    const settings = diskSettings("a", pathHint(disk("a")));
    expect(await lab.ask<string>({ do: "locate", disk: settings })).toBe(disk("a"));
    expect(await lab.ask<boolean>({ do: "in-use", path: disk("a") })).toBe(true);
    await lab.ask({ do: "prepare", path: disk("a"), disk: settings });
    await mount("a", store);
    await mount("a", store);
    await lab.ask({ do: "write", path: join(store, "file"), text: "hello" });
    expect(await lab.ask<string>({ do: "read", path: join(disk("a"), "file") })).toBe("hello");
    expect(await mounts()).toEqual([{ source: disk("a"), target: store, readOnly: false }]);
    await lab.ask({ do: "unmount", target: store });
    await lab.ask({ do: "unmount", target: store });
    expect(await mounts()).toEqual([]);
  });

  it("are waited for until the deadline, which says what was missing", async () => {
    const absent = diskSettings("x", pathHint(disk("x")));
    await expect(lab.ask({ do: "locate", disk: absent })).rejects.toThrow(`no directory ${disk("x")}`);
    const late = lab.ask<string>({ do: "locate", disk: absent, ms: 20_000 });
    // Asked for while the driver still waits; a directory made from outside is seen inside.
    await mkdir(disk("x"));
    expect(await late).toBe(disk("x"));
  });

  it("are missing until their owner has mounted them", async () => {
    const hint = { kind: "path", path: disk("a"), extra: { mounted: true } } as const;
    const settings = diskSettings("a", hint);
    const early = lab.ask({ do: "locate", disk: settings });
    await expect(early).rejects.toThrow("is there, but nothing is mounted on it");
    await lab.ask({ do: "run", path: "mount", options: ["-t", "tmpfs", "none", disk("a")] });
    expect(await lab.ask<string>({ do: "locate", disk: settings })).toBe(disk("a"));
  });

  it("are identified by their directory if their owner mounts them, and unmounted only from the store", async () => {
    await lab.ask({ do: "run", path: "mount", options: ["-t", "tmpfs", "none", disk("a")] });
    await mount("a", store);
    await mount("a", store);
    expect(await mounts()).toEqual([{ source: disk("a"), target: store, readOnly: false }]);
    await lab.ask({ do: "unmount", target: store });
    expect(await mounts()).toEqual([]);
    const settings = diskSettings("a", { kind: "path", path: disk("a"), extra: { mounted: true } });
    expect(await lab.ask<string>({ do: "locate", disk: settings })).toBe(disk("a"));
  });

  it("are not reached through a link, which could lead out of the disks' place", async () => {
    await lab.ask({ do: "run", path: "ln", options: ["-s", "/etc", disk("link")] });
    const settings = diskSettings("link", pathHint(disk("link")));
    await expect(lab.ask({ do: "locate", disk: settings })).rejects.toMatchObject({ code: "AGD-001" });
  });

  it("cover up nothing", async () => {
    await mount("a", store);
    await expect(mount("b", store)).rejects.toMatchObject({ code: "AGD-009" });
  });

  it("get the mount options that a directory can have", async () => {
    await mount("a", store, ["noexec,nodev", "data=journal"]);
    const shown = await lab.ask<{ stdout: string }>({
      do: "run",
      path: "findmnt",
      options: ["-no", "OPTIONS", store],
    });
    expect(shown.stdout).toMatch(/nodev.*noexec/);
  });

  it("become read-only, and stay writable at other mount points", async () => {
    await mount("a", store, ["nosuid"]);
    await lab.ask({ do: "read-only", target: store });
    await lab.ask({ do: "read-only", target: store });
    expect(await mounts()).toEqual([{ source: disk("a"), target: store, readOnly: true }]);
    await expect(lab.ask({ do: "write", path: join(store, "x"), text: "" })).rejects.toMatchObject({
      code: "EROFS",
    });
    await lab.ask({ do: "write", path: join(disk("a"), "x"), text: "" });
    await mount("a", store);
    await lab.ask({ do: "write", path: join(store, "x"), text: "writable again" });
  });

  it("report their holder if they are busy, and are unmounted when released", async () => {
    await mount("a", store);
    await lab.ask({ do: "hold", path: join(store, "log") });
    const busy = lab.ask({ do: "unmount", target: store });
    await expect(busy).rejects.toThrow(/process \d+ \(node.*has .*\/store\/log open/);
    await lab.ask({ do: "release", path: join(store, "log") });
    await lab.ask({ do: "unmount", target: store });
    expect(await mounts()).toEqual([]);
  });

  it("are copied and compared like devices, and the source stays as it is", async () => {
    await mount("a", store);
    await mount("b", next);
    await lab.ask({ do: "mkdir", path: join(store, "d/e") });
    await lab.ask({ do: "write", path: join(store, "d/e/file"), text: "data" });
    await lab.ask({ do: "run", path: "ln", options: [join(store, "d/e/file"), join(store, "hard")] });
    await lab.ask({ do: "read-only", target: store });
    await lab.ask({ do: "copy", path: store, target: next });
    await lab.ask({ do: "copy", path: store, target: next });
    expect(await lab.ask<string>({ do: "read", path: join(disk("b"), "d/e/file") })).toBe("data");
    await lab.ask({ do: "write", path: join(next, "extra"), text: "" });
    await expect(lab.ask({ do: "copy", path: store, target: next })).rejects.toMatchObject({
      code: "AGD-010",
    });
  });

  it("have a directory for ephemeral data, or a disk bound onto it, and nothing raw", async () => {
    const target = join(lab.base, "vcap/data");
    const ephemeral = { target, swapMib: undefined, agentId: "agent", hint: undefined };
    await lab.ask({ do: "ephemeral", ephemeral });
    expect(await mounts()).toEqual([]);
    await lab.ask({ do: "ephemeral", ephemeral: { ...ephemeral, hint: pathHint(disk("b")) } });
    await lab.ask({ do: "ephemeral", ephemeral: { ...ephemeral, hint: pathHint(disk("b")) } });
    expect(await mounts()).toEqual([{ source: disk("b"), target, readOnly: false }]);
    await lab.ask({ do: "raw" });
    const raw = lab.ask({ do: "raw", disk: diskSettings("r", pathHint("/dev/nvme1n1")) });
    await expect(raw).rejects.toMatchObject({ code: "AGD-003" });
  });
});
