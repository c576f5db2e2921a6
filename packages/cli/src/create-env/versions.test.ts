import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { messageTrail } from "@slipway/kernel/errors";
import { plays, type Story } from "@slipway/testkit/stories";
import { describe, expect, it } from "vitest";
import { EnvLab } from "./testing/env-lab.ts";
import { builtPrograms } from "./testing/programs.ts";

const programs = builtPrograms();

interface Branch {
  readonly story: Story<"environment">;
  readonly cpi: number | undefined;
  readonly stemcell: number;
  readonly registry: boolean;
}

const BRANCHES: readonly Branch[] = [
  { story: "CPI newest", cpi: undefined, stemcell: 3, registry: false },
  { story: "CPI 2, stemcell 2", cpi: 2, stemcell: 2, registry: false },
  { story: "CPI 2, stemcell 1", cpi: 2, stemcell: 1, registry: true },
  { story: "CPI 1, stemcell 1", cpi: 1, stemcell: 1, registry: true },
  { story: "CPI 1, stemcell 2", cpi: 1, stemcell: 2, registry: true },
];

const branches = BRANCHES.filter(({ story }) => plays("environment", story));

describe.runIf(branches.length > 0)(
  "the branches of CPI and stemcell versions, with the CPI's executable",
  () => {
    it.each(branches)(
      "CPI $cpi, stemcell $stemcell: registry $registry",
      async ({ cpi, stemcell, registry }) => {
        const lab = await EnvLab.open(programs());
        await lab.stemcell("stemcell.tgz", { apiVersion: stemcell });
        const provider = await lab.executable(cpi);
        await lab.create(lab.manifest({ provider }));
        const vm = (await lab.document()).slipway.instance?.vms[0];
        expect(vm).toMatchObject({ channel: registry ? "registry" : "user-data", ready: true });
        expect(await lab.registries()).toHaveLength(registry ? 1 : 0);
        await lab.write("note", "kept");

        const before = await lab.registries();
        await lab.create(lab.manifest({ provider }), { recreate: true });
        expect(await lab.read("note")).toBe("kept");
        // The one that runs is used again: the VM knows its port and password.
        expect(await lab.registries()).toEqual(before);
        expect((await lab.vms()).length).toBe(1);

        await lab.delete(lab.manifest({ provider }));
        expect(await lab.processes()).toEqual([]);
        expect([await lab.vms(), await lab.disks()]).toEqual([[], []]);
        expect(lab.exists("lab-state.slipway")).toBe(false);
      },
    );
  },
);

