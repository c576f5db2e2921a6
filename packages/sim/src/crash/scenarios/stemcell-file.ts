import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { tarBytes } from "@slipway/kernel/tar/write";

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
  const file = (name: string, text: string) => ({ type: "text" as const, name, mode: 0o644, text });
  return gzipSync(await buffer(tarBytes([file("stemcell.MF", manifest), file("image", IMAGE)], 0)));
}
