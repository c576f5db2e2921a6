import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findImage, type Tag, untagImage } from "@slipway/cpi-docker/stemcells/images";
import { importRoot } from "@slipway/cpi-docker/stemcells/import";
import { unpackStemcell } from "@slipway/engine/stemcells/archive";
import { systemRandom } from "@slipway/kernel/random";
import { DockerCloud, engineTrouble, HOST } from "@slipway/testkit/docker-cloud";
import { testImage } from "@slipway/testkit/docker-image";
import { needs } from "@slipway/testkit/needs";
import { fileEntry, tarball } from "@slipway/testkit/tarball";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { stemcellBuild } from "../commands/stemcell-build.ts";
import { scene } from "../deploy/testing/fakes.ts";
import { typedOptionsOf } from "../interpolate/testing/typed-options.ts";

const trouble = await engineTrouble();
const AT = { "docker-host": HOST };

describe.runIf(needs("docker", trouble === undefined, trouble))("a light stemcell on a Docker Engine", () => {
  let cloud: DockerCloud;
  // No registry listens there: an image that the engine lacks cannot be found.
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
  async function uploaded(digest: string, more: Record<string, string> = {}) {
    const out = join(await mkdtemp(join(cloud.dir, "light-")), "s.tgz");
    const { tools } = scene({});
    const given = typedOptionsOf({
      for: "docker",
      "from-image": `${reference}@${digest}`,
      ...AT,
      ...more,
      out,
    });
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
    const nowhere = `sha256:${"1".repeat(64)}`;
    await expect(uploaded(nowhere)).rejects.toMatchObject({ code: "CLS-011" });
    // No engine can look, and the user states the version.
    const other = await uploaded(nowhere, { "api-version": "3" });
    const args = [other.imagePath, other.stemcell.cloudProperties];
    expect(await cloud.refusal("create_stemcell", args)).toContain("DOC-007");
    const missing = { ...other.stemcell.cloudProperties, image_reference: "localhost:1/none:1" };
    expect(await cloud.refusal("create_stemcell", [other.imagePath, missing])).toContain("DOC-006");
  });

  describe("says which agent is in the image", () => {
    const OTHER: Tag = { repo: tag.repo, tag: "other" };
    afterEach(async () => untagImage(await cloud.cloud(), OTHER));

    /** The command on an image that has only this file. */
    async function built(name: string, content: string, more: Record<string, string> = {}) {
      const imagePath = join(await mkdtemp(join(cloud.dir, "other-")), "image");
      await writeFile(imagePath, await tarball([fileEntry(name, content)]));
      const root = { imagePath, kind: "tar.gz", command: ["/init"], labels: {} } as const;
      await importRoot(await cloud.cloud(), root, OTHER);
      const { Id = "" } = (await findImage(await cloud.cloud(), `${OTHER.repo}:${OTHER.tag}`)) ?? {};
      const { tools, heard } = scene({});
      const image = `${OTHER.repo}:${OTHER.tag}@${Id}`;
      const out = `${imagePath}.tgz`;
      await stemcellBuild.run(
        typedOptionsOf({ for: "docker", "from-image": image, ...AT, ...more, out }),
        tools,
      );
      const [table] = heard.tables;
      return table?.rows[0]?.[Object.keys(table.header).indexOf("api_version")];
    }
    const AGENT = "var/vcap/bosh/bin/bosh-agent";
    // The name of a message lies across two chunks.
    const padded = (text: string) => `${"x".repeat(65_530)}${text}${"x".repeat(70_000)}`;

    it.each([
      ["1", "mount_disk"],
      ["2", padded("add_persistent_disk")],
      ["3", padded("add_persistent_disk fetch_logs_with_signed_url")],
    ])("API version %s, by the messages it knows", async (version, program) => {
      expect(await built(AGENT, program)).toBe(version);
    });

    it("less may be promised, and not more", async () => {
      expect(await built(AGENT, "add_persistent_disk", { "api-version": "1" })).toBe("1");
      await expect(built(AGENT, "add_persistent_disk", { "api-version": "3" })).rejects.toMatchObject({
        code: "CLS-012",
        message: expect.stringContaining("is of API version 2"),
      });
    });

    it("refuses an image without an agent, unless the user states its version", async () => {
      await expect(built("bin/sh", "")).rejects.toMatchObject({ code: "CLS-010" });
      expect(await built("bin/sh", "", { "api-version": "2" })).toBe("2");
    });
  });
});
