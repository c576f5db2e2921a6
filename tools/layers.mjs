// Checks what the folders promise: who may import whom, modules without import cycles, no ambient time or chance outside kernel, no barrels, short files.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { moduleCycles } from "./modules.mjs";

/** The one-way rule. A name with a path allows that export of the package only. */
const MAY_IMPORT = {
  protocol: [],
  kernel: ["protocol"],
  registry: ["protocol", "kernel"],
  "cpi-sdk": ["protocol", "kernel", "registry/client"],
  agent: ["protocol", "kernel", "registry/client"],
  certify: ["protocol", "kernel", "registry", "cpi-sdk"],
  engine: ["protocol", "kernel", "registry", "cpi-sdk/embed"],
  director: ["protocol", "kernel", "engine", "cpi-sdk/embed"],
  "cpi-local": ["protocol", "kernel", "cpi-sdk"],
  "cpi-docker": ["protocol", "kernel", "cpi-sdk"],
  "cpi-aws": ["protocol", "kernel", "cpi-sdk"],
  // Runs in a browser.
  console: ["protocol"],
  cli: [
    ...["protocol", "kernel", "registry", "cpi-sdk", "engine", "director", "cpi-local", "cpi-docker"],
    "certify",
  ],
  sim: ["protocol", "kernel", "cpi-sdk", "engine", "director"],
  "tiny-cpi": ["cpi-sdk"],
  // What tests of several packages share. Nothing but tests may import it.
  testkit: [
    ...["protocol", "kernel", "registry", "cpi-sdk", "agent"],
    ...["engine", "director", "cpi-local", "cpi-docker"],
  ],
};

