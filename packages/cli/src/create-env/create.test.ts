import { createHash } from "node:crypto";
import { readFile, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { proxyServer } from "@slipway/testkit/proxy-server";
import { plays } from "@slipway/testkit/stories";
import { describe, expect, it, onTestFinished } from "vitest";
import { ArchiveMissing, EnvironmentMissing, ManifestWrong, StateBusy } from "./errors.ts";
import { EnvLab, type ManifestChange } from "./testing/env-lab.ts";
import { builtPrograms } from "./testing/programs.ts";

const programs = builtPrograms();

async function openLab(): Promise<EnvLab> {
  const lab = await EnvLab.open(programs());
  await lab.stemcell();
  return lab;
}

describe("create-env with the local CPI in this process", () => {
  it("makes a VM with its disk, keeps the data over a replacement, and leaves nothing when it is deleted", async () => {
    const lab = await openLab();
    const first = await lab.create(lab.manifest());
    for (const line of [
      "Started validating",
      "Finished validating (TIME)",
      "Uploading stemcell 'slipway-local/1.0'... Finished (TIME)",
      "Started deploying",
      "  Creating disk... Finished (TIME)",
    ])
      expect(first.replaceAll(/\(\d\d:\d\d:\d\d\)/g, "(TIME)")).toContain(line);
    const before = await lab.document();
    expect(await lab.vms()).toEqual([before.current_vm_cid]);
    const settings = join(lab.cloud, "vms", before.current_vm_cid, "user-data.json");
    expect(JSON.parse(await readFile(settings, "utf8"))).toMatchObject({
      env: { bosh: { blobstores: [{ provider: "local" }] } },
    });
    await lab.write("note", "still here");

    const skipped = await lab.create(lab.manifest());
    expect(skipped).toContain("No deployment, stemcell or release changes. Skipping deploy.");
    expect(skipped).not.toContain("does not answer");
    expect((await lab.document()).current_vm_cid).toBe(before.current_vm_cid);

    const again = await lab.create(lab.manifest({ tags: { owner: "lab" } }));
    expect(again).toContain("Uploading stemcell 'slipway-local/1.0'... Skipped [Stemcell already uploaded]");
    expect(again).toContain(`Deleting sandbox '${before.current_vm_cid}'... Finished`);
    const after = await lab.document();
    expect(after.current_vm_cid).not.toBe(before.current_vm_cid);
    expect(after.current_disk_id).toBe(before.current_disk_id);
    expect(after.director_id).toBe(before.director_id);
    expect(await lab.vms()).toEqual([after.current_vm_cid]);
    expect(await lab.read("note")).toBe("still here");
    expect((await stat(lab.state)).mode & 0o777).toBe(0o600);

    await lab.delete(lab.manifest());
    expect([await lab.vms(), await lab.disks(), await lab.stemcells()]).toEqual([[], [], []]);
    expect(await lab.processes()).toEqual([]);
    expect(await lab.held()).toEqual([]);
    expect([lab.exists("lab-state.json"), lab.exists("lab-state.slipway")]).toEqual([false, false]);
    expect(await lab.delete(lab.manifest())).toContain("No deployment state file found.");
  });

  it.runIf(plays("environment", "copies"))(
    "copies the data to a disk of another size, of other properties, or just a new one, and deletes the old one",
    async () => {
      const lab = await openLab();
      await lab.create(lab.manifest());
      await lab.write("note", "copied");
      const changes: readonly [ManifestChange, object][] = [
        [{ disk: 96 }, {}],
        [{ disk: 96, diskProperties: { type: "other" } }, {}],
        [{ disk: 96, diskProperties: { type: "other" } }, { recreateDisks: true }],
      ];
      for (const [change, flags] of changes) {
        const [old] = await lab.disks();
        const said = await lab.create(lab.manifest(change), flags);
        expect(said).toMatch(new RegExp(`Migrating disk content from '${old}' to 'disk-`));
        expect(said).toContain(`Deleting unused disk '${old}'... Finished`);
        const { disks, current_disk_id: id } = await lab.document();
        expect(disks).toMatchObject([{ id, size: 96, cloud_properties: change.diskProperties ?? {} }]);
        expect(await lab.disks()).toEqual([disks?.[0]?.cid]);
        expect(await lab.read("note")).toBe("copied");
      }
      await lab.delete(lab.manifest());
    },
  );

  it.runIf(plays("environment", "leaves"))(
    "leaves a disk alone that the manifest no longer has",
    async () => {
      const lab = await openLab();
      await lab.create(lab.manifest());
      await lab.write("note", "waiting");
      const before = await lab.document();
      await lab.create(lab.manifest({ disk: null }));
      expect((await lab.document()).current_disk_id).toBe(before.current_disk_id);
      await lab.create(lab.manifest());
      expect(await lab.read("note")).toBe("waiting");
      await lab.delete(lab.manifest());
      expect(await lab.disks()).toEqual([]);
    },
  );

  it.runIf(plays("environment", "takes over"))(
    "takes over the state file of the Go CLI: its VM is stopped and replaced, its disk kept",
    async () => {
      const lab = await openLab();
      const document = { ...lab.manifest({ provider: await withMbus(lab, true) }) };
      await lab.create(document);
      await lab.write("note", "from before", document);
      const { slipway: _, ...upstream } = await lab.document();
      const found = { ...upstream, current_manifest_sha: "00".repeat(64) };
      await writeFile(lab.state, JSON.stringify(found, null, 4));

      const said = await lab.create(document);
      expect(said).toContain(`Waiting for the agent on sandbox '${found.current_vm_cid}'... Finished`);
      expect(said).toMatch(/Stopping jobs.*Unmounting disk.*Deleting sandbox/s);
      const after = await lab.document();
      expect(after).toMatchObject({ director_id: found.director_id, current_disk_id: found.current_disk_id });
      expect(await lab.vms()).toEqual([after.current_vm_cid]);
      expect(await lab.read("note", document)).toBe("from before");
      await lab.delete(document);
      expect(await lab.processes()).toEqual([]);
    },
  );

  it.runIf(plays("environment", "replaces"))(
    "replaces a VM that is gone from the cloud, or whose agent is dead, without asking it",
    async () => {
      const lab = await openLab();
      await lab.create(lab.manifest());
      await lab.write("note", "on the disk");
      for (const pid of await lab.processes()) process.kill(pid, "SIGKILL");
      expect(await lab.create(lab.manifest())).toMatch(
        /Skipping deploy\.\n\nThe agent on sandbox '[^']+' does not answer\. --recreate makes/,
      );
      const said = await lab.create(lab.manifest(), { recreate: true });
      expect(said).toMatch(/Waiting for the agent on sandbox '[^']+'... Failed/);
      expect(said).not.toContain("Stopping jobs");
      expect(await lab.read("note")).toBe("on the disk");
      await lab.delete(lab.manifest());
      expect(await lab.processes()).toEqual([]);
    },
  );
});

