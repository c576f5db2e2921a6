// npm run test:pack: the packages as others get them. Packs them, installs the tarballs into empty projects outside the
// repository, and there plays the first step of a CPI's author and starts every program. Installs `slipway` as its users
// do, runs the demo, follows docs/write-a-cpi.md word by word, and upgrades from the previous release.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { cleanEnv } from "./installed.mjs";
import { checkInstalled } from "./pack-installed.mjs";
import { removeLeftovers } from "./prepack.mjs";

const root = resolve(".");
const dir = mkdtempSync(join(tmpdir(), "slipway-pack-"));
// The database of root runs as another user, who must reach it.
chmodSync(dir, 0o711);
process.on("exit", () => rmSync(dir, { recursive: true, force: true }));

/** What the author of a CPI installs; the rest comes with the programs. */
const FOR_AUTHORS = ["protocol", "kernel", "registry", "cpi-sdk"];
const packages = readdirSync("packages")
  .map((name) => ({
    name,
    ...JSON.parse(readFileSync(join("packages", name, "package.json"), "utf8")),
    dir: name,
  }))
  .filter((one) => one.private !== true);
const problems = [];

const env = cleanEnv();

function run(program, args, { cwd = dir, input = "", fails = false } = {}) {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    input,
    env,
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  if (error !== undefined) throw error;
  if ((status === 0) === fails)
    throw new Error(`${program} ${args.join(" ")} ended with ${status}:\n${stdout}\n${stderr}`);
  return fails ? stderr : stdout;
}
const node = (args, options) => run(process.execPath, args, options);

/** Notes what goes wrong and goes on, so that one run tells everything. */
async function step(what, work) {
  try {
    await work();
    console.log(`pack: ${what}`);
  } catch (error) {
    problems.push(`${what}: ${error.message}`);
  }
}

const STRANGE = /^(?!cpi-template\/).*\.test\.|(^|\/)testing\/|tsbuildinfo|^src\//;
const TARBALLS = new Map();

function pack() {
  const args = packages.flatMap(({ dir: home }) => ["-w", `packages/${home}`]);
  const packed = JSON.parse(
    run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", dir, ...args], { cwd: root }),
  );
  for (const { name, filename, files } of packed) {
    TARBALLS.set(name, join(dir, filename));
    const wrong = files
      .map(({ path }) => path)
      .filter(
        (path) =>
          STRANGE.test(path) || !/^(dist\/|cpi-template\/|docs\/|package\.json$|README|LICENSE)/.test(path),
      );
    if (wrong.length > 0) problems.push(`${name} would ship ${wrong.slice(0, 3).join(", ")}`);
  }
}

/** An empty project with these packages of ours, from their tarballs alone. */
function project(name, ours, others = []) {
  const home = join(dir, name);
  mkdirSync(home);
  writeFileSync(
    join(home, "package.json"),
    JSON.stringify({ name, version: "1.0.0", private: true, type: "module" }),
  );
  const quiet = [
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    "--prefer-offline",
    "--omit=optional",
    "--loglevel=error",
  ];
  const tarballs = ours.map((one) => TARBALLS.get(`@slipway/${one}`));
  run("npm", ["install", ...quiet, ...tarballs, ...others], { cwd: home });
  return home;
}

/** Every export that a package names can be imported, and nothing that it does not name. */
function imports(home, ours) {
  const named = packages
    .filter((one) => ours.includes(one.dir))
    .flatMap((one) =>
      Object.keys(one.exports)
        .filter((path) => one.exports[path].default !== undefined && !path.includes("*"))
        .map((path) => join(one.name, path)),
    );
  node(
    ["--input-type=module", "-e", named.map((path) => `await import(${JSON.stringify(path)});`).join("\n")],
    { cwd: home },
  );
  for (const closed of [
    "@slipway/kernel/testing/temporary",
    "@slipway/protocol/src/ids",
    "@slipway/cpi-sdk/answer-request",
  ]) {
    const said = node(["--input-type=module", "-e", `await import("${closed}")`], { cwd: home, fails: true });
    if (!said.includes("ERR_PACKAGE_PATH_NOT_EXPORTED")) throw new Error(`${closed}: ${said}`);
  }
}

const TSCONFIG = {
  compilerOptions: {
    target: "es2022",
    module: "nodenext",
    lib: ["es2023"],
    types: ["node"],
    strict: true,
    exactOptionalPropertyTypes: true,
    rewriteRelativeImportExtensions: true,
    outDir: "out",
    rootDir: "src",
  },
  include: ["src"],
};

const request = (method, ...args) =>
  JSON.stringify({
    method,
    arguments: args,
    context: {
      director_uuid: "pack-check",
      request_id: `pack-${method}`,
      vm: { stemcell: { api_version: 2 } },
    },
    api_version: 2,
  });

function answer(program, config, input) {
  const reply = JSON.parse(node([program, "--configFile", config], { input }));
  if (reply.error !== null) throw new Error(`${input}: ${reply.error.message}`);
  return reply.result;
}

