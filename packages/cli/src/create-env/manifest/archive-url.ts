import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { type Fields, MISSING, WRONG_VALUE } from "@slipway/engine/documents/fields";

/** Reads an address that can be fetched. `file://` paths are relative to the manifest, `~` is home; the scheme is needed. */
export function readArchiveUrl(
  fields: Fields,
  what: "stemcell" | "release",
  manifestDir: string,
  home = homedir(),
): { readonly url: string; readonly sha1: string | undefined } | undefined {
  const given = fields.needText("url", `Write url: file://${what}.tgz, or an https address with its sha1.`);
  const sha1 = fields.text("sha1");
  if (given === undefined) return undefined;
  const file = /^file:\/\/(.+)$/.exec(given)?.[1];
  if (file !== undefined) {
    const path = file.startsWith("~/") ? join(home, file.slice(2)) : resolve(manifestDir, file);
    // Local files are taken as they are, as upstream does.
    return { url: pathToFileURL(path).href, sha1: undefined };
  }
  if (!/^https?:\/\//.test(given) || !URL.canParse(given)) {
    fields.wrong(
      WRONG_VALUE,
      "url",
      "this is neither a file:// nor an http(s):// address",
      "Write file://path, relative to the manifest, or an https address.",
    );
    return undefined;
  }
  if (sha1 === undefined)
    fields.wrong(
      MISSING,
      "sha1",
      `a ${what} from elsewhere is not taken without its digest`,
      "Give its sha1.",
    );
  return { url: given, sha1 };
}
