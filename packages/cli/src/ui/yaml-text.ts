import { writeDocument } from "../documents/write-document.ts";

/** Maps and lists as YAML in a cell; nothing where they are empty. */
export function yamlText(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "object" && Object.keys(value).length === 0) return "";
  return writeDocument(value).trimEnd();
}
