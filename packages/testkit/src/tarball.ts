import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { packTar, type TarEntry } from "modern-tar";

export const IMAGE = "the bits of a stemcell";
export const MANIFEST = `---
name: tiny
version: '1.10'
operating_system: tiny-os
sha1: ${createHash("sha1").update(IMAGE).digest("hex")}
api_version: 3
stemcell_formats: [tiny-tar]
cloud_properties: {infrastructure: tiny}
`;

export const fileEntry = (name: string, body: string): TarEntry => ({
  header: { name, size: Buffer.byteLength(body), type: "file" },
  body,
});

export const stemcellEntries = (): TarEntry[] => [
  fileEntry("stemcell.MF", MANIFEST),
  fileEntry("image", IMAGE),
];

/** A gzipped tar of the entries, exactly as given, however odd. */
export async function tarball(entries: readonly TarEntry[]): Promise<Buffer> {
  return gzipSync(await packTar(entries));
}
