import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { DockerCloud, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tarOf } from "./engine/archive.ts";
import { LABEL } from "./labels.ts";
import { findImage } from "./stemcells/images.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("a stemcell of the Docker CPI", () => {
  let cloud: DockerCloud;
  const image = (cid: string) => `slipway-stemcell:${cid.replace("stemcell-", "")}`;
  let small: Buffer;
  let file: string;
  let empty: string;

  beforeAll(async () => {
    cloud = await DockerCloud.open();
    [file, empty] = [join(cloud.dir, "small.tar"), join(cloud.dir, "empty")];
    small = await tarOf([{ name: "etc/small", content: "small", mode: 0o644 }]);
    await writeFile(file, small);
    await writeFile(empty, "");
  });
  afterAll(() => cloud.close());

  it.each([
    ["tar", (bytes: Buffer) => bytes],
    ["tar.gz", (bytes: Buffer) => gzipSync(bytes)],
  ])("is imported from a %s, labelled, with the command it names, and deleted twice", async (_, pack) => {
    await writeFile(file, pack(small));
    const cid = await cloud.newStemcell(file, { command: ["/bin/run", "it"] });
    const found = await findImage(await cloud.cloud(), image(cid));
    expect(found?.Config).toMatchObject({
      Cmd: ["/bin/run", "it"],
      Labels: { [LABEL.kind]: "stemcell", [LABEL.cid]: cid, [LABEL.director]: cloud.director },
    });
    for (const _ of [1, 2]) await cloud.result("delete_stemcell", [cid]);
    expect(await findImage(await cloud.cloud(), image(cid))).toBeUndefined();
  });

  it("is light where it only names an image that is there, by name, by id, and by id as digest", async () => {
    const heavy = await cloud.newStemcell(file);
    const id = (await findImage(await cloud.cloud(), image(heavy)))?.Id ?? "";
    for (const light of [
      { image_reference: image(heavy) },
      { image_reference: image(heavy), digest: id },
      { image_reference: `${image(heavy)}@${id}` },
    ]) {
      const cid = await cloud.newStemcell(empty, light);
      expect((await findImage(await cloud.cloud(), image(cid)))?.Id).toBe(id);
      await cloud.result("delete_stemcell", [cid]);
    }
    // Deleting the light ones leaves the image they named.
    expect((await findImage(await cloud.cloud(), image(heavy)))?.Id).toBe(id);
  });

  it("is refused with another digest than the image has", async () => {
    const heavy = await cloud.newStemcell(file);
    const digest = `sha256:${"0".repeat(64)}`;
    const said = await cloud.refusal("create_stemcell", [empty, { image_reference: image(heavy), digest }]);
    expect(said).toMatch(/DOC-007.*is not sha256:0000/);
    const both = { image_reference: `${image(heavy)}@sha256:${"1".repeat(64)}`, digest };
    expect(await cloud.refusal("create_stemcell", [empty, both])).toContain("DOC-007");
  });

  it.each([
    ["an image nobody has", { image_reference: "localhost:1/none:1" }, "DOC-006"],
    ["a hostile reference", { image_reference: "../../containers/json?x=" }, "DOC-006"],
    ["a digest that is none", { image_reference: "a", digest: "latest" }, "DOC-009"],
    ["nothing at all", {}, "DOC-008"],
  ])("is refused when it names %s", async (_, properties, code) => {
    expect(await cloud.refusal("create_stemcell", [empty, properties])).toContain(code);
  });

  it.each([
    ["a text", () => Buffer.from("hello, world"), "DOC-008"],
    ["an archive that was cut off", () => gzipSync(small).subarray(0, 60), "DOC-008"],
    ["a broken archive", () => Buffer.concat([small.subarray(0, 600), Buffer.alloc(4096, 7)]), "DOC-008"],
    ["compressed nonsense", () => gzipSync(Buffer.alloc(4096, 9)), "DOC-008"],
  ])("is refused when its image is %s, and no image is left", async (_, bytes, code) => {
    const path = join(cloud.dir, "bad");
    await writeFile(path, bytes());
    const before = await cloud.images();
    expect(await cloud.refusal("create_stemcell", [path, {}])).toContain(code);
    expect(await cloud.images()).toEqual(before);
  });

  it("is refused when the file is not there, or is a directory", async () => {
    expect(await cloud.refusal("create_stemcell", [join(cloud.dir, "none"), {}])).toContain("DOC-008");
    expect(await cloud.refusal("create_stemcell", [cloud.dir, {}])).toContain("DOC-008");
  });

  it("is not deleted while a VM was made from it; a foreign cid is no image", async () => {
    const cid = await cloud.newStemcell();
    const vm = await cloud.newVm(cid);
    expect(await cloud.refusal("delete_stemcell", [cid])).toContain(vm.cid);
    await cloud.result("delete_vm", [vm.cid]);
    await cloud.result("delete_stemcell", ["alpine:latest"]);
    await cloud.result("delete_stemcell", [cid]);
  });

  it("can be deleted while disks it was the disk helper's image for are still there", async () => {
    const cid = await cloud.newStemcell();
    const disk = await cloud.newDisk(8);
    await cloud.result("delete_stemcell", [cid]);
    expect(await cloud.result("has_disk", [disk])).toBe(true);
    await cloud.result("delete_disk", [disk]);
  });
});
