import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execIn } from "@slipway/cpi-docker/engine/exec";
import { rubyFile } from "@slipway/engine/templates/ruby-module";
import { systemExec } from "@slipway/kernel/exec";
import { bundle } from "@slipway/testkit/bundle";
import { DockerCloud, engineTrouble, HOST, nextAddress } from "@slipway/testkit/docker-cloud";
import { testImage } from "@slipway/testkit/docker-image";
import { needs } from "@slipway/testkit/needs";
import { releaseTarball } from "@slipway/testkit/release-tarball";
import { describe, expect, it, onTestFinished } from "vitest";
import { RELEASE, started } from "../testing/counter-release.ts";
import { EnvLab } from "../testing/env-lab.ts";
import { builtPrograms } from "../testing/programs.ts";

const trouble = await engineTrouble();
const ready = needs("docker", trouble === undefined, trouble);
const programs = builtPrograms();
const CPI = fileURLToPath(new URL("../../../../cpi-docker/src/main.ts", import.meta.url));

/** An environment whose VM is a container with our agent. */
async function openLab(): Promise<{ lab: EnvLab; docker: DockerCloud; ip: string }> {
  const lab = await EnvLab.open({ ...programs(), ruby: rubyFile(import.meta.url) });
  const docker = await DockerCloud.open();
  onTestFinished(() => docker.close());
  const { volume } = docker.config;
  const config = { docker: { dir: join(lab.dir, "docker"), host: HOST, volume } };
  await mkdir(config.docker.dir);
  await writeFile(join(lab.dir, "cpi.json"), JSON.stringify(config));
  await writeFile(join(lab.dir, "app.tgz"), await releaseTarball(RELEASE));
  const parts = join(lab.dir, "stemcell");
  await mkdir(parts);
  await writeFile(
    join(parts, "stemcell.MF"),
    JSON.stringify({
      name: "tiny",
      version: "1",
      sha1: "0".repeat(40),
      api_version: 3,
      operating_system: "host",
    }),
  );
  const link = await systemExec("ln", [await testImage(), join(parts, "image")]);
  if (link.code !== 0) await writeFile(join(parts, "image"), await readFile(await testImage()));
  const packed = await systemExec("tar", [
    "-czf",
    join(lab.dir, "stemcell.tgz"),
    "-C",
    parts,
    "stemcell.MF",
    "image",
  ]);
  expect(packed.code).toBe(0);
  return { lab, docker, ip: nextAddress() };
}

function manifest(
  lab: EnvLab,
  ip: string,
  cpi: string,
  greeting: string,
  disk = 64,
): Record<string, unknown> {
  const plain = lab.manifest({ disk, provider: { cpi: { exec_path: cpi, config_file: "cpi.json" } } }) as {
    instance_groups: object[];
  };
  const [group] = plain.instance_groups;
  const range = `${ip.split(".").slice(0, 3).join(".")}.0/24`;
  const gateway = range.replace("0/24", "1");
  return {
    ...plain,
    networks: [{ name: "default", type: "manual", subnets: [{ range, gateway, dns: [] }] }],
    releases: [{ name: "app", url: "file://app.tgz" }],
    instance_groups: [
      {
        ...group,
        jobs: [{ name: "counter", release: "app" }],
        networks: [{ name: "default", static_ips: [ip] }],
        properties: { greeting },
      },
    ],
  };
}

describe.runIf(ready)("create-env with a release, in a container", () => {
  it("compiles, runs and drains the job, and moves its disk and then what is on it", async () => {
    const { lab, docker, ip } = await openLab();
    const cpi = await bundle(CPI);
    const { engine } = await docker.cloud();
    const log = async () => {
      const { current_vm_cid: cid } = await lab.document();
      const { stdout } = await execIn(engine, cid, ["cat", "/var/vcap/store/log"], "a test");
      return stdout.trim().split("\n");
    };
    await lab.create(manifest(lab, ip, cpi, "one"));
    expect(await log()).toEqual(started("one", ip));
    await lab.create(manifest(lab, ip, cpi, "two"));
    expect(await log()).toEqual([...started("one", ip), "drain", "ctl stop", ...started("two", ip)]);
    await lab.create(manifest(lab, ip, cpi, "two", 96));
    expect((await log()).slice(-7)).toEqual(["drain", "ctl stop", ...started("two", ip)]);
    await lab.delete(manifest(lab, ip, cpi, "two", 96));
  });
});
