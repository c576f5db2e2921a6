import { mkdir, mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { findImage, type Tag, untagImage } from "@slipway/cpi-docker/stemcells/images";
import { importRoot } from "@slipway/cpi-docker/stemcells/import";
import { unpackStemcell } from "@slipway/engine/stemcells/archive";
import { systemRandom } from "@slipway/kernel/random";
import { DockerCloud, engineTrouble } from "@slipway/testkit/docker-cloud";
import { testImage } from "@slipway/testkit/docker-image";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { stemcellBuild } from "../commands/stemcell-build.ts";
import { scene } from "../deploy/testing/fakes.ts";
import { givenOf } from "../interpolate/testing/given.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("a light stemcell on a Docker Engine", () => {
  let cloud: DockerCloud;
  // Of a registry that nobody runs: what is not on the engine is nowhere.
  const tag: Tag = { repo: `localhost:1/light-${systemRandom.hex(4)}`, tag: "1.7" };
  const reference = `${tag.repo}:${tag.tag}`;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    const root = { imagePath: await testImage(), kind: "tar", command: ["/sbin/init"], labels: {} } as const;
    await importRoot(await cloud.cloud(), root, tag);
  });
  afterAll(async () => {
    await untagImage(await cloud.cloud(), tag);
    await cloud.close();
  });

  /** Built by the command, and opened as the Director does when it is uploaded. */
  async function uploaded(digest: string) {
    const out = join(await mkdtemp(join(cloud.dir, "light-")), "s.tgz");
    const { tools } = scene({});
    const given = givenOf({ for: "docker", "from-image": `${reference}@${digest}`, out });
    expect(await stemcellBuild.run(given, tools)).toBe(0);
    const dir = `${out}.unpacked`;
    await mkdir(dir);
    return await unpackStemcell(out, dir);
  }

  it("leads from an image to a VM whose agent answers, and leaves the image when it is deleted", async () => {
    const { Id = "" } = (await findImage(await cloud.cloud(), reference)) ?? {};
    const { stemcell, imagePath } = await uploaded(Id);
    expect(stemcell).toMatchObject({ version: "1.7", apiVersion: 3 });
    const cid = await cloud.newStemcell(imagePath, stemcell.cloudProperties);
    const vm = await (await cloud.newVm(cid)).pong();
    expect(await vm.value("get_state")).toMatchObject({ agent_id: expect.any(String) });
    await cloud.result("delete_vm", [vm.cid]);
    await cloud.result("delete_stemcell", [cid]);
    expect((await findImage(await cloud.cloud(), reference))?.Id).toBe(Id);
  });

  it("is refused when that name leads to another image, or to none", async () => {
    const other = await uploaded(`sha256:${"1".repeat(64)}`);
    const args = [other.imagePath, other.stemcell.cloudProperties];
    expect(await cloud.refusal("create_stemcell", args)).toContain("DOC-007");
    const missing = { ...other.stemcell.cloudProperties, image_reference: "localhost:1/none:1" };
    expect(await cloud.refusal("create_stemcell", [other.imagePath, missing])).toContain("DOC-006");
  });
});
