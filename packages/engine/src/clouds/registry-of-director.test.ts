import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { registryClient } from "@slipway/registry/client";
import { describe, expect, it, onTestFinished } from "vitest";
import { RegistryAddressUnusable, RegistryCredentialsUnusable } from "./errors.ts";
import { type DirectorRegistryOptions, RegistryOfDirector } from "./registry-of-director.ts";
import { tempDir } from "./testing/cpi-files.ts";

function registryIn(stateDir: string, options: Partial<DirectorRegistryOptions> = {}) {
  const registry = new RegistryOfDirector({
    stateDir,
    port: 0,
    clock: systemClock,
    random: systemRandom,
    ...options,
  });
  onTestFinished(() => registry.close());
  return registry;
}

const clientOf = ({ endpoint, user, password }: Awaited<ReturnType<RegistryOfDirector["start"]>>) =>
  registryClient({ endpoint, username: user, password });

describe("the Director's registry", () => {
  it("leaves no trace as long as no CPI needs it", async () => {
    const dir = await tempDir();
    const registry = registryIn(dir);
    expect(await registry.resume()).toBe(false);
    expect(registry.running).toBe(false);
    await registry.close();
    expect(await readdir(dir)).toEqual([]);
  });

  it("starts once, however many need it at the same time", async () => {
    const registry = registryIn(await tempDir());
    const [one, two] = await Promise.all([registry.start(), registry.start()]);
    expect(two).toEqual(one);
    expect(await registry.start()).toEqual(one);
    expect(registry.running).toBe(true);
    await clientOf(one).put("vm-1", "{}");
    expect(await clientOf(two).get("vm-1")).toBe("{}");
  });

  it("comes back with its entries and the same credentials, which only its user can read", async () => {
    const dir = await tempDir();
    const before = registryIn(dir);
    const access = await before.start();
    await clientOf(access).put("vm-1", "{}");
    await before.close();
    expect(before.running).toBe(false);

    const after = registryIn(dir);
    expect(await after.resume()).toBe(true);
    const again = await after.start();
    expect({ ...again, endpoint: "" }).toEqual({ ...access, endpoint: "" });
    expect(await clientOf(again).get("vm-1")).toBe("{}");
    const file = join(dir, "registry", "credentials.json");
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(join(dir, "registry"))).mode & 0o777).toBe(0o700);
    expect(await readFile(file, "utf8")).toContain(access.password);
    await expect(
      registryClient({ ...again, username: "registry", password: "x" }).put("vm-2", "{}"),
    ).rejects.toThrow();
  });

  it("does not come back when its last entry is gone", async () => {
    const dir = await tempDir();
    const before = registryIn(dir);
    const client = clientOf(await before.start());
    await client.put("vm-1", "{}");
    await client.delete("vm-1");
    await before.close();
    expect(await registryIn(dir).resume()).toBe(false);
  });

  it("starts on a later attempt if the first one failed", async () => {
    const taken = registryIn(await tempDir());
    const { endpoint } = await taken.start();
    const registry = registryIn(await tempDir(), { port: Number(new URL(endpoint).port) });
    await expect(registry.start()).rejects.toThrow(/cannot listen/);
    expect(registry.running).toBe(false);
    await taken.close();
    expect((await registry.start()).endpoint).toBe(endpoint);
  });

  it.each(["0.0.0.0", "::"])("refuses the address %s, where no VM would find it", async (host) => {
    const error = await registryIn(await tempDir(), { host })
      .start()
      .catch((thrown: unknown) => thrown);
    expect(RegistryAddressUnusable.is(error)).toBe(true);
  });

  it.each(["", "{", '{"user":"registry"}', '{"user":"registry","password":""}'])(
    "makes no new credentials in place of a file it cannot read: %j",
    async (content) => {
      const dir = await tempDir();
      const file = join(dir, "registry", "credentials.json");
      await mkdir(join(dir, "registry"));
      await writeFile(file, content);
      const error = await registryIn(dir)
        .start()
        .catch((thrown: unknown) => thrown);
      expect(RegistryCredentialsUnusable.is(error)).toBe(true);
      expect(await readFile(file, "utf8")).toBe(content);
    },
  );

  it("is not started by a task that outlives the Director", async () => {
    const registry = registryIn(await tempDir());
    await registry.close();
    await expect(registry.start()).rejects.toThrow("stopping");
    expect(registry.running).toBe(false);
  });
});
