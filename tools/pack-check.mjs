// npm run test:pack: the packages as others get them. Packs them, installs the tarballs into empty projects outside the
// repository, and there plays the first step of a CPI's author (docs/write-a-cpi.md) and starts every program.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

const root = resolve(".");
const dir = mkdtempSync(join(tmpdir(), "slipway-pack-"));
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

/** Without what npm tells its scripts of this repository: somebody else's project knows nothing of its settings. */
const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|config_(engine_strict|local_prefix|save_exact))/i.test(name),
  ),
);

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
function step(what, work) {
  try {
    work();
    console.log(`pack: ${what}`);
  } catch (error) {
    problems.push(`${what}: ${error.message}`);
  }
}

/** A build of a file that is gone would be packed as well. */
function removeLeftovers({ dir: home }) {
  const dist = join("packages", home, "dist");
  for (const file of readdirSync(dist, { recursive: true })) {
    const source = join("packages", home, "src", file.replace(/\.(d\.ts|js)$/, ".ts"));
    if (/\.(d\.ts|js)$/.test(file) && !existsSync(source)) rmSync(join(dist, file));
  }
}

const STRANGE = /\.test\.|(^|\/)testing\/|tsbuildinfo|^src\//;
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
      .filter((path) => STRANGE.test(path) || !/^(dist\/|package\.json$|README|LICENSE)/.test(path));
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
    "@slipway/cpi-sdk/answer",
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
function author() {
  const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8"));
  const { dependencies } = JSON.parse(readFileSync("examples/tiny-cpi/package.json", "utf8"));
  const others = [`valibot@${dependencies.valibot}`, `@types/node@${devDependencies["@types/node"]}`];
  const home = project("author", FOR_AUTHORS, others);
  step("every export of the SDK can be imported, and nothing else", () => imports(home, FOR_AUTHORS));
  for (const file of ["main.ts", "tiny-cpi.ts"])
    cpSync(join("examples/tiny-cpi/src", file), join(home, "src", file));
  writeFileSync(join(home, "tsconfig.json"), JSON.stringify(TSCONFIG));
  const bin = (name) => join(root, "node_modules", ".bin", name);
  step("a CPI is checked against the packed types", () => run(bin("tsc"), ["-p", "."], { cwd: home }));
  step("a wrong CPI is found by the packed types", () => {
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
  step("it is bundled", () => run(bin("esbuild"), ["src/main.ts", ...bundling], { cwd: home }));
  const config = join(home, "cpi.json");
  writeFileSync(config, JSON.stringify({ tiny: { dir: join(home, "cloud") } }));
  writeFileSync(join(home, "image"), "an image\n");
  for (const program of ["out/main.js", "cpi.cjs"])
    step(`${program} answers info and create_vm`, () => {
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

/** All of them together; what each program says of itself. */
function programs() {
  const all = packages.map((one) => one.dir);
  const home = project("programs", all);
  const libraries = packages.filter((one) => !["engine", "director"].includes(one.dir)).map((one) => one.dir);
  step("every export of every package can be imported", () => imports(home, libraries));
  const config = join(home, "cpi.json");
  writeFileSync(config, JSON.stringify({}));
  for (const { bin = {} } of packages)
    for (const name of Object.keys(bin)) {
      const program = join(home, "node_modules", ".bin", name);
      step(`${name} starts`, () => {
        if (name.includes("-cpi-")) answer(program, config, request("info"));
        else if (!node([program, "--help"]).includes("--")) throw new Error("--help names no option");
      });
    }
}

for (const one of packages) removeLeftovers(one);
step(`${packages.length} packages are packed`, pack);
if (problems.length === 0) {
  step("a CPI's author begins", author);
  step("the programs are installed", programs);
}
if (problems.length > 0) {
  console.error(`${problems.join("\n")}\n${problems.length} problem(s) with the packages.`);
  process.exit(1);
}
