import { createHash } from "node:crypto";
import { fileDigest } from "../../stemcells/digest.ts";

/** A file of a job, a package or a license, as its archive will hold it. */
export interface SourceFile {
  /** Its path in the archive. */
  readonly name: string;
  readonly content: SourceContent;
  /** True for hooks and licenses, whose executable bit does not count. */
  readonly modeless?: boolean;
}

export type SourceContent =
  | { readonly type: "file"; readonly path: string; readonly executable: boolean }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "symlink"; readonly to: string };

/**
 * Returns the fingerprint of a job, package or license exactly as upstream computes it, so that either tool can continue a
 * release directory of the other without a rebuild. `extra`: names of packages it depends on.
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

/** Compares strings by bytes, as Go does; JavaScript would compare UTF-16 units. */
export const compareBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

async function contentDigest(content: SourceContent): Promise<string> {
  if (content.type === "file") return await fileDigest(content.path, "sha256");
  return createHash("sha256")
    .update(content.type === "symlink" ? content.to : content.text)
    .digest("hex");
}

/** Returns the file mode as git records it. */
function modeOf(content: SourceContent): string {
  if (content.type === "symlink") return "symlink";
  return content.type === "file" && content.executable ? "100755" : "100644";
}
