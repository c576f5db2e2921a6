import { systemExec } from "@slipway/kernel/exec";
import { isObject } from "@slipway/protocol/schema/json";
import { createDevRelease } from "../releases/create.ts";
import { openReleaseDirectory } from "../releases/release-directory.ts";
import type { Tools } from "../tools.ts";
import { sendBuilt, sendRelease } from "./send-release.ts";

/**
 * Uploads the releases of a manifest that have a `url`, unless they are there. One whose version is `create` is built of
 * its directory first. Returns the manifest with the versions that were made.
 */
export async function uploadReleasesOf(document: unknown, fix: boolean, tools: Tools): Promise<unknown> {
  if (!isObject(document) || !Array.isArray(document.releases)) return document;
  const releases: unknown[] = [];
  for (const release of document.releases as unknown[]) releases.push(await uploaded(release, fix, tools));
  return { ...document, releases };
}

async function uploaded(release: unknown, fix: boolean, tools: Tools): Promise<unknown> {
  if (!isObject(release) || typeof release.url !== "string" || release.url === "") return release;
  const { url, sha1, ...rest } = release;
  const name = String(rest.name);
  const version = String(rest.version);
  if (version !== "create") {
    const text = typeof sha1 === "string" && sha1 !== "" ? sha1 : undefined;
    const what = { from: url, name, version, sha1: text, stemcell: stemcellOf(rest) };
    await sendRelease({ ...what, fix, rebase: false }, tools);
    return release;
  }
  const directory = await openReleaseDirectory(url.replace(/^file:\/\//, ""), { ...tools, exec: systemExec });
  const made = { name, version: undefined, timestampVersion: true, force: true, clock: tools.clock };
  const built = await createDevRelease(directory, made);
  tools.ui.aside(`Added dev release '${built.name}/${built.version}'`);
  await sendBuilt(built, { fix: false, rebase: false }, await tools.director(), tools);
  return { ...rest, ...(sha1 !== undefined && { sha1 }), version: built.version };
}

/** Upstream looks at the first of `exported_from` only, and at `stemcell` before it. */
function stemcellOf(release: Readonly<Record<string, unknown>>): string | undefined {
  const [exported]: readonly unknown[] = Array.isArray(release.exported_from) ? release.exported_from : [];
  const found = [release.stemcell, exported].find((one) => isObject(one) && typeof one.os === "string");
  return isObject(found) ? `${String(found.os)}/${String(found.version)}` : undefined;
}