describe("the registry of an environment", () => {
  const listens = async (lab: EnvLab) =>
    (JSON.parse(await readFile(join(lab.workspace, "registry", "config.json"), "utf8")) as Config).http;
  interface Config {
    readonly http: { readonly host: string; readonly port: number; readonly password: string };
  }

  const ADDRESSES: readonly [which: string, more: object, host: string, story: Branch["story"]][] = [
    ["the one this machine reaches the VM from", {}, "127.0.0.1", "registry here"],
    ["the one the manifest names", { registry: { host: "127.0.0.2" } }, "127.0.0.2", "registry named"],
    [
      "the one the manifest names, beside a tunnel",
      { registry: { host: "127.0.0.2" }, ssh_tunnel: { host: "10.0.0.6" } },
      "127.0.0.2",
      "registry named, tunnel",
    ],
  ];
  const some = ADDRESSES.filter(([, , , story]) => plays("environment", story));
  it.each(some)("listens on an address that the VM reaches: %s", async (_, more, host) => {
    const lab = await EnvLab.open(programs());
    await lab.stemcell("stemcell.tgz", { apiVersion: 1 });
    const provider = { ...(await lab.executable(1)), ...more };
    await lab.create(lab.manifest({ provider, disk: null }));
    const http = await listens(lab);
    expect(http.host).toBe(host);
    const [vm = ""] = await lab.vms();
    const userData = await readFile(join(lab.cloud, "vms", vm, "user-data.json"), "utf8");
    expect(userData).toContain(`registry:${http.password}@${host}:${http.port}`);
    await lab.delete(lab.manifest({ provider, disk: null }));
    expect(await lab.registries()).toEqual([]);
  });

  const credentials = plays("environment", "registry credentials");
  it.runIf(credentials)("has credentials of its own in every environment", async () => {
    const passwords = [];
    for (let at = 0; at < 2; at++) {
      const lab = await EnvLab.open(programs());
      await lab.stemcell("stemcell.tgz", { apiVersion: 1 });
      const manifest = lab.manifest({ provider: await lab.executable(1), disk: null });
      await lab.create(manifest);
      passwords.push((await listens(lab)).password);
      await lab.delete(manifest);
    }
    expect(new Set(passwords).size).toBe(2);
  });

  it.each([
    ["a tunnel is asked for", { ssh_tunnel: { host: "10.0.0.6", port: 22, user: "vcap" } }, "ssh_tunnel"],
    ["its address is the VM's own", { registry: { host: "0.0.0.0" } }, "registry.host"],
  ])("is refused with the reason when %s, and nothing is made", async (_, more, words) => {
    const lab = await EnvLab.open(programs());
    await lab.stemcell("stemcell.tgz", { apiVersion: 1 });
    const provider = { ...(await lab.executable(1)), ...more };
    const said = await lab.create(lab.manifest({ provider, disk: null })).then(
      () => "nothing",
      (error: unknown) => messageTrail(error),
    );
    expect(said).toContain(words);
    expect([await lab.vms(), await lab.registries()]).toEqual([[], []]);
  });

  it.runIf(plays("environment", "registry not missed"))(
    "is not missed where none is needed, whatever tunnel the manifest asks for",
    async () => {
      const lab = await EnvLab.open(programs());
      await lab.stemcell("stemcell.tgz", { apiVersion: 3 });
      const provider = { ...(await lab.executable()), ssh_tunnel: { host: "10.0.0.6" } };
      await lab.create(lab.manifest({ provider, disk: null }));
      expect(await lab.vms()).toHaveLength(1);
      await lab.delete(lab.manifest({ provider, disk: null }));
    },
  );

  it.runIf(plays("environment", "registry lost"))(
    "is started again with its entries after it was lost, and ended once the VM does without it",
    async () => {
      const lab = await EnvLab.open(programs());
      await lab.stemcell("old.tgz", { version: "1", apiVersion: 1 });
      await lab.stemcell("new.tgz", { version: "2", apiVersion: 3 });
      const old = lab.manifest({ provider: await lab.executable(), stemcell: "old.tgz" });
      await lab.create(old);
      const [pid = 0] = await lab.registries();
      const config = await readFile(join(lab.workspace, "registry", "config.json"), "utf8");
      process.kill(pid, "SIGKILL");
      await expect.poll(() => lab.registries()).toEqual([]);

      // Nothing is deployed, but the VM may need it at its next start.
      expect(await lab.create(old)).toContain("Skipping deploy");
      const [again] = await lab.registries();
      expect(again).not.toBe(pid);
      expect(await readFile(join(lab.workspace, "registry", "config.json"), "utf8")).toBe(config);
      const kept = join(lab.workspace, "registry", "entries");
      const files = (await readdir(kept)).filter((name) => name.endsWith(".entry"));
      const entries = await Promise.all(files.map((name) => readFile(join(kept, name), "utf8")));
      const { current_vm_cid: vm } = await lab.document();
      expect(entries).toEqual([expect.stringContaining(String(vm))]);

      await lab.create(lab.manifest({ provider: await lab.executable(), stemcell: "new.tgz" }));
      expect(await lab.registries()).toEqual([]);
      expect(lab.exists("lab-state.slipway/registry")).toBe(false);
      expect(await lab.stemcells()).toHaveLength(1);
      await lab.delete(lab.manifest({ provider: await lab.executable() }));
    },
  );
});
