import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Case } from "./cases.ts";
import { ownDirectory } from "./own-directory.ts";

/** A case as files and options. */
export interface Laid {
  readonly document: string;
  readonly options: Readonly<Record<string, string | readonly string[] | true>>;
}

export async function layOut(one: Case): Promise<Laid> {
  const dir = await ownDirectory();
  const put = async (name: string, text: string) => {
    await writeFile(join(dir, name), text);
    return join(dir, name);
  };
  const putAll = (name: string, texts: readonly string[] = []) =>
    Promise.all(texts.map((text, i) => put(`${name}${i}.yml`, text)));
  return {
    document: await put("document.yml", one.document),
    options: {
      "ops-file": await putAll("ops", one.ops),
      "vars-file": await putAll("vars", one.varsFiles),
      "var-file": await Promise.all(
        (one.varFiles ?? []).map(async ([name, text]) => `${name}=${await put(`${name}.txt`, text)}`),
      ),
      "vars-env": one.env === undefined ? [] : ["MY"],
      var: one.var ?? [],
      ...(one.path !== undefined && { path: one.path }),
      ...Object.fromEntries((one.flags ?? []).map((flag) => [flag, true] as const)),
    },
  };
}

/** The same for a command line. */
export const argv = ({ document, options }: Laid): readonly string[] => [
  "interpolate",
  document,
  ...Object.entries(options).flatMap(([name, given]) =>
    given === true ? [`--${name}`] : [given].flat().map((text) => `--${name}=${text}`),
  ),
];
