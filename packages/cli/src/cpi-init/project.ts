import { chmod, cp, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { defineError, systemCode } from "@slipway/kernel/errors";
import { exists } from "@slipway/kernel/files";

export interface ProjectKit {
  /** Files that every new project begins with. */
  readonly template: string;
  /** The SDK as one tarball. */
  readonly sdk: string;
  /** The agent's bundle, which its VMs run. */
  readonly agent: string;
}

/** Returns the files of the kit, which are beside the agent's bundle in a clone and in an installation. */
export const kitBeside = (agent: string): ProjectKit => ({
  template: join(dirname(agent), "..", "cpi-template"),
  sdk: join(dirname(agent), "slipway-cpi-sdk.tgz"),
  agent,
});

/** Languages of templates. Any other language has the same contract: one request on stdin, one reply on stdout. */
export const LANGUAGES = ["typescript", "python"] as const;
export type Language = (typeof LANGUAGES)[number];

export const isLanguage = (word: string): word is Language => LANGUAGES.some((one) => one === word);

/** Makes a directory in which a CPI can be built, certified and deployed with. Resolves to its whole path. */
export async function makeProject(
  given: string,
  kit: ProjectKit,
  language: Language = "typescript",
): Promise<string> {
  const dir = resolve(given);
  const needed = language === "python" ? [pythonIn(kit)] : [kit.template, kit.sdk, kit.agent];
  for (const file of needed) if (!(await exists(file))) throw KitMissing({ file });
  if ((await entriesOf(dir)).length > 0) throw ProjectThere({ dir });
  await (language === "python" ? makePython(dir, kit) : makeTypeScript(dir, kit));
  return dir;
}

const pythonIn = ({ template }: ProjectKit): string => join(template, "python");

async function makePython(dir: string, kit: ProjectKit): Promise<void> {
  await cp(pythonIn(kit), dir, { recursive: true });
  // Archives of packages do not keep these modes everywhere.
  for (const program of ["cpi", "test"]) await chmod(join(dir, program), 0o755);
  await writeFile(join(dir, ".gitignore"), "cloud/\nreport/\ncpi.json\n");
  await writeDocuments(dir, {
    "cpi.json": { cloud: { plugin: "mycloud", properties: { mycloud: { dir: join(dir, "cloud") } } } },
  });
}

async function makeTypeScript(dir: string, kit: ProjectKit): Promise<void> {
  await mkdir(join(dir, "vendor"), { recursive: true });
  const python = pythonIn(kit);
  await cp(kit.template, dir, { recursive: true, filter: (source) => source !== python });
  await cp(kit.sdk, join(dir, "vendor", basename(kit.sdk)));
  await renamePackage(join(dir, "package.json"), basename(dir));
  await writeFile(
    join(dir, ".gitignore"),
    "node_modules/\nout/\nbin/\nreport/\ncloud/\nhome/\n*.tgz\n!vendor/*.tgz\n",
  );
  await writeDocuments(dir, {
    "cpi.json": { mycloud: { dir: join(dir, "cloud"), agent: kit.agent } },
    "director.json": {
      name: basename(dir),
      cpi: { exec_path: join(dir, "bin", "cpi.cjs"), config_file: join(dir, "cpi.json") },
    },
  });
}

async function writeDocuments(dir: string, documents: Readonly<Record<string, object>>): Promise<void> {
  for (const [name, document] of Object.entries(documents))
    await writeFile(join(dir, name), `${JSON.stringify(document, null, 2)}\n`);
}

async function entriesOf(dir: string): Promise<readonly string[]> {
  try {
    return await readdir(dir);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    if (systemCode(error) === "ENOTDIR") throw ProjectThere({ dir });
    throw error;
  }
}

/** npm's rule for names. */
async function renamePackage(path: string, name: string): Promise<void> {
  const safe =
    name
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, "-")
      .replace(/^-+|-+$/g, "") || "my-cpi";
  const text = await readFile(path, "utf8");
  await writeFile(path, text.replace('"name": "my-cpi"', `"name": ${JSON.stringify(safe)}`));
}

export const ProjectThere = defineError<{ dir: string }>({
  code: "CLI-090",
  kind: "operator",
  message: (p) => `${p.dir} is not empty`,
  next: "Name a directory that does not exist yet, or an empty one. Nothing was changed.",
});

export const KitMissing = defineError<{ file: string }>({
  code: "CLI-091",
  kind: "operator",
  message: (p) => `${p.file} is not there, which a new CPI is made of`,
  next: "In a clone of slipway, `npm run build` makes it. An installed slipway has it: install it again.",
});
