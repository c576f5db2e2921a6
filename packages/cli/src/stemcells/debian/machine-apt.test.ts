import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Exec } from "@slipway/kernel/exec";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { machineApt } from "./machine-apt.ts";

let root: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: root, remove } = await temporaryDirectory());
});
afterEach(() => remove());

const answering =
  (stdout: string): Exec =>
  async (program, args) => ({ program, args, code: 0, stdout, stderr: "" });
const noApt: Exec = () => Promise.reject(new Error("not found"));

describe("a machine's apt", () => {
  it("says where packages are, in its files that apt reads too", async () => {
    const parts = join(root, "etc/apt/sources.list.d");
    await mkdir(parts, { recursive: true });
    await writeFile(join(root, "etc/apt/sources.list"), "deb http://one/debian bookworm main\n");
    const two = "Types: deb\nURIs: http://two/debian\nSuites: bookworm\nComponents: main\n";
    await writeFile(join(parts, "two.sources"), two);
    await writeFile(join(parts, "off.list.disabled"), "deb http://off/debian bookworm main\n");
    const { sources, keyring } = await machineApt(noApt, {}, root);
    expect(sources.map(({ uri }) => uri)).toEqual(["http://one/debian", "http://two/debian"]);
    expect(keyring).toBeUndefined();
  });

  it("says how they are reached; the environment goes before its settings", async () => {
    const exec = answering(
      'Acquire::http::Proxy "http://user:secret@proxy:3128";\nAcquire::https::Proxy "DIRECT";\nAcquire::Check-Valid-Until "false";\n',
    );
    expect(await machineApt(exec, {}, root)).toMatchObject({
      proxies: { http_proxy: "http://user:secret@proxy:3128" },
      checkValidUntil: false,
      sources: [],
    });
    const env = { http_proxy: "http://mine", NO_PROXY: "m" };
    expect((await machineApt(exec, env, root)).proxies).toEqual({ http_proxy: "http://mine", no_proxy: "m" });
    expect(await machineApt(noApt, {}, root)).toMatchObject({ proxies: {}, checkValidUntil: true });
  });
});
