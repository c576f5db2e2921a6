import { createHash } from "node:crypto";
import { fileDigest } from "../../stemcells/digest.ts";

/** A file of a job, a package or a license, as its archive will hold it. */
export interface SourceFile {
  /** Its path in the archive. */
  readonly name: string;
  readonly content: SourceContent;
  /** Of hooks and licenses it does not count whether they can be executed. */
  readonly modeless?: boolean;
}

export type SourceContent =
  | { readonly type: "file"; readonly path: string; readonly executable: boolean }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "symlink"; readonly to: string };

/**
 * What makes a job, package or license the same one, exactly as upstream says it: who continues a release directory of
 * the other builds nothing again. `extra`: names of packages it depends on.
 */
export async function fingerprint(
  files: readonly SourceFile[],
  extra: readonly string[] = [],
): Promise<string> {
  const hash = createHash("sha256").update("v2");
  for (const file of inOrder(files)) {
    hash.update(`${file.name}sha256:${await contentDigest(file.content)}`);
    if (file.modeless !== true) hash.update(modeOf(file.content));
  }
  return hash.update([...extra].sort(compareBytes).join(",")).digest("hex");
}

export const inOrder = (files: readonly SourceFile[]): readonly SourceFile[] =>
  [...files].sort((a, b) => compareBytes(a.name, b.name));

/** As Go compares strings; JavaScript would compare halves of letters. */
export const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

async function contentDigest(content: SourceContent): Promise<string> {
  if (content.type === "file") return await fileDigest(content.path, "sha256");
  return createHash("sha256")
    .update(content.type === "symlink" ? content.to : content.text)
    .digest("hex");
}

/** As git knows them. */
function modeOf(content: SourceContent): string {
  if (content.type === "symlink") return "symlink";
  return content.type === "file" && content.executable ? "100755" : "100644";
}
