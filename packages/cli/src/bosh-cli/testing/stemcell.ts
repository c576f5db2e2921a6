import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";

export interface MadeStemcell {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly sha1: string;
}

/** A tarball as upstream's builder makes it, with an image that means nothing to the local CPI. */
export async function makeStemcell(dir: string, version: string, name = "story"): Promise<MadeStemcell> {
  const parts = join(dir, `${name}-${version}`);
  await mkdir(parts, { recursive: true });
  const image = `image of ${name}/${version}`;
  await writeFile(join(parts, "image"), image);
  const manifest = {
    name,
    version,
    operating_system: "local",
    sha1: createHash("sha1").update(image).digest("hex"),
    api_version: 3,
    stemcell_formats: ["general-tar"],
    cloud_properties: {},
  };
  await writeFile(join(parts, "stemcell.MF"), JSON.stringify(manifest));
  const file = `${parts}.tgz`;
  const made = await systemExec("tar", ["-czf", file, "-C", parts, "stemcell.MF", "image"]);
  if (made.code !== 0) throw new Error(`tar: ${made.stderr}`);
  const sha1 = createHash("sha1")
    .update(await readFile(file))
    .digest("hex");
  return { name, version, file, sha1 };
}
