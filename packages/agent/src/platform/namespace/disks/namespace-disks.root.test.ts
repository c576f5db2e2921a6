import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { needs } from "@slipway/testkit/needs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { diskSettings, LoopLab, loopsLack, pathHint, soon } from "../../testing/loop-lab.ts";
import { namespaceDisks } from "./namespace-disks.ts";

const ready = needs("root-loop", loopsLack() === "", `there is no ${loopsLack()}`);

describe.runIf(ready)("disks of a namespace that has root", () => {
  let lab: LoopLab;
  beforeEach(async () => {
    lab = await LoopLab.open();
  });
  afterEach(() => lab.close());

  it("may be loop devices, which are used whole", async () => {
    const device = await lab.disk("disk-abc", 32);
    const { paths, log } = lab;
    const disks = namespaceDisks({
      config: {},
      paths,
      exec: systemExec,
      clock: fakeClock({ hurry: true }),
      log,
    });
    const settings = diskSettings(lab.cid("abc"), pathHint(join(lab.directory, "no-such-node")));
    const found = await disks.locate(settings, soon());
    expect(found).toBe(device);
    await disks.prepare(found, settings);
    await disks.mount(await disks.mountSource(found), paths.store, []);
    await writeFile(join(paths.store, "file"), "data");
    await disks.remountReadOnly(paths.store);
    expect(await disks.isInUse(found)).toBe(true);
    await disks.unmount(paths.store, soon());
    expect(await lab.inside(device, (directory) => readFile(join(directory, "file"), "utf8"))).toBe("data");
  });
});