/** An agent that is reached as upstream's create-env does, with or without certificates of the manifest. */
async function withMbus(lab: EnvLab, certificates: boolean, password = "s3cret"): Promise<object> {
  const dir = join(lab.dir, systemRandom.hex(4));
  const authority = await openAuthority({ dir, clock: systemClock, random: systemRandom });
  const { ca, certificate, privateKey } = await authority.issue({
    commonName: lab.ip,
    sans: { dns: [], ips: [lab.ip] },
    usage: "server",
    days: 1,
  });
  return {
    ...lab.embedded(),
    mbus: `https://mbus:${password}@${lab.ip}:6868`,
    ...(certificates && { cert: { ca, certificate, private_key: privateKey } }),
  };
}

const CERTIFICATES = ["certificate of the manifest", "certificate of ours"] as const;
const certified = CERTIFICATES.filter((one) => plays("environment", one));

describe.runIf(certified.length > 0)("the agent of an environment", () => {
  it.each(certified)(
    "is reached by the manifest's address and password, with a %s, also when both change",
    async (which) => {
      const certificates = which === "certificate of the manifest";
      const lab = await openLab();
      const first = lab.manifest({ provider: await withMbus(lab, certificates, "one") });
      await lab.create(first);
      await lab.write("note", "kept", first);
      const second = lab.manifest({ provider: await withMbus(lab, certificates, "two") });
      const said = await lab.create(second);
      // The old one is asked with what it was made with.
      expect(said).toContain("Stopping jobs on instance 'bosh/0'... Finished");
      expect(await lab.read("note", second)).toBe("kept");
      await lab.delete(second);
      expect(await lab.processes()).toEqual([]);
    },
  );
});

