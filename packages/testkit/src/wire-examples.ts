import { readdirSync, readFileSync } from "node:fs";

const ROOT = new URL("../../protocol/examples/", import.meta.url);

export interface Example {
  /** Relative to the examples folder: `v2/create_vm.cli-style.request.json`. */
  readonly path: string;
  /** The name without folder and `.json`, split at its dots. */
  readonly parts: readonly string[];
  readonly content: unknown;
}

/** Every JSON file of a folder of the examples, in order. A file dropped there is read without being named. */
export function readExamples(folder: string): readonly Example[] {
  return readdirSync(new URL(`${folder}/`, ROOT))
    .filter((name) => name.endsWith(".json"))
    .sort()
    .map((name) => ({
      path: `${folder}/${name}`,
      parts: name.slice(0, -".json".length).split("."),
      content: readExample(`${folder}/${name}`),
    }));
}

export function readExample(path: string): unknown {
  const value: unknown = JSON.parse(readFileSync(new URL(path, ROOT), "utf8"));
  return value;
}

/** The folders that hold examples, so that a new one without a test is noticed. */
export function exampleFolders(under = ""): readonly string[] {
  return readdirSync(new URL(under, ROOT), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => {
      const folder = `${under}${entry.name}`;
      const inner = exampleFolders(`${folder}/`);
      return inner.length > 0 ? inner : [folder];
    })
    .sort();
}