/** The tiny CPI as somebody's own project: types, modules as they are, one file, and calls. */
async function author() {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const { dependencies } = JSON.parse(readFileSync("examples/tiny-cpi/package.json", "utf8"));
  const others = [`valibot@${dependencies.valibot}`, `@types/node@${devDependencies["@types/node"]}`];
  const home = project("author", FOR_AUTHORS, others);
  await step("every export of the SDK can be imported, and nothing else", () => imports(home, FOR_AUTHORS));
  for (const file of ["main.ts", "tiny-cpi.ts"])
    cpSync(join("examples/tiny-cpi/src", file), join(home, "src", file));
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const bin = (name) => join(root, "node_modules", ".bin", name);
  await step("a CPI is checked against the packed types", () => run(bin("tsc"), ["-p", "."], { cwd: home }));
  await step("a wrong CPI is found by the packed types", () => {
    writeFileSync(
      join(home, "src", "wrong.ts"),
      'import { diskNotFound } from "@slipway/cpi-sdk/errors";\nthrow diskNotFound(7);\n',
    );
    const args = ["-p", ".", "--noEmit"];
    const { status, stdout } = spawnSync(bin("tsc"), args, { cwd: home, encoding: "utf8" });
    rmSync(join(home, "src", "wrong.ts"));
    if (status === 0 || !/wrong\.ts.*TS2345/.test(stdout)) throw new Error(`tsc says: ${stdout}`);
  });
  const bundling = [
    "--bundle",
    "--platform=node",
    "--target=node20",
    "--format=cjs",
    "--outfile=cpi.cjs",
    "--log-level=warning",
  ];
  await step("it is bundled", () => run(bin("esbuild"), ["src/main.ts", ...bundling], { cwd: home }));
  const config = join(home, "cpi.json");
  writeFileSync(config, JSON.stringify({ tiny: { dir: join(home, "cloud") } }));
  writeFileSync(join(home, "image"), "an image\n");
  for (const program of ["out/main.js", "cpi.cjs"])
    await step(`${program} answers info and create_vm`, () => {
      const call = (...said) => answer(join(home, program), config, request(...said));
      const { api_version: version } = call("info");
      if (version < 2) throw new Error(`info says api_version ${version}`);
      const stemcell = call("create_stemcell", join(home, "image"), {});
      const networks = {
        private: { type: "manual", ip: "10.0.4.9", netmask: "255.255.255.0", cloud_properties: {} },
      };
      const [cid] = call("create_vm", `agent-${program}`, stemcell, {}, networks, [], {});
      if (call("has_vm", cid) !== true) throw new Error(`has_vm says there is no ${cid}`);
    });
}

/** Their TypeScript, against the packed types. */
function readmes(home, all) {
  mkdirSync(join(home, "src"));
  let count = 0;
  for (const name of all) {
    const page = readFileSync(join("packages", name, "README.md"), "utf8");
    for (const [, code] of page.matchAll(/```ts\n([\s\S]*?)```/g))
      writeFileSync(join(home, "src", `${name}-${count++}.ts`), code);
  }
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(TSCONFIG));
  run(join(root, "node_modules", ".bin", "tsc"), ["-p", ".", "--noEmit"], { cwd: home });
  if (count < 4) throw new Error(`only ${count} pieces of code were found`);
}

/** All of them together; what each program says of itself. */
async function programs() {
  const all = packages.map((one) => one.dir);
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const home = project("programs", all, [`@types/node@${devDependencies["@types/node"]}`]);
  await step("what the READMEs of the packages show can be compiled", () => readmes(home, all));
  const libraries = packages.filter((one) => !["engine", "director"].includes(one.dir)).map((one) => one.dir);
  await step("every export of every package can be imported", () => imports(home, libraries));
  const config = join(home, "cpi.json");
  writeFileSync(config, JSON.stringify({}));
  for (const { bin = {} } of packages)
    for (const name of Object.keys(bin)) {
      const program = join(home, "node_modules", ".bin", name);
      await step(`${name} starts`, () => {
        if (name.includes("-cpi-")) answer(program, config, request("info"));
        else if (!node([program, "--help"]).includes("--")) throw new Error("--help names no option");
      });
    }
}

/** What a new CPI is built with is what this repository is built with. */
function templateVersions() {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const template = JSON.parse(readFileSync("packages/cli/cpi-template/package.json", "utf8"));
  const { valibot } = JSON.parse(readFileSync("packages/cpi-sdk/package.json", "utf8")).dependencies;
  const expected = { valibot, ...devDependencies };
  const given = { ...template.dependencies, ...template.devDependencies };
  for (const [name, version] of Object.entries(given))
    if (!version.startsWith("file:") && version !== expected[name])
      throw new Error(`${name} ${version}, and ${expected[name]} here`);
}

const only = process.argv[2];
const part = async (name, what, work) => {
  if (only === undefined || only === name) await step(what, work);
};
for (const one of packages) removeLeftovers(one.dir);
await part("template", "the template of a CPI has this repository's versions", templateVersions);
if (only === undefined) await step(`${packages.length} packages are packed`, pack);
if (problems.length === 0) {
  await part("author", "a CPI's author begins", author);
  await part("programs", "the programs are installed", programs);
  await part("installed", "slipway is of use where it is installed", () =>
    checkInstalled({ root, dir, step }),
  );
}
if (problems.length > 0) {
  console.error(`${problems.join("\n")}\n${problems.length} problem(s) with the packages.`);
  process.exit(1);
}
