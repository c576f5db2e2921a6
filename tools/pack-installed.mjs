// Part of `npm run test:pack`: `slipway` as its users install it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { follow } from "./follow-page.mjs";
import { freePort } from "./free-port.mjs";
import { demo, install, packSlipway, slipway } from "./installed.mjs";
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
  await step("slipway demo", async () => void (await demo(machine, await freePort())));
  await step("slipway down --remove leaves nothing", () => {
    slipway(machine, ["down", "--remove", "-n"]);
    if (existsSync(machine.env.SLIPWAY_HOME)) throw new Error(`${machine.env.SLIPWAY_HOME} is still there`);
  });
  await step("docs/write-a-cpi.md, word by word", () => writeACpi(machine, dir));
  for (const line of await checkUpgrade(root, [join(machine.prefix, "bin", "slipway")]))
    console.log(`pack: ${line}`);
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
      withinMs: 600_000,
    });
    if (count < 20) throw new Error(`only ${count} commands were found`);
  } finally {
    spawnSync("slipway", ["down", "--remove", "-n"], { cwd: work, env: { ...clean, SLIPWAY_HOME: home } });
  }
}