const AMBIENT = [
  [/\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, "the time: take a Clock from kernel/clock"],
  [/\bMath\.random\(|\brandomUUID\(|\brandomBytes\(/, "chance: take a Random from kernel/random"],
  [/(?<![.\w])set(Timeout|Interval)\(/, "a timer: use Clock.sleep or Clock.after"],
  [/\bconsole\.\w+\(/, "the console: write to a stream that was passed in"],
  [
    /^import \{[^}]*\brequest\b[^}]*\} from "node:https?"|(?:await|return|=) fetch\(/,
    "HTTP: use kernel/http/client",
  ],
];

const CONSOLE_AMBIENT = "console/src/api/browser.ts";

/** create-env is a host of the engine, as the Director is. All other commands need no more of it than this. */
const CLI_EXPORTS = [
  ...["documents/ops", "documents/tree", "documents/variables", "documents/yaml"],
  ...["stemcells/digest", "stemcells/extract", "stemcells/free-space"],
  ...["variables/generate/generator", "variables/generate/generators"],
  // Certificates of an agent that is checked.
  "pki/authority",
  // Of a release's author: pure, and of the file system.
  ...["object-store/object-store", "object-store/open-object-store"],
  ...["manifest/versions", "releases/archive", "releases/source/fingerprint", "releases/source/glob"],
  ...["releases/source/next-version", "releases/source/source-archive"],
].map((entry) => `engine/${entry}`);

/** Worlds for tests, in packages of their own: they look inside. */
const LOOK_INSIDE = ["testkit", "sim"];

/** What each package exports without its sources: once it is installed somewhere. */
const exportsOf = new Map();

function isExported(pkg, path) {
  if (!exportsOf.has(pkg)) {
    const { exports = {} } = JSON.parse(readFileSync(join("packages", pkg, "package.json"), "utf8"));
    const built = Object.keys(exports).filter((one) => exports[one].default !== undefined);
    exportsOf.set(pkg, new Set(built));
  }
  const names = exportsOf.get(pkg);
  return names.has(`./${path}`) || names.has("./*");
}

const usedExports = new Set();

const LONGEST = 400;
const LONGEST_TEST = 450;
const problems = [];

const homes = [
  ...readdirSync("packages").map((name) => ({ name, dir: join("packages", name) })),
  ...readdirSync("examples").map((name) => ({ name, dir: join("examples", name) })),
  // Some examples are documents, not packages.
].filter(({ dir }) => existsSync(join(dir, "package.json")));

for (const { name, dir } of homes) {
  const allowed = MAY_IMPORT[name];
  if (allowed === undefined) {
    problems.push(`${dir}: not in the table of tools/layers.mjs; say what it may import`);
    continue;
  }
  const manifest = JSON.parse(readFileSync(join(dir, "package.json"), "utf8"));
  // `slipway` is installed as one bundle: what it imports is needed to build it, not to run it.
  const declared = (name === "cli" ? manifest.devDependencies : manifest.dependencies) ?? {};
  const used = new Set();
  for (const file of filesIn(join(dir, "src"))) inspect(file, name, allowed, used);
  // Its runner and generators are the repository's own tools, as they are for every test.
  if (name === "testkit") continue;
  for (const { modules, imports } of moduleCycles(join(dir, "src")))
    problems.push(
      `${dir}/src: the modules ${modules.join(", ")} import each other in a circle:`,
      ...imports.map((line) => `    ${line}`),
    );
  for (const one of used)
    if (!(one in declared)) problems.push(`${dir}/package.json: ${one} is imported but not a dependency`);
}

// Programs of the repository run the builds, as others do.
for (const dir of ["tools", "bench"])
  for (const file of readdirSync(dir).filter((name) => name.endsWith(".mjs")))
    for (const [, pkg, path] of readFileSync(join(dir, file), "utf8").matchAll(
      / from "@slipway\/([^/"]+)\/([^"]+)"/g,
    ))
      if (!isExported(pkg, path))
        problems.push(`${dir}/${file}: packages/${pkg}/package.json does not export ./${path}`);

function inspect(file, home, allowed, used) {
  const text = readFileSync(file, "utf8");
  const test = /\.test\.ts$|\/testing\//.test(file);
  const lines = text.split("\n");
  if (lines.length > (test ? LONGEST_TEST : LONGEST))
    problems.push(`${file}: ${lines.length} lines; split it by what it does`);
  if (/^export \* from/m.test(text))
    problems.push(`${file}: a barrel; import from the file that has the thing`);
  if (test) return;
  for (const [, fromClause, bare] of text.matchAll(
    /^(?:import|export)\b[^;"]*\bfrom "([^"]+)"|\bimport(?:\(| )"([^"]+)"/gm,
  )) {
    const specifier = fromClause ?? bare;
    if (specifier.startsWith(".") || specifier.startsWith("node:")) continue;
    const [scope, pkg, ...path] = specifier.split("/");
    if (scope !== "@slipway") {
      used.add(specifier.startsWith("@") ? `${scope}/${pkg}` : scope);
      continue;
    }
    used.add(`${scope}/${pkg}`);
    const entry = [pkg, ...path].join("/");
    if (!allowed.some((one) => one === pkg || one === entry))
      problems.push(`${file}: ${home} must not import ${specifier}`);
    if (!LOOK_INSIDE.includes(home)) usedExports.add(entry);
    if (home === "cli" && pkg === "engine" && !file.includes("/create-env/") && !CLI_EXPORTS.includes(entry))
      problems.push(`${file}: only create-env may import ${specifier}`);
    if (!LOOK_INSIDE.includes(home) && !isExported(pkg, path.join("/")))
      problems.push(`${file}: packages/${pkg}/package.json does not export ./${path.join("/")}`);
    if (path.includes("testing")) problems.push(`${file}: ${specifier} is for tests`);
  }
  // The browser has no kernel; one file of the console stands for it.
  if (home === "kernel" || home === "testkit" || file === join("packages", CONSOLE_AMBIENT)) return;
  lines.forEach((line, at) => {
    for (const [pattern, what] of AMBIENT) {
      if (pattern.test(line)) problems.push(`${file}:${at + 1}: reaches for ${what}`);
    }
  });
}

function* filesIn(dir) {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) yield* filesIn(path);
    else if (/\.tsx?$/.test(entry.name)) yield path;
  }
}

// An export that no other package uses is removed.
for (const pkg of ["engine", "director"]) {
  const { exports } = JSON.parse(readFileSync(join("packages", pkg, "package.json"), "utf8"));
  for (const [entry, { default: built }] of Object.entries(exports))
    if (built !== undefined && !usedExports.has(`${pkg}${entry.slice(1)}`))
      problems.push(`packages/${pkg}/package.json: no other package imports ${entry}`);
}

if (problems.length > 0) {
  console.error(`${problems.join("\n")}\n${problems.length} problem(s) with the layers.`);
  process.exit(1);
}
console.log(`layers: ${homes.length} packages keep the rule`);
