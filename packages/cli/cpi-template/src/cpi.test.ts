import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { embed } from "@slipway/cpi-sdk/embed";
import { myCpi } from "./cpi.ts";

let dir = "";
before(async () => {
  dir = await mkdtemp(join(tmpdir(), "my-cpi-"));
  // In place of an agent: something that runs.
  await writeFile(join(dir, "agent.cjs"), "setInterval(() => {}, 1000);\n");
});
after(() => rm(dir, { recursive: true, force: true }));

let requests = 0;
async function ask(
  method: string,
  ...args: unknown[]
): Promise<{ result: unknown; type: string | undefined }> {
  const config = { mycloud: { dir: join(dir, "cloud"), agent: join(dir, "agent.cjs") } };
  const context = {
    director_uuid: "d",
    request_id: `test-${requests++}`,
    vm: { stemcell: { api_version: 2 } },
  };
  const reply = await embed(myCpi, { config }).request({ method, arguments: args, context, api_version: 2 });
  return { result: reply.result, type: reply.error?.type };
}

const networks = {
  private: { type: "manual", ip: "127.40.0.9", netmask: "255.255.255.0", cloud_properties: {} },
};

test("a VM is there until it is deleted", async () => {
  const { result: stemcell } = await ask("create_stemcell", join(dir, "agent.cjs"), {});
  const { result } = await ask("create_vm", "agent-1", stemcell, {}, networks, [], {});
  const [vm] = result as [string];
  assert.equal((await ask("has_vm", vm)).result, true);
  assert.equal((await ask("delete_vm", vm)).type, undefined);
  assert.equal((await ask("has_vm", vm)).result, false);
  assert.equal((await ask("delete_vm", vm)).type, "Bosh::Clouds::VMNotFound");
});

test("a disk goes from one VM to the next, and to one at a time", async () => {
  const { result: stemcell } = await ask("create_stemcell", join(dir, "agent.cjs"), {});
  const vms: string[] = [];
  for (const agent of ["agent-2", "agent-3"]) {
    const { result } = await ask("create_vm", agent, stemcell, {}, networks, [], {});
    vms.push((result as [string])[0]);
  }
  const { result: disk } = await ask("create_disk", 64, {}, null);
  const { result: hint } = await ask("attach_disk", vms[0], disk);
  assert.match((hint as { path: string }).path, /content$/);
  assert.equal((await ask("attach_disk", vms[1], disk)).type, "Bosh::Clouds::CloudError");
  assert.equal((await ask("delete_disk", disk)).type, "Bosh::Clouds::CloudError");
  await ask("detach_disk", vms[0], disk);
  assert.deepEqual((await ask("get_disks", vms[0])).result, []);
  assert.equal((await ask("attach_disk", vms[1], disk)).type, undefined);
  for (const vm of vms) await ask("delete_vm", vm);
  assert.equal((await ask("has_disk", disk)).result, true);
});

test("what is not there is refused by name", async () => {
  assert.equal((await ask("attach_disk", "vm-none", "disk-none")).type, "Bosh::Clouds::VMNotFound");
  assert.equal((await ask("delete_disk", "disk-none")).type, "Bosh::Clouds::DiskNotFound");
});
