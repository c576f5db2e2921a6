import { rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { writeTarFile } from "@slipway/engine/releases/source/source-archive";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import type { Random } from "@slipway/kernel/random";
import { archiveBytes, fileArchiveKind } from "@slipway/kernel/tar/file";
import { plainName, readTar } from "@slipway/kernel/tar/read";
import type { TarInput } from "@slipway/kernel/tar/write";
import { type BuiltRelease, type BuiltResource, isCompiled, manifestText } from "./built-release.ts";
import { BadReleaseFile, ReleaseNotWritten } from "./errors.ts";

const LARGEST_LICENSE = 16 * 2 ** 20;

/**
 * The release as one file, for `upload-release`. It appears under its name when it is whole. `without` are fingerprints of
 * packages that are named in it only: who reads it has them.
 */
export async function writeReleaseTarball(
  to: string,
  release: BuiltRelease,
  random: Random,
  without: ReadonlySet<string> = new Set(),
): Promise<void> {
  const { jobs, packages, license } = release;
  const inside = packages.filter(({ fingerprint }) => !without.has(fingerprint));
  const entries: TarInput[] = [
    { type: "text", name: "release.MF", text: manifestText(release), mode: 0o644 },
    ...folder("jobs", jobs),
    ...folder(isCompiled(release) ? "compiled_packages" : "packages", inside),
    ...(license === undefined
      ? []
      : [archive("license.tgz", license), ...(await licenseTexts(license.file))]),
  ];
  const partial = join(dirname(to), `.${basename(to)}.${random.hex(6)}.partial`);
  try {
    await writeTarFile(partial, entries, { gzip: !release.noCompression });
    await rename(partial, to);
  } catch (error) {
    await rm(partial, { force: true });
    throw ReleaseNotWritten({ file: to, why: reason(error) }, { cause: error });
  }
}

const folder = (name: string, resources: readonly BuiltResource[]): readonly TarInput[] =>
  resources.length === 0
    ? []
    : [
        { type: "directory", name, mode: 0o755 },
        ...resources.map((one) => archive(`${name}/${one.name}.tgz`, one)),
      ];

const archive = (name: string, { file }: BuiltResource): TarInput => ({
  ...{ type: "file", name, path: file, mode: 0o644 },
});

/** Returns the license texts, which the release also has as plain files, for people. */
async function licenseTexts(file: string): Promise<readonly TarInput[]> {
  const refuse = (why: string) => BadReleaseFile({ file, problems: [why] });
  const gzip = (await fileArchiveKind(file)) === "tar.gz";
  const texts: TarInput[] = [];
  let size = 0;
  for await (const { entry, body } of readTar(archiveBytes(file, { gzip }), { refuse, end: "optional" })) {
    if (entry.type !== "file") continue;
    size += entry.size;
    if (size > LARGEST_LICENSE) throw refuse("the license is larger than 16 MiB");
    const pieces: Uint8Array[] = [];
    for await (const piece of body) pieces.push(Uint8Array.from(piece));
    texts.push({
      type: "text",
      name: plainName(entry.name, refuse),
      text: Buffer.concat(pieces),
      mode: 0o644,
    });
  }
  return texts;
}

function reason(error: unknown): string {
  const code = systemCode(error);
  if (code === "ENOENT") return "its directory does not exist";
  if (code === "EISDIR") return "it is a directory";
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") return "writing there is not allowed";
  if (code === "ENOSPC") return "the disk is full";
  return messageTrail(error);
}
