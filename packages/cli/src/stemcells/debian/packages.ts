import { fieldsOf } from "./sources.ts";

/** `packages.txt` from dpkg's `status`: state, name, version and architecture, in the order of the names. */
export function packagesOf(status: string): readonly string[] {
  const lines = status.split(/\n\n+/).flatMap((paragraph): string[] => {
    const fields = fieldsOf(paragraph);
    const name = fields.get("package");
    if (name === undefined || !/ installed$/.test(fields.get("status") ?? "")) return [];
    return [`ii  ${name} ${fields.get("version") ?? ""} ${fields.get("architecture") ?? ""}`];
  });
  return lines.sort((one, other) => (one < other ? -1 : 1));
}
