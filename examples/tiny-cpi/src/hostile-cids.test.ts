import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { ask, vmArgs, wellFormed } from "@slipway/testkit/requests";
import { tempDir } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { tinyCpi } from "./tiny-cpi.ts";

/** A cloud in a home with neighbours that must stay as they are. */
async function stage() {
  const home = await tempDir();
  await mkdir(join(home, "cloud"));
  await mkdir(join(home, "vms", "x"), { recursive: true });
  for (const name of ["x", "disk", "vms/x/user-data.json", "cloud.txt"])
    await writeFile(join(home, name), "mine");
  const client = embed(tinyCpi, { config: { tiny: { dir: join(home, "cloud") } } });
  const call = async (method: string, ...args: unknown[]) =>
    wellFormed(await client.request(ask(method, args)));
  const tree = async () => {
    const names = (await readdir(home, { recursive: true }))
      .filter((name) => !name.startsWith("cloud/"))
      .sort();
    const files = names.filter((name) => name !== "cloud" && name !== "vms" && name !== "vms/x");
    return Promise.all(files.map(async (name) => [name, await readFile(join(home, name), "utf8")]));
  };
  return { home, call, tree };
}

/** Every method that takes a cid, with it in each place. */
const uses = (cid: string): [string, ...unknown[]][] => [
  ["delete_stemcell", cid],
  ["create_vm", ...vmArgs().with(1, cid)],
  ["delete_vm", cid],
  ["has_vm", cid],
  ["set_vm_metadata", cid, { a: "b" }],
  ["create_disk", 1, {}, cid],
  ["delete_disk", cid],
  ["has_disk", cid],
  ["attach_disk", cid, cid],
  ["detach_disk", cid, cid],
  ["get_disks", cid],
  ["resize_disk", cid, 1],
  ["snapshot_disk", cid, {}],
  ["delete_snapshot", cid],
];

describe("a hostile cid names nothing outside the cloud:", () => {
  it.each([
    "../../x",
    "../x",
    "..",
    ".",
    "../../vms/x",
    "/etc/passwd",
    "a/b",
    "..\\..\\x",
    "\u0000",
    "x\u0000/../../x",
    "%2e%2e%2fx",
    "a\nb",
    "~",
    "$HOME",
    "é",
    "__proto__",
    "constructor",
    "x".repeat(300),
  ])("%j", async (cid) => {
    const { call, tree } = await stage();
    const before = await tree();
    for (const [method, ...args] of uses(cid)) {
      const { result, error } = await call(method, ...args);
      // No cid has a NUL: such a call is malformed, whatever it asks.
      if (cid.includes("\u0000")) expect(error?.type).toBe("Bosh::Clouds::CpiError");
      else if (method.startsWith("has_")) expect(result).toBe(false);
      else if (error === null)
        expect(["delete_stemcell", "delete_snapshot", "create_disk"]).toContain(method);
      else expect(error.type).toMatch(/NotFound$|CloudError$/);
    }
    expect(await tree()).toEqual(before);
  });

  it("not even another one's, by a spelling that leads there", async () => {
    const { home, call } = await stage();
    await writeFile(join(home, "image"), "image");
    const stemcell = (await call("create_stemcell", join(home, "image"), {})).result;
    const [vm] = (await call("create_vm", ...vmArgs().with(1, stemcell))).result as [string];
    const disk = (await call("create_disk", 1, {}, null)).result as string;
    expect((await call("attach_disk", vm, disk)).error).toBeNull();
    for (const other of [
      `${vm}/`,
      `./${vm}`,
      `../vms/${vm}`,
      `x/../${vm}`,
      `${vm}.`,
      `${vm}\n`,
      vm.toUpperCase(),
    ]) {
      expect((await call("has_vm", other)).result).toBe(false);
      expect((await call("delete_vm", other)).error?.type).toBe("Bosh::Clouds::VMNotFound");
      expect((await call("detach_disk", vm, other)).error?.type).toMatch(/DiskNot(Found|Attached)$/);
    }
    expect((await call("delete_disk", `${disk}.partial`)).error?.type).toBe("Bosh::Clouds::DiskNotFound");
    expect((await call("get_disks", vm)).result).toEqual([disk]);
  });
});
