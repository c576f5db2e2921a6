// Part of `npm run test:pack`: `slipway` as its users install it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { follow } from "./follow-page.mjs";
import { freePort } from "./free-port.mjs";
import { demo, install, packSlipway, slipway } from "./installed.mjs";
import { makeDeb } from "./make-deb.mjs";
import { checkUpgrade } from "./upgrade-check.mjs";

/** `npm install -g` of one file, from an empty directory, and what a user does with it. */
export async function checkInstalled({ root, dir, step }) {
  const place = join(dir, "machine");
  mkdirSync(place);
  const tarball = packSlipway(root, dir);
  const machine = install(tarball, place);
  await step("slipway is installed from one file, without a clone", () => {
    if (!/^\d+\.\d+\.\d+/.test(slipway(machine, ["--version"]))) throw new Error("it has no version");
    const { dependencies = {} } = JSON.parse(
      spawnSync("tar", ["-xzOf", tarball, "package/package.json"], { encoding: "utf8" }).stdout,
    );
    const ours = Object.keys(dependencies).filter((name) => name.startsWith("@slipway/"));
    if (ours.length > 0) throw new Error(`it needs ${ours}, which no registry has`);
  });
  await step("every program is installed with it, and starts", () => {
    for (const name of PROGRAMS) started(name, name === "slipway" ? ["--version"] : ["--help"], machine);
    for (const name of CPIS) {
      const { result } = JSON.parse(started(name, [], machine, INFO));
      if (result?.api_version === undefined) throw new Error(`${name} does not say its version`);
    }
  });
  await step("the docs are installed with it, and lead to pages that are there", () => {
    const docs = join(machine.prefix, "lib/node_modules/@slipway/cli/docs");
    const pages = readdirSync(docs, { recursive: true }).filter((name) => name.endsWith(".md"));
    if (pages.length < 25) throw new Error(`there are ${pages.length} pages`);
    for (const page of pages)
      for (const [, target] of readFileSync(join(docs, page), "utf8")
        .replaceAll(/```[\s\S]*?```/g, "")
        .matchAll(/\]\(([^)\s#]+)[^)]*\)/g))
        if (!/^[a-z]+:/.test(target) && !existsSync(join(docs, dirname(page), target)))
          throw new Error(`${page} leads to ${target}`);
  });
  await step("slipway service install --print", () => {
    const unit = slipway(machine, ["service", "install", "--system", "--print"]);
    if (!unit.includes(`SLIPWAY_HOME=${machine.env.SLIPWAY_HOME}`)) throw new Error(unit);
  });
  await step("a .deb of it is installed, used and removed", () => debInstalled(tarball, place));
  await step("slipway demo", async () => void (await demo(machine, await freePort())));
  await step("slipway down --remove leaves nothing", () => {
    slipway(machine, ["down", "--remove", "-n"]);
    if (existsSync(machine.env.SLIPWAY_HOME)) throw new Error(`${machine.env.SLIPWAY_HOME} is still there`);
  });
  await step("docs/write-a-cpi.md, word by word", () => writeACpi(machine, dir));
  await step("docs/make-a-release.md, word by word", () => makeARelease(machine, dir));
  for (const line of await checkUpgrade(root, [join(machine.prefix, "bin", "slipway")]))
    console.log(`pack: ${line}`);
}

const CPIS = ["slipway-cpi-local", "slipway-cpi-docker", "slipway-cpi-aws"];
const PROGRAMS = ["slipway", "slipway-director", "slipway-agent", "slipway-registry"];
const INFO = JSON.stringify({ method: "info", arguments: [], context: { director_uuid: "pack" } });

function started(name, args, { env, work }, input = "") {
  const { status, stdout, stderr, error } = spawnSync(name, args, {
    cwd: work,
    env,
    input,
    encoding: "utf8",
  });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${name} ${args.join(" ")} ended with ${status}: ${stdout}${stderr}`);
  return stdout;
}

/** In a root of its own for dpkg, which takes no base system: what is tried is what the package has. */
function debInstalled(tarball, place) {
  const deb = makeDeb(tarball, place);
  const root = join(place, "deb-root");
  mkdirSync(join(root, "var/lib/dpkg/updates"), { recursive: true });
  mkdirSync(join(root, "var/lib/dpkg/info"));
  for (const name of ["status", "available"]) writeFileSync(join(root, "var/lib/dpkg", name), "");
  const dpkg = (...args) => {
    const own = [
      "--force-not-root",
      "--force-depends",
      "--force-script-chrootless",
      "--log=/dev/null",
      `--root=${root}`,
    ];
    const { status, stdout, stderr } = spawnSync("dpkg", [...own, ...args], { encoding: "utf8" });
    if (status !== 0) throw new Error(`dpkg ${args.join(" ")}: ${stdout}${stderr}`);
  };
  dpkg("--install", deb);
  const env = { ...process.env, PATH: `${join(root, "usr/bin")}:${process.env.PATH}` };
  for (const name of PROGRAMS)
    started(name, name === "slipway" ? ["--version"] : ["--help"], { env, work: place });
  if (!existsSync(join(root, "usr/share/doc/slipway/install-and-upgrade.md")))
    throw new Error("it has no docs");
  dpkg("--remove", "slipway");
  for (const left of ["usr/bin/slipway", "usr/lib/slipway", "usr/lib/systemd/system/slipway.service"])
    if (existsSync(join(root, left))) throw new Error(`/${left} is left when it is removed`);
}

/** With addresses and a port of its own: others may follow it on this machine too. */
async function writeACpi({ env: with_, work, prefix }, dir) {
  const port = await freePort();
  const range = `127.${port >> 8}.${port & 0xff}.`;
  const config = join(prefix, "lib/node_modules/@slipway/cli/cpi-template/deploy/cloud-config.yml");
  writeFileSync(config, readFileSync(config, "utf8").replaceAll("127.40.0.", range));
  const home = join(dir, "machine", "author-home");
  mkdirSync(home, { mode: 0o711 });
  writeFileSync(join(home, "port"), `${port}\n`);
  const { SLIPWAY_HOME: _, ...clean } = with_;
  try {
    const count = follow("docs/write-a-cpi.md", {
      env: clean,
      cwd: work,
      replace: (command) => command.replaceAll("/tmp/my-cpi-home", home),
      withinMs: 1_200_000,
    });
    if (count < 20) throw new Error(`only ${count} commands were found`);
  } finally {
    spawnSync("slipway", ["down", "--remove", "-n"], { cwd: work, env: { ...clean, SLIPWAY_HOME: home } });
  }
}

/** With addresses and a Director of its own, as above. */
async function makeARelease({ env: with_, work }, dir) {
  const port = await freePort();
  const home = join(dir, "machine", "release-home");
  mkdirSync(home, { mode: 0o711 });
  const env = { ...with_, SLIPWAY_HOME: home };
  try {
    slipway({ env, work }, ["up", "--detach", "--port", String(port)]);
    const count = follow("docs/make-a-release.md", {
      env,
      cwd: work,
      replace: (command) => command.replaceAll("127.50.0.", `127.${port >> 8}.${port & 0xff}.`),
      withinMs: 300_000,
    });
    if (count < 15) throw new Error(`only ${count} commands were found`);
  } finally {
    spawnSync("slipway", ["down", "--remove", "-n"], { cwd: work, env });
  }
}
