import { mustRun, systemExec } from "@slipway/kernel/exec";
import { needs } from "@slipway/testkit/needs";
import { describe, expect, it, onTestFinished } from "vitest";
import { replaceFile } from "./replace-file.ts";
import { testMachine } from "./testing/machine.ts";

const ready = needs("root-mounts", process.getuid?.() === 0, "it takes root to mount");

describe.runIf(ready)("replacing a file that is a mount, as /etc/hosts of a container", () => {
  it("writes it in place and leaves nothing beside it", async () => {
    const machine = await testMachine();
    await machine.write("hosts.of-runtime", "a much longer text than the new one");
    await machine.write("etc/hosts", "");
    const path = machine.paths.system("etc/hosts");
    await mustRun(systemExec, "preparing", "mount", [
      "--bind",
      machine.paths.system("hosts.of-runtime"),
      path,
    ]);
    onTestFinished(async () => {
      await mustRun(systemExec, "cleaning up", "umount", [path]);
    });
    await replaceFile(path, "new", 0o644);
    expect(await machine.read("etc/hosts")).toBe("new");
    expect(await machine.read("hosts.of-runtime")).toBe("new");
  });
});
