import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { causeOf } from "./install.mjs";

describe("why npm failed", () => {
  it.each([
    [
      "npm error code SELF_SIGNED_CERT_IN_CHAIN\nnpm error request to https://registry.example/x failed",
      {},
      /certificate of registry\.example is not trusted.*cafile/,
    ],
    [
      "npm error code ENOTFOUND\nnpm error request to https://registry.example/x failed",
      {},
      /name of registry\.example cannot be resolved/,
    ],
    [
      "npm error code ECONNREFUSED",
      { HTTPS_PROXY: "http://me:secret@proxy:3128" },
      /through the proxy http:\/\/proxy:3128 \(ECONNREFUSED\)/,
    ],
    ["npm error code ECONNREFUSED", {}, /npm config set https-proxy/],
    ["npm error code E407", {}, /proxy wants a name and a password/],
    ["npm error code ENOSPC", {}, /no space left/],
    ["npm error code EACCES", {}, /may not write here/],
    ["npm error code EINTEGRITY", {}, /not what package-lock\.json says/],
    ["npm error something new", {}, /above/],
  ])("%j", (output, env, cause) => {
    expect(causeOf(output, env)).toMatch(cause);
    expect(causeOf(output, env)).not.toContain("secret");
  });
});

describe("the first run in a clone", () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => {
    ({ path: dir, remove } = await temporaryDirectory());
    cpSync("tools", join(dir, "tools"), { recursive: true });
    cpSync("package-lock.json", join(dir, "package-lock.json"));
    mkdirSync(join(dir, "bin"));
  });
  afterEach(() => remove());

  /** `npm start`, with an npm that does this. */
  function start(npm: string): { readonly child: ChildProcess; readonly said: () => string } {
    writeFileSync(join(dir, "bin", "npm"), `#!/bin/sh\n${npm}\n`, { mode: 0o755 });
    const env = { PATH: `${join(dir, "bin")}:/usr/bin:/bin` };
    const child = spawn(process.execPath, ["tools/run.mjs", "start"], { cwd: dir, env });
    let said = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (said += String(chunk)));
    return { child, said: () => said };
  }

  it("shows npm's own errors as they come, and ends when told to, whatever npm does", async () => {
    const { child, said } = start(
      'trap "" INT TERM; echo "npm error network slow" >&2; while :; do sleep 1; done',
    );
    await expect.poll(said).toContain("npm error network slow");
    const ended = once(child, "close");
    child.kill("SIGINT");
    expect(await ended).toEqual([130, null]);
    expect(said()).toContain("stopped");
  });

  it("shows how far it is, package by package", async () => {
    const lock = JSON.parse(readFileSync("package-lock.json", "utf8")) as {
      packages: Record<string, object>;
    };
    const paths = Object.keys(lock.packages).filter((path) => path.startsWith("node_modules/"));
    writeFileSync(join(dir, "some"), `${paths.slice(0, paths.length / 2).join("\n")}\n`);
    writeFileSync(join(dir, "others"), `${paths.join("\n")}\n`);
    const unpack = (list: string) =>
      `while read -r path; do mkdir -p "$path"; echo {} > "$path/package.json"; done < ${list}`;
    // The second half when the first has been seen.
    const { child, said } = start(
      `${unpack("some")}; until [ -e seen ]; do sleep 0.05; done; ${unpack("others")}; while :; do sleep 1; done`,
    );
    const shown = () =>
      [...said().matchAll(/^slipway: (\d+) of (\d+) packages$/gm)].map(([, n, all]) => [n, all].map(Number));
    const last = () => shown().at(-1) ?? [0, 1];
    await expect.poll(() => last()[0]).toBeGreaterThan(10);
    const [before = 0, all = 0] = last();
    expect(before).toBeLessThan(all);
    writeFileSync(join(dir, "seen"), "");
    await expect.poll(() => last()[0]).toBe(all);
    child.kill("SIGTERM");
    await once(child, "exit");
  });

  it("names the cause of a failure", async () => {
    const { child, said } = start(
      'echo "npm error code SELF_SIGNED_CERT_IN_CHAIN" >&2; echo "npm error request to https://r.example/a failed" >&2; exit 1',
    );
    expect(await once(child, "close")).toEqual([1, null]);
    expect(said()).toMatch(/the packages were not installed: the certificate of r\.example is not trusted/);
    expect(said()).not.toContain("Check the network");
  });
});
