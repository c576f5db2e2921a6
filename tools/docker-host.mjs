// npm run host:docker: a machine of its own (emulated by QEMU) with systemd, cgroup v2, AppArmor and a newer Docker Engine
// behind TLS. VMs of the Docker CPI live in it through an orderly restart and through a loss of power, with their disks.
// Needs root, mmdebstrap, qemu-system-x86, e2fsprogs, openssl, the command `docker`, and Debian's packages.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { makeCertificates } from "./docker-host/certificates.mjs";
import { Cloud, program } from "./docker-host/cloud.mjs";
import { machineImage } from "./docker-host/image.mjs";
import { Machine } from "./docker-host/machine.mjs";
import { story } from "./docker-host/story.mjs";
import { freePort } from "./free-port.mjs";

const { suite, mirror, seed, accel, ...wanted } = parseArgs({
  options: {
    suite: { type: "string", default: "trixie" },
    mirror: { type: "string", default: "http://deb.debian.org/debian" },
    seed: { type: "string", default: String(Math.floor(Math.random() * 1e6)) },
    /** How often the power is lost, and during which call; the next one each time when left out. */
    losses: { type: "string", default: "1" },
    during: { type: "string" },
    accel: { type: "string", default: "tcg" },
  },
}).values;

const dir = mkdtempSync(join(tmpdir(), "slipway-host-"));
const begun = performance.now();
let passed = 0;
let failed = 0;
let machine;
process.on("exit", () => {
  machine?.pull();
  rmSync(dir, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(130));

console.log(`seed ${seed}`);
try {
  const image = await check("the machine's disk", () => {
    const { dir: at, made } = machineImage({ suite, mirror });
    return { value: at, note: made ? `made of ${suite}'s packages` : "was made before" };
  });
  const stemcell = await check("a stemcell of this host's programs", () => buildStemcell());
  const ports = { engine: await freePort(), agents: [await freePort(), await freePort()] };
  const certificates = makeCertificates(dir);
  machine = new Machine({ dir, image, ports, accel });
  const cloud = new Cloud({ dir, ports, certificates });
  await story({ check, machine, cloud, stemcell, losses, random: seeded(seed) });
} catch (error) {
  failed += 1;
  console.log(`FAILED: ${error.message}`);
  await showWhatIsKnown();
}
console.log(`in all ${seconds(begun).trim()}`);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** The first that fails ends the story: what follows stands on it. */
async function check(name, work) {
  const since = performance.now();
  try {
    const { value, note } = (await work()) ?? {};
    passed += 1;
    console.log(`${seconds(since)}  ${name}${note === undefined ? "" : `: ${note}`}`);
    return value;
  } catch (error) {
    throw new Error(`${name}: after ${seconds(since).trim()}: ${error.message}`, { cause: error });
  }
}

/** Which calls are interrupted. */
function losses(names) {
  if (wanted.during !== undefined && !names.includes(wanted.during))
    throw new Error(`--during is one of ${names.join(", ")}`);
  const first = Math.floor(seeded(seed)() * names.length);
  const count = Number(wanted.losses);
  return Array.from({ length: count }, (_, n) => wanted.during ?? names[(first + n) % names.length]);
}

/** Small, and the same for the same seed. */
function seeded(text) {
  let state = 0x811c9dc5;
  for (const char of text) state = Math.imul(state ^ char.codePointAt(0), 0x01000193) >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function seconds(since) {
  return `${((performance.now() - since) / 1000).toFixed(1).padStart(6)} s`;
}

async function buildStemcell() {
  const archive = join(dir, "stemcell.tgz");
  const command = ["packages/cli/dist/slipway.cjs", "stemcell", "build", "--for", "docker", "--from-host"];
  const env = { ...process.env, SLIPWAY_HOME: dir, HOME: dir };
  await program(process.execPath, [...command, "--out", archive], { env });
  await program("tar", ["-xzf", archive, "-C", dir, "image"]);
  return { value: join(dir, "image") };
}

async function showWhatIsKnown() {
  if (machine === undefined) return;
  console.log(`--- the machine's console\n${machine.lastLines()}`);
  if (!machine.isOn) return;
  for (const command of [
    "journalctl --no-pager -n 25 -u docker.service",
    "losetup --list",
    "dmesg | tail -n 15",
  ]) {
    const said = await machine.run(command, 30_000).catch((error) => error.message);
    console.log(`--- ${command}\n${said}`);
  }
}
