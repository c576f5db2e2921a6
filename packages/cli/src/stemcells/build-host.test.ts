import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isVersion } from "@slipway/engine/manifest/versions";
import { systemClock } from "@slipway/kernel/clock";
import { systemExec } from "@slipway/kernel/exec";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { expect, it } from "vitest";
import { buildHostStemcell, hostStemcellId } from "./build-host.ts";
import { inspectStemcell } from "./inspect-archive.ts";

sampleTests(1 / 4);

it("a stemcell of this machine's programs has a version for its content, and the same bytes for the same", async () => {
  const { path, remove } = await temporaryDirectory();
  try {
    const agent = join(path, "agent.cjs");
    await writeFile(agent, "the agent");
    // Small, so that this is quick.
    const small = { agent, node: agent };
    const build = (name: string, more = {}) =>
      buildHostStemcell({ to: join(path, name), ...small, clock: systemClock, ...more });
    const one = await build("one.tgz");
    const { name, version } = await hostStemcellId(small);
    expect(one).toMatchObject({ name, version, os: "slipway-host", apiVersion: 3 });
    expect(isVersion(version)).toBe(true);
    expect((await inspectStemcell(one.file)).stemcell).toMatchObject({
      ...{ name, version, formats: ["slipway-docker", "docker-tar", "general-tar"] },
      cloudProperties: { infrastructure: "docker", command: ["/sbin/init"] },
    });
    await systemExec("tar", ["-xzf", one.file, "-C", path, "image"]);
    const { stdout } = await systemExec("tar", [
      "-xzOf",
      join(path, "image"),
      "usr/lib/slipway/slipway-agent.cjs",
    ]);
    expect(stdout).toBe("the agent");

    const two = await build("two.tgz");
    expect((await readFile(two.file)).equals(await readFile(one.file))).toBe(true);
    await writeFile(agent, "a new agent");
    expect((await hostStemcellId(small)).version).not.toBe(version);
    await expect(build("bad.tgz", { name: "a/b" })).rejects.toMatchObject({ code: "CLS-005" });
    expect((await readdir(path)).sort()).toEqual(["agent.cjs", "image", "one.tgz", "two.tgz"]);
  } finally {
    await remove();
  }
});