describe("stop-env and start-env", () => {
  it.runIf(plays("environment", "power"))(
    "stop and start the jobs, and leave VM and disk where they are",
    async () => {
      const lab = await openLab();
      await expect(lab.power("stopped", lab.manifest())).rejects.toSatisfy(EnvironmentMissing.is);
      await lab.create(lab.manifest());
      const before = await lab.document();
      expect(await lab.power("stopped", lab.manifest())).toMatch(
        /Started stopping deployment.*Finished stopping/s,
      );
      expect(await lab.power("started", lab.manifest())).toMatch(
        /Started starting deployment.*Finished starting/s,
      );
      const after = await lab.document();
      expect(after.current_vm_cid).toBe(before.current_vm_cid);
      expect(await lab.create(lab.manifest())).toContain("Skipping deploy");
      await lab.delete(lab.manifest());
    },
  );
});

describe("what is wrong is said before anything is done", () => {
  it("a manifest with problems, a stemcell that is not there", async () => {
    const lab = await EnvLab.open(programs());
    await expect(lab.create({ ...lab.manifest(), name: undefined })).rejects.toSatisfy(ManifestWrong.is);
    await expect(lab.create(lab.manifest())).rejects.toSatisfy(ArchiveMissing.is);
    expect(lab.exists("lab-state.json")).toBe(false);
  });

  it.runIf(plays("environment", "two at once"))("two at once", async () => {
    const lab = await openLab();
    const both = await Promise.allSettled([lab.create(lab.manifest()), lab.create(lab.manifest())]);
    const refused = both.filter((one) => one.status === "rejected");
    expect(refused).toHaveLength(1);
    expect(refused[0]?.reason).toSatisfy(StateBusy.is);
    expect(StateBusy.paramsOf(refused[0]?.reason)?.holder).toBe(`process ${process.pid}`);
    expect(await lab.vms()).toHaveLength(1);
    await lab.delete(lab.manifest());
  });
});

describe("a stemcell from elsewhere", () => {
  it.runIf(plays("environment", "download"))(
    "is downloaded once, through the operator's proxy, and refused when it is not what its digest says",
    async () => {
      const lab = await openLab();
      const proxy = await proxyServer();
      onTestFinished(() => proxy.close());
      lab.env.http_proxy = proxy.url;
      const archive = await readFile(join(lab.dir, "stemcell.tgz"));
      let asked = 0;
      const server = createServer((_, response) => {
        asked += 1;
        response.end(archive);
      }).listen(0, "127.0.0.1");
      onTestFinished(() => void server.close());
      await expect.poll(() => server.listening).toBe(true);
      // A name that only the proxy knows.
      const url = `http://stemcells.invalid:${(server.address() as AddressInfo).port}/s.tgz`;
      const manifestWith = (sha1: string) => {
        const manifest = lab.manifest();
        const [pool] = manifest.resource_pools as { stemcell: object }[];
        if (pool !== undefined) pool.stemcell = { url, sha1 };
        return manifest;
      };
      await expect(lab.create(manifestWith("0".repeat(40)))).rejects.toThrow(/digest/);
      const sha1 = createHash("sha1").update(archive).digest("hex");
      expect(await lab.create(manifestWith(sha1))).toContain("Downloading stemcell... Finished");
      expect(await lab.create(manifestWith(sha1))).toContain(
        "Downloading stemcell... Skipped [Found in local cache]",
      );
      expect(asked).toBe(2);
      expect(proxy.seen).toEqual([`GET ${url}`, `GET ${url}`]);
      await lab.delete(manifestWith(sha1));
    },
  );
});
