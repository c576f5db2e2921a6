// Before `npm pack` of packages/cli: makes what the one package that people install is made of. The bundles of all
// programs, the SDK as one tarball for `slipway cpi init`, and the licences of what is bundled.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";
import { bundle, SETTINGS } from "./bundle.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const DIST = "packages/cli/dist";
/** Inside the SDK's tarball: an author installs one file. */
const IN_SDK = ["protocol", "kernel", "registry"];
const BUNDLED = [
  "packages/cli/src/bin/slipway.ts",
  "packages/agent/src/bin/slipway-agent.ts",
  "packages/registry/src/bin/slipway-registry.ts",
  "packages/director/src/bin/slipway-director.ts",
  "packages/cpi-local/src/main.ts",
  "packages/cpi-docker/src/main.ts",
  "packages/cpi-aws/src/main.ts",
  "packages/engine/src/templates/render-worker.ts",
  "packages/console/src/main.tsx",
];

const manifestOf = (name) => JSON.parse(readFileSync(join("packages", name, "package.json"), "utf8"));

/** Builds of files that are gone would be packed as well. */
export function removeLeftovers(name) {
  const dist = join("packages", name, "dist");
  for (const file of readdirSync(dist, { recursive: true })) {
    const source = join("packages", name, "src", file.replace(/\.(d\.ts|js)$/, ".ts"));
    if (/\.(d\.ts|js)$/.test(file) && !existsSync(source)) rmSync(join(dist, file));
  }
}

/** The SDK with what it needs of ours inside; libraries of others stay dependencies by name. Resolves to its file. */
export function packSdk(into) {
  const stage = mkdtempSync(join(tmpdir(), "slipway-sdk-"));
  try {
    const { scripts: _, ...manifest } = manifestOf("cpi-sdk");
    const others = Object.assign(
      {},
      ...["cpi-sdk", ...IN_SDK].map((name) =>
        Object.fromEntries(
          Object.entries(manifestOf(name).dependencies ?? {}).filter(([one]) => !one.startsWith("@slipway/")),
        ),
      ),
    );
    const ours = Object.fromEntries(IN_SDK.map((name) => [`@slipway/${name}`, manifestOf(name).version]));
    writeFileSync(
      join(stage, "package.json"),
      JSON.stringify({
        ...manifest,
        dependencies: { ...ours, ...others },
        bundleDependencies: Object.keys(ours),
      }),
    );
    copyBuild("cpi-sdk", stage);
    for (const name of IN_SDK) {
      const home = join(stage, "node_modules", "@slipway", name);
      copyBuild(name, home);
      const { bin: _bin, ...rest } = manifestOf(name);
      writeFileSync(join(home, "package.json"), JSON.stringify(rest));
    }
    mkdirSync(into, { recursive: true });
    const file = npmPack(stage, into);
    const to = join(into, "slipway-cpi-sdk.tgz");
    renameSync(file, to);
    return to;
  } finally {
    rmSync(stage, { recursive: true, force: true });
  }
}

function copyBuild(name, home) {
  removeLeftovers(name);
  const from = join("packages", name);
  mkdirSync(home, { recursive: true });
  cpSync(join(from, "dist"), join(home, "dist"), {
    recursive: true,
    filter: (path) => !/\.(cjs|tsbuildinfo)$|\/testing(\/|$)|\.test\./.test(path),
  });
  for (const file of ["README.md", "LICENSE"])
    if (existsSync(join(from, file))) cpSync(join(from, file), join(home, file));
}

function npmPack(dir, into) {
  const args = ["pack", "--json", "--ignore-scripts", "--loglevel=error", "--pack-destination", into];
  const { status, stdout, stderr } = spawnSync("npm", args, { cwd: dir, encoding: "utf8" });
  if (status !== 0) throw new Error(`npm pack: ${stderr}`);
  return join(into, JSON.parse(stdout)[0].filename);
}

/** The docs of users, with links among each other. Links to what is not in the package become text. */
export function copyDocs(from, to) {
  rmSync(to, { recursive: true, force: true });
  cpSync(from, to, { recursive: true, filter: (path) => !/\/(decisions|module-map\.md)(\/|$)/.test(path) });
  for (const file of readdirSync(to, { recursive: true }).filter((one) => one.endsWith(".md"))) {
    const path = join(to, file);
    const prose = (text) =>
      text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, image, words, target) => {
        if (/^([a-z]+:|#)/.test(target)) return link;
        return existsSync(join(dirname(path), target.replace(/#.*/, ""))) ? link : image === "" ? words : "";
      });
    const parts = readFileSync(path, "utf8").split(/(```[\s\S]*?```)/);
    const text = parts.map((part) => (part.startsWith("```") ? part : prose(part))).join("");
    writeFileSync(path, text);
  }
}

/** The licences of every library that is part of our bundles. */
async function writeLicences() {
  const { metafile } = await build({
    ...SETTINGS,
    // Which form they have does not matter here; one of them waits at its top, which only modules can.
    format: "esm",
    entryPoints: BUNDLED,
    outdir: "unused",
    write: false,
    metafile: true,
  });
  const homes = new Set(
    Object.keys(metafile.inputs).flatMap(
      (path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0] ?? [],
    ),
  );
  const texts = [...homes].sort().map((home) => {
    const {
      name,
      version,
      licenses,
      license = licenses?.[0]?.type,
    } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
    const file = readdirSync(home).find((one) => /^(licen[cs]e|copying)/i.test(one));
    const text = file === undefined ? "" : `\n${readFileSync(join(home, file), "utf8").trim()}\n`;
    return `${name} ${version} (${license})\n${text}`;
  });
  writeFileSync(join(DIST, "THIRD-PARTY.txt"), texts.join(`\n${"-".repeat(80)}\n\n`));
}

// Started in the root of the repository: esbuild remembers where that was.
if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { status } = spawnSync(join("node_modules", ".bin", "tsc"), ["-b"], { stdio: "inherit" });
  if (status !== 0) process.exit(1);
  await bundle();
  packSdk(join(root, DIST));
  await writeLicences();
  cpSync("LICENSE", "packages/cli/LICENSE");
  copyDocs("docs", "packages/cli/docs");
}
