import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";

const IMAGE = "the bits of a stemcell";

/** The smallest stemcell the CPI of the world takes. */
export async function stemcellFile(name: string, version: string): Promise<Buffer> {
  const manifest = [
    `name: ${name}`,
    `version: '${version}'`,
    "operating_system: sim-os",
    `sha1: ${createHash("sha1").update(IMAGE).digest("hex")}`,
    "api_version: 3",
    "stemcell_formats: [general-tar]",
    "cloud_properties: {}",
    "",
  ].join("\n");
  const file = (path: string, body: string) => ({
    header: { name: path, size: Buffer.byteLength(body), type: "file" as const },
    body,
  });
  return gzipSync(await packTar([file("stemcell.MF", manifest), file("image", IMAGE)]));
}
