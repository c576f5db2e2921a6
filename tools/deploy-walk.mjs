// Keeps docs/how-a-deploy-runs.md true: its files exist, each follows from another, and nothing on the way is left out.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, normalize, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const PAGE = "docs/how-a-deploy-runs.md";

/** The most files that a reader should have to open, by the start of the heading. */
const MOST = { "A deploy": 45, "Attaching a disk": 22 };

/** Both walks pass these, to which only a table leads. */
const ALWAYS = [
  "director/src/tasks/runner.ts",
  "engine/src/clouds/cpi-cloud.ts",
  "engine/src/clouds/exec-cpi.ts",
  "engine/src/agents/agent-client.ts",
  "engine/src/agents/https-transport.ts",
  "agent/src/transports/https.ts",
  "agent/src/dispatch/dispatch.ts",
];

/** The ends of each walk, and its operation and steps. */
const PASSES = {
  "A deploy": [
    "director/src/api/endpoints/post_deployments.ts",
    "director/src/operations/update_deployment.ts",
    "engine/src/steps/create_vm.ts",
    "engine/src/steps/apply.ts",
    "agent/src/actions/apply.ts",
  ],
  "Attaching a disk": [
    "director/src/api/endpoints/put_disks_cid_attachments.ts",
    "director/src/operations/attach_disk.ts",
    "engine/src/steps/attach_disk.ts",
    "engine/src/steps/mount_disk.ts",
    "agent/src/actions/mount_disk.ts",
  ],
};

/** Returns the walks, the tables and the patterns of the page. Paths are below `packages`. */
export function readPage(text) {
  const walks = [];
  const tables = [];
  const details = [];
  let heading = "";
  for (const line of text.split("\n")) {
    heading = /^## (.+)$/.exec(line)?.[1] ?? heading;
    const walk = /^## (.+): (\d+) files$/.exec(line);
    if (walk !== null) walks.push({ title: walk[1], count: Number(walk[2]), files: [] });
    const file = /^(?:\d+\.|-) \[`(.+?)`\]\(\.\.\/packages\/(.+?)\)/.exec(line);
    if (file !== null && file[1] !== file[2]) throw new Error(`the link of ${file[1]} leads to ${file[2]}`);
    if (file !== null) (heading === "Tables" ? tables : walks.at(-1).files).push(file[1]);
    const detail = /^- `(.+?)`: /.exec(line)?.[1];
    if (detail !== undefined) details.push(detail);
  }
  return { walks, tables, details };
}

/** Returns the files of packages that a file imports values from. Types are not followed: they lead nowhere at run time. */
export function importsOf(file, top = "packages") {
  const text = readFileSync(join(top, file), "utf8");
  const specifiers = [...text.matchAll(/\bimport\("([^"]+)"\)/g)].map(([, specifier]) => specifier);
  for (const [, names, specifier] of text.matchAll(/^import (?!type\b)([^;"]*?)from "([^"]+)";/gm)) {
    const values = names
      .replace(/[{}]/g, "")
      .split(",")
      .map((name) => name.trim());
    if (values.some((name) => name !== "" && !name.startsWith("type "))) specifiers.push(specifier);
  }
  return specifiers.flatMap((specifier) => {
    if (specifier.startsWith(".")) return [normalize(join(dirname(file), specifier))];
    const [scope, pkg, ...path] = specifier.split("/");
    return scope === "@slipway" ? [`${pkg}/src/${path.join("/")}.ts`] : [];
  });
}

// The patterns of the page: `folder/`, `folder/*.ts`, `folder/{one,other}.ts` and `**/name.ts`.
function matches(file, pattern) {
  if (pattern.startsWith("**")) return file.endsWith(pattern.slice(2));
  if (pattern.endsWith("/")) return file.startsWith(pattern);
  if (pattern.endsWith("/*.ts")) return dirname(file) === dirname(pattern);
  const [, folder, names] = /^(.+)\/\{(.+)\}\.ts$/.exec(pattern) ?? [];
  if (folder === undefined) return file === pattern;
  return names.split(",").some((name) => file === `${folder}/${name}.ts`);
}

/** Returns what is wrong with the page. */
export function walkProblems(text, top = "packages") {
  const { walks, tables, details } = readPage(text);
  const imports = new Map();
  const importsFrom = (file) => {
    if (!imports.has(file)) imports.set(file, existsSync(join(top, file)) ? importsOf(file, top) : []);
    return imports.get(file);
  };
  const walked = new Set(walks.flatMap(({ files }) => files));
  const isDetail = (file) => !walked.has(file) && details.some((pattern) => matches(file, pattern));
  const byTable = new Set(tables.flatMap(importsFrom));
  const problems = Object.keys(MOST)
    .filter((title) => !walks.some((walk) => walk.title === title))
    .map((title) => `there is no list '${title}: N files'`);
  for (const file of [...walked, ...tables])
    if (!existsSync(join(top, file))) problems.push(`${file} does not exist`);
  for (const { title, count, files } of walks) {
    const say = (problem) => problems.push(`${title}: ${problem}`);
    if (files.length !== count) say(`the heading says ${count} files, and there are ${files.length}`);
    if (files.length > MOST[title]) say(`${files.length} files are more than ${MOST[title]}`);
    const list = new Set(files);
    for (const file of files.filter((one, at) => files.indexOf(one) !== at)) say(`${file} is there twice`);
    for (const file of [...ALWAYS, ...(PASSES[title] ?? [])]) if (!list.has(file)) say(`${file} is missing`);
    const reached = new Set(files.flatMap((file) => importsFrom(file).filter((one) => one !== file)));
    for (const file of files.slice(1))
      if (!reached.has(file) && !byTable.has(file)) say(`no file of the list and no table imports ${file}`);
    for (const file of files)
      for (const one of importsFrom(file))
        if (!list.has(one) && !tables.includes(one) && !isDetail(one))
          say(`${file} imports ${one}, which is neither in the list nor among the details`);
  }
  const used = [...walked].flatMap(importsFrom);
  for (const pattern of details)
    if (!used.some((file) => matches(file, pattern))) problems.push(`no listed file imports ${pattern}`);
  return problems;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const problems = walkProblems(readFileSync(PAGE, "utf8"));
  for (const problem of problems) console.error(`${PAGE}: ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
  else console.log("walk: the lists of docs/how-a-deploy-runs.md are complete");
}
