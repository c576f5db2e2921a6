import { isObject } from "@slipway/protocol/schema/json";
import { writeDocument } from "../documents/write-document.ts";
import type { Tools } from "../tools.ts";

/**
 * Uploads what a document names with a `url`. Returns the document with what was made of its releases; as it is, where none
 * has one.
 */
export async function withReleases(
  { text, value }: { readonly text: string; readonly value: unknown },
  fix: boolean,
  tools: Tools,
): Promise<string> {
  const releases = isObject(value) ? value.releases : undefined;
  const some = Array.isArray(releases) && releases.some((one: unknown) => isObject(one) && Boolean(one.url));
  if (!some) return text;
  const { uploadReleasesOf } = await import("./document-releases.ts");
  return writeDocument(await uploadReleasesOf(value, fix, tools));
}
